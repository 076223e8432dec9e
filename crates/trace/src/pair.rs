//! Two operations whose order decides whether a run fails.

use threadbare_abi::event::Segment;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;

/// An operation of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Act {
    /// Who, in the run it is of.
    pub strand: StrandId,
    /// What.
    pub op: OpKind,
    /// The object.
    pub addr: u64,
    /// Bytes.
    pub size: u32,
    /// The run's event count when the strand came to it.
    pub event: u64,
    /// Events its strand had made by then.
    pub own: u64,
    /// It was never done: the strand waits there.
    pub waits: bool,
}

/// The run fails when the first operation comes before the second one, and passes the other way round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecidingPair {
    /// Of the failing run.
    pub first: Act,
    /// Of the failing run, unless that ended before it.
    pub second: Act,
    /// Whether the second one is of the passing run: the failing one did not come to it.
    pub comes_too_late: bool,
    /// The choices of the passing run.
    pub passing: Vec<Segment>,
    /// The first operation in the passing run, if it comes to it: its event.
    pub first_in_passing: Option<u64>,
    /// The second one in the passing run.
    pub second_in_passing: Option<u64>,
}
