//! What is told of a point: what holds, is no chance, and does not follow from the rest.

use crate::chance::Evidence;
use crate::holding::Holding;
use crate::inference::Inference;
use crate::operand::Operand;
use crate::point::{ProgramPoint, Region, Side};
use crate::reduce::{self, Taste};
use crate::state::State;
use crate::statement::Statement;

/// A statement that is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// What is said.
    pub statement: Statement<Operand>,
    /// What it rests on.
    pub evidence: Evidence,
    /// Whether it says what happens between entry and exit, rather than what is.
    pub transition: bool,
    /// Whether all that it speaks of is used by several strands.
    pub shared: bool,
}

impl Told {
    pub(crate) fn new(state: &State, holding: &Holding) -> Self {
        Self {
            statement: state.named(&holding.statement),
            evidence: holding.evidence,
            transition: reduce::is_transition(&state.layout, &holding.statement),
            shared: reduce::is_shared(&state.layout, &holding.statement),
        }
    }
}

/// What is told of a point: transitions of shared variables first.
#[derive(Clone, Debug, PartialEq)]
pub struct PointTold {
    /// The point.
    pub point: ProgramPoint,
    /// How many samples were taken there.
    pub samples: u64,
    /// Variables that found no place.
    pub left_out: u32,
    /// The statements.
    pub told: Vec<Told>,
}

impl State {
    /// A statement with names.
    pub(crate) fn named(&self, statement: &Statement<usize>) -> Statement<Operand> {
        let mut name = |slot: &usize| Some(self.layout.slots[*slot].operand.clone());
        statement.map(&mut name).expect("every slot has a name")
    }

    /// What holds and is no chance.
    pub(crate) fn justified(&self) -> Vec<Holding> {
        let mut all = self.holding();
        all.retain(|holding| holding.evidence.is_enough());
        all
    }

    fn told(&self) -> Vec<Told> {
        let mut told = reduce::reduce(self, self.justified(), Taste::Plain);
        reduce::sort(&self.layout, &mut told, Taste::Transitions);
        told.iter().map(|holding| Told::new(self, holding)).collect()
    }
}

impl Inference {
    /// What is told of all points, in the order of their names.
    pub fn tell(&self) -> Vec<PointTold> {
        self.in_order().map(tell_state).collect()
    }

    /// What is told of one point.
    pub fn tell_point(&self, region: &Region, side: Side) -> Option<PointTold> {
        self.state(region, side).map(tell_state)
    }

    /// Everything that holds at a point, also by chance, and what follows from the rest.
    pub fn holding(&self, region: &Region, side: Side) -> Vec<(Statement<Operand>, Evidence)> {
        let Some(state) = self.state(region, side) else { return Vec::new() };
        let named = |holding: &Holding| (state.named(&holding.statement), holding.evidence);
        state.holding().iter().map(named).collect()
    }
}

fn tell_state(state: &State) -> PointTold {
    PointTold {
        point: state.point.clone(),
        samples: state.all.all_samples(),
        left_out: state.layout.left_out,
        told: state.told(),
    }
}
