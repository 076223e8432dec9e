//! What each operation does: the one table that everybody asks who wants to know whether an operation reads or writes, takes
//! or gives back.
//!
//! It tells what an operation of its kind does if nothing keeps it from it. What one operation did in a run (a try that failed, an
//! exchange that changed nothing) is told by the run.

use crate::object::{ObjectClass, ObjectId};
use crate::op::{Op, OpKind};

/// What an operation does to the memory at its address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It does not concern it.
    None,
    /// It reads.
    Reads,
    /// It writes what it was given, whatever was there.
    Writes,
    /// It reads and writes.
    Both,
}

/// What an operation does to its object, as far as order is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Impact {
    /// Nothing that another strand could see or change.
    None,
    /// It looks.
    Looks,
    /// It changes.
    Changes,
}

/// What an operation does to what strands know of each other, by its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sync {
    /// Nothing.
    None,
    /// The strand comes after those who released.
    Acquires,
    /// Those who acquire come after the strand.
    Releases,
    /// Both.
    Both,
}

/// What an operation does to who holds its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Nothing.
    None,
    /// It waits until it can take it.
    Takes,
    /// The same, together with others.
    TakesShared,
    /// It takes it if nobody keeps it.
    Tries,
    /// The same, together with others.
    TriesShared,
    /// It gives it back.
    Gives,
    /// It gives its part back.
    GivesShared,
}

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Does {
    /// To memory.
    pub access: Access,
    /// To its object.
    pub impact: Impact,
    /// The sort of its object; none if it has none of its own.
    pub class: Option<ObjectClass>,
    /// To what strands know.
    pub sync: Sync,
    /// To who holds it.
    pub hold: Hold,
}

const ROWS: usize = 128;

macro_rules! class {
    (None) => {
        None
    };
    ($class:ident) => {
        Some(ObjectClass::$class)
    };
}

macro_rules! table {
    ($($kind:ident: $access:ident $impact:ident $class:ident $sync:ident $hold:ident;)*) => {
        const TABLE: [Does; ROWS] = {
            const NOTHING: Does =
                Does { access: Access::None, impact: Impact::None, class: None, sync: Sync::None, hold: Hold::None };
            let mut table = [NOTHING; ROWS];
            $(table[OpKind::$kind as usize] = Does {
                access: Access::$access,
                impact: Impact::$impact,
                class: class!($class),
                sync: Sync::$sync,
                hold: Hold::$hold,
            };)*
            table
        };

        /// The operations that have a row.
        #[cfg(test)]
        const WITH_A_ROW: &[OpKind] = &[$(OpKind::$kind,)*];
    };
}

table! {
    // kind           memory object  class      sync     hold
    Start:            None   None    None       Acquires None;
    Read:             Reads  Looks   Memory     None     None;
    Write:            Writes Changes Memory     None     None;
    ReadWrite:        Both   Changes Memory     None     None;
    ReadRange:        Reads  Looks   Memory     None     None;
    WriteRange:       Writes Changes Memory     None     None;
    // What these do to what strands know is told by their order.
    AtomicLoad:       Reads  Looks   Memory     None     None;
    AtomicStore:      Writes Changes Memory     None     None;
    AtomicRmw:        Both   Changes Memory     None     None;
    AtomicCas:        Both   Changes Memory     None     None;
    Fence:            None   None    None       None     None;
    MutexLock:        None   Changes Mutex      Acquires Takes;
    MutexTryLock:     None   Changes Mutex      Acquires Tries;
    MutexTimedLock:   None   Changes Mutex      Acquires Takes;
    MutexUnlock:      None   Changes Mutex      Releases Gives;
    // The mutex is another object of the same step.
    CondWait:         None   Changes Cond       Acquires None;
    CondTimedWait:    None   Changes Cond       Acquires None;
    CondSignal:       None   Changes Cond       Releases None;
    CondBroadcast:    None   Changes Cond       Releases None;
    ReadLock:         None   Looks   RwLock     Acquires TakesShared;
    ReadTryLock:      None   Looks   RwLock     Acquires TriesShared;
    WriteLock:        None   Changes RwLock     Acquires Takes;
    WriteTryLock:     None   Changes RwLock     Acquires Tries;
    RwUnlock:         None   Changes RwLock     Releases Gives;
    ReadUnlock:       None   Looks   RwLock     Releases GivesShared;
    SpinLock:         None   Changes Spin       Acquires Takes;
    SpinTryLock:      None   Changes Spin       Acquires Tries;
    SpinUnlock:       None   Changes Spin       Releases Gives;
    BarrierWait:      None   Changes Barrier    Both     None;
    SemWait:          None   Changes Sem        Acquires Takes;
    SemTryWait:       None   Changes Sem        Acquires Tries;
    SemPost:          None   Changes Sem        Releases Gives;
    Once:             None   Changes Once       Both     Takes;
    FutexWait:        None   Changes Futex      Acquires None;
    FutexWake:        None   Changes Futex      Releases None;
    Create:           None   None    Strand     Releases None;
    Join:             None   None    Strand     Acquires Takes;
    Exit:             None   None    Strand     Releases Gives;
    Detach:           None   None    Strand     None     None;
    Cancel:           None   None    Strand     Releases None;
    TryJoin:          None   None    Strand     Acquires Tries;
    TimedJoin:        None   None    Strand     Acquires Takes;
    Yield:            None   None    None       None     None;
    Sleep:            None   None    Sleep      None     None;
    Clock:            None   None    None       None     None;
    Io:               None   Changes Io         Both     None;
    IoWait:           None   Changes Io         Acquires None;
    Signal:           None   None    Signal     Both     None;
    SpinWait:         None   None    Memory     None     None;
    Annotate:         None   Changes Annotated  Both     None;
    Alloc:            None   None    Memory     None     None;
    Free:             Writes None    Memory     None     None;
    Quit:             None   Changes Ending     None     None;
    End:              None   None    Ending     None     None;
    // Of whatever sort the object is.
    Init:             None   Changes None       None     None;
    Destroy:          None   Changes None       None     None;
    StateRead:        None   Looks   State      None     None;
    StateWrite:       None   Changes State      None     None;
    Region:           None   None    None       None     None;
}

impl OpKind {
    /// What an operation of this kind does.
    #[inline(always)]
    pub const fn does(self) -> Does {
        TABLE[self as usize]
    }

    /// Whether it reads memory, be it to write it.
    #[inline(always)]
    pub const fn reads_memory(self) -> bool {
        matches!(self.does().access, Access::Reads | Access::Both)
    }

    /// Whether it writes memory; a release of memory does.
    #[inline(always)]
    pub const fn writes_memory(self) -> bool {
        matches!(self.does().access, Access::Writes | Access::Both)
    }

    /// Whether it is a read of memory and nothing else.
    #[inline(always)]
    pub const fn only_reads_memory(self) -> bool {
        matches!(self.does().access, Access::Reads)
    }

    /// Whether it looks at its object and leaves it as it is.
    #[inline(always)]
    pub const fn looks(self) -> bool {
        matches!(self.does().impact, Impact::Looks)
    }

    /// Whether it changes its object.
    #[inline(always)]
    pub const fn changes(self) -> bool {
        matches!(self.does().impact, Impact::Changes)
    }

    /// Whether the strand comes after those who released the object.
    pub const fn acquires(self) -> bool {
        matches!(self.does().sync, Sync::Acquires | Sync::Both)
    }

    /// Whether those who acquire the object come after the strand.
    pub const fn releases(self) -> bool {
        matches!(self.does().sync, Sync::Releases | Sync::Both)
    }

    /// Whether it waits until it can take a lock.
    pub const fn takes_lock(self) -> bool {
        self.is_of_lock() && matches!(self.does().hold, Hold::Takes | Hold::TakesShared)
    }

    /// Whether it gives a lock back.
    pub const fn gives_lock_back(self) -> bool {
        self.is_of_lock() && matches!(self.does().hold, Hold::Gives | Hold::GivesShared)
    }

    /// Whether it takes an object, or gives it back, together with others.
    pub const fn is_shared(self) -> bool {
        matches!(self.does().hold, Hold::TakesShared | Hold::TriesShared | Hold::GivesShared)
    }

    /// Whether its object is a lock.
    pub const fn is_of_lock(self) -> bool {
        matches!(self.does().class, Some(class) if class.is_lock())
    }
}

impl Op {
    /// The object it concerns, if its kind tells the sort.
    pub const fn object(&self) -> Option<ObjectId> {
        match self.kind.does().class {
            Some(class) => Some(ObjectId::new(class, self.addr)),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_one_row() {
        for kind in OpKind::ALL {
            assert_eq!(WITH_A_ROW.iter().filter(|row| *row == kind).count(), 1, "{kind:?}");
        }
        assert!(OpKind::ALL.iter().all(|&kind| (kind as usize) < ROWS));
    }

    #[test]
    fn accesses_and_nothing_else_but_a_free_touch_memory() {
        for &kind in OpKind::ALL {
            let access = kind.is_plain_access() || kind.is_atomic_access() || kind == OpKind::Free;
            assert_eq!(kind.reads_memory() || kind.writes_memory(), access, "{kind:?}");
        }
    }

    #[test]
    fn who_only_reads_looks_and_who_writes_changes() {
        for &kind in OpKind::ALL.iter().filter(|&&kind| kind != OpKind::Free) {
            match kind.does().access {
                Access::Reads => assert_eq!(kind.does().impact, Impact::Looks, "{kind:?}"),
                Access::Writes | Access::Both => assert_eq!(kind.does().impact, Impact::Changes, "{kind:?}"),
                Access::None => {}
            }
        }
    }

    #[test]
    fn whoever_takes_acquires_and_whoever_gives_back_releases() {
        for &kind in OpKind::ALL {
            match kind.does().hold {
                Hold::None => {}
                Hold::Gives | Hold::GivesShared => assert!(kind.releases(), "{kind:?}"),
                _ => assert!(kind.acquires(), "{kind:?}"),
            }
        }
    }

    #[test]
    fn what_is_taken_is_given_back_by_the_operation_of_its_sort() {
        for &kind in OpKind::ALL {
            let does = kind.does();
            let Some(class) = does.class.filter(|_| does.hold != Hold::None) else { continue };
            let by = class.released_by(kind.is_shared()).expect("a sort that is acquired");
            assert!(by.releases() && by.does().class == Some(class), "{kind:?} and {by:?}");
        }
    }

    #[test]
    fn quiet_operations_touch_nothing_that_others_see() {
        for &kind in OpKind::ALL.iter().filter(|kind| kind.is_quiet()) {
            assert_eq!((kind.does().access, kind.does().impact), (Access::None, Impact::None), "{kind:?}");
        }
    }

    #[test]
    fn an_operation_that_may_change_nothing_is_a_change() {
        for &kind in OpKind::ALL.iter().filter(|kind| kind.deciding_word(4).is_some()) {
            assert_eq!(kind.does().impact, Impact::Changes, "{kind:?}");
        }
    }

    #[test]
    fn objects_are_told_by_kind_and_address() {
        let lock = Op::new(OpKind::MutexLock, 0x40, 0).object();
        assert_eq!(lock, Op::new(OpKind::MutexUnlock, 0x40, 9).object());
        assert_eq!(lock, Some(ObjectId::new(ObjectClass::Mutex, 0x40)));
        assert_ne!(lock, Op::new(OpKind::SemWait, 0x40, 0).object());
        assert_eq!(Op::new(OpKind::Init, 0x40, 0).object(), None);
    }
}
