//! Wakes that nobody waited for.
//!
//! The last wake of each object that found no waiter is kept; a later wake that finds one takes it away. At a deadlock those of
//! the objects that strands wait on are told: the signal that came before the wait.

use threadbare_abi::object::ObjectId;
use threadbare_abi::strand::StrandId;

/// Objects remembered; one more takes the place of another.
const OBJECTS: usize = 128;
/// Callers of a wake that are kept: enough to come out of a library.
pub const CALLERS: usize = 8;

/// A wake that found nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    /// Of what.
    pub object: ObjectId,
    /// Who woke.
    pub strand: StrandId,
    /// When.
    pub event: u64,
    /// Where.
    pub pc: u64,
    /// The callers of that place, innermost first; 0 behind the last one.
    pub callers: [u64; CALLERS],
}

/// The wakes of a run.
#[derive(Debug)]
pub struct Lost([Option<Wake>; OBJECTS]);

impl Lost {
    /// None yet.
    pub const fn new() -> Lost {
        Lost([None; OBJECTS])
    }

    fn slot(&mut self, object: ObjectId) -> &mut Option<Wake> {
        let hash = object.code().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &mut self.0[(hash >> 32) as usize % OBJECTS]
    }

    /// A wake found nobody.
    pub fn missed(&mut self, wake: Wake) {
        *self.slot(wake.object) = Some(wake);
    }

    /// A wake of the object found somebody: earlier ones are no loss.
    pub fn found(&mut self, object: ObjectId) {
        self.slot(object).take_if(|wake| wake.object == object);
    }

    /// The last wake of what a strand waits for, if nobody has waited for it. It is told once.
    pub fn take(&mut self, object: ObjectId) -> Option<Wake> {
        self.slot(object).take_if(|wake| wake.object == object)
    }
}

impl Default for Lost {
    fn default() -> Self {
        Lost::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_abi::object::ObjectClass;

    fn object(addr: u64) -> ObjectId {
        ObjectId::new(ObjectClass::Cond, addr)
    }

    fn wake(addr: u64, event: u64) -> Wake {
        Wake { object: object(addr), strand: StrandId(2), event, pc: 7, callers: [0; CALLERS] }
    }

    #[test]
    fn a_wake_that_found_nobody_is_told() {
        let mut lost = Lost::new();
        lost.missed(wake(0x1000, 5));
        assert_eq!(lost.take(object(0x1000)), Some(wake(0x1000, 5)));
    }

    #[test]
    fn it_is_told_once() {
        let mut lost = Lost::new();
        lost.missed(wake(0x1000, 5));
        lost.take(object(0x1000));
        assert_eq!(lost.take(object(0x1000)), None);
    }

    #[test]
    fn the_last_one_is_told() {
        let mut lost = Lost::new();
        lost.missed(wake(0x1000, 5));
        lost.missed(wake(0x1000, 9));
        assert_eq!(lost.take(object(0x1000)).map(|wake| wake.event), Some(9));
    }

    #[test]
    fn a_later_wake_that_finds_somebody_takes_it_away() {
        let mut lost = Lost::new();
        lost.missed(wake(0x1000, 5));
        lost.found(object(0x1000));
        assert_eq!(lost.take(object(0x1000)), None);
    }

    #[test]
    fn one_that_found_somebody_before_does_not() {
        let mut lost = Lost::new();
        lost.found(object(0x1000));
        lost.missed(wake(0x1000, 5));
        assert!(lost.take(object(0x1000)).is_some());
    }

    #[test]
    fn an_object_has_only_its_own() {
        let mut lost = Lost::new();
        lost.missed(wake(0x1000, 5));
        let other = ObjectId::new(ObjectClass::Futex, 0x1000);
        assert_eq!(lost.take(other), None, "of the same address, and another kind");
        for addr in (0x2000..0x8000).step_by(8) {
            assert_eq!(lost.take(object(addr)), None);
            lost.found(object(addr));
        }
        assert!(lost.take(object(0x1000)).is_some(), "wakes of others did not take it away");
    }

    #[test]
    fn with_more_objects_than_there_is_room_nothing_false_is_told() {
        let mut lost = Lost::new();
        for addr in 0..1000 {
            lost.missed(wake(addr * 16, addr));
        }
        let told = (0..1000).filter_map(|addr| lost.take(object(addr * 16)).map(|wake| (addr, wake)));
        let mut count = 0;
        for (addr, wake) in told {
            assert_eq!((wake.object, wake.event), (object(addr * 16), addr));
            count += 1;
        }
        assert!(count > 0 && count <= OBJECTS);
    }
}
