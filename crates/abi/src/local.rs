//! Where parameters and locals are at an instruction: a short plan that the driver makes of the debug info and the runtime goes by.
//!
//! A table of slots, found by the return address of an access, or of the hook at a function's exit, with open addressing, then a list of places. A slot is
//! two words: the return address (0 if it is free), and an [`Entry`].

/// How many slots there are: a power of two.
pub const SLOTS: usize = 1 << 13;
/// At most so many of them are used.
pub const MOST_SLOTS: usize = SLOTS / 2;
/// How many places there are.
pub const PLACES: usize = 1 << 14;
/// The words of both.
pub const WORDS: usize = SLOTS * 2 + PLACES;
/// The general registers, by their DWARF numbers.
pub const REGISTERS: usize = 16;

/// The slot to begin at.
pub const fn slot(pc: u64) -> usize {
    ((pc as u32).wrapping_mul(0x9E37_79B1) >> 16) as usize & (SLOTS - 1)
}

/// What there is to tell at an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// The number of its first place.
    pub first: u32,
    /// How many places it has.
    pub count: u16,
    /// Of an access, how many bytes before and behind it are told, too.
    pub around: u16,
}

impl Entry {
    /// As a word.
    pub fn encode(self) -> u64 {
        self.first as u64 | (self.count as u64) << 32 | (self.around as u64) << 48
    }

    /// What a word stands for.
    pub fn decode(word: u64) -> Self {
        Self { first: word as u32, count: (word >> 32) as u16, around: (word >> 48) as u16 }
    }
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operand {
    /// The DWARF number of a general register.
    pub register: u8,
    /// What is added to it if the value is in memory there; none if it is in the register itself.
    pub offset: Option<i32>,
    /// Its bytes: 1, 2, 4 or 8.
    pub size: u8,
}

impl Operand {
    /// As a word.
    pub fn encode(self) -> u64 {
        let memory = self.offset.is_some() as u64;
        let offset = self.offset.unwrap_or(0) as u32 as u64;
        self.register as u64 | memory << 8 | (self.size as u64) << 16 | offset << 32
    }

    /// What a word stands for, if it is one.
    pub fn decode(word: u64) -> Option<Self> {
        let (register, size) = (word as u8, (word >> 16) as u8);
        let offset = (word >> 8 & 1 == 1).then_some((word >> 32) as u32 as i32);
        let fits = (register as usize) < REGISTERS && matches!(size, 1 | 2 | 4 | 8);
        fits.then_some(Self { register, offset, size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_through_words() {
        for offset in [None, Some(0), Some(-24), Some(i32::MAX)] {
            let place = Operand { register: 6, offset, size: 4 };
            assert_eq!(Operand::decode(place.encode()), Some(place));
        }
        let entry = Entry { first: 7, count: 2, around: 64 };
        assert_eq!(Entry::decode(entry.encode()), entry);
        assert_eq!(Operand::decode(16), None);
        assert_eq!(Operand::decode(3 << 16), None);
    }
}
