//! A word of the program's memory that a model keeps its state in.
//!
//! The models store their state in the C object itself, so static initialisers work, an object can be copied into
//! place by its creator, and nothing is left behind when the program frees it.

/// A 32-bit word inside an object of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Word(*mut u32);

impl Word {
    /// The word at an address.
    ///
    /// # Safety
    /// The address is that of four readable and writable bytes for as long as the word is used.
    #[inline]
    pub unsafe fn at(addr: usize) -> Word {
        Word(addr as *mut u32)
    }

    /// Where it is.
    #[inline]
    pub fn addr(self) -> usize {
        self.0 as usize
    }

    /// Its value.
    #[inline]
    pub fn get(self) -> u32 {
        // SAFETY: promised when the word was made; one kernel thread, so no other access runs at the same time.
        unsafe { self.0.read_volatile() }
    }

    /// Changes it.
    #[inline]
    pub fn set(self, value: u32) {
        // SAFETY: as above.
        unsafe { self.0.write_volatile(value) }
    }
}
