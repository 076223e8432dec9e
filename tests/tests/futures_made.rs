//! Of the terms that programs of the corpus can have, how many `futures --all` makes, and by how many runs each: a table, and a floor under it.
//!
//! What a program can have is what a long look at it shows. `--all` gets four runs of one order to look at, so that much of it is left to be made.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::{extent, tool};

/// A pair: the read's place and variable, whose write, its place.
type Pair = (String, String, String, String);

struct Table(Value);

impl Table {
    fn terms(&self) -> impl Iterator<Item = (Pair, &Value)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.0["reads"].as_array().into_iter().flatten().flat_map(move |read| {
            let terms = read["terms"].as_array().into_iter().flatten();
            terms.map(move |term| {
                let key = (
                    text(&read["place"]),
                    text(&read["variable"]),
                    text(&term["whose"]),
                    text(&term["write"]),
                );
                (key, term)
            })
        })
    }

    fn with(&self, status: &[&str]) -> BTreeSet<Pair> {
        let is = |term: &Value| status.iter().any(|word| term["status"] == *word);
        self.terms().filter(|(_, term)| is(term)).map(|(key, _)| key).collect()
    }
}

fn look(program: &Path, folder: &Path, options: &[&str]) -> Option<Table> {
    let mut command = tool::command(["futures", "--races", "off", "--shrink", "off", "--timeout", "2s"]);
    command.args(["--format", "json"]).args(options).arg("--out").arg(folder.join("out"));
    let made = tool::finish(command.arg("--").arg(program), tool::PATIENCE);
    serde_json::from_str(&made.stdout).ok().map(Table)
}

#[test]
fn terms_are_made_by_few_runs() {
    let corpus = tool::root().join("tests/programs");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&corpus).expect("the corpus").flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let few = ["check-then-act", "condvar", "lost-update", "mutex"];
    folders.retain(|folder| extent::is_full() || few.iter().any(|name| folder.ends_with(name)));
    let (mut can, mut have, mut made, mut tries) = (0, 0, 0, 0);
    println!("| program | terms | had | made | runs for these |\n|---|---|---|---|---|");
    for folder in folders {
        let mut sources: Vec<PathBuf> =
            fs::read_dir(&folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
        sources.sort();
        // A run that is killed tells nothing of its reads, and takes all the time that it gets.
        sources.retain(|source| {
            !fs::read_to_string(source).is_ok_and(|text| text.contains("//@ expect: timeout"))
        });
        for source in sources.iter().take(if extent::is_full() { usize::MAX } else { 6 }) {
            let place = tempfile::tempdir().expect("a folder");
            let Some(program) = tool::build(source, place.path()) else { continue };
            let runs = if extent::is_full() { "200" } else { "100" };
            let Some(long) = look(&program, place.path(), &["--runs", runs]) else { continue };
            let all = look(&program, place.path(), &["--all", "--runs", "4", "--strategy", "round-robin"])
                .expect("a table");
            // Code that none of the four runs came to has no terms in the table yet.
            let listed: BTreeSet<Pair> = all.terms().map(|(key, _)| key).collect();
            let possible: BTreeSet<Pair> = long.with(&["seen"]).intersection(&listed).cloned().collect();
            let got = all.with(&["seen", "made"]);
            let had = possible.intersection(&got).count();
            let planned = all.terms().filter(|(_, term)| term["status"] == "made");
            let planned: Vec<u64> = planned.filter_map(|(_, term)| term["tries"].as_u64()).collect();
            let name = source.strip_prefix(&corpus).unwrap_or(source).display().to_string();
            let spent = planned.iter().sum::<u64>();
            println!("| {name} | {} | {had} | {} | {spent} |", possible.len(), planned.len());
            for missing in possible.difference(&got) {
                println!("  not had: {missing:?}");
            }
            can += possible.len();
            have += had;
            made += planned.len() as u64;
            tries += spent;
        }
    }
    println!("{have} of {can} terms had, {made} of them made to order by {tries} runs");
    assert!(can > 20 && made > 0, "{can} terms, {made} made");
    assert!(have * 100 >= can * 98, "{have} of {can}");
    assert!(tries <= 2 * made, "{tries} runs for {made}");
}
