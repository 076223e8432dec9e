//! What the strands of a run did, as far as pairs are concerned.

use std::sync::Arc;

/// What is done to memory, or to an object that strands synchronise by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Does {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written.
    Update,
    /// A lock is taken.
    Lock,
    /// Something else is done to an object that is no data.
    Sync,
}

impl Does {
    /// Whether it changes something.
    pub fn writes(self) -> bool {
        self != Does::Read
    }

    /// Whether it is an access to data.
    pub fn is_data(self) -> bool {
        matches!(self, Does::Read | Does::Write | Does::Update)
    }
}

/// A place that an event concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Touch {
    /// What is done.
    pub does: Does,
    /// The first byte.
    pub start: u64,
    /// The first byte behind it.
    pub end: u64,
}

impl Touch {
    /// Whether two have a byte in common.
    pub fn meets(&self, other: &Touch) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Whether the order of two can matter.
    pub fn depends(&self, other: &Touch) -> bool {
        self.meets(other) && (self.does.writes() || other.does.writes())
    }
}

/// One step of a strand.
#[derive(Clone, Debug)]
pub struct StrandStep {
    /// The strand.
    pub strand: u32,
    /// Its path, the same in every run.
    pub path: u64,
    /// The how-manieth step of its strand it is, from 1.
    pub ordinal: u32,
    /// The instruction.
    pub pc: u64,
    /// The how-manieth time the strand comes to it, from 1.
    pub number: u64,
    /// The function it is made in, among the run's activations.
    pub activation: u32,
    /// How many events of each strand come before it in every run.
    pub clock: Arc<[u32]>,
    /// What it concerns.
    pub touches: Vec<Touch>,
    /// Locks that the strand has for itself alone, but for one that it takes by this.
    pub held: Arc<[u64]>,
}

impl StrandStep {
    /// Whether another event comes before this one in every run.
    pub fn follows(&self, other: &StrandStep) -> bool {
        if self.strand == other.strand {
            return other.ordinal < self.ordinal;
        }
        self.clock.get(other.strand as usize).is_some_and(|&count| count >= other.ordinal)
    }
}

/// A function that a strand was in, from its entry to its return.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activation {
    /// The one it was called in.
    pub parent: Option<u32>,
    /// Its return address, a place in its caller; 0 for what a strand begins with.
    pub call: u64,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub struct RunSteps {
    /// Its number in the campaign.
    pub number: u64,
    /// Its steps, in their order.
    pub events: Vec<StrandStep>,
    /// The functions they were made in.
    pub activations: Vec<Activation>,
    /// Steps that were not kept.
    pub dropped: usize,
}

impl RunSteps {
    /// Steps that are kept.
    pub const LONGEST: usize = 40_000;

    /// About how much memory it takes, in steps.
    pub fn weight(&self) -> usize {
        self.events.len() + self.activations.len()
    }
}
