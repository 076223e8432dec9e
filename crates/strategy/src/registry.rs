//! The strategies by name and number, each with a row of what others have to know of it.
//!
//! Nobody else asks which strategy it is: the runtime, the books and the advisers ask its [`Row`].

pub mod delay;
pub mod directed;
pub mod ordered;
pub mod paired;
pub mod pct;
pub mod planned;
pub mod pos;
pub mod random;
pub mod recorded;
pub mod rff;
pub mod round_robin;
pub mod stall;
pub mod surw;
pub mod uniform;
pub mod urw;

use crate::apart::Apart;
use crate::spec::Parameter;
use crate::{Born, Load, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::strand::StrandId;

/// What others have to know of a strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The parameter that it takes, if any.
    pub parameter: Option<Parameter>,
    /// A user may ask for it: runs that try a prediction are a campaign's own affair.
    pub offered: bool,
    /// It draws each run anew, whatever earlier runs showed, so that runs are independent.
    pub forgets: bool,
    /// It is to bring about something certain, and is not disturbed by faults.
    pub certain: bool,
    /// Its atomic loads may see older stores, where the memory model allows.
    pub older_stores: bool,
    /// The end of the process comes last in most of its runs; otherwise it decides about that, too.
    pub ends_last: bool,
    /// Who tells it between runs what earlier ones showed.
    pub adviser: Adviser,
}

/// Who advises a strategy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Adviser {
    /// Nobody.
    None,
    /// Who counts what each strand does.
    Profile,
    /// Who keeps pairs of write and read, and what each strand does.
    Fuzz,
    /// A planner, which decides whole runs.
    Planner,
    /// Who forces iroots; a planner, too.
    Idioms,
}

impl Row {
    /// One that learns nothing and is drawn for each run.
    const DRAWN: Row = Row {
        parameter: None,
        offered: true,
        forgets: true,
        certain: false,
        older_stores: true,
        ends_last: true,
        adviser: Adviser::None,
    };
    /// One that is told what earlier runs showed.
    const LEARNING: Row = Row { forgets: false, ..Row::DRAWN };
    /// One that a campaign uses for an end of its own.
    const CERTAIN: Row =
        Row { offered: false, forgets: false, certain: true, older_stores: false, ..Row::DRAWN };
    /// One whose runs are planned.
    const PLANNED: Row = Row { forgets: false, ends_last: false, adviser: Adviser::Planner, ..Row::DRAWN };

    /// The same with a parameter.
    const fn with(self, name: &'static str, most: u64) -> Row {
        Row { parameter: Some(Parameter { name, least: 1, most }), ..self }
    }
}

macro_rules! strategies {
    ($($(#[$meta:meta])* $variant:ident($kind:path, $code:literal, $name:literal, $summary:literal) = $row:expr;)*) => {
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

            /// What others have to know of it.
            pub const fn row(self) -> Row {
                match self { $(StrategyId::$variant => $row,)* }
            }

            /// The strategy with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(StrategyId::$variant),)* _ => None }
            }
        }

        /// Any one of the strategies; those that take much room have it apart.
        #[derive(Debug)]
        #[expect(clippy::large_enum_variant, reason = "a run has one of it")]
        pub enum Any { $($(#[$meta])* $variant($kind),)* }

        impl Any {
            /// The strategy with this number, not begun.
            pub fn new(id: StrategyId) -> Self {
                match id { $(StrategyId::$variant => Any::$variant(<$kind>::new()),)* }
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
            fn names_stores(&self) -> bool {
                match self { $(Any::$variant(s) => s.names_stores(),)* }
            }
            fn store(&mut self, load: Load, options: u32, made: &dyn Fn(u32) -> (StrandId, u64)) -> u32 {
                match self { $(Any::$variant(s) => s.store(load, options, made),)* }
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
    Random(random::Random, 1, "random", "uniform, sticky, or holding strands back: drawn for each run") =
        Row::DRAWN.with("stickiness", 1 << 20);
    /// Strands in turn.
    RoundRobin(round_robin::RoundRobin, 2, "round-robin", "the strands in turn, a fixed number of points each") =
        Row { older_stores: false, ..Row::DRAWN }.with("length of a turn", 1 << 20);
    /// A predicted deadlock is tried.
    Directed(directed::Directed, 64, "directed", "holds strands back before the locks of a predicted deadlock") =
        Row::CERTAIN;
    /// The order of a free run.
    Recorded(recorded::Recorded, 65, "recorded", "follows the order of events that a free run recorded") =
        Row { ends_last: false, ..Row::CERTAIN };
    /// Steps that wait for others.
    Ordered(Apart<ordered::Ordered>, 66, "ordered", "strands stand before steps until others have made theirs") =
        Row::CERTAIN.with("rest", u64::MAX);
    /// Two calls against each other.
    Paired(Apart<paired::Paired>, 67, "paired", "two calls run against each other while everyone else is held") =
        Row::CERTAIN.with("rest", u64::MAX);
    /// Every enabled strand equally likely.
    Uniform(uniform::Uniform, 3, "uniform", "every enabled strand is equally likely at every point") =
        Row::DRAWN;
    /// Priorities that change at a few points.
    Pct(pct::Pct, 4, "pct", "random priorities that change at a few points; `pct:3` sets the depth") =
        Row::LEARNING.with("depth", pct::DEEPEST);
    /// Partial order sampling.
    Pos(pos::Pos, 5, "pos", "random priorities of operations, drawn anew for those that race") =
        Row::DRAWN;
    /// The uniform random walk.
    Urw(urw::Urw, 6, "urw", "every interleaving equally likely, by what earlier runs counted") =
        Row { adviser: Adviser::Profile, ..Row::LEARNING };
    /// The selectively uniform random walk.
    Surw(surw::Surw, 7, "surw", "every interleaving of some objects' operations equally likely") =
        Row { adviser: Adviser::Profile, ..Row::LEARNING };
    /// A plain order with a few delays.
    Delay(delay::Delay, 8, "delay", "a plain order with a few delays; `delay:2` sets their number") =
        Row { older_stores: false, ..Row::DRAWN }.with("number of delays", delay::MOST);
    /// Reads-from fuzzing.
    Rff(rff::Rff, 9, "rff", "steers towards new pairs of write and read; `rff:1` to `rff:3` set the manner of the rest") =
        Row { adviser: Adviser::Fuzz, ..Row::LEARNING }.with("manner", rff::Manner::ALL.len() as u64);
    /// Stands before an access while others change what is there.
    Stall(stall::Stall, 10, "stall", "strands stand before an access until others have changed what they saw there") =
        Row::LEARNING;
    /// Every order.
    Dfs(planned::Dfs, 16, "dfs", "every order of all steps, one after another: for very small programs") =
        Row::PLANNED;
    /// One run for each class of orders.
    Dpor(planned::Dpor, 17, "dpor", "one run for each order that makes a difference, until there is no other") =
        Row::PLANNED;
    /// A bound on preemptions.
    Pcb(planned::Pcb, 18, "pcb", "every order with no preemption, then with one, with two; `pcb:3` sets the bound") =
        Row::PLANNED.with("most preemptions", 64);
    /// Pairs of statements.
    Hapset(planned::Hapset, 19, "hapset", "until every pair of statements that can follow each other has") =
        Row::PLANNED;
    /// Interleaving idioms: its plans are carried out by `ordered`, and a run without one is drawn.
    Idioms(random::Random, 20, "idioms", "forces the interleavings of two strands that runs predict and none has shown") =
        Row { ends_last: true, adviser: Adviser::Idioms, ..Row::PLANNED };
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

    #[test]
    fn rows_do_not_contradict_themselves() {
        for &id in StrategyId::ALL {
            let row = id.row();
            let name = id.name();
            assert!(!(row.forgets && row.adviser != Adviser::None), "{name} forgets what it is told");
            assert!(!(row.certain && row.offered), "{name} is a campaign's own affair");
            assert!(!row.certain || !row.older_stores, "{name} is disturbed by older stores");
            assert!(row.parameter.is_none_or(|it| it.least <= it.most), "{name} has no parameter");
        }
    }
}
