//! Findings of every kind, for the tests of what is written about them.

use crate::campaign::{CampaignReport, Coverage, FORMAT_VERSION};
use threadbare_findings::finding::{
    AccessDetail, BlockDetail, Creation, DecidingTerm, Explanation, FirstBroken, Happening, HeldLock,
    LaneStep, ObjectDetail, PairPlace, SourceText,
};
use threadbare_findings::pattern::Pattern;
use threadbare_findings::{BrokenInvariant, Finding, Location, Place, Shrunk, StrandDetail};

const BANK: &str = "\
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static void deposit(int amount) {
    int before = balance;
    balance = before + amount;
}

static void *teller(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&book);
    deposit(100);
    return NULL;
}

static void *auditor(void *unused) {
    pthread_mutex_lock(&book);
    pthread_mutex_lock(&lock);
    deposit(100);
    return NULL;
}

int main(void) {
    pthread_create(&first, NULL, teller, NULL);
    pthread_create(&second, NULL, auditor, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(balance == 200);
}
";

pub(crate) fn place(function: &str, line: u32) -> Place {
    Place {
        function: Some(function.into()),
        file: Some("src/bank.c".into()),
        line: Some(line),
        address: format!("bank+{line:#x}"),
        ..Place::default()
    }
}

fn location(function: &str, line: u32, strand: &str) -> Location {
    Location {
        file: Some("src/bank.c".into()),
        line: Some(line),
        function: Some(function.into()),
        strand: Some(strand.into()),
        source: BANK.lines().nth(line as usize - 1).map(str::to_owned),
    }
}

fn held(object: &str, function: &str, line: u32) -> HeldLock {
    HeldLock { object: object.into(), taken_at: Some(place(function, line)) }
}

fn step(strand: &str, operation: &str, object: &str, function: &str, line: u32) -> LaneStep {
    LaneStep {
        strand: strand.into(),
        operation: operation.into(),
        object: Some(object.into()),
        place: Some(place(function, line)),
        ..LaneStep::default()
    }
}

fn base(kind: &str, message: &str) -> Finding {
    Finding {
        format_version: 1,
        id: format!("{kind}-375b27d8"),
        kind: kind.into(),
        message: message.into(),
        schedule: format!(".threadbare/{kind}-375b27d8.schedule"),
        run: 37,
        count: 3,
        switches: 7,
        points: 1010,
        program: "/home/me/bank".into(),
        sources: vec![SourceText {
            file: "src/bank.c".into(),
            line: 1,
            lines: BANK.lines().map(str::to_owned).collect(),
        }],
        ..Finding::default()
    }
}

fn created() -> Vec<Creation> {
    [("0.1", "teller", 27), ("0.2", "", 28)]
        .map(|(strand, name, line)| Creation {
            strand: strand.into(),
            name: name.into(),
            by: "0".into(),
            stack: vec![place("main", line)],
        })
        .to_vec()
}

pub(crate) fn race() -> Finding {
    let mut last = step("0.2", "write", "balance", "deposit", 9);
    last.skipped = 12;
    Finding {
        locations: vec![location("deposit", 9, "0.2"), location("deposit", 8, "0.1")],
        accesses: vec![
            AccessDetail {
                strand: "0.2".into(),
                operation: "write".into(),
                size: 4,
                stack: vec![place("deposit", 9), place("auditor", 22)],
                holds: vec![held("book", "auditor", 20)],
            },
            AccessDetail {
                strand: "0.1".into(),
                operation: "read".into(),
                size: 4,
                stack: vec![place("deposit", 8), place("teller", 15)],
                holds: Vec::new(),
            },
        ],
        object: Some(ObjectDetail {
            name: Some("balance".into()),
            address: "0x555555558014".into(),
            size: 4,
            block: None,
        }),
        created: created(),
        steps: vec![
            step("0", "create", "strand 0.1", "main", 27),
            step("0", "create", "strand 0.2", "main", 28),
            step("0.1", "read", "balance", "deposit", 8),
            step("0.2", "read", "balance", "deposit", 8),
            last,
        ],
        notes: vec!["no lock is held at both accesses".into()],
        ..base("race", "`balance` is written and read without an order between the two")
    }
}

pub(crate) fn deadlock() -> Finding {
    let waits =
        |strand: &str, name: &str, object: &str, by: &str, function: &str, line: u32, lock: HeldLock| {
            StrandDetail {
                strand: strand.into(),
                name: name.into(),
                state: "blocked".into(),
                operation: Some("lock".into()),
                object: Some(object.into()),
                held_by: Some(by.into()),
                holds: vec![lock],
                stack: vec![place(function, line)],
            }
        };
    let main = StrandDetail {
        strand: "0".into(),
        state: "blocked".into(),
        operation: Some("join".into()),
        object: Some("strand 0.1".into()),
        held_by: Some("0.1".into()),
        stack: vec![place("main", 29)],
        ..StrandDetail::default()
    };
    let waiting = |mut step: LaneStep| {
        step.waits = true;
        step
    };
    Finding {
        locations: vec![location("teller", 14, "0.1"), location("auditor", 21, "0.2")],
        strands: vec![
            main,
            waits("0.1", "teller", "book", "0.2", "teller", 14, held("lock", "teller", 13)),
            waits("0.2", "", "lock", "0.1", "auditor", 21, held("book", "auditor", 20)),
        ],
        steps: vec![
            step("0", "create", "strand 0.1", "main", 27),
            step("0.1", "lock", "lock", "teller", 13),
            step("0", "create", "strand 0.2", "main", 28),
            waiting(step("0", "join", "strand 0.1", "main", 29)),
            step("0.2", "lock", "book", "auditor", 20),
            waiting(step("0.1", "lock", "book", "teller", 14)),
            waiting(step("0.2", "lock", "lock", "auditor", 21)),
        ],
        notes: vec!["teller takes `lock` before `book`, auditor `book` before `lock`".into()],
        schedule: "out dir/it's.schedule".into(),
        ..base("deadlock", "deadlock: all 3 strands wait for each other")
    }
}

pub(crate) fn assertion() -> Finding {
    let start = Place { library: true, ..place("start", 1) };
    let running = StrandDetail {
        strand: "0".into(),
        state: "running".into(),
        stack: vec![Place { inlined: true, ..place("check", 31) }, place("main", 30), start],
        ..StrandDetail::default()
    };
    let ready = StrandDetail {
        strand: "0.2".into(),
        state: "ready".into(),
        operation: Some("write".into()),
        object: Some("balance".into()),
        stack: vec![place("deposit", 9)],
        ..StrandDetail::default()
    };
    Finding {
        locations: vec![location("check", 31, "0")],
        strands: vec![running, ready],
        steps: vec![
            step("0.1", "read", "balance", "deposit", 8),
            step("0.2", "read", "balance", "deposit", 8),
            step("0.1", "write", "balance", "deposit", 9),
            step("0", "join", "strand 0.1", "main", 29),
        ],
        warnings: vec!["ptrace is not modelled (at bank.c:3)".into()],
        stdout: (0..25).map(|n| format!("line {n}\n")).collect(),
        stderr: "balance 100\u{1b}[31m\n".into(),
        ..base("assertion", "assertion `balance == 200' failed")
    }
}

/// The assertion, shrunk and explained.
pub(crate) fn explained() -> Finding {
    let pair = |strand: &str, operation: &str, line| PairPlace {
        file: Some("src/bank.c".into()),
        line: Some(line),
        function: Some("deposit".into()),
        strand: strand.into(),
        operation: operation.into(),
        object: Some("balance".into()),
        ..PairPlace::default()
    };
    let order = |list: [(&str, &str, u32); 3]| {
        list.map(|(strand, operation, line)| step(strand, operation, "balance", "deposit", line)).to_vec()
    };
    let (read, write) = (("0.2", "read", 8), ("0.1", "write", 9));
    Finding {
        switches: 2,
        preemptions: Some(1),
        shrunk: Some(Shrunk { switches: 37, preemptions: 12, minimal: true, runs: 41 }),
        explanation: Some(Explanation {
            pattern: Some(Pattern::LostUpdate),
            pair: vec![pair("0.2", "read", 8), pair("0.1", "write", 9)],
            text: "lost update on `balance`: bank.c:9 (write, strand 0.2) ran between bank.c:8 (read) and bank.c:9 (write) of \
                   strand 0.1; with bank.c:9 of 0.1 before bank.c:8 of 0.2 the run passes"
                .into(),
            decided_by: Some(DecidingTerm {
                read: pair("0.2", "read", 8),
                write: None,
                passing_write: Some(pair("0.1", "write", 9)),
                text: "bank.c:8 @0.2 <- initial; with bank.c:9 @0.1 it passes".into(),
            }),
            others: vec![pair("0.1", "read", 8), pair("0.2", "write", 9)],
            failing: order([("0.1", "read", 8), read, write]),
            passing: order([("0.1", "read", 8), write, read]),
        }),
        invariant: Some(BrokenInvariant {
            text: "::balance == orig(::balance) + 100".into(),
            place: "src/bank.c:8".into(),
            point: "block".into(),
            side: "exit".into(),
            function: "deposit".into(),
            lines: Some((8, 9)),
            kind: "transition".into(),
            instead: vec!["::balance >= orig(::balance)".into()],
            runs_passing: 40,
            runs_failing: 3,
            first_broken: FirstBroken {
                place: "src/bank.c:9".into(),
                strand: "0.1".into(),
                values: [("::balance", "100"), ("orig(::balance)", "100")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .into(),
                came_between: true,
                schedule: ".threadbare/assertion-375b27d8.schedule".into(),
            },
        }),
        stdout: String::new(),
        ..assertion()
    }
}

pub(crate) fn use_after_free() -> Finding {
    let happened = |strand: &str, function: &str, line| {
        Some(Happening { strand: strand.into(), stack: vec![place(function, line)] })
    };
    Finding {
        locations: vec![location("deposit", 8, "0.2")],
        accesses: vec![AccessDetail {
            strand: "0.2".into(),
            operation: "read".into(),
            size: 4,
            stack: vec![place("deposit", 8), place("auditor", 22)],
            holds: Vec::new(),
        }],
        object: Some(ObjectDetail {
            name: None,
            address: "0x600000000d94".into(),
            size: 4,
            block: Some(BlockDetail {
                address: "0x600000000d90".into(),
                size: 16,
                allocated: happened("0", "main", 27),
                freed: happened("0.1", "teller", 16),
            }),
        }),
        created: created(),
        ..base("use-after-free", "strand 0.2 reads 4 bytes of a block that was freed")
    }
}

pub(crate) fn crash() -> Finding {
    let mut strand = assertion().strands.remove(0);
    strand.stack = vec![Place { address: "libc.so.6+0x8a3c5".into(), library: true, ..Place::default() }];
    let location =
        Location { function: Some("memcpy".into()), strand: Some("0".into()), ..Location::default() };
    Finding { locations: vec![location], strands: vec![strand], ..base("crash", "SIGSEGV at address 0x0") }
}

pub(crate) fn timeout() -> Finding {
    let mut strand = assertion().strands.remove(0);
    strand.stack = vec![place("main", 30)];
    Finding {
        locations: vec![location("main", 30, "0")],
        strands: vec![strand],
        ..base("timeout", "the run took longer than 10 s")
    }
}

pub(crate) fn livelock() -> Finding {
    let spins = |strand: &str, line| StrandDetail {
        strand: strand.into(),
        state: "blocked".into(),
        operation: Some("spin-wait".into()),
        object: Some("flag".into()),
        stack: vec![place("deposit", line)],
        ..StrandDetail::default()
    };
    Finding {
        locations: vec![location("deposit", 8, "0.1"), location("deposit", 9, "0.2")],
        strands: vec![spins("0.1", 8), spins("0.2", 9)],
        ..base("livelock", "2 strands spin on memory that nobody can change")
    }
}

/// A finding of a Rust or C++ program whose names are long and whose source is gone.
pub(crate) fn long_names() -> Finding {
    let mut finding = race();
    let name = "<alloc::collections::btree::map::BTreeMap<alloc::string::String, alloc::vec::Vec<core::option::Option<u64>>> as core::iter::FromIterator<(K, V)>>::from_iter::<core::iter::Map<I, F>>";
    let file = "/home/somebody/projects/a-workspace-with-a-long-name/crates/engine/src/storage/backend/in_memory_table.rs";
    let rename = |place: &mut Place| {
        place.function = Some(name.into());
        place.file = Some(file.into());
    };
    for access in &mut finding.accesses {
        access.stack.iter_mut().for_each(rename);
    }
    finding.steps.iter_mut().filter_map(|step| step.place.as_mut()).for_each(rename);
    finding.steps.iter_mut().for_each(|step| step.object = Some(format!("{name}::CACHE")));
    finding.sources.clear();
    finding
}

pub(crate) fn all() -> Vec<Finding> {
    vec![
        race(),
        deadlock(),
        assertion(),
        use_after_free(),
        crash(),
        timeout(),
        livelock(),
        long_names(),
        explained(),
    ]
}

pub(crate) fn campaign(findings: Vec<Finding>) -> CampaignReport {
    CampaignReport {
        format_version: FORMAT_VERSION,
        verdict: if findings.is_empty() { "clean" } else { "failure" }.into(),
        runs: 1234,
        runs_failed: findings.len() as u64,
        first_failure_run: findings.first().map(|finding| finding.run),
        elapsed_s: 0.5,
        runs_per_s: 2468.0,
        points: 99_000,
        switches: 800,
        strands: 3,
        strategy: "random".into(),
        seed: 7,
        coverage: Coverage { shared_instructions: 12, ..Coverage::default() },
        tasks: None,
        findings,
        suppressed: 0,
        trace_hash: "00ff".into(),
        replays: 0,
        warnings: vec!["the program forked; the child runs uncontrolled (at bank.c:9)".into()],
        regress: Vec::new(),
        choices: Vec::new(),
        reached: Vec::new(),
        ended_by: "runs".into(),
        planner: None,
        claim: None,
        program: "/home/me/bank".into(),
        args: vec!["3".into()],
    }
}
