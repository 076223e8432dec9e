//! Which tasks there are, and which of them no run can cover as far as the runs show.

use crate::tasks::Function;
use serde::{Deserialize, Serialize};
use threadbare_abi::tasks::marks;

/// Why a task cannot be covered as far as the runs show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The function only ran while no other strand lived.
    Alone,
    /// No call of it came to its end beside other strands.
    NeverReturned,
    /// It makes no event of its own, so noise does not reach it, and nobody sees it run.
    NoEvents,
    /// Both functions of the pair only ever ran in one and the same strand.
    OneStrand,
}

/// How a task stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// A run did it.
    Covered,
    /// No run did it so far.
    Open,
    /// No run can do it as far as the runs show.
    Out(Reason),
}

impl Function {
    fn has(&self, mark: u32) -> bool {
        self.marks & mark != 0
    }

    /// Whether it has tasks: a library's own has none.
    pub fn is_asked_for(&self) -> bool {
        !self.has(marks::LIBRARY)
    }

    /// Whether it ran while another strand lived.
    pub fn is_beside(&self) -> bool {
        self.has(marks::BESIDE)
    }

    /// Whether it makes events of its own.
    pub fn has_events(&self) -> bool {
        self.has(marks::EVENTS)
    }

    pub(super) fn can_be_interrupted(&self) -> bool {
        self.has_events() || self.has(marks::INTERRUPTED)
    }

    /// The one strand that ran it beside others, if there was only one.
    pub fn only_strand(&self) -> Option<u64> {
        (self.is_beside() && !self.has(marks::SEVERAL) && self.strand != 0).then_some(self.strand)
    }

    /// The task that a call is interrupted.
    pub fn interrupted(&self) -> State {
        if self.has(marks::INTERRUPTED) {
            State::Covered
        } else if !self.is_beside() {
            State::Out(Reason::Alone)
        } else if !self.has_events() {
            State::Out(Reason::NoEvents)
        } else {
            State::Open
        }
    }

    /// The task that a call runs through.
    pub fn through(&self) -> State {
        if self.has(marks::THROUGH) {
            State::Covered
        } else if !self.is_beside() {
            State::Out(Reason::Alone)
        } else if !self.has(marks::RETURNED) {
            State::Out(Reason::NeverReturned)
        } else {
            State::Open
        }
    }

    /// Why a pair that was not covered cannot be: `other` runs while this one is interrupted.
    pub fn cannot_meet(&self, other: &Function) -> Option<Reason> {
        if !self.is_beside() || !other.is_beside() {
            Some(Reason::Alone)
        } else if !self.can_be_interrupted() || !other.has_events() {
            Some(Reason::NoEvents)
        } else if self.only_strand().is_some() && self.only_strand() == other.only_strand() {
            Some(Reason::OneStrand)
        } else {
            None
        }
    }

    /// Joins what two runs, or two places of a table, know of the same function.
    pub(super) fn join(&mut self, other: &Function) {
        let two = self.strand != 0 && other.strand != 0 && self.strand != other.strand;
        self.marks |= other.marks | if two { marks::SEVERAL } else { 0 };
        if self.strand == 0 {
            self.strand = other.strand;
        }
    }
}
