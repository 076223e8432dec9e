//! The mistakes: what strands do to shared numbers, step by step, and which lines are to blame.

use super::{Dice, Dress};
use crate::corpus::Language;

/// A shared number, by its place among the program's.
pub(super) type Var = usize;

/// What a strand does. Locals have names; expressions are such as C, C++ and Rust have in common.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// `local = var` at a label.
    Load(&'static str, Var, &'static str),
    /// `var = expression` at a label.
    Store(Var, String, &'static str),
    /// `var += number` in one line, at a label.
    Add(Var, i32, &'static str),
    /// Until `End`, so many times.
    Times(usize),
    /// Until `End`: an expression over locals.
    If(String),
    End,
    /// An expression that is to hold.
    Check(String),
    Lock(usize),
    Unlock(usize),
    /// Waits for the condition with lock 0, which it holds.
    Wait(&'static str),
    Signal(&'static str),
    /// Gives the object back.
    Free(&'static str),
    /// Something that has nothing to do with it.
    Distract,
}

/// A program without its dress.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    pub(super) expect: &'static str,
    pub(super) pairs: Vec<(&'static str, &'static str)>,
    pub(super) patterns: &'static str,
    /// The numbers that may be named.
    pub(super) named: Vec<Var>,
    /// Both of the pair's callers are to be named where helpers stand in between.
    pub(super) callers: Vec<&'static str>,
    pub(super) numbers: Vec<(&'static str, i32)>,
    pub(super) locks: usize,
    /// What each sort of strand does, and how many there are of it.
    pub(super) strands: Vec<(usize, Vec<Step>)>,
    /// What main does after it created them, and after it joined them.
    pub(super) meanwhile: Vec<Step>,
    pub(super) after: Vec<Step>,
}

/// What a wrong value leads to, whatever shows it.
const WRONG: &str = "assertion|crash|exit|panic|abort";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    LostUpdate,
    LostInSections,
    WrongLock,
    MissingLock,
    CheckThenAct,
    CheckInSections,
    MadeTwice,
    TornWrite,
    TornRead,
    Transfer,
    TooEarly,
    UseBeforeSet,
    Publication,
    LostWakeUp,
    FreedEarly,
}

pub(super) const KINDS: [Kind; 15] = [
    Kind::LostUpdate,
    Kind::LostInSections,
    Kind::WrongLock,
    Kind::MissingLock,
    Kind::CheckThenAct,
    Kind::CheckInSections,
    Kind::MadeTwice,
    Kind::TornWrite,
    Kind::TornRead,
    Kind::Transfer,
    Kind::TooEarly,
    Kind::UseBeforeSet,
    Kind::Publication,
    Kind::LostWakeUp,
    Kind::FreedEarly,
];

use Step::{Add, Check, Distract, End, Free, If, Load, Lock, Signal, Store, Times, Unlock, Wait};

fn store(var: Var, value: &str, label: &'static str) -> Step {
    Store(var, value.to_owned(), label)
}

fn check(text: &str) -> Step {
    Check(text.to_owned())
}

/// Read, then write what is more, each or both under a lock.
fn update(locks: [usize; 2], apart: bool, by: i32, labels: [&'static str; 2]) -> Vec<Step> {
    let mut steps = vec![Distract, Lock(locks[0]), Load("old", 0, labels[0])];
    if apart {
        steps.extend([Unlock(locks[0]), Distract, Lock(locks[1])]);
    } else {
        steps.push(Distract);
    }
    steps.extend([store(0, &format!("old + {by}"), labels[1]), Unlock(locks[1]), Distract]);
    steps
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::LostUpdate => "lost_update",
            Kind::LostInSections => "lost_in_sections",
            Kind::WrongLock => "wrong_lock",
            Kind::MissingLock => "missing_lock",
            Kind::CheckThenAct => "check_then_act",
            Kind::CheckInSections => "check_in_sections",
            Kind::MadeTwice => "made_twice",
            Kind::TornWrite => "torn_write",
            Kind::TornRead => "torn_read",
            Kind::Transfer => "transfer",
            Kind::TooEarly => "too_early",
            Kind::UseBeforeSet => "use_before_set",
            Kind::Publication => "publication",
            Kind::LostWakeUp => "lost_wake_up",
            Kind::FreedEarly => "freed_early",
        }
    }

    pub(super) fn plot(self, dice: &mut Dice, dress: &Dress) -> Plot {
        let blank = Plot {
            expect: WRONG,
            pairs: Vec::new(),
            patterns: "",
            named: vec![0],
            callers: Vec::new(),
            numbers: vec![("balance", 100)],
            locks: 0,
            strands: Vec::new(),
            meanwhile: Vec::new(),
            after: Vec::new(),
        };
        let many = dress.many;
        let ends_at = |value: i32| vec![Load("last", 0, "last"), Check(format!("last == {value}"))];
        match self {
            Kind::LostUpdate => {
                let rounds = dice.one(&[1, 1, 2]);
                let one_line = dice.of(3) == 0;
                let mut steps = vec![Distract];
                if rounds > 1 {
                    steps.push(Times(rounds));
                }
                if one_line {
                    steps.extend([Distract, Add(0, 10, "add"), Distract]);
                } else {
                    steps.extend([Load("old", 0, "read"), Distract, store(0, "old + 10", "write")]);
                }
                if rounds > 1 {
                    steps.push(End);
                }
                let total = 100 + 10 * many as i32 * rounds as i32;
                let pairs = if one_line { vec![("add", "add")] } else { vec![("read", "write")] };
                let callers = if one_line { vec![] } else { vec!["read", "write"] };
                Plot {
                    pairs,
                    patterns: "lost-update",
                    callers,
                    strands: vec![(many, steps)],
                    after: ends_at(total),
                    ..blank
                }
            }
            Kind::LostInSections => Plot {
                pairs: vec![("read", "write")],
                patterns: "lost-update",
                locks: 2,
                strands: vec![(many, update([0, dice.of(2)], true, 10, ["read", "write"]))],
                after: ends_at(100 + 10 * many as i32),
                ..blank
            },
            Kind::WrongLock => Plot {
                pairs: vec![("read_a", "write_b"), ("read_b", "write_a")],
                patterns: "lost-update",
                locks: 2,
                strands: vec![
                    (many - 1, update([0, 0], false, 10, ["read_a", "write_a"])),
                    (1, update([1, 1], false, 3, ["read_b", "write_b"])),
                ],
                after: ends_at(103 + 10 * (many as i32 - 1)),
                ..blank
            },
            Kind::MissingLock => {
                let mut bare = update([0, 0], false, 3, ["read_b", "write_b"]);
                bare.retain(|step| !matches!(step, Lock(_) | Unlock(_)));
                Plot {
                    pairs: vec![
                        ("read_a", "write_b"),
                        ("read_b", "write_a"),
                        ("read_c", "write_b"),
                        ("read_b", "write_c"),
                    ],
                    patterns: "lost-update",
                    locks: 1,
                    strands: vec![
                        (1, update([0, 0], false, 10, ["read_a", "write_a"])),
                        (1, bare),
                        (1, update([0, 0], false, -7, ["read_c", "write_c"])),
                    ],
                    after: ends_at(106),
                    ..blank
                }
            }
            Kind::CheckThenAct | Kind::CheckInSections => {
                let apart = self == Kind::CheckInSections;
                let mut steps = vec![
                    Distract,
                    Lock(0),
                    Load("spare", 0, "check"),
                    Unlock(0),
                    If("spare > 0".to_owned()),
                    Distract,
                    Lock(0),
                    Load("now", 0, "again"),
                    store(0, "now - 1", "take"),
                    Unlock(0),
                ];
                let inside = dice.of(2) == 0;
                if inside {
                    steps.push(check("now > 0"));
                }
                steps.push(End);
                if !apart {
                    steps.retain(|step| !matches!(step, Lock(_) | Unlock(_)));
                }
                let after = if inside { vec![] } else { vec![Load("last", 0, "last"), check("last >= 0")] };
                Plot {
                    pairs: vec![("check", "take"), ("again", "take")],
                    patterns: "check-then-act",
                    numbers: vec![("seats", many as i32 - 1)],
                    locks: usize::from(apart),
                    strands: vec![(many, steps)],
                    after,
                    ..blank
                }
            }
            Kind::MadeTwice => Plot {
                pairs: vec![("look", "make")],
                patterns: "check-then-act|lost-update",
                named: vec![0],
                numbers: vec![("made", 0), ("times", 0)],
                locks: 1,
                strands: vec![(
                    many,
                    vec![
                        Distract,
                        Load("there", 0, "look"),
                        If("there == 0".to_owned()),
                        Distract,
                        store(0, "1", "make"),
                        Lock(0),
                        Add(1, 1, "count"),
                        Unlock(0),
                        End,
                    ],
                )],
                after: vec![Load("times", 1, "last"), check("times == 1")],
                ..blank
            },
            Kind::TornWrite | Kind::TornRead => {
                let read = self == Kind::TornRead;
                let writer = vec![
                    Distract,
                    Lock(0),
                    store(0, "2", "set_x"),
                    Distract,
                    store(1, "2", "set_y"),
                    Unlock(0),
                    Distract,
                ];
                let mut reader =
                    vec![Distract, Load("x", 0, "get_x"), Distract, Load("y", 1, "get_y"), check("x == y")];
                if read {
                    // Each look has the lock, both together have not.
                    reader = vec![
                        Distract,
                        Lock(0),
                        Load("x", 0, "get_x"),
                        Unlock(0),
                        Distract,
                        Lock(0),
                        Load("y", 1, "get_y"),
                        Unlock(0),
                        check("x == y"),
                    ];
                }
                Plot {
                    pairs: vec![
                        ("set_x", "get_x"),
                        ("set_y", "get_y"),
                        ("set_x", "get_y"),
                        ("set_y", "get_x"),
                    ],
                    patterns: "torn-pair",
                    named: vec![0, 1],
                    numbers: vec![("x", 1), ("y", 1)],
                    locks: 1,
                    strands: vec![(1, writer), (1, reader)],
                    ..blank
                }
            }
            Kind::Transfer => Plot {
                pairs: vec![
                    ("take", "see_from"),
                    ("give", "see_to"),
                    ("take", "see_to"),
                    ("give", "see_from"),
                ],
                patterns: "torn-pair",
                named: vec![0, 1],
                numbers: vec![("from", 50), ("to", 50)],
                locks: 1,
                strands: vec![
                    (
                        1,
                        vec![
                            Distract,
                            Lock(0),
                            Load("from", 0, "get_from"),
                            store(0, "from - 20", "take"),
                            Unlock(0),
                            Distract,
                            Lock(0),
                            Load("to", 1, "get_to"),
                            store(1, "to + 20", "give"),
                            Unlock(0),
                        ],
                    ),
                    (
                        1,
                        vec![
                            Distract,
                            Lock(0),
                            Load("first", 0, "see_from"),
                            Load("second", 1, "see_to"),
                            Unlock(0),
                            Distract,
                            check("first + second == 100"),
                        ],
                    ),
                ],
                ..blank
            },
            Kind::TooEarly => Plot {
                pairs: vec![("read", "write")],
                patterns: "order-violation|use-before-init",
                numbers: vec![("result", -1)],
                strands: vec![(1, vec![Distract, store(0, "42", "write"), Distract])],
                meanwhile: vec![Distract, Load("seen", 0, "read"), check("seen == 42")],
                ..blank
            },
            Kind::UseBeforeSet => {
                let inside = dice.of(2) == 0;
                let mut steps = vec![Distract, Load("limit", 0, "use")];
                let after = if inside {
                    steps.push(check("limit == 64"));
                    vec![]
                } else {
                    steps.push(store(1, "limit", "keep"));
                    vec![Load("used", 1, "last"), check("used == 64")]
                };
                Plot {
                    pairs: vec![("set", "use")],
                    patterns: "use-before-init",
                    numbers: vec![("limit", 0), ("used", 0)],
                    strands: vec![(1, steps)],
                    meanwhile: vec![store(0, "64", "set"), Distract],
                    after,
                    ..blank
                }
            }
            Kind::Publication => Plot {
                pairs: vec![("fill", "use"), ("mark", "look")],
                patterns: "torn-pair|use-before-init",
                named: vec![0, 1],
                numbers: vec![("ready", 0), ("data", 0)],
                strands: vec![
                    (1, vec![Distract, store(0, "1", "mark"), Distract, store(1, "7", "fill"), Distract]),
                    (
                        1,
                        vec![
                            Distract,
                            Load("ready", 0, "look"),
                            If("ready == 1".to_owned()),
                            Load("data", 1, "use"),
                            check("data == 7"),
                            End,
                        ],
                    ),
                ],
                ..blank
            },
            Kind::LostWakeUp => Plot {
                expect: "deadlock",
                pairs: vec![("signal", "wait")],
                patterns: "lost-wake-up",
                named: vec![],
                numbers: vec![("ready", 0)],
                locks: 1,
                strands: vec![
                    (
                        1,
                        vec![
                            Distract,
                            Lock(0),
                            Load("ready", 0, "look"),
                            Unlock(0),
                            If("ready == 0".to_owned()),
                            Distract,
                            Lock(0),
                            Wait("wait"),
                            Unlock(0),
                            End,
                        ],
                    ),
                    (1, vec![Distract, Lock(0), store(0, "1", "set"), Signal("signal"), Unlock(0), Distract]),
                ],
                ..blank
            },
            Kind::FreedEarly => Plot {
                expect: if dress.language == Language::Rust {
                    "use-after-free|crash"
                } else {
                    "use-after-free"
                },
                pairs: vec![("free", "use"), ("free", "put")],
                patterns: "order-violation",
                named: vec![],
                numbers: vec![("kept", 5), ("used", 0)],
                strands: vec![(
                    1,
                    vec![Distract, Load("kept", 0, "use"), Distract, store(1, "kept + 1", "put"), Distract],
                )],
                meanwhile: vec![Distract, Free("free")],
                ..blank
            },
        }
    }
}
