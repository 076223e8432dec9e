//! The strategies by name and number.

use crate::delay::Delay;
use crate::directed::Directed;
use crate::ordered::Ordered;
use crate::paired::Paired;
use crate::pct::Pct;
use crate::planned::{Dfs, Dpor, Hapset, Pcb};
use crate::pos::Pos;
use crate::random::Random;
// Its plans are carried out by `ordered`; a run without one is drawn.
use crate::random::Random as Idioms;
use crate::recorded::Recorded;
use crate::rff::Rff;
use crate::round_robin::RoundRobin;
use crate::stall::Stall;
use crate::surw::Surw;
use crate::uniform::Uniform;
use crate::urw::Urw;
use crate::{Born, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

macro_rules! strategies {
    ($($(#[$meta:meta])* $variant:ident($code:literal, $name:literal, $summary:literal);)*) => {
        /// The number of a strategy in a plan.
        #[repr(u32)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum StrategyId { $($(#[$meta])* $variant = $code,)* }

        impl StrategyId {
            /// All of them.
            pub const ALL: &'static [StrategyId] = &[$(StrategyId::$variant,)*];

            /// The strategy with this number.
            pub const fn from_code(code: u32) -> Option<Self> {
                match code { $($code => Some(StrategyId::$variant),)* _ => None }
            }

            /// Its name on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(StrategyId::$variant => $name,)* }
            }

            /// One line for the help.
            pub const fn summary(self) -> &'static str {
                match self { $(StrategyId::$variant => $summary,)* }
            }

            /// The strategy with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(StrategyId::$variant),)* _ => None }
            }
        }

        /// Any one of the strategies, without allocation.
        #[derive(Debug)]
        #[expect(clippy::large_enum_variant, reason = "a run has one of it, and the runtime does not allocate")]
        pub enum Any { $($(#[$meta])* $variant($variant),)* }

        impl Any {
            /// The strategy with this number, not begun.
            pub const fn new(id: StrategyId) -> Self {
                match id { $(StrategyId::$variant => Any::$variant($variant::new()),)* }
            }
        }

        impl Strategy for Any {
            fn furnish(&mut self, room: Room) {
                match self { $(Any::$variant(s) => s.furnish(room),)* }
            }
            fn begin(&mut self, info: &RunInfo<'_>) {
                match self { $(Any::$variant(s) => s.begin(info),)* }
            }
            #[inline(always)]
            fn pick<V: View>(&mut self, view: &V) -> Pick {
                match self { $(Any::$variant(s) => s.pick(view),)* }
            }
            fn choose(&mut self, options: u32) -> u32 {
                match self { $(Any::$variant(s) => s.choose(options),)* }
            }
            fn created(&mut self, born: Born) {
                match self { $(Any::$variant(s) => s.created(born),)* }
            }
            fn wants_alone(&self) -> bool {
                match self { $(Any::$variant(s) => s.wants_alone(),)* }
            }
            fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
                match self { $(Any::$variant(s) => s.alone(strand, view),)* }
            }
            fn wants_reads(&self) -> bool {
                match self { $(Any::$variant(s) => s.wants_reads(),)* }
            }
            fn finish(&self, notes: &mut [u64]) -> usize {
                match self { $(Any::$variant(s) => s.finish(notes),)* }
            }
        }
    };
}

strategies! {
    /// Another manner of being random in each run.
    Random(1, "random", "uniform, sticky, or holding strands back: drawn for each run");
    /// Strands in turn.
    RoundRobin(2, "round-robin", "the strands in turn, a fixed number of points each");
    /// A predicted deadlock is tried.
    Directed(64, "directed", "holds strands back before the locks of a predicted deadlock");
    /// The order of a free run.
    Recorded(65, "recorded", "follows the order of events that a free run recorded");
    /// Steps that wait for others.
    Ordered(66, "ordered", "strands stand before steps until others have made theirs");
    /// Two calls against each other.
    Paired(67, "paired", "two calls run against each other while everyone else is held");
    /// Every enabled strand equally likely.
    Uniform(3, "uniform", "every enabled strand is equally likely at every point");
    /// Priorities that change at a few points.
    Pct(4, "pct", "random priorities that change at a few points; `pct:3` sets the depth");
    /// Partial order sampling.
    Pos(5, "pos", "random priorities of operations, drawn anew for those that race");
    /// The uniform random walk.
    Urw(6, "urw", "every interleaving equally likely, by what earlier runs counted");
    /// The selectively uniform random walk.
    Surw(7, "surw", "every interleaving of some objects' operations equally likely");
    /// A plain order with a few delays.
    Delay(8, "delay", "a plain order with a few delays; `delay:2` sets their number");
    /// Reads-from fuzzing.
    Rff(9, "rff", "steers towards new pairs of write and read; `rff:1` to `rff:3` set the manner of the rest");
    /// Stands before an access while others change what is there.
    Stall(10, "stall", "strands stand before an access until others have changed what they saw there");
    /// Every order.
    Dfs(16, "dfs", "every order of all steps, one after another: for very small programs");
    /// One run for each class of orders.
    Dpor(17, "dpor", "one run for each order that makes a difference, until there is no other");
    /// A bound on preemptions.
    Pcb(18, "pcb", "every order with no preemption, then with one, with two; `pcb:3` sets the bound");
    /// Pairs of statements.
    Hapset(19, "hapset", "until every pair of statements that can follow each other has");
    /// Interleaving idioms.
    Idioms(20, "idioms", "forces the interleavings of two strands that runs predict and none has shown");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_round_trip() {
        for &id in StrategyId::ALL {
            assert_eq!(StrategyId::from_name(id.name()), Some(id));
            assert_eq!(StrategyId::from_code(id as u32), Some(id));
        }
    }
}
