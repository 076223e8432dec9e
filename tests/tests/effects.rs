//! A model says what it did (`effect`), and names nobody who looks on: one call that is forgotten would compile, and give a false
//! race, a wrong class or a missed order.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::tool;

/// Whatever does something that is told.
const WHO_DOES: [&str; 3] = ["model", "tsan", "heap"];

fn runtime() -> PathBuf {
    tool::root().join("crates/rt/src")
}

/// The observers, as the file says in which they subscribe.
fn observers() -> BTreeSet<String> {
    let text = code(&runtime().join("effect.rs"));
    let (_, rest) = text.split_once("mod observers {").expect("effect.rs names the observers");
    let (_, rest) = rest.split_once("crate::engine::{").expect("they are the engine's");
    let (names, _) = rest.split_once('}').expect("a list");
    names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The text of a file without comments.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the runtime").map(|entry| entry.expect("an entry"))
    {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The modules of the engine that a text names: `engine::name`, or `name` in `engine::{...}`, however deep.
fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    for (at, path) in text.match_indices("engine::") {
        let behind = &text[at + path.len()..];
        let Some(list) = behind.strip_prefix('{') else {
            found.insert(word(behind));
            continue;
        };
        let mut depth = 1;
        let mut begins = true;
        for (at, sign) in list.char_indices() {
            match sign {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' => begins = true,
                c if begins && depth == 1 && !c.is_whitespace() => {
                    found.insert(word(&list[at..]));
                    begins = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

#[test]
fn names_are_found_however_they_are_written() {
    let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(named("engine::coverage::changes(addr, pc);"), set(&["coverage"]));
    assert_eq!(
        named("use crate::engine::{self, locks::{self, Held}, race};"),
        set(&["self", "locks", "race"])
    );
    assert_eq!(named("use crate::engine::{\n    Wake, steps,\n};\nlocks::wants();"), set(&["Wake", "steps"]));
    assert_eq!(named("use crate::model::io::locks;"), set(&[]));
}

#[test]
fn no_model_names_an_observer() {
    let observers = observers();
    for name in ["coverage", "locks", "lost", "race", "record", "steps", "watch", "words"] {
        assert!(observers.contains(name), "{name} does not subscribe in effect.rs");
        let module = runtime().join("engine").join(name);
        assert!(module.with_extension("rs").exists() || module.is_dir(), "the engine has no {name}");
    }
    let mut files = Vec::new();
    for folder in WHO_DOES {
        sources(&runtime().join(folder), &mut files);
    }
    assert!(files.len() > 50, "the models are somewhere else: this test must follow");
    let mut says_effects = 0;
    for file in files {
        let text = code(&file);
        let both: Vec<String> = named(&text).intersection(&observers).cloned().collect();
        assert!(
            both.is_empty(),
            "{} names {both:?}: say an effect, and let it subscribe in effect.rs",
            file.display()
        );
        says_effects += text.matches("effect(").count();
    }
    assert!(says_effects > 50, "only {says_effects} effects are said");
}

/// Two references to one value that live at the same time are wrong on one kernel thread as well: the runtime's state is reached by its raw place.
#[test]
fn no_function_of_the_runtime_gives_out_a_reference_for_good() {
    let mut files = Vec::new();
    sources(&runtime(), &mut files);
    assert!(files.len() > 100, "the runtime has more files than {}", files.len());
    let given: Vec<String> = files
        .iter()
        .filter(|file| code(file).contains("&'static mut"))
        .map(|file| file.display().to_string())
        .collect();
    assert!(given.is_empty(), "use `Raw` in {given:?}");
}

#[test]
fn the_numbers_of_system_calls_stand_in_one_table() {
    let table = runtime().join("sys/x86_64.rs");
    let text = code(&table);
    let constants = |text: &str| -> Vec<(String, i64)> {
        let constant = |line: &str| {
            let (_, rest) = line.split_once("const ")?;
            let (name, value) = rest.split_once(": i64 = ")?;
            Some((name.to_owned(), value.strip_suffix(';')?.parse().ok()?))
        };
        text.lines().filter_map(|line| constant(line.trim())).collect()
    };
    let table_of = constants(&text);
    assert!(table_of.len() > 100, "only {} system calls: this test must follow", table_of.len());
    assert!(table_of.is_sorted_by_key(|(_, number)| *number), "they go by their numbers");
    let mut all = Vec::new();
    sources(&runtime(), &mut all);
    for path in all.iter().filter(|path| **path != table) {
        for (name, _) in constants(&code(path)) {
            let known = table_of.iter().any(|(other, _)| *other == name);
            assert!(!known, "{} has a number of its own for {name}", path.display());
        }
    }
}

/// The map of the engine says of every file what it serves.
#[test]
fn every_file_of_the_engine_is_in_its_map() {
    let folder = runtime().join("engine");
    let text = fs::read_to_string(folder.join("mod.rs")).expect("the engine");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("//! | ")).collect();
    let named = |name: &str| rows.iter().filter(|row| row.contains(&format!("| `{name}` |"))).count();
    let mut files = 0;
    for entry in fs::read_dir(&folder).expect("the engine's files") {
        let name = entry.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned();
        if name != "mod" {
            assert_eq!(named(&name), 1, "{name} has no row, or several, in engine/mod.rs");
            files += 1;
        }
    }
    assert!(files > 50 && rows.len() == files + 1, "{} rows for {files} files", rows.len() - 1);
}
