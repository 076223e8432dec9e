//! Tests as files that a person can read, and that survive edits which move lines.
//!
//! A file names the two functions with their files, the object, and the texts of the lines at which the two meet: that is the path. A test is found again by
//! its functions; of several pairs of paths it is the one with most of the same lines.

use super::look::{Alone, Candidate};
use crate::conduct::cannot;
use crate::exit::Trouble;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_explore::files;

/// How the files' names end.
pub(super) const EXTENSION: &str = "pair";
const HEAD: &str = "threadbare pair 1";

/// A test in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    /// The functions with their files.
    pub(super) functions: [(String, String); 2],
    pub(super) object: String,
    /// The texts of the lines at which they meet.
    pub(super) lines: [BTreeSet<String>; 2],
    /// Whether it failed when it was written.
    pub(super) failed: bool,
}

fn base_name(file: &str) -> String {
    Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Kept {
    pub(super) fn of(candidate: &Candidate, failed: bool) -> Kept {
        let function = |at: usize| {
            let it = &candidate.functions[at];
            (it.name.clone(), base_name(&it.file))
        };
        Kept {
            functions: [function(0), function(1)],
            object: candidate.object.clone(),
            lines: candidate.lines.clone(),
            failed,
        }
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for (at, which) in ["first", "second"].into_iter().enumerate() {
            let (function, file) = &self.functions[at];
            let _ = writeln!(text, "{which}-function: {function}\n{which}-file: {file}");
            for line in &self.lines[at] {
                let _ = writeln!(text, "{which}-line: {line}");
            }
        }
        let _ = writeln!(text, "object: {}", self.object);
        let _ = writeln!(text, "expect: {}", if self.failed { "fails" } else { "passes" });
        text
    }

    fn parse(text: &str) -> Result<Kept, String> {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(format!("its first line is not `{HEAD}`"));
        }
        let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(": ")).collect();
        let all = |name: String| {
            let found = fields.iter().filter(move |(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned()).collect::<Vec<_>>()
        };
        let one =
            |name: &str| all(name.to_owned()).pop().ok_or_else(|| format!("there is no `{name}` in it"));
        let function = |which: &str| -> Result<(String, String), String> {
            let file = all(format!("{which}-file")).pop().unwrap_or_default();
            Ok((one(&format!("{which}-function"))?, file))
        };
        let failed = match one("expect")?.as_str() {
            "fails" => true,
            "passes" => false,
            other => return Err(format!("`expect` is `{other}`, and neither `passes` nor `fails`")),
        };
        Ok(Kept {
            functions: [function("first")?, function("second")?],
            object: one("object").unwrap_or_default(),
            lines: ["first", "second"].map(|which| all(format!("{which}-line")).into_iter().collect()),
            failed,
        })
    }

    /// The pair of paths that it means, by number.
    pub(super) fn finds(&self, candidates: &[Candidate]) -> Option<usize> {
        let score = |candidate: &Candidate| {
            let named = |at: usize, to: usize| {
                let (name, file) = &self.functions[at];
                let it = &candidate.functions[to];
                it.name == *name && (file.is_empty() || base_name(&it.file) == *file)
            };
            let common = |at: usize, to: usize| self.lines[at].intersection(&candidate.lines[to]).count();
            let straight = (named(0, 0) && named(1, 1)).then(|| common(0, 0) + common(1, 1));
            let crossed = (named(0, 1) && named(1, 0)).then(|| common(0, 1) + common(1, 0));
            let lines = straight.max(crossed)?;
            // A line that was edited is no reason to lose a test, an object that has another name neither.
            let other = candidate.lines.iter().map(BTreeSet::len).sum::<usize>();
            Some((lines, candidate.object == self.object, std::cmp::Reverse(other)))
        };
        let scored =
            candidates.iter().enumerate().filter_map(|(at, candidate)| Some((score(candidate)?, at)));
        scored.max_by_key(|(score, at)| (*score, std::cmp::Reverse(*at))).map(|(_, at)| at)
    }
}

/// Names for tests of calls that met in no run, beside those of others.
pub(super) fn names_beside(candidates: &[Candidate], alone: &[Alone]) -> Vec<String> {
    let all: Vec<Candidate> =
        candidates.iter().chain(alone.iter().map(|alone| &alone.candidate)).cloned().collect();
    names(&all).split_off(candidates.len())
}

/// Names for tests, after what they do.
pub(super) fn names(candidates: &[Candidate]) -> Vec<String> {
    let plain = |text: &str| {
        let words: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        words.join("-")
    };
    let mut names: Vec<String> = Vec::new();
    for candidate in candidates {
        let [first, second] = [0, 1].map(|at: usize| plain(&candidate.functions[at].name));
        let object = plain(&candidate.object.replace("memory without a name", "memory"));
        let mut base = format!("{first}-and-{second}-on-{object}");
        base = base.chars().take(120).collect();
        let mut name = base.clone();
        let mut number = 2;
        while names.contains(&name) {
            name = format!("{base}-{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

/// Writes a test; gives the file.
pub(super) fn write(folder: &Path, name: &str, kept: &Kept) -> Result<PathBuf, Trouble> {
    let refused = |error: &std::io::Error| cannot(&format!("write to `{}`", folder.display()), error);
    fs::create_dir_all(folder).map_err(|error| refused(&error))?;
    let path = folder.join(format!("{name}.{EXTENSION}"));
    fs::write(&path, kept.to_text()).map_err(|error| refused(&error))?;
    Ok(path)
}

/// The live tests of a folder, by name.
pub(super) fn read(folder: &Path, may_lack: bool) -> Result<Vec<(String, Kept)>, Trouble> {
    const HELP: &str = "`threadbare generate --out DIR -- PROG` writes tests";
    let refused = |path: &Path, error: &std::io::Error| {
        Trouble::usage(format!("cannot read `{}`: {error}", path.display()), HELP)
    };
    let entries = fs::read_dir(folder).map_err(|error| refused(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == EXTENSION));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let text = files::read_text(&path).map_err(|error| refused(&path, &error))?;
        let kept = Kept::parse(&text)
            .map_err(|why| Trouble::usage(format!("`{}` is no test: {why}", path.display()), HELP))?;
        all.push((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), kept));
    }
    if all.is_empty() && !may_lack {
        return Err(Trouble::usage(format!("there are no tests in `{}`", folder.display()), HELP));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let lines = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<BTreeSet<_>>();
        let kept = Kept {
            functions: [("deposit".to_owned(), "bank.c".to_owned()), ("take: it".to_owned(), String::new())],
            object: "account.balance".to_owned(),
            lines: [lines(&["a = b: 3;", "c++;"]), lines(&["x"])],
            failed: true,
        };
        assert_eq!(Kept::parse(&kept.to_text()).as_ref(), Ok(&kept));
        assert!(Kept::parse("nothing").is_err());
        assert!(Kept::parse(&format!("{HEAD}\nfirst-function: f\nexpect: fails\n")).is_err());
    }
}
