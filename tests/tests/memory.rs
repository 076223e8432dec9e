//! The memory model: litmus tests with what C11 allows and forbids, wrong orders in right programs, and structures that are published without one.
//!
//! A change's own tests make fewer runs of each; everything is 100,000 for what is forbidden.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Language, Program};
use threadbare_tests::extent::{either, is_full};
use threadbare_tests::litmus::{self, Litmus, Rule};
use threadbare_tests::tool;

/// Within how many runs what is allowed is seen.
const ALLOWED: &str = "1000";

/// Litmus tests and the number of their execution graphs; those of the literature without load buffering.
const COUNTED: &[(&str, u64)] = &[
    ("Wxr1Ryr Wyr1Rxr", 4),
    ("Wxs1Rys Wys1Rxs", 3),
    ("Wxr1FsRyr Wyr1FsRxr", 3),
    ("Wxr1Wyr1 RyrRxr", 4),
    ("Wxr1Wyl1 RyaRxr", 3),
    ("Wxr1FlWyr1 RyrFaRxr", 3),
    ("RxrWyr1 RyrWxr1", 3),
    ("Wxr1Wyr2 Wyr1Wxr2", 4),
    ("Wxs1Wys2 Wys1Wxs2", 3),
    ("Wxr1Wxr2 RxrRxr", 6),
    ("Wxr1 Wxr2 RxrRxr", 12),
    ("Wxr1 RxrWyr1 RyrRxr", 8),
    ("Wxr1Wyr1 RyrWzr1 RzrRxr", 8),
    ("Wxr1 Wyr1 RxrRyr RyrRxr", 16),
    ("Wxs1 Wys1 RxsRys RysRxs", 15),
    ("Axr1 Axr1", 2),
    // How often a loop looked in vain, at whatever store, makes no difference.
    ("Wxr1Wyr1 Syr1Rxr", 2),
    ("Wxr1Wyl1 Sya1Rxr", 1),
    ("Wxr1Wxr2Wxr1 Sxr1Rxr", 4),
    ("Wxr1Wxr0Wxr1 Sxr1", 2),
    ("Sxr1Wyr1 Wxr1Syr1", 1),
    ("Wxr1Wyr1 Sxr1Wzr1 Szr1Ryr", 2),
];

/// Programs that are right, the number of bugs that can be put into each, and how many orders `dpor` has when it is complete: 0 where
/// nobody has counted them, none where it takes too long.
const SEEDED: &[(&str, u32, Option<u64>)] = &[
    ("model/spin_lock.c", 2, Some(2)),
    // As many as `pcb` without a bound has.
    ("model/seqlock.c", 4, Some(18)),
    ("model/ring.c", 4, None),
    ("model/chase_lev.c", 4, None),
    ("model/treiber.c", 3, Some(0)),
    ("model/peterson.c", 3, Some(4)),
    ("model/dekker.c", 3, Some(4)),
    ("model/arc.rs", 2, Some(0)),
];

/// Structures with an atomic field, and in how many shapes each is published.
const PUBLISHED: &[(&str, u32)] =
    &[("model/publication.c", 4), ("model/publication.cc", 3), ("model/publication.rs", 3)];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    let mut add = |name: String, check: Box<dyn Fn() -> Result<(), String> + Send>| {
        trials.push(Trial::test(name, move || check().map_err(Failed::from)));
    };
    for (at, test) in litmus::table().into_iter().enumerate() {
        // Every test in C; those in turn in the others, all of them when everything was asked for.
        for (turn, extension) in ["c", "cc", "rs"].into_iter().enumerate() {
            if turn == 0 || at % 6 == turn || is_full() {
                let test = test.clone();
                let name = format!("{} ({extension})", test.name);
                add(name, Box::new(move || outcome(&test, extension)));
            }
        }
    }
    for &(strands, graphs) in COUNTED {
        add(format!("{strands} is counted"), Box::new(move || counted(strands, graphs)));
    }
    for &(name, bugs, orders) in SEEDED {
        add(format!("{name} is right"), Box::new(move || right(name, orders)));
        for bug in 1..=bugs {
            add(format!("{name} with bug {bug}"), Box::new(move || wrong(name, bug)));
        }
    }
    for &(name, shapes) in PUBLISHED {
        for shape in 1..=shapes {
            add(format!("{name} {shape} relaxed"), Box::new(move || published(name, shape, false)));
            add(format!("{name} {shape} right"), Box::new(move || published(name, shape, true)));
        }
    }
    add("a stale read is told and replayed".to_owned(), Box::new(told));
    add("total store order".to_owned(), Box::new(total_store_order));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn program(name: &str) -> Result<Program, String> {
    let program = corpus::programs().into_iter().find(|program| program.name == name);
    program.ok_or_else(|| format!("there is no {name}"))
}

fn built(program: &Program) -> Result<PathBuf, String> {
    let compiler: Compiler = compile::compilers(program)[0];
    compile::instrumented(program, compiler, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs"))
}

fn run(program: &Program, model: &str, options: &[&str]) -> Result<Campaign, String> {
    let executable = built(program)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let options = [&["--memory-model", model], options].concat();
    campaign::run(program, &executable, out.path(), &options)
}

fn litmus_program(extension: &str, outcome: &str, strands: &[String]) -> Result<Program, String> {
    let args = [&[outcome.to_owned()], strands].concat();
    Ok(Program { args, ..program(&format!("model/litmus.{extension}"))? })
}

/// What is allowed is seen, what is forbidden is not.
fn outcome(test: &Litmus, extension: &str) -> Result<(), String> {
    let program = litmus_program(extension, &test.outcome, &test.strands)?;
    let most = either(1_000, 100_000).to_string();
    let runs = if test.rule == Rule::Allowed { ALLOWED } else { &most };
    let campaign = run(&program, "c11", &["--runs", runs])?;
    match (campaign.findings().is_empty(), test.rule) {
        (true, Rule::Allowed) => Err(campaign.complain("what C11 allows was not seen")),
        (false, Rule::Forbidden) => Err(campaign.complain("what C11 forbids was seen")),
        (false, Rule::LeftOut) => Err(campaign.complain("load buffering was seen")),
        _ => Ok(()),
    }
}

/// `dpor` is complete, and shows as many execution graphs as there are.
fn counted(strands: &str, graphs: u64) -> Result<(), String> {
    let strands: Vec<String> = strands.split(' ').map(str::to_owned).collect();
    let campaign = run(&litmus_program("c", "9", &strands)?, "c11", &["--strategy", "dpor"])?;
    let claim = &campaign.report["claim"];
    let holds = claim["kind"] == "complete" && claim["holds_for"].to_string().contains("C11");
    match holds && claim["orders"].as_u64() == Some(graphs) {
        true => Ok(()),
        false => Err(campaign.complain(&format!("{graphs} were expected, and the claim is {claim}"))),
    }
}

fn right(name: &str, orders: Option<u64>) -> Result<(), String> {
    let program = program(name)?;
    let runs = either(500, 2_000).to_string();
    let campaign = run(&program, "c11", &["--runs", &runs])?;
    if !campaign.findings().is_empty() {
        return Err(campaign.complain("a right program was found to be wrong"));
    }
    if let Some(orders) = orders {
        let campaign = run(&program, "c11", &["--strategy", "dpor", "--no-predict"])?;
        let claim = &campaign.report["claim"];
        if claim["kind"] != "complete" || orders != 0 && claim["orders"].as_u64() != Some(orders) {
            return Err(campaign.complain(&format!("`dpor` is not complete with {orders} orders")));
        }
    }
    Ok(())
}

/// The program with flags that say what is wrong.
fn with(program: Program, name: &str, value: u32, more: Option<&str>) -> Program {
    let rust = program.language == Language::Rust;
    let mut flags = match rust {
        true => vec!["--cfg".to_owned(), format!("{}=\"{value}\"", name.to_lowercase())],
        false => vec![format!("-D{name}={value}")],
    };
    if rust {
        flags.extend(["-A".to_owned(), "unexpected_cfgs".to_owned()]);
    }
    match more {
        Some(more) if rust => flags.extend(["--cfg".to_owned(), more.to_lowercase()]),
        Some(more) => flags.push(format!("-D{more}")),
        None => {}
    }
    Program { flags, ..program }
}

fn wrong(name: &str, bug: u32) -> Result<(), String> {
    let program = with(program(name)?, "BUG", bug, None);
    let campaign = run(&program, "c11", &["--runs", "2000"])?;
    match campaign.findings().is_empty() {
        true => Err(campaign.complain("the wrong order was not found")),
        false => Ok(()),
    }
}

/// What is published without an order is a race, whatever is in the structure.
fn published(name: &str, shape: u32, right: bool) -> Result<(), String> {
    let program = with(program(name)?, "SHAPE", shape, right.then_some("RIGHT"));
    let campaign = run(&program, "sc", &["--runs", if right { "200" } else { "50" }])?;
    let race = campaign.findings().iter().any(|finding| finding["kind"] == "race");
    match (race, campaign.findings().is_empty(), right) {
        (true, _, false) | (_, true, true) => Ok(()),
        (_, _, true) => Err(campaign.complain("a right program was found to be wrong")),
        _ => Err(campaign.complain("no race was told")),
    }
}

/// The shrunk schedule has one stale read, the finding says which and what would forbid it, and a replay makes it again.
fn told() -> Result<(), String> {
    let strands = ["Wxr1Wyr1".to_owned(), "RyrRxr".to_owned()];
    let program = litmus_program("c", "10", &strands)?;
    let executable = built(&program)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let options = ["--memory-model", "c11", "--runs", ALLOWED, "--shrink", "20s"];
    let campaign = campaign::run(&program, &executable, out.path(), &options)?;
    let [finding] = campaign.findings() else { return Err(campaign.complain("one finding was expected")) };
    let notes = finding["notes"].to_string();
    for part in ["the atomic load at", "saw 0, which was there first", "and not 1, stored at", "`Release`"] {
        if !notes.contains(part) {
            return Err(campaign.complain(&format!("the notes lack `{part}`: {notes}")));
        }
    }
    if !finding["steps"].to_string().contains("stale-load") {
        return Err(campaign.complain("the lanes do not show the stale read"));
    }
    let schedule = finding["schedule"].as_str().ok_or("the finding has no schedule")?;
    let text = std::fs::read_to_string(schedule).map_err(|error| format!("{schedule}: {error}"))?;
    let stale = text.split_whitespace().filter(|word| word.starts_with('r') && word.contains('/')).count();
    if stale != 1 {
        return Err(format!("{stale} stale reads instead of one:\n{text}"));
    }
    let replay = tool::finish(tool::command(["replay", schedule]).current_dir(out.path()), tool::PATIENCE);
    match replay.code {
        Some(1) => Ok(()),
        _ => Err(format!("the replay: {}", replay.describe())),
    }
}

/// Store buffers are shown, and nothing else is; `dpor` claims nothing of them, and brute force does.
fn total_store_order() -> Result<(), String> {
    let of = |strands: &str| strands.split(' ').map(str::to_owned).collect::<Vec<String>>();
    for (strands, outcome, seen) in [
        ("Wxr1Ryr Wyr1Rxr", "00", true),
        ("Wxs1Ryr Wys1Rxr", "00", false),
        ("Wxr1FsRyr Wyr1FsRxr", "00", false),
        ("Wxr1RxrRyr Wyr1RyrRxr", "1010", true),
        ("Wxr1Wyr1 RyrRxr", "10", false),
        ("Wxr1 Wyr1 RxrRyr RyrRxr", "1010", false),
        ("Wxr1Wyr2 Wyr1Wxr2", ":11", false),
    ] {
        let program = litmus_program("c", outcome, &of(strands))?;
        let campaign = run(&program, "tso", &["--runs", ALLOWED])?;
        if campaign.findings().is_empty() == seen {
            return Err(campaign.complain(&format!("{outcome} of {strands}")));
        }
    }
    let program = litmus_program("c", "9", &of("Wxr1Ryr Wyr1Rxr"))?;
    for (planner, complete) in [("dpor", false), ("dfs", true)] {
        let campaign = run(&program, "tso", &["--strategy", planner])?;
        if (campaign.report["claim"]["kind"] == "complete") != complete {
            return Err(campaign.complain(planner));
        }
    }
    Ok(())
}
