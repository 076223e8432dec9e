//! What has to be touched to add something: a form of results is named in one file of the command line, a command in one beside its own.

use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::tool;

fn command_line() -> PathBuf {
    tool::root().join("crates/cli/src")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All sources under a folder, with their names in it.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(folder).expect("a file of it").display().to_string();
                found.push((name, read(&path)));
            }
        }
    }
    found
}

/// The variants of an enum of a text: the first word of each line of its body that begins with a capital letter.
fn variants<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let head = format!("enum {name} {{\n");
    let (_, body) = text.split_once(&head).unwrap_or_else(|| panic!("there is no {name}"));
    let (body, _) = body.split_once("\n}").expect("its end");
    let words = body.lines().map(|line| line.trim());
    words
        .filter(|line| line.starts_with(char::is_uppercase))
        .map(|line| line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default())
        .collect()
}

#[test]
fn a_form_of_results_is_named_in_one_file() {
    let files = sources(&command_line());
    let text = read(&command_line().join("output.rs"));
    let forms = variants(&text, "ReportFormat");
    assert!(forms.len() >= 5 && forms.contains(&"Sarif"), "{forms:?}");
    // Results for people, and all there is for programs, every command writes by itself.
    for form in forms.iter().filter(|form| !["Text", "Json"].contains(form)) {
        let name = format!("ReportFormat::{form}");
        let named: Vec<&str> =
            files.iter().filter(|(_, text)| text.contains(&name)).map(|(file, _)| &file[..]).collect();
        assert_eq!(named, ["output.rs"], "{form}");
    }
}

#[test]
fn a_command_is_named_in_one_file_beside_its_own() {
    let folder = command_line().join("commands");
    let text = read(&folder.join("mod.rs"));
    let names: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("pub(crate) mod ")?.strip_suffix(';')).collect();
    assert!(names.len() > 15, "only {} commands", names.len());
    let commands = variants(&text, "Command").len() + variants(&text, "CargoCommand").len();
    // `cc` is two of them, and what cargo's have in common is a file of its own.
    assert_eq!(commands, names.len(), "a command has no file, or a file no command");
    for name in &names {
        assert!(folder.join(name).with_extension("rs").exists(), "{name} has no file");
    }
    for (file, text) in sources(&command_line()) {
        if file == "main.rs" || file == "lib.rs" {
            assert!(!text.contains("commands::run::"), "{file}");
            for name in &names {
                assert!(!text.contains(&format!("commands::{name}::")), "{file} names the command {name}");
            }
        }
    }
}
