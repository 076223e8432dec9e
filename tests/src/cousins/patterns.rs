//! The mistakes: what strands do to shared numbers, step by step.

/// A shared number, by its place among the program's.
pub(super) type Var = usize;

/// What a strand does. Locals have names, expressions are such as C, C++ and Rust have in common.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// `local = var`, with a label or none.
    Load(&'static str, Var, Option<&'static str>),
    /// `var = expression`.
    Store(Var, &'static str, Option<&'static str>),
    /// Until `}`: an expression over locals.
    If(&'static str),
    /// Its end.
    End,
    /// An expression that is to hold.
    Check(&'static str),
    /// Something that has nothing to do with it.
    Distract,
}

/// A program without its dress.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    /// What the numbers are at first, and what they are called.
    pub(super) numbers: &'static [(&'static str, i32)],
    /// What each sort of strand does, and how many there are of it.
    pub(super) strands: Vec<(usize, Vec<Step>)>,
    /// What main does after it created them, and after it joined them.
    pub(super) meanwhile: Vec<Step>,
    pub(super) after: Vec<Step>,
}

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Read, then write what is one more.
    LostUpdate,
    /// Two additions to two totals, one of them lost.
    LostSum,
    /// Taken if there is one; two take.
    CheckThenAct,
    /// Made if it is not there; made twice.
    MadeTwice,
    /// The greatest so far.
    Greatest,
    /// A pair written in two steps, read in between.
    TornWrite,
    /// A pair written at once by its owner's word, read in two steps.
    TornRead,
    /// Moved from one to the other in two steps; the sum is looked at.
    Transfer,
    /// Read before it is written.
    TooEarly,
    /// Used by the worker before main sets it.
    UseBeforeSet,
    /// The flag is set before the data.
    Publication,
    /// Two numbers are exchanged in four steps.
    Swap,
}

use Step::{Check, Distract, End, If, Load, Store};

impl Pattern {
    /// All.
    pub const ALL: [Pattern; 12] = [
        Pattern::LostUpdate,
        Pattern::LostSum,
        Pattern::CheckThenAct,
        Pattern::MadeTwice,
        Pattern::Greatest,
        Pattern::TornWrite,
        Pattern::TornRead,
        Pattern::Transfer,
        Pattern::TooEarly,
        Pattern::UseBeforeSet,
        Pattern::Publication,
        Pattern::Swap,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::LostUpdate => "lost_update",
            Pattern::LostSum => "lost_sum",
            Pattern::CheckThenAct => "check_then_act",
            Pattern::MadeTwice => "made_twice",
            Pattern::Greatest => "greatest",
            Pattern::TornWrite => "torn_write",
            Pattern::TornRead => "torn_read",
            Pattern::Transfer => "transfer",
            Pattern::TooEarly => "too_early",
            Pattern::UseBeforeSet => "use_before_set",
            Pattern::Publication => "publication",
            Pattern::Swap => "swap",
        }
    }

    /// What it does.
    pub(super) fn plot(self) -> Plot {
        let plot = |numbers, strands, after| Plot { numbers, strands, meanwhile: Vec::new(), after };
        match self {
            Pattern::LostUpdate => plot(
                &[("balance", 100)],
                vec![(
                    2,
                    vec![
                        Distract,
                        Load("old", 0, Some("read")),
                        Distract,
                        Store(0, "old + 10", Some("write")),
                        Distract,
                    ],
                )],
                vec![Load("last", 0, None), Check("last == 120")],
            ),
            Pattern::LostSum => plot(
                &[("sum", 0), ("rounds", 0)],
                vec![(
                    2,
                    vec![
                        Load("sum", 0, Some("read")),
                        Store(0, "sum + 3", Some("write")),
                        Distract,
                        Load("rounds", 1, Some("look")),
                        Store(1, "rounds + 1", Some("count")),
                    ],
                )],
                vec![Load("sum", 0, None), Load("rounds", 1, None), Check("sum == 6 && rounds == 2")],
            ),
            Pattern::CheckThenAct => plot(
                &[("seats", 1), ("sold", 0)],
                vec![(
                    2,
                    vec![
                        Distract,
                        Load("free", 0, Some("check")),
                        If("free > 0"),
                        Distract,
                        Load("now", 0, Some("again")),
                        Store(0, "now - 1", Some("take")),
                        End,
                    ],
                )],
                vec![Load("left", 0, None), Check("left == 0")],
            ),
            Pattern::MadeTwice => plot(
                &[("made", 0), ("times", 0)],
                vec![(
                    2,
                    vec![
                        Load("there", 0, Some("check")),
                        If("there == 0"),
                        Distract,
                        Store(0, "1", Some("make")),
                        Load("before", 1, Some("look")),
                        Store(1, "before + 1", Some("count")),
                        End,
                    ],
                )],
                vec![Load("times", 1, None), Check("times == 1")],
            ),
            Pattern::Greatest => plot(
                &[("most", 0)],
                vec![
                    (
                        1,
                        vec![
                            Load("now", 0, Some("look")),
                            If("now < 5"),
                            Distract,
                            Store(0, "5", Some("put")),
                            End,
                        ],
                    ),
                    (
                        1,
                        vec![
                            Load("now", 0, Some("see")),
                            If("now < 9"),
                            Distract,
                            Store(0, "9", Some("set")),
                            End,
                        ],
                    ),
                ],
                vec![Load("most", 0, None), Check("most == 9")],
            ),
            Pattern::TornWrite => plot(
                &[("x", 1), ("y", 1)],
                vec![
                    (
                        1,
                        vec![
                            Distract,
                            Store(0, "2", Some("set_x")),
                            Distract,
                            Store(1, "2", Some("set_y")),
                            Store(0, "3", Some("put_x")),
                            Store(1, "3", Some("put_y")),
                        ],
                    ),
                    (
                        1,
                        vec![
                            Load("x", 0, Some("get_x")),
                            Load("y", 1, Some("get_y")),
                            Distract,
                            Check("x == y"),
                        ],
                    ),
                ],
                vec![],
            ),
            Pattern::TornRead => plot(
                &[("low", 0), ("high", 10)],
                vec![
                    (1, vec![Store(0, "20", Some("set_low")), Store(1, "30", Some("set_high")), Distract]),
                    (
                        1,
                        vec![
                            Load("high", 1, Some("get_high")),
                            Distract,
                            Load("low", 0, Some("get_low")),
                            Check("low < high"),
                        ],
                    ),
                ],
                vec![],
            ),
            Pattern::Transfer => plot(
                &[("from", 50), ("to", 50)],
                vec![
                    (
                        1,
                        vec![
                            Load("from", 0, Some("get_from")),
                            Store(0, "from - 20", Some("take")),
                            Distract,
                            Load("to", 1, Some("get_to")),
                            Store(1, "to + 20", Some("give")),
                        ],
                    ),
                    (
                        1,
                        vec![
                            Load("first", 0, Some("audit")),
                            Load("second", 1, Some("sum")),
                            Check("first + second == 100"),
                        ],
                    ),
                ],
                vec![],
            ),
            Pattern::TooEarly => Plot {
                meanwhile: vec![Distract, Load("seen", 0, Some("read")), Check("seen == 42")],
                ..plot(
                    &[("result", -1)],
                    vec![(1, vec![Distract, Store(0, "42", Some("write")), Distract])],
                    vec![],
                )
            },
            Pattern::UseBeforeSet => Plot {
                meanwhile: vec![Store(0, "64", Some("set")), Distract],
                ..plot(
                    &[("limit", 0), ("used", 0)],
                    vec![(1, vec![Distract, Load("limit", 0, Some("use")), Store(1, "limit", Some("keep"))])],
                    vec![Load("used", 1, None), Check("used == 64")],
                )
            },
            Pattern::Publication => plot(
                &[("ready", 0), ("data", 0)],
                vec![
                    (1, vec![Store(0, "1", Some("publish")), Distract, Store(1, "7", Some("data"))]),
                    (
                        1,
                        vec![
                            Distract,
                            Load("ready", 0, Some("look")),
                            If("ready == 1"),
                            Load("data", 1, Some("use")),
                            Check("data == 7"),
                            End,
                        ],
                    ),
                ],
                vec![],
            ),
            Pattern::Swap => plot(
                &[("one", 1), ("two", 2)],
                vec![(
                    2,
                    vec![
                        Load("first", 0, Some("get_one")),
                        Load("second", 1, Some("get_two")),
                        Distract,
                        Store(0, "second", Some("set_one")),
                        Store(1, "first", Some("set_two")),
                    ],
                )],
                vec![Load("one", 0, None), Load("two", 1, None), Check("one == 1 && two == 2")],
            ),
        }
    }
}
