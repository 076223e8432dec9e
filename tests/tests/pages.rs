//! ARCHITECTURE is a page, and what it names is there; the glossary is short, and its words mean one thing each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::tool;

/// Words of ARCHITECTURE, without its picture, and of the glossary.
const PAGE: usize = 1_000;
const GLOSSARY: usize = 25;

fn read(name: &str) -> String {
    let path = tool::root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn architecture_is_one_page() {
    let page = read("ARCHITECTURE.md");
    let text: Vec<&str> = page.split("```").step_by(2).collect();
    let words: usize = text.iter().map(|part| part.split_whitespace().count()).sum();
    assert!(words <= PAGE, "{words} words: details belong into the docs of their modules");
}

#[test]
fn what_architecture_names_is_there() {
    let page = read("ARCHITECTURE.md");
    let crates = tool::root().join("crates");
    let mut all = Vec::new();
    sources(&crates, &mut all);
    let named: Vec<&str> =
        page.split('`').skip(1).step_by(2).filter(|it| it.ends_with(".rs") || it.ends_with('/')).collect();
    assert!(named.len() > 15, "only {named:?}: this test must follow");
    for name in named {
        let name = name.trim_end_matches('/');
        let is_there = tool::root().join(name).exists()
            || all.iter().any(|path| path.ancestors().any(|at| at.ends_with(name)));
        assert!(is_there, "{name} is no file of ours");
    }
}

#[test]
fn the_glossary_is_short_and_its_words_mean_one_thing() {
    let page = read("CONTRIBUTING.md");
    let (_, from) = page.split_once("## Glossary").expect("a glossary");
    let (table, _) = from.split_once("\n## ").expect("an end of it");
    let words: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .map(|(word, _)| word)
        .filter(|word| *word != "word")
        .collect();
    assert!((12..=GLOSSARY).contains(&words.len()), "{} words", words.len());
    let names: Vec<String> = words.iter().map(|word| word[..1].to_uppercase() + &word[1..]).collect();
    let mut all = Vec::new();
    for entry in
        fs::read_dir(tool::root().join("crates")).expect("crates").map(|entry| entry.expect("an entry"))
    {
        // The runtime has no public types: nobody links it.
        if entry.file_name() != "rt" {
            sources(&entry.path().join("src"), &mut all);
        }
    }
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in &all {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in text.lines() {
            let declared = ["struct", "enum", "trait", "type"]
                .iter()
                .find_map(|kind| line.strip_prefix("pub ")?.strip_prefix(kind)?.strip_prefix(' '));
            let Some(declared) = declared else { continue };
            let name = declared.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            if let Some(name) = names.iter().find(|other| *other == name) {
                found.entry(name).or_default().push(path.display().to_string());
            }
        }
    }
    for (name, paths) in &found {
        assert!(
            paths.len() == 1,
            "{name} is the name of {} public types:\n{}",
            paths.len(),
            paths.join("\n")
        );
    }
}
