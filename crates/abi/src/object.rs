//! What strands synchronise by: one name for each such object, whoever asks for it.
//!
//! A strand waits on it, the race check keeps a clock for it, coverage a place, the list of lost wake-ups an entry.

use crate::op::{OpKind, codes};
use crate::strand::StrandId;

codes! {
    /// What sort of object it is. Several may lie at one address, each of its own sort.
    ObjectClass {
        /// A mutex.
        Mutex = 1, "mutex";
        /// A condition variable.
        Cond = 2, "condition variable";
        /// A read-write lock.
        RwLock = 3, "read-write lock";
        /// What the readers of a read-write lock leave to its next writer.
        Readers = 4, "readers";
        /// A spin lock.
        Spin = 5, "spin lock";
        /// A barrier.
        Barrier = 6, "barrier";
        /// A semaphore.
        Sem = 7, "semaphore";
        /// A once-initialisation.
        Once = 8, "once-initialisation";
        /// A futex word, and who sleeps there.
        Futex = 9, "futex";
        /// A futex word that the kernel hands over as a lock.
        FutexLock = 10, "futex lock";
        /// A strand, by its index: its end.
        Strand = 11, "strand";
        /// A file descriptor.
        Io = 12, "descriptor";
        /// A signal.
        Signal = 13, "signal";
        /// The loader of libraries.
        Loader = 14, "loader";
        /// What the program annotates.
        Annotated = 15, "annotated";
        /// A state of libc's, by its number or address; see [`crate::op::state`].
        State = 16, "state";
        /// The end of the process.
        Ending = 17, "end of the process";
        /// Time alone.
        Sleep = 18, "time";
        /// Memory.
        Memory = 19, "memory";
        /// Nothing that can come.
        Never = 20, "nothing";
    }
}

impl ObjectClass {
    /// Whether one strand holds it until that strand, or one in its place, gives it back.
    pub const fn is_lock(self) -> bool {
        matches!(self, ObjectClass::Mutex | ObjectClass::RwLock | ObjectClass::Spin)
    }

    /// The operation that gives such an object back, if strands wait until it can be taken. `shared`: for one of several
    /// holders.
    pub const fn released_by(self, shared: bool) -> Option<OpKind> {
        match self {
            ObjectClass::Mutex => Some(OpKind::MutexUnlock),
            ObjectClass::RwLock if shared => Some(OpKind::ReadUnlock),
            ObjectClass::RwLock => Some(OpKind::RwUnlock),
            ObjectClass::Spin => Some(OpKind::SpinUnlock),
            ObjectClass::Sem => Some(OpKind::SemPost),
            ObjectClass::Once => Some(OpKind::Once),
            ObjectClass::Strand => Some(OpKind::Exit),
            _ => None,
        }
    }

    /// Whether strands wait until it can be taken, and not until they are woken.
    pub const fn is_acquired(self) -> bool {
        self.released_by(false).is_some()
    }

    /// Whether strands hand something over by it, one to another.
    pub const fn is_handed_over(self) -> bool {
        self.is_lock() || matches!(self, ObjectClass::Cond | ObjectClass::Sem | ObjectClass::Futex)
    }

    /// Whether it is known which strand keeps those who wait for it.
    pub const fn has_holder(self) -> bool {
        self.is_lock()
            || matches!(
                self,
                ObjectClass::Once | ObjectClass::Strand | ObjectClass::Futex | ObjectClass::FutexLock
            )
    }
}

/// An object of synchronisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct ObjectId {
    /// Of what sort it is.
    pub class: ObjectClass,
    /// Its address or number.
    pub addr: u64,
}

impl ObjectId {
    /// All descriptors: what goes into one may come out of another.
    pub const DESCRIPTORS: ObjectId = ObjectId::new(ObjectClass::Io, 0);
    /// All signals.
    pub const SIGNALS: ObjectId = ObjectId::new(ObjectClass::Signal, 0);
    /// The loader.
    pub const LOADER: ObjectId = ObjectId::new(ObjectClass::Loader, 0);
    /// The end of the process.
    pub const ENDING: ObjectId = ObjectId::new(ObjectClass::Ending, 0);
    /// What precompiled code published out of sight.
    pub const UNSEEN: ObjectId = ObjectId::new(ObjectClass::Memory, 0);
    /// Nothing that can come.
    pub const NEVER: ObjectId = ObjectId::new(ObjectClass::Never, 0);

    /// The object of a sort at an address.
    #[inline(always)]
    pub const fn new(class: ObjectClass, addr: u64) -> ObjectId {
        ObjectId { class, addr }
    }

    /// A strand's end.
    #[inline(always)]
    pub const fn strand(id: StrandId) -> ObjectId {
        ObjectId::new(ObjectClass::Strand, id.0 as u64)
    }

    /// Memory at an address.
    #[inline(always)]
    pub const fn memory(addr: u64) -> ObjectId {
        ObjectId::new(ObjectClass::Memory, addr)
    }

    /// The strand whose end it is, if it is one.
    pub const fn as_strand(self) -> Option<StrandId> {
        match self.class {
            ObjectClass::Strand => Some(StrandId(self.addr as u16)),
            _ => None,
        }
    }

    /// The object as one number, never 0; no two have the same.
    #[inline(always)]
    pub const fn code(self) -> u64 {
        self.addr << 8 | self.class as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_tell_objects_apart() {
        let mut seen = [0u64; 3 * 64];
        let mut count = 0;
        for &class in ObjectClass::ALL {
            assert!((class as u8) < 0x80, "the highest bit of a code's low byte is coverage's");
            for addr in [0, 8, 0x7fff_ffff_fff8] {
                let object = ObjectId::new(class, addr);
                assert_ne!(object.code(), 0);
                assert_eq!(object.code() >> 8, addr);
                assert!(!seen[..count].contains(&object.code()));
                seen[count] = object.code();
                count += 1;
            }
        }
    }

    #[test]
    fn a_strand_is_found_by_its_end() {
        assert_eq!(ObjectId::strand(StrandId(7)).as_strand(), Some(StrandId(7)));
        assert_eq!(ObjectId::new(ObjectClass::Mutex, 7).as_strand(), None);
    }

    #[test]
    fn every_lock_has_a_holder_and_is_acquired() {
        for class in ObjectClass::ALL.iter().filter(|class| class.is_lock()) {
            assert!(class.is_acquired() && class.has_holder());
        }
    }
}
