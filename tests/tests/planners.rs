//! Planners against brute force and against the numbers of the literature.
//!
//! Each small program is a line of scripts for `planner/script.c`. `dpor` must make one run for each class, be complete, and
//! find as many classes as a search that leaves nothing out: `dfs` where that is small, otherwise `pcb` without a bound,
//! which leaves out only what leads to a state it has been in.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Language, Program};
use threadbare_tests::exclusion;
use threadbare_tests::extent::is_full;
use threadbare_tests::orders;

/// A script for each strand, and the number of classes.
const SMALL: &[(&str, u64)] = &[
    ("W0 R0", 2),
    ("W0 W0", 2),
    ("W0R1 W1R0", 3),
    ("W0W1 R1R0", 3),
    ("W0W0 R0R0", 6),
    ("A0 A0", 2),
    ("A0A0 A0", 3),
    ("C0 C0", 2),
    ("w0 r0", 2),
    ("i0 i0", 4),
    ("i0i0 i0", 9),
    ("m0i0 i0m0", 4),
    ("m0W0 m0R0", 2),
    ("l0u0 l0u0", 2),
    ("l0u0l0u0 l0u0", 3),
    ("l0w0u0 l0r0u0", 2),
    ("l0l1u1u0 l0l1u1u0", 2),
    ("l0l1u1u0 l1l0u0u1", 3),
    ("l0u0 t0", 3),
    ("l0w0u0 t0w0", 5),
    ("t0 t0", 4),
    ("l0u0 T0", 3),
    ("T0 T0", 4),
    ("l0c0u0 l0w0s0u0", 2),
    ("l0c0u0 l0w0u0s0", 2),
    ("l0x0u0 s0", 3),
    ("l0x0u0 l0s0u0", 4),
    ("l0x0u0 l0x0u0", 14),
    ("p0 v0", 1),
    ("p0p0 v0", 2),
    ("v1p1 v1p1", 2),
    ("q0 p0", 2),
    ("d0e0 d0e0", 1),
    ("d0e0 D0e0", 2),
    ("B0 B0", 2),
    ("W0B0R1 W1B0R0", 2),
    ("o0 o0", 2),
    ("o0r0 o0r0", 2),
    ("S0W0 R0", 2),
    ("a0 W0", 1),
    ("a0R1 W1W0", 1),
    ("W0a1 W1a0", 1),
    ("z0i1Z0 z0i1Z0", 2),
];

/// The same for programs that end before their strands do: what each has done by then counts. Its start and its end are
/// nothing done, and neither is a sleep.
const ENDS: &[(&str, u64)] = &[
    ("main: W0", 2),
    ("main: W0W0", 3),
    ("main:X0 W0W0", 3),
    ("main:E0 W0W0", 3),
    ("main:Q0 W0W0", 3),
    // Everyone ends by itself: only the order of the two counts.
    ("main:P0 W0 R0", 2),
    // Neither, one of them, or both in two orders.
    ("main: W0 R0", 5),
    ("main:R0 W0", 3),
    // The strand that waits for the lock has nothing that it could do.
    ("main:l0 l0u0", 2),
    ("main: v0", 1),
    ("main: S0W0", 2),
    ("main: a0", 1),
    // The end may come before the second strand is created, or has read; or it has, before or after the write.
    ("W0X0 R0", 4),
];

/// The same for three strands: too many orders for brute force.
const LARGER: &[(&str, u64)] = &[
    ("W0 W0 R0", 6),
    ("W0R1 W1R0 R0", 6),
    ("C0W1 C0R1 R1", 8),
    ("l0i0u0 l0i0u0 i0", 18),
    ("l0c0u0 l0c0u0 l0w0b0u0", 10),
    ("d0r0e0 D0w0e0 d0r0e0", 4),
    // Both read at once, one writes beside the other.
    ("D0w0e0 d0r0e0 d0w0e0", 6),
    ("d0e0 D0e0 D0e0", 6),
    ("B0R0 B0W0 R0", 8),
    ("v0W0 p0 R0", 2),
    ("q1 q1 p1", 6),
    ("a0W1 a1W0 W0", 1),
    ("z0Z0 z0Z0 R1", 2),
];

/// Polls of `poll/variants.c` that end by themselves, with the number of classes: one for each look that the store may come
/// before, and one for none.
const POLLS: &[(&str, u64)] = &[
    ("yield", 13),
    ("sleep", 13),
    ("pause", 13),
    ("memory", 13),
    // The look that finds the count too large is one more, and so is the last look at the count.
    ("shared", 15),
    ("plain", 13),
    ("trylock", 13),
    ("trywait", 13),
    ("cas", 13),
    ("exchange", 13),
];

/// The same where who gave up goes on: brute force can count those. The second look of a round at another place makes many more.
const POLLS_THAT_GO_ON: &[(&str, u64)] = &[("yield", 13), ("shared", 14), ("trylock", 13), ("two", 91)];

/// Its polls without an end: how often they looked makes no difference, unless their strand has changed meanwhile. The pause between looks
/// is doubled six times.
const WAITS: &[(&str, u64)] = &[("YIELD", 1), ("PAUSE", 1), ("MEMORY", 1), ("BACKOFF", 8), ("CAS", 1)];

/// Programs of the literature: which, with what argument, and how many classes. `full`: only when everything was asked for.
const TEXTBOOK: &[(&str, &str, u64, bool)] = &[
    ("planner/indexer.c", "12", 8, false),
    ("planner/indexer.c", "13", 64, false),
    ("planner/indexer.c", "14", 512, false),
    ("planner/indexer.c", "15", 4096, true),
    ("planner/filesystem.c", "14", 2, false),
    ("planner/filesystem.c", "16", 8, false),
    ("planner/filesystem.c", "18", 32, false),
    ("planner/filesystem.c", "20", 128, false),
    ("planner/lastzero.c", "5", 64, false),
    // (n + 3) 2^(n - 2).
    ("planner/lastzero.c", "8", 704, false),
    ("planner/lastzero.c", "10", 3328, true),
    ("planner/fib_bench.c", "2", 19, false),
    ("planner/fib_bench.c", "3", 141, false),
    ("planner/exclusion.c", "busy", 1, false),
];

/// Programs whose strands have instructions of their own, all of which have to be learnt, and how many classes they have.
const LEARNING: &[(&str, u64)] = &[
    ("learning/lost_read.c", 4),
    ("learning/lost_read_locked.c", 2),
    ("learning/neighbours.c", 3),
    ("learning/neighbours_apart.c", 1),
    ("learning/main_stack.c", 4),
    ("learning/strand_stack.c", 4),
    ("learning/atomic_and_plain.c", 3),
    ("torn/assigned.c", 3),
    ("torn/assigned_locked.c", 2),
    ("torn/bit_field_locked.c", 2),
    ("torn/copied_locked.c", 2),
];

/// Ways of `memory/masked.c`, each of which fails in two ways: an operation that ends the run is not made, and its order counts all the same.
const MASKED: &[&str] = &["read", "copy", "text", "atomic", "twice", "resize", "destroyed"];

/// Algorithms that wait in loops, some of which look at several places: all of them are counted by brute force, too.
const EXCLUSION: &[(&str, u64)] = &[("peterson", 4), ("dekker", 4), ("lamport", 9), ("szymanski", 29)];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    let mut add = |name: String, check: Box<dyn Fn() -> Result<(), String> + Send>| {
        trials.push(Trial::test(name, move || check().map_err(Failed::from)));
    };
    for &(scripts, classes) in SMALL {
        add(format!("{scripts} (dfs)"), Box::new(move || agree(scripts, classes, "dfs")));
    }
    for &(scripts, classes) in ENDS {
        add(format!("{scripts} (dfs)"), Box::new(move || agree(scripts, classes, "dfs")));
    }
    for &(scripts, classes) in LARGER {
        add(format!("{scripts} (pcb:64)"), Box::new(move || agree(scripts, classes, "pcb:64")));
    }
    for &(scripts, classes) in SMALL.iter().chain(LARGER) {
        add(format!("{scripts} (classes)"), Box::new(move || one_relation(scripts, classes)));
    }
    for &how in MASKED {
        add(format!("memory/masked.c {how}"), Box::new(move || two_ways(how)));
    }
    for &(program, classes) in LEARNING {
        add(format!("{program} (pcb:64)"), Box::new(move || agree_on(program, "", classes, "pcb:64")));
    }
    for name in ["lost-update/in_place.c", "lost-update/in_place.rs"] {
        for level in 0..=3 {
            add(format!("{name} at level {level}"), Box::new(move || in_place(name, level)));
        }
    }
    for writers in 1..=5u64 {
        let scripts = ["W0"; 5][..writers as usize].join(" ");
        let classes = (1..=writers).product();
        add(format!("{writers} writers"), Box::new(move || once_each("planner/script.c", &scripts, classes)));
    }
    for &(program, argument, classes, full) in TEXTBOOK {
        if is_full() || !full {
            let name = format!("{program} {argument}");
            add(name, Box::new(move || once_each(program, argument, classes)));
        }
    }
    for &(algorithm, classes) in EXCLUSION {
        add(format!("planner/exclusion.c {algorithm}"), Box::new(move || exclusion(algorithm, classes)));
    }
    for &(shape, classes) in POLLS {
        add(format!("poll/variants.c {shape}"), Box::new(move || runs_out(shape, classes)));
    }
    // With a failure in its midst a run may end before others have done what they could: here nothing fails.
    for &(shape, classes) in POLLS_THAT_GO_ON {
        let check = move || agree_on("poll/variants.c", &format!("{shape} on"), classes, "pcb:64");
        add(format!("poll/variants.c {shape} on (pcb:64)"), Box::new(check));
    }
    for &(shape, classes) in WAITS {
        let check = move || once_each("poll/variants.c", shape, classes);
        add(format!("poll/variants.c {shape}"), Box::new(check));
    }
    add("one instruction that waits for one value after the other".to_owned(), Box::new(ring));
    add("a long poll is told".to_owned(), Box::new(long_poll));
    add("strands that try in turn".to_owned(), Box::new(try_in_turn));
    add("the busy wait of figure 8".to_owned(), Box::new(busy_wait));
    add("a bound is told".to_owned(), Box::new(bounds_are_told));
    add("what may be torn is not proved".to_owned(), Box::new(torn));
    for level in 0..3 {
        add(format!("a bit-field is not proved, -O{level}"), Box::new(move || bit_field(level)));
    }
    add("words".to_owned(), Box::new(words));
    add("one run for each class".to_owned(), Box::new(one_run_each));
    for planner in ["dpor", "pcb", "hapset"] {
        add(format!("{planner} finds a bug"), Box::new(move || finds_bugs(planner)));
    }
    add("hapset tells callers apart".to_owned(), Box::new(callers));
    for program in corpus::programs() {
        if fails_by_its_order(&program) {
            let name = format!("{} is not taken for right", program.name);
            let by_default = HIDDEN.iter().any(|folder| program.name.starts_with(folder));
            add(name, Box::new(move || is_found_or_left_open(&program, by_default)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Whether the program fails in some run, and in a way that does not take long.
fn fails_by_its_order(program: &Program) -> bool {
    let long = ["race", "timeout", "livelock"];
    !program.expect.is_empty()
        && !program.name.starts_with("noise/")
        && program.expect.iter().all(|kind| !long.contains(&kind.as_str()))
}

/// Programs that fail by what used to be no step: the default is tried with them, too, with several seeds.
const HIDDEN: [&str; 2] = ["end/", "state/"];

/// `dpor` may run out of runs, but what it calls complete without a finding never fails.
fn is_found_or_left_open(program: &Program, by_default: bool) -> Result<(), String> {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let executable = compile::instrumented(program, compile::compilers(program)[0], &builds)?;
    let runs = if is_full() { "2000" } else { "200" };
    let seeds = match (by_default, is_full()) {
        (false, _) => 0,
        (true, false) => 4,
        (true, true) => 40,
    };
    for seed in 0..=seeds {
        let (strategy, seed) = (if seed == 0 { "dpor" } else { "portfolio" }, seed.to_string());
        let options =
            ["--runs", runs, "--time", "5s", "--strategy", strategy, "--races", "off", "--no-predict"];
        let options = [&options[..], &["--seed", &seed, "--shrink", "off"]].concat();
        let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        let campaign = campaign::run(program, &executable, out.path(), &options)?;
        if campaign.findings().is_empty() && is_complete(&campaign) {
            return Err(campaign.complain("complete, and nothing was found"));
        }
    }
    Ok(())
}

/// An access of several words that others may come in the midst of, and that the compiler makes at once, leaves the claim open.
fn torn() -> Result<(), String> {
    let campaign = plan("torn/assigned_large.c", "", "dpor", "1000")?;
    let told = campaign.report["claim"].to_string();
    match !is_complete(&campaign) && told.contains("torn-access") && told.contains("assigned_large.c:12") {
        true => Ok(()),
        false => Err(campaign.complain(&format!("the claim is {told}"))),
    }
}

/// gcc tells of a write to a bit-field, and not that what lies beside it is read before and written back.
fn bit_field(level: u32) -> Result<(), String> {
    let program = Program { flags: vec![format!("-O{level}")], ..program("torn/bit_field.c")? };
    let campaign = plan_of(&program, Compiler::Gcc, "dpor", "1000")?;
    let told = campaign.report["claim"].to_string();
    match !is_complete(&campaign) && told.contains("bit-fields") && told.contains("bit_field.c:11") {
        true => Ok(()),
        false => Err(campaign.complain(&format!("the claim is {told}"))),
    }
}

/// One expression that reads and writes is two steps, whoever compiles it and however well.
fn in_place(name: &str, level: u32) -> Result<(), String> {
    let program = program(name)?;
    let flag = if program.language == Language::Rust { "-Copt-level=" } else { "-O" };
    let program = Program { flags: vec![format!("{flag}{level}")], ..program };
    for compiler in compile::compilers(&program) {
        let campaign = plan_of(&program, compiler, "dpor", "1000")?;
        check_classes(&campaign, 4)?;
        if campaign.findings().is_empty() {
            return Err(campaign.complain("no update was lost"));
        }
    }
    Ok(())
}

fn program(name: &str) -> Result<Program, String> {
    let program = corpus::programs().into_iter().find(|program| program.name == name);
    program.ok_or_else(|| format!("there is no {name}"))
}

/// Makes a campaign with a planner.
fn plan(name: &str, arguments: &str, planner: &str, runs: &str) -> Result<Campaign, String> {
    let program = Program { args: arguments.split(' ').map(str::to_owned).collect(), ..program(name)? };
    plan_of(&program, compile::compilers(&program)[0], planner, runs)
}

fn plan_of(program: &Program, compiler: Compiler, planner: &str, runs: &str) -> Result<Campaign, String> {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let executable = compile::instrumented(program, compiler, &builds)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    let options = [
        "--runs",
        runs,
        "--strategy",
        planner,
        "--races",
        "off",
        // The numbers are those of orders alone; `faults.rs` and `memory.rs` have the others.
        "--faults",
        "none",
        "--memory-model",
        "sc",
        "--no-predict",
        "--keep-going",
        "--shrink",
        "off",
    ];
    campaign::run(program, &executable, out.path(), &options)
}

fn number(campaign: &Campaign, field: &str) -> Result<u64, String> {
    let value = campaign.report["planner"][field].as_u64();
    value.ok_or_else(|| campaign.complain(&format!("`planner.{field}` is no number")))
}

fn is_complete(campaign: &Campaign) -> bool {
    campaign.report["planner"]["complete"] == true
}

/// Whether the planner kept what it promises, be that every order or less.
fn keeps_its_promise(campaign: &Campaign) -> bool {
    campaign.report["claim"]["kind"] != "none"
}

fn check_classes(campaign: &Campaign, classes: u64) -> Result<(), String> {
    let found = number(campaign, "classes")?;
    if keeps_its_promise(campaign) && found == classes {
        return Ok(());
    }
    Err(campaign
        .complain(&format!("it has {classes} classes, {found} were found, {}", campaign.report["planner"])))
}

/// `dpor` makes one run a class, and finds them all.
fn once_each(program: &str, arguments: &str, classes: u64) -> Result<(), String> {
    let campaign = plan(program, arguments, "dpor", "200000")?;
    check_classes(&campaign, classes)?;
    let runs = number(&campaign, "runs")?;
    if runs == classes && is_complete(&campaign) {
        Ok(())
    } else {
        Err(campaign.complain(&format!("{runs} runs for {classes} classes")))
    }
}

fn exclusion(algorithm: &str, classes: u64) -> Result<(), String> {
    let counted = exclusion::classes(algorithm) as u64;
    if counted != classes {
        return Err(format!("brute force finds {counted} classes, not {classes}"));
    }
    let campaign = plan("planner/exclusion.c", algorithm, "dpor", "200000")?;
    check_classes(&campaign, classes)?;
    let runs = number(&campaign, "runs")?;
    // That a value keeps a strand waiting in a state of its own is learnt by a run that looks in vain.
    match is_complete(&campaign) && runs <= classes + classes / 3 {
        true => Ok(()),
        false => Err(campaign.complain(&format!("{runs} runs for {classes} classes"))),
    }
}

/// Each side of a ring waits at one instruction for all its items. How many are there when it looks makes a difference.
fn ring() -> Result<(), String> {
    const CLASSES: u64 = 81;
    let campaign = plan("race/ring_right.c", "", "dpor", "20000")?;
    check_classes(&campaign, CLASSES)?;
    if !is_complete(&campaign) || number(&campaign, "runs")? > CLASSES + CLASSES / 3 {
        return Err(campaign.complain("not one run a class, or nearly so"));
    }
    // What random runs show is among them.
    let campaign = plan("race/ring_right.c", "", "random", "2000")?;
    match campaign.report["coverage"]["classes"].as_u64() {
        Some(seen) if seen > CLASSES * 2 / 3 && seen <= CLASSES => Ok(()),
        seen => Err(campaign.complain(&format!("random runs show {seen:?} classes"))),
    }
}

fn agree(scripts: &str, classes: u64, brute: &str) -> Result<(), String> {
    agree_on("planner/script.c", scripts, classes, brute)
}

fn agree_on(program: &str, arguments: &str, classes: u64, brute: &str) -> Result<(), String> {
    once_each(program, arguments, classes)?;
    // Loops that wait make brute force look in vain again and again.
    let runs = if is_full() { "200000" } else { "6000" };
    let campaign = plan(program, arguments, brute, runs)?;
    if campaign.text("ended_by")? == "runs" && !is_full() {
        let found = number(&campaign, "classes")?;
        return if found <= classes {
            Ok(())
        } else {
            Err(campaign.complain(&format!("more than {classes}")))
        };
    }
    check_classes(&campaign, classes)
}

/// `dpor` finds both failures of a program that has two.
fn two_ways(how: &str) -> Result<(), String> {
    let campaign = plan("memory/masked.c", how, "dpor", "200")?;
    if campaign.findings().len() < 2 {
        return Err(campaign.complain("there is another order, which fails elsewhere"));
    }
    Ok(())
}

/// `dpor` makes one run for each look that the store can come before, coverage agrees, and one of them fails.
fn runs_out(shape: &str, classes: u64) -> Result<(), String> {
    once_each("poll/variants.c", shape, classes)?;
    let campaign = plan("poll/variants.c", shape, "dpor", "1000")?;
    if campaign.findings().is_empty() {
        return Err(campaign.complain("the poll does not run out"));
    }
    let seen = campaign.report["coverage"]["classes"].as_u64();
    if seen.is_some_and(|seen| seen > classes) {
        return Err(campaign.complain(&format!("coverage has {seen:?} classes, not {classes}")));
    }
    Ok(())
}

/// What a poll of three thousand looks leads to is left out, and that is told.
fn long_poll() -> Result<(), String> {
    let campaign = plan("poll/variants.c", "long", "dpor", "1000")?;
    let bounds = campaign.report["planner"]["bounds"].to_string();
    if is_complete(&campaign) || !bounds.contains("looked in vain more than 256 times") {
        return Err(campaign.complain("the bound is not told"));
    }
    Ok(())
}

/// Two strands try a lock again and again and give way in between, while its holder is to stay back: no run lasts for ever.
fn try_in_turn() -> Result<(), String> {
    let campaign = plan("poll/try_in_turn.c", "", "dpor", "300")?;
    match campaign.findings().is_empty() {
        true => Ok(()),
        false => Err(campaign.complain("it is right")),
    }
}

/// Coverage counts the classes that planners count. Loops that wait are told apart there by their first looks, and what waits by its
/// deadline is not ordered by it: of those only the campaign's claim is checked.
fn one_relation(scripts: &str, classes: u64) -> Result<(), String> {
    let has = |letters: &str| scripts.contains(|letter| letters.contains(letter));
    if !has("azTx") {
        let campaign = plan("planner/script.c", scripts, "pcb:64", "20000")?;
        let seen = campaign.report["coverage"]["classes"].as_u64();
        if seen != Some(classes) {
            return Err(campaign.complain(&format!("coverage has {seen:?} classes of {classes}")));
        }
    }
    // The default makes its own runs and compares them with those of `dpor`.
    let campaign = plan("planner/script.c", scripts, "portfolio", "400")?;
    let claim = &campaign.report["claim"];
    match claim["kind"].as_str() {
        Some("complete") if claim["orders"] == classes && claim["withdrawn"][0].is_null() => Ok(()),
        Some("none") if claim["withdrawn"][0]["reason"] == "runs" => Ok(()),
        _ => Err(campaign.complain(&format!("it has {classes} classes, and the claim is {claim}"))),
    }
}

/// What is claimed is what the planner has done, and nothing is called complete that leaves orders out.
fn words() -> Result<(), String> {
    for (planner, kind, text) in [
        ("dpor", "complete", "every order that makes a difference was run"),
        ("dfs", "complete", "every order that makes a difference was run"),
        ("pcb:1", "bounded", "all orders with at most one preemption were run"),
        ("pcb", "bounded", "all orders with at most 2 preemptions were run"),
        ("hapset", "pairs", "no new predecessor pair"),
    ] {
        let campaign = plan("planner/script.c", "W0R1 W1R0", planner, "10000")?;
        let (claim, planner) = (&campaign.report["claim"], &campaign.report["planner"]);
        let complete = (kind == "complete") == (planner["complete"] == true);
        let proved =
            (kind == "complete") == (campaign.report["coverage"]["estimate"]["method"] == "complete");
        let holds = claim["holds_for"].as_array().is_some_and(|list| list.len() == 3);
        if claim["kind"] != kind || claim["text"] != text || !complete || !proved || !holds {
            return Err(campaign.complain(&format!("{planner} claims {claim}")));
        }
    }
    let campaign = plan("planner/indexer.c", "13", "dpor", "10")?;
    let claim = &campaign.report["claim"];
    match claim["kind"] == "none" && claim["withdrawn"][0]["reason"] == "runs" {
        true => Ok(()),
        false => Err(campaign.complain("ten runs are not all")),
    }
}

/// Folders of the corpus whose programs are mostly small.
const FOLDERS: &[&str] = &["condvar/", "learning/", "mutex/", "rwlock/", "semaphore/", "spin/"];

/// On the programs of the corpus that `dpor` comes to the end of, it makes no order again, but for a few of a hundred. `cargo xtask bench orders` asks
/// about all of them.
fn one_run_each() -> Result<(), String> {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let small = |program: &Program| FOLDERS.iter().any(|folder| program.name.starts_with(folder));
    let rows: Result<Vec<orders::Row>, String> = orders::programs()
        .iter()
        .filter(|program| small(program))
        .map(|program| orders::ask(program, &builds, 100, "20s"))
        .collect();
    let rows = rows?;
    let ended = rows.iter().filter(|row| row.finished).count();
    let exact = rows.iter().filter(|row| row.finished && row.is_exact()).count();
    match ended >= 10 && 100 * exact >= 95 * ended {
        true => Ok(()),
        false => Err(orders::table(&rows)),
    }
}

/// Udon's figure 8: two runs show all that there is, whoever plans.
fn busy_wait() -> Result<(), String> {
    for planner in ["dpor", "hapset"] {
        let campaign = plan("planner/exclusion.c", "busy", planner, "1000")?;
        let runs = campaign.number("runs")?;
        if runs > 2 || !keeps_its_promise(&campaign) {
            return Err(campaign.complain(&format!("{planner} took {runs} runs")));
        }
    }
    let campaign = plan("planner/exclusion.c", "busy", "pcb", "1000")?;
    if campaign.text("ended_by")? == "complete" { Ok(()) } else { Err(campaign.complain("pcb does not end")) }
}

fn bounds_are_told() -> Result<(), String> {
    let campaign = plan("planner/indexer.c", "13", "dpor", "10")?;
    if is_complete(&campaign) || campaign.text("ended_by")? != "runs" {
        return Err(campaign.complain("ten runs are not all"));
    }
    let campaign = plan("planner/fib_bench.c", "2", "pcb:1", "10000")?;
    let bounds = campaign.report["planner"]["bounds"].to_string();
    if is_complete(&campaign) || !bounds.contains("more than one preemption") {
        return Err(campaign.complain("the bound is not told"));
    }
    Ok(())
}

/// Bugs that need an order other than the plain one are found, by each planner in its few runs.
/// The value that fails is written by an instruction that other callers have used.
fn callers() -> Result<(), String> {
    let campaign = plan("planner/contexts.c", "", "hapset", "200")?;
    match campaign.findings().is_empty() {
        true => Err(campaign.complain("the third value was not seen")),
        false => Ok(()),
    }
}

fn finds_bugs(planner: &str) -> Result<(), String> {
    for program in ["search/account.c", "search/lazy_init.c"] {
        let campaign = plan(program, "", planner, "200")?;
        if campaign.findings().is_empty() || campaign.report["first_failure_run"] == 0 {
            return Err(campaign.complain(&format!("{planner} does not find the bug of {program}")));
        }
    }
    Ok(())
}
