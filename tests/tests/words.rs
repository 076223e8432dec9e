//! No code decides by the words of a message. They are for people, and may be put better tomorrow; what a failure is is data
//! (`trace::identity`, `findings::identity`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::tool;

/// What holds words for people.
const WORDS: [&str; 3] = ["message", "note", "warning"];
/// What asks for a part of a text, or takes one.
const ASKS: [&str; 14] = [
    "contains",
    "starts_with",
    "ends_with",
    "strip_prefix",
    "strip_suffix",
    "trim_start_matches",
    "trim_end_matches",
    "find",
    "rfind",
    "split",
    "split_once",
    "rsplit",
    "rsplit_once",
    "match_indices",
];
/// What stands between a text and what is asked of it.
const BETWEEN: [&str; 6] = ["text", "as_str", "as_deref", "trim", "to_lowercase", "clone"];

/// Who may, and why.
const MAY: [(&str, &str); 4] = [
    ("crates/explore/src/verdict.rs", "reads what the program wrote: a panic that is an assertion says so"),
    ("crates/cli/src/api/judge.rs", "the words are those of the harness that is made into every test"),
    ("crates/report/src/text.rs", "leaves out what the line before says already, and decides nothing else"),
    ("crates/report/src/text/facts.rs", "the same"),
];

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

/// The text of a file without comments, what its strings say, and tests; and the modules that it declares for tests.
fn code(text: &str) -> (String, Vec<String>) {
    let mut tests = Vec::new();
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let declared =
                lines.peek().map(|next| next.trim().trim_start_matches("pub ")).unwrap_or_default();
            match declared.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
                Some(name) => tests.push(name.to_owned()),
                // The tests of a file are its end.
                None if declared.starts_with("mod ") => break,
                None => {}
            }
        }
        out.push_str(&plain(line));
        out.push('\n');
    }
    (out, tests)
}

/// A line without its comment and what its strings say.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if inside => _ = chars.next(),
            // The sign of a quote is a letter of its own.
            '\'' if !inside && chars.peek() == Some(&'"') => _ = chars.next(),
            '"' => {
                inside = !inside;
                out.push('"');
            }
            '/' if !inside && chars.peek() == Some(&'/') => break,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The next word of a text, and what comes behind it.
fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !is_letter(c)).unwrap_or(text.len());
    text.split_at(end)
}

/// What is asked of words in a text: each with its beginning.
fn asked(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for name in WORDS {
        for (at, _) in text.match_indices(name) {
            let whole = !text[..at].ends_with(is_letter) && word(&text[at..]).0 == name;
            if whole && decides(&text[at + name.len()..]) {
                let shown: String = text[at..].chars().take(60).collect();
                found.push(shown.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
    }
    found
}

/// Whether what comes behind a text asks for its words.
fn decides(mut rest: &str) -> bool {
    loop {
        rest = rest.trim_start();
        if rest.starts_with("==") || rest.starts_with("!=") {
            return true;
        }
        let Some(behind) = rest.strip_prefix('.') else { return false };
        let (name, behind) = word(behind.trim_start());
        if ASKS.contains(&name) {
            return true;
        }
        if !BETWEEN.contains(&name) {
            return false;
        }
        rest = behind.strip_prefix("()").unwrap_or(behind);
    }
}

#[test]
fn questions_are_found_however_they_are_written() {
    for bad in [
        "verdict.message.contains(\"points\")",
        "if finding.message\n    .starts_with(PREFIX) {",
        "a.message == b.message",
        "message != other",
        "notes.filter(|note| note.starts_with(\"predicted\"))",
        "warning.text.strip_prefix(REACHED)",
        "finding.message.as_str().split(':').next()",
    ] {
        assert!(!asked(&code(bad).0).is_empty(), "{bad}");
    }
    for good in [
        "finding.message = made.message;",
        "out.push_str(&finding.message);",
        "let message = format!(\"x\");",
        "messages.contains(&one)",
        "notes.contains(&note)",
        "// message.contains(\"points\")",
        "say(\"message.contains(x)\")",
        "finding.message.is_empty()",
    ] {
        assert_eq!(asked(&code(good).0), [""; 0], "{good}");
    }
    let (kept, tests) = code("a\n#[cfg(test)]\nmod more;\nb\n#[cfg(test)]\nmod tests {\n message == 1\n}");
    assert_eq!((kept.as_str(), tests), ("a\n#[cfg(test)]\nmod more;\nb\n", vec!["more".to_owned()]));
}

#[test]
fn no_code_decides_by_the_words_of_a_message() {
    let root = tool::root();
    let mut files = Vec::new();
    for member in fs::read_dir(root.join("crates")).expect("the crates") {
        sources(&member.expect("a crate").path().join("src"), &mut files);
    }
    assert!(files.len() > 400, "only {} files: this test must follow", files.len());
    let mut of_tests = BTreeSet::new();
    let mut texts = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let (code, tests) = code(&text);
        let stem = file.file_stem().unwrap_or_default();
        let is_root = ["lib", "main", "mod"].iter().any(|name| stem == *name);
        let folder = if is_root { file.with_file_name("") } else { file.with_extension("") };
        for name in tests {
            of_tests.insert(folder.join(format!("{name}.rs")));
            of_tests.insert(folder.join(name).join("mod.rs"));
        }
        texts.push((file, code));
    }
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    for (file, code) in texts.iter().filter(|(file, _)| !of_tests.contains(file)) {
        let name = file.strip_prefix(root).expect("a file of ours").display().to_string();
        let asked = asked(code);
        match MAY.iter().find(|(may, _)| *may == name) {
            Some((may, _)) if !asked.is_empty() => _ = used.insert(*may),
            _ => wrong.extend(asked.iter().map(|what| format!("{name}: {what}"))),
        }
    }
    assert!(wrong.is_empty(), "carry what is meant as data, and compare that:\n{}", wrong.join("\n"));
    for (name, why) in MAY {
        assert!(used.contains(name), "{name} asks for no words any more ({why}): take it from the list");
    }
}
