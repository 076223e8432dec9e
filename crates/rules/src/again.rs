//! What a strand does again before others hear of it.
//!
//! A mark of the strand's own says that it has made this access, at this instruction and to these bytes, since others last heard of it
//! ([`Again::floor`]). Whoever comes after one of the two accesses comes after both, and whoever races with one races with the other; so there is
//! nothing to compare, to tell, or to leave behind. The mark is [`marks::NOTED`] where the access was no point: it need not be asked again whether it is
//! one, as long as nothing was learnt since. Nor whether there is such memory: who frees it takes that from its marks ([`forget`]).
//!
//! The floor rises with everything that makes these sentences untrue. A mark that is older than it says nothing.
//!
//! *A read and a write of the same bytes in turns* (`x += …`). A write takes the place of the strand's own read mark. Where both were
//! made again, the read's instruction is left behind with a mark of 0, which says that the read was noted, too.

use crate::marks::{self, NOTED};
use crate::plain::Marks;

/// A mark up to where its event begins.
const WHO: u64 = 0xFF_FF00;
const EVENT_SHIFT: u32 = 24;

/// The running strand, as its own marks name it.
#[derive(Clone, Copy, Debug)]
pub struct Again {
    /// Marks above this say that the same access says nothing new.
    floor: u64,
    me: u64,
}

impl Again {
    /// Nothing is known to be done again.
    pub const NOTHING: Again = Again { floor: u64::MAX, me: 0 };

    /// A strand of whose steps others may know up to this event.
    pub fn since(strand: u16, event: u64) -> Again {
        Again { floor: marks::mark(event, 0x7FFF, 0xFF) | NOTED, me: marks::mark(0, strand, 0) | NOTED }
    }

    /// Nothing is known any more.
    #[inline(always)]
    pub fn lapses(&mut self) {
        self.floor = u64::MAX;
    }

    /// Whether nothing is known.
    #[inline(always)]
    pub fn is_nothing(&self) -> bool {
        self.floor == u64::MAX
    }

    #[inline(always)]
    fn made(&self, mark: u64, bits: u8) -> bool {
        mark & (WHO | bits as u64) == self.me | bits as u64 && mark > self.floor
    }

    /// Whether the strand has made this read since others last heard of it.
    #[inline(always)]
    pub fn reads(&self, of: &mut Marks, event: u64, bits: u8, pc: u64) -> bool {
        if (of.pcs >> 32) as u32 != pc as u32 {
            return false;
        }
        if of.read == 0 {
            // Its write of these bytes has taken the mark away.
            let made = self.made(of.write, bits) && marks::bytes(of.write) == bits;
            if made {
                of.read = event << EVENT_SHIFT | self.me | bits as u64;
            }
            return made;
        }
        // Whoever has written since is asked about.
        self.made(of.read, bits) && of.read > of.write
    }

    /// Whether the strand has made this write since others last heard of it.
    #[inline(always)]
    pub fn writes(&self, of: &mut Marks, bits: u8, pc: u64) -> bool {
        if of.pcs as u32 != pc as u32 || !self.made(of.write, bits) {
            return false;
        }
        if of.read == 0 {
            return true;
        }
        let both =
            self.made(of.read, bits) && marks::bytes(of.read) == bits && marks::bytes(of.write) == bits;
        if both {
            of.read = 0;
        }
        both
    }
}

/// What was done there is not to be taken for done again.
#[inline(always)]
pub fn forget(of: &mut Marks) {
    of.write &= !NOTED;
    if marks::Chain::of_read(of.read).is_none() {
        of.read &= !NOTED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: u16 = 3;

    fn noted(event: u64, bits: u8) -> u64 {
        marks::mark(event, ME, bits) | NOTED
    }

    fn pcs(write: u64, read: u64) -> u64 {
        read << 32 | write
    }

    #[test]
    fn the_same_read_is_made_again_above_the_floor_only() {
        let mut of = Marks { write: 0, read: noted(7, 0xF0), pcs: pcs(0, 5) };
        assert!(Again::since(ME, 6).reads(&mut of, 9, 0xF0, 5));
        assert!(Again::since(ME, 6).reads(&mut of, 9, 0x30, 5));
        for (again, bits, pc) in [
            (Again::since(ME, 7), 0xF0, 5),
            (Again::since(ME + 1, 6), 0xF0, 5),
            (Again::since(ME, 6), 0xF8, 5),
            (Again::since(ME, 6), 0xF0, 6),
            (Again::NOTHING, 0xF0, 5),
        ] {
            assert!(!again.reads(&mut of, 9, bits, pc));
        }
        forget(&mut of);
        assert!(!Again::since(ME, 6).reads(&mut of, 9, 0xF0, 5));
    }

    #[test]
    fn a_read_is_asked_about_once_somebody_has_written_since() {
        let again = Again::since(ME, 2);
        let mut of = Marks { write: marks::mark(4, 1, 0xFF), read: noted(7, 0xFF), pcs: pcs(6, 5) };
        assert!(again.reads(&mut of, 9, 0xFF, 5));
        of.write = marks::mark(8, 1, 0x0F);
        assert!(!again.reads(&mut of, 9, 0xFF, 5));
    }

    #[test]
    fn a_write_is_asked_about_once_somebody_else_has_read() {
        let again = Again::since(ME, 2);
        let mut of = Marks { write: noted(4, 0xFF), read: 0, pcs: pcs(6, 0) };
        assert!(again.writes(&mut of, 0xFF, 6));
        of.read = marks::mark(5, 1, 0xFF);
        assert!(!again.writes(&mut of, 0xFF, 6));
        // Or where more marks are.
        of.read = marks::Chain::numbered(9).as_read();
        assert!(!again.writes(&mut of, 0xFF, 6));
        forget(&mut of);
        assert_eq!(of.read, marks::Chain::numbered(9).as_read());
    }

    #[test]
    fn what_is_read_and_written_in_turns_is_made_again() {
        let again = Again::since(ME, 2);
        let mut of = Marks { write: noted(4, 0xFF), read: noted(5, 0xFF), pcs: pcs(6, 5) };
        for event in 6..9 {
            assert!(again.writes(&mut of, 0xFF, 6));
            assert_eq!((of.read, of.write), (0, noted(4, 0xFF)), "a write takes the place of a read");
            assert!(again.reads(&mut of, event, 0xFF, 5));
            assert_eq!(of.read, noted(event, 0xFF));
        }
        assert!(again.writes(&mut of, 0xFF, 6));
        assert!(!again.reads(&mut of, 9, 0x0F, 5), "other bytes were not noted");
        assert!(!again.reads(&mut of, 9, 0xFF, 7), "nor was another instruction");
        assert!(!Again::since(ME, 4).reads(&mut of, 9, 0xFF, 5));
    }

    #[test]
    fn a_read_of_other_bytes_than_the_write_s_is_not_taken_away() {
        let again = Again::since(ME, 2);
        let mut of = Marks { write: noted(4, 0xFF), read: noted(5, 0x0F), pcs: pcs(6, 5) };
        assert!(!again.writes(&mut of, 0xFF, 6));
        assert_eq!(of.read, noted(5, 0x0F));
    }
}
