//! What a stopped strand is read through.

use std::fmt;

/// The DWARF numbers of x86-64: sixteen general registers, the return address, sixteen vector registers.
const COUNT: usize = 33;
/// The stack pointer.
pub(crate) const STACK_POINTER: u16 = 7;
/// Where a frame returns to.
pub(crate) const RETURN_ADDRESS: u16 = 16;

/// The registers of one frame, by their DWARF numbers; of a vector register the lower half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers([Option<u64>; COUNT]);

impl Default for Registers {
    fn default() -> Self {
        Registers([None; COUNT])
    }
}

impl Registers {
    /// A register's value, if it is known.
    pub fn get(&self, number: u16) -> Option<u64> {
        *self.0.get(usize::from(number))?
    }

    /// Sets or forgets a register; numbers that no register has are left out.
    pub fn set(&mut self, number: u16, value: Option<u64>) {
        if let Some(register) = self.0.get_mut(usize::from(number)) {
            *register = value;
        }
    }
}

impl FromIterator<(u16, u64)> for Registers {
    fn from_iter<T: IntoIterator<Item = (u16, u64)>>(values: T) -> Self {
        let mut registers = Registers::default();
        values.into_iter().for_each(|(number, value)| registers.set(number, Some(value)));
        registers
    }
}

/// Fills the bytes from memory, or says that it cannot.
pub type ReadMemory<'m> = &'m dyn Fn(u64, &mut [u8]) -> bool;
/// Where a module's thread-local storage has an offset, for the strand that is looked at.
pub type ThreadLocals<'m> = &'m dyn Fn(usize, u64) -> Option<u64>;

/// A frame of a stopped strand, or as much as is known of it.
///
/// The functions are called while the module is held: they must not ask [`crate::Symbols`] anything.
#[derive(Clone, Copy)]
pub struct Machine<'m> {
    /// The frame's registers; for a frame further out those that it will find when its callee returns.
    pub registers: Registers,
    /// The stack pointer's value before the call of the frame's function; found from the registers if it is not given.
    pub frame_address: Option<u64>,
    /// The program's memory.
    pub memory: ReadMemory<'m>,
    /// Where thread-local variables are.
    pub thread_locals: Option<ThreadLocals<'m>>,
}

impl<'m> Machine<'m> {
    /// A frame with these registers, in this memory.
    pub fn new(registers: Registers, memory: ReadMemory<'m>) -> Self {
        Machine { registers, frame_address: None, memory, thread_locals: None }
    }

    /// Memory only: enough for variables with a fixed address.
    pub fn of_memory(memory: ReadMemory<'m>) -> Self {
        Machine::new(Registers::default(), memory)
    }

    pub(crate) fn word(&self, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        (self.memory)(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
    }
}

impl fmt::Debug for Machine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("registers", &self.registers)
            .field("frame_address", &self.frame_address)
            .finish_non_exhaustive()
    }
}
