//! Programs of the explorer's generator: what reads can see by brute force, and what `futures --all` makes them see, are the same.
//!
//! `--all` gets three runs of one order to look at, so that nearly everything is left to be made. Asked are programs whose reads the model knows one by one: plain and atomic accesses
//! under locks, barriers and semaphores, with branches, on all sorts of memory. What the table strikes out by these three runs alone is held against brute force, too.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use threadbare_tests::referee::c;
use threadbare_tests::referee::generate::{self, Case, Feature};
use threadbare_tests::referee::model::Touch;
use threadbare_tests::referee::program::{Program, Statement};
use threadbare_tests::{extent, tool};

/// What a read sees, with whose it is.
type Pair = (Touch, &'static str, Option<Touch>);

const FEATURES: [Feature; 10] = [
    Feature::Plain,
    Feature::Neighbours,
    Feature::Atomic,
    Feature::Mutex,
    Feature::Semaphore,
    Feature::RwLock,
    Feature::Barrier,
    Feature::Heap,
    Feature::Stack,
    Feature::Branch,
];

fn fits(program: &Program) -> bool {
    use Statement as S;
    let known = |it: &Statement| match it {
        S::Read(..) | S::Write(..) | S::Add(..) | S::Load(..) | S::Store(..) => true,
        // One that changes nothing is no write to the model.
        S::FetchAdd(_, by, _) => *by != 0,
        S::Locked(..) | S::Reading(..) | S::Writing(..) | S::Barrier(_) | S::Up(_) | S::Down(_) => true,
        S::Create(_) | S::Join(_) | S::If(..) | S::Allocate(_) => true,
        _ => false,
    };
    !program.ends_early() && !program.has(|it| !known(it))
}

/// The pairs of the reads that see another strand's write in some run.
fn by_force(case: &Case) -> BTreeSet<Pair> {
    let whose = |(read, write): &(Touch, Option<Touch>)| match write {
        None => (*read, "initial", None),
        Some(write) if write.0 == read.0 => (*read, "own", Some(*write)),
        Some(write) => (*read, "other", Some(*write)),
    };
    let all: BTreeSet<Pair> = case.account.pairs.iter().map(whose).collect();
    let shared: BTreeSet<Touch> = all.iter().filter(|pair| pair.1 == "other").map(|pair| pair.0).collect();
    all.into_iter().filter(|pair| shared.contains(&pair.0)).collect()
}

/// The accesses of a source, by line.
fn touches(source: &str) -> BTreeMap<u64, Touch> {
    let lines = source.lines().zip(1..);
    lines
        .filter_map(|(line, number)| {
            let (strand, touch) = line.rsplit_once("// @")?.1.split_once('.')?;
            Some((number, (strand.parse().ok()?, touch.parse().ok()?)))
        })
        .collect()
}

/// What came of each pair of the table, by status.
fn by_tool(program: &Path, folder: &Path, source: &str, all: bool) -> Option<BTreeMap<Pair, String>> {
    let lines = touches(source);
    let mut command = tool::command(["futures", "--runs", "3", "--strategy", "round-robin"]);
    command.args(all.then_some("--all"));
    command.args(["--races", "off", "--shrink", "off", "--timeout", "5s", "--format", "json", "--out"]);
    let made = tool::finish(command.arg(folder.join("out")).arg("--").arg(program).arg("0"), tool::PATIENCE);
    let json: Value = serde_json::from_str(&made.stdout).ok()?;
    let mut found = BTreeMap::new();
    for read in json["reads"].as_array().into_iter().flatten() {
        let Some(&at) = read["line"].as_u64().and_then(|line| lines.get(&line)) else { continue };
        for term in read["terms"].as_array().into_iter().flatten() {
            let write = term["write_line"].as_u64().and_then(|line| lines.get(&line)).copied();
            let whose = match term["whose"].as_str() {
                Some("own") => "own",
                Some("other") => "other",
                Some("initial") => "initial",
                _ => continue,
            };
            let status = term["status"].as_str().unwrap_or_default().to_owned();
            found.insert((at, whose, write), status);
        }
    }
    Some(found)
}

#[test]
fn what_reads_see_is_what_brute_force_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let (slate, object) = (folder.path().join("slate.c"), folder.path().join("slate.o"));
    fs::write(&slate, include_str!("../src/referee/slate.c")).expect("a file");
    let compiled = Command::new("gcc").args(["-O1", "-c"]).arg(&slate).arg("-o").arg(&object).status();
    assert!(compiled.is_ok_and(|status| status.success()));
    let asked = std::env::var("THREADBARE_PROGRAMS").ok().and_then(|count| count.parse().ok());
    let count = asked.unwrap_or(extent::either(8, 2000));
    let first = std::env::var("THREADBARE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    let (mut programs, mut pairs, mut made, mut open, mut struck) = (0, 0, 0, 0, 0);
    let mut wrong = Vec::new();
    for seed in first..first + count {
        let case = generate::case(seed, &FEATURES, &fits);
        let possible = by_force(&case);
        // A run that ends in a deadlock shows what it shows, and the search is for those that do not.
        if case.account.stuck || possible.is_empty() {
            continue;
        }
        let source = c::source(std::slice::from_ref(&case.program));
        let path = folder.path().join("made.c");
        fs::write(&path, &source).expect("a file");
        let program = folder.path().join("made");
        let level = ["-O0", "-O1", "-O2"][(seed % 3) as usize];
        let mut command = tool::command(["cc", "-g", level, "-pthread"]);
        let built = tool::finish(command.arg(&path).arg(&object).arg("-o").arg(&program), tool::PATIENCE);
        assert_eq!(built.code, Some(0), "{}", built.describe());
        let table = |all| by_tool(&program, folder.path(), &source, all);
        let (Some(told), Some(looked)) = (table(true), table(false)) else {
            wrong.push(format!("seed {seed}: no table\n{}", case.program));
            continue;
        };
        // What the table strikes out before anything was made can be in no order, either.
        let out: Vec<&Pair> =
            looked.iter().filter(|(_, status)| *status == "struck").map(|(pair, _)| pair).collect();
        struck += out.len();
        let denied: Vec<&&Pair> = out.iter().filter(|pair| possible.contains(**pair)).collect();
        if !denied.is_empty() {
            wrong.push(format!("seed {seed} {level}: strikes out {denied:?}\n{}", case.program));
        }
        programs += 1;
        pairs += possible.len();
        made += told.values().filter(|status| *status == "made").count();
        let has = |pair: &Pair| told.get(pair).is_some_and(|status| status == "seen" || status == "made");
        let shared: BTreeSet<Touch> = possible.iter().map(|pair| pair.0).collect();
        let lacking: Vec<_> =
            possible.iter().filter(|pair| !has(pair)).map(|pair| (pair, told.get(pair))).collect();
        let extra: Vec<&Pair> = told
            .keys()
            .filter(|pair| has(pair) && shared.contains(&pair.0) && !possible.contains(*pair))
            .collect();
        open += told.values().filter(|status| *status == "not-made").count();
        if !lacking.is_empty() || !extra.is_empty() {
            wrong.push(format!(
                "seed {seed} {level}: lacks {lacking:?}, has too much {extra:?}\n{}",
                case.program
            ));
        }
    }
    println!(
        "{programs} programs, {pairs} pairs, {made} of them made to order, {open} left open, {struck} struck out before, {} programs wrong",
        wrong.len()
    );
    assert!(programs > 0 && made > 0, "{programs} programs, {made} made");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
