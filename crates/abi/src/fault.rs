//! Faults: what the environment may do to a program, and a correct one must stand.
//!
//! A fault is a choice that is not taken unless something asks for it: the strategy's runs draw it rarely, a planner plans it, a
//! schedule says it. It is named by the strand, its sort, and how many chances of that sort the strand had before, so that
//! a schedule says nothing of the chances that were not taken.

use crate::event::{ChoiceKind, Segment};
use crate::op::codes;

codes! {
    /// What happens.
    Fault {
        /// A wait on a condition variable, a futex or a token (`park`) ends though nobody ended it.
        Wake = 1, "wake";
        /// A weak compare-exchange fails though it found what it expected.
        Exchange = 2, "weak-exchange";
        /// C11's `mtx_trylock` says busy though the lock is free.
        TryLock = 3, "try-lock";
        /// A call ends with `EINTR`.
        Interrupted = 4, "interrupted";
        /// A read or a write moves fewer bytes than it could.
        Short = 5, "short";
        /// A call on a descriptor that does not block ends with `EAGAIN`.
        Again = 6, "again";
        /// An allocation fails.
        Memory = 7, "no-memory";
        /// A strand cannot be created.
        Thread = 8, "no-thread";
        /// The wall clock is set.
        Clock = 9, "clock-step";
    }
}

/// Sorts of faults, code 0 included.
pub const SORTS: usize = 10;

impl Fault {
    /// The group it is asked for with, as its bit in [`Faults`].
    pub const fn group(self) -> Faults {
        match self {
            Fault::Wake | Fault::Exchange | Fault::TryLock => Faults::SPURIOUS,
            Fault::Interrupted | Fault::Short | Fault::Again => Faults::IO,
            Fault::Memory => Faults::MEMORY,
            Fault::Thread => Faults::THREADS,
            Fault::Clock => Faults::CLOCK,
        }
    }

    /// The kind of its choice.
    pub const fn kind(self) -> ChoiceKind {
        match self.group() {
            Faults::SPURIOUS => ChoiceKind::Spurious,
            _ => ChoiceKind::Fault,
        }
    }

    /// What the strand did that this happened to, and what happened.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Fault::Wake => ("wait", "woke without a signal"),
            Fault::Exchange => ("weak exchange", "failed though it found what it expected"),
            Fault::TryLock => ("`mtx_trylock`", "failed though the lock was free"),
            Fault::Interrupted => ("call", "was interrupted (EINTR)"),
            Fault::Short => ("transfer", "moved fewer bytes than were asked for"),
            Fault::Again => ("call", "found nothing for now (EAGAIN)"),
            Fault::Memory => ("allocation", "failed"),
            Fault::Thread => ("creation of a strand", "failed"),
            Fault::Clock => ("look at the clock", "came after somebody had set it"),
        }
    }

    /// The fault that a segment tells of.
    pub fn of(segment: &Segment) -> Option<Fault> {
        let tells = segment.kind == ChoiceKind::Spurious as u8 || segment.kind == ChoiceKind::Fault as u8;
        if tells { Fault::from_code(segment.events as u8) } else { None }
    }
}

/// A set of groups of faults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Faults(pub u32);

impl Faults {
    /// No faults.
    pub const NONE: Faults = Faults(0);
    /// What every correct program must stand: wake-ups, weak exchanges and tries that fail for no reason.
    pub const SPURIOUS: Faults = Faults(1);
    /// `EINTR`, `EAGAIN`, short reads and writes.
    pub const IO: Faults = Faults(2);
    /// Allocations that fail.
    pub const MEMORY: Faults = Faults(4);
    /// Strands that cannot be created.
    pub const THREADS: Faults = Faults(8);
    /// Steps of the wall clock.
    pub const CLOCK: Faults = Faults(16);
    /// All of them.
    pub const ALL: Faults = Faults(31);
    /// The groups, each with its name.
    pub const GROUPS: [(&'static str, Faults); 5] = [
        ("spurious", Faults::SPURIOUS),
        ("io", Faults::IO),
        ("memory", Faults::MEMORY),
        ("threads", Faults::THREADS),
        ("clock", Faults::CLOCK),
    ];

    /// Whether a group is among them.
    pub const fn has(self, group: Faults) -> bool {
        self.0 & group.0 == group.0
    }

    /// Both.
    pub const fn and(self, other: Faults) -> Faults {
        Faults(self.0 | other.0)
    }

    /// The set that names with commas between give; `None` if one is no name.
    pub fn parse(text: &str) -> Option<Faults> {
        let mut set = Faults::NONE;
        for word in text.split(',') {
            set = set.and(match word.trim() {
                "none" => Faults::NONE,
                "all" => Faults::ALL,
                word => Faults::GROUPS.iter().find(|(name, _)| *name == word)?.1,
            });
        }
        Some(set)
    }
}

impl core::fmt::Display for Faults {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if *self == Faults::NONE {
            return f.write_str("none");
        }
        let mut before = "";
        for (name, _) in Faults::GROUPS.iter().filter(|(_, group)| self.has(*group)) {
            write!(f, "{before}{name}")?;
            before = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_read_as_it_is_written() {
        for bits in 0..=Faults::ALL.0 {
            let text = std::format!("{}", Faults(bits));
            assert_eq!(Faults::parse(&text), Some(Faults(bits)), "{text}");
        }
        assert_eq!(Faults::parse("all"), Some(Faults::ALL));
        assert_eq!(Faults::parse("spurious,disks"), None);
    }

    #[test]
    fn every_fault_has_its_place_among_the_sorts() {
        assert!(Fault::ALL.iter().all(|fault| (*fault as usize) < SORTS && fault.group() != Faults::NONE));
    }
}
