//! Rules of the runtime that need no process.
//!
//! The runtime (`threadbare-rt`) lives inside a stranger's program and cannot be tested without one. What it decides by, it decides here: what
//! happens before what, which accesses race, which store a load may see, which instructions strands share, which locks somebody holds,
//! how large a block is, how likely noise is, what a few instructions do. The runtime brings memory, strands and system calls.
//!
//! `no_std`, and no state of its own: whoever calls brings what is changed.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod again;
pub mod cells;
pub mod clock;
pub mod code;
pub mod epochs;
pub mod lineage;
pub mod locks;
pub mod lost;
pub mod marks;
pub mod plain;
pub mod sequence;
pub mod sizes;
pub mod stores;
pub mod touched;

/// Who makes a step, as far as the rules ask.
pub trait Who {
    /// Its index.
    fn strand(&self) -> u16;

    /// The last event of a strand that happens before its next step.
    fn knows(&self, strand: usize) -> u64;

    /// The event up to which others may know what it did.
    fn heard_of(&self) -> u64;
}

/// The bits of the bytes `from..from + size` of 8.
#[inline(always)]
pub fn bits(from: u64, size: u64) -> u8 {
    (((1u32 << size) - 1) << from) as u8
}

/// Calls `visit` with the address and the bits of each 8 bytes of a range.
pub fn each(addr: u64, size: u64, mut visit: impl FnMut(u64, u8)) {
    let end = addr + size;
    let mut at = addr;
    while at < end {
        let next = ((at & !7) + 8).min(end);
        visit(at, bits(at & 7, next - at));
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn bits_are_those_of_the_bytes() {
        assert_eq!(bits(0, 8), 0xFF);
        assert_eq!(bits(0, 1), 1);
        assert_eq!(bits(7, 1), 0x80);
        assert_eq!(bits(2, 4), 0b0011_1100);
    }

    #[test]
    fn a_range_is_cut_at_multiples_of_8() {
        let mut seen = Vec::new();
        each(0x1006, 12, |addr, bits| seen.push((addr, bits)));
        assert_eq!(seen, [(0x1006, 0b1100_0000), (0x1008, 0xFF), (0x1010, 0b11)]);
    }

    #[test]
    fn an_empty_range_has_no_part() {
        each(0x1000, 0, |_, _| panic!("there is none"));
    }
}
