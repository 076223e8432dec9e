//! What `futures --all` makes of the corpus: bugs that hang on what one read sees are found, and most terms of small programs can be.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::{extent, tool};

/// The programs of these folders of the corpus; a few of each unless everything was asked for.
fn programs(folders: &[&str], few: usize) -> Vec<PathBuf> {
    let corpus = tool::root().join("tests/programs");
    let mut found = Vec::new();
    for folder in folders {
        let mut sources: Vec<PathBuf> = fs::read_dir(corpus.join(folder))
            .expect("a folder")
            .flatten()
            .map(|entry| entry.path())
            .collect();
        sources
            .retain(|path| path.extension().is_some_and(|kind| kind == "c" || kind == "cc" || kind == "rs"));
        sources.sort();
        sources.truncate(if extent::is_full() { usize::MAX } else { few });
        found.extend(sources);
    }
    found
}

fn json(program: &Path, folder: &Path, words: &[&str]) -> Option<Value> {
    let mut command = tool::command(words);
    command
        .args(["--races", "off", "--timeout", "2s", "--format", "json"])
        .arg("--out")
        .arg(folder.join("out"));
    let made = tool::finish(command.arg("--").arg(program), tool::PATIENCE);
    serde_json::from_str(&made.stdout).ok()
}

fn name(source: &Path) -> String {
    let corpus = tool::root().join("tests/programs");
    source.strip_prefix(&corpus).unwrap_or(source).display().to_string()
}

/// The findings' kinds, and whether one read decides a finding by its explanation.
fn kinds(json: &Value) -> Vec<(String, bool)> {
    let findings = json["findings"].as_array().into_iter().flatten();
    let kind = |it: &Value| it["kind"].as_str().unwrap_or_default().to_owned();
    findings.map(|it| (kind(it), it["explanation"]["decided_by"].is_object())).collect()
}

#[test]
fn bugs_of_one_reads_choice_are_found() {
    let folders = [
        "lost-update",
        "check-then-act",
        "torn",
        "atomics",
        "learning",
        "search",
        "choices",
        "cxx",
        "noise",
        "once",
    ];
    let folders = if extent::is_full() { &folders[..] } else { &folders[..3] };
    let (mut asked, mut missed) = (0, Vec::new());
    for source in programs(folders, 3) {
        let text = fs::read_to_string(&source).expect("the source");
        if text.contains("expect: pass") || text.contains("expect: race") || text.contains("expect: deadlock")
        {
            continue;
        }
        let place = tempfile::tempdir().expect("a folder");
        let Some(program) = tool::build(&source, place.path()) else { continue };
        let Some(run) = json(&program, place.path(), &["run", "--runs", "1000"]) else { continue };
        let decided: Vec<String> =
            kinds(&run).into_iter().filter(|(_, decided)| *decided).map(|(kind, _)| kind).collect();
        if decided.is_empty() {
            continue;
        }
        asked += 1;
        let all = json(&program, place.path(), &["futures", "--all", "--shrink", "off"]).expect("a table");
        let found: Vec<String> = kinds(&all).into_iter().map(|(kind, _)| kind).collect();
        println!("{}: {decided:?}, found {found:?}", name(&source));
        if !decided.iter().any(|kind| found.contains(kind)) {
            missed.push(name(&source));
        }
    }
    println!("{} of {asked} bugs that one read decides were found", asked - missed.len());
    assert!(asked > 2 && missed.is_empty(), "{asked}: {missed:?}");
}

/// Why a term is still there that cannot be, in a few words.
fn why(reason: &str) -> &'static str {
    let all = [
        ("only after the read", "the strand writes only after the read"),
        ("writes again before", "the strand writes again before the read"),
        ("itself writes before", "the strand itself writes before the read"),
        ("for the end of strand", "a join comes first"),
        ("needs at", "a lock keeps them apart"),
        ("would have to wait", "the order of steps goes round"),
        ("comes to", "a wake comes first"),
        ("in every one", "the read sees others in every order"),
    ];
    all.iter().find(|(word, _)| reason.contains(word)).map_or("no reason", |(_, why)| why)
}

/// Of programs of which every term was decided, most terms that the table left can be; why the others cannot is told.
#[test]
fn most_terms_of_small_programs_can_be() {
    let folders = [
        "lost-update",
        "check-then-act",
        "mutex",
        "condvar",
        "torn",
        "rwlock",
        "barrier",
        "once",
        "semaphore",
        "atomics",
    ];
    let folders = if extent::is_full() { &folders[..] } else { &folders[..2] };
    let (mut can, mut cannot, mut small) = (0, 0, 0);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    println!("| program | can be | cannot |\n|---|---|---|");
    for source in programs(folders, 3) {
        let place = tempfile::tempdir().expect("a folder");
        let Some(program) = tool::build(&source, place.path()) else { continue };
        let Some(all) = json(&program, place.path(), &["futures", "--all", "--shrink", "off"]) else {
            continue;
        };
        let terms =
            all["reads"].as_array().into_iter().flatten().flat_map(|read| read["terms"].as_array()).flatten();
        let terms: Vec<&Value> = terms.collect();
        let is = |term: &&&Value, words: &[&str]| words.iter().any(|word| term["status"] == *word);
        if terms.is_empty() || terms.iter().any(|term| is(&term, &["not-made", "unreached", "possible"])) {
            continue;
        }
        small += 1;
        let possible = terms.iter().filter(|term| is(term, &["seen", "made"])).count();
        let impossible: Vec<_> = terms.iter().filter(|term| is(term, &["impossible"])).collect();
        println!("| {} | {possible} | {} |", name(&source), impossible.len());
        for term in &impossible {
            *reasons.entry(why(term["reason"].as_str().unwrap_or_default())).or_default() += 1;
        }
        can += possible;
        cannot += impossible.len();
    }
    println!("{small} programs: {can} of {} terms can be; of the others: {reasons:?}", can + cannot);
    assert!(small > 0 && can > 0);
    assert_eq!(reasons.get("no reason"), None, "{reasons:?}");
    assert!(can * 10 >= (can + cannot) * 6, "{can} of {}", can + cannot);
}
