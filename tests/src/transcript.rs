//! What the README and the book show of the tool: commands, each with what it prints.
//!
//! A block of Markdown that is marked `console` is a transcript. A line `$ COMMAND` is run by the shell in the page's
//! folder, and the lines up to the next command are what it must print, both streams together:
//!
//! - a line `…` stands for any lines, also none;
//! - real times and rates, addresses, and counts that depend on the compiler are not compared (see [`masked`]);
//! - `$ cd FOLDER` holds for the rest of the page.
//!
//! The page's folder has every file and folder that the page names as `examples/…` or `tests/programs/…` in backticks,
//! by its last name: what the reader is told to copy there.

use crate::tool;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The word after the fence.
const MARK: &str = "```console";
const END: &str = "```";
const PROMPT: &str = "$ ";
const ANY: &str = "…";

/// Where pages say that they were made.
const SHOWN_FOLDER: &str = "/tmp/demo";

/// A command of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// As the page has it.
    pub command: String,
    /// What it prints, line by line.
    pub output: Vec<String>,
}

/// Lines of a page: as they are, or a command to be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Not for the test.
    Text(String),
    /// In a transcript.
    Step(Step),
}

/// Takes a page apart.
pub fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if inside && line != END {
            match (line.strip_prefix(PROMPT), parts.last_mut()) {
                (Some(command), _) => {
                    let step = Step { command: command.to_owned(), output: Vec::new() };
                    parts.push(Part::Step(step));
                }
                (None, Some(Part::Step(step))) => step.output.push(line.to_owned()),
                (None, _) => parts.push(Part::Text(line.to_owned())),
            }
            continue;
        }
        inside = line == MARK;
        parts.push(Part::Text(line.to_owned()));
    }
    parts
}

/// Puts a page together again.
pub fn page(parts: &[Part]) -> String {
    let mut page = String::new();
    for part in parts {
        match part {
            Part::Text(line) => page.push_str(line),
            Part::Step(step) => {
                page.push_str(PROMPT);
                page.push_str(&step.command);
                for line in &step.output {
                    page.push('\n');
                    page.push_str(line);
                }
            }
        }
        page.push('\n');
    }
    page
}

/// The files and folders of the checkout that a page tells the reader to copy.
pub fn sources(page: &str) -> BTreeSet<PathBuf> {
    let ours = |word: &&str| word.starts_with("examples/") || word.starts_with("tests/programs/");
    let words = page.split('`').filter(ours).filter(|word| !word.contains(char::is_whitespace));
    words.map(|word| tool::root().join(word)).filter(|path| path.exists()).collect()
}

/// A folder with what a page needs.
#[derive(Debug)]
pub struct Desk {
    root: tempfile::TempDir,
    folder: PathBuf,
}

impl Desk {
    /// Copies the page's sources.
    ///
    /// # Errors
    /// In words, when that is not possible.
    pub fn new(page: &str) -> Result<Desk, String> {
        let root = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        for source in sources(page) {
            let copied = Command::new("cp").arg("-r").arg(&source).arg(root.path()).status();
            if !copied.is_ok_and(|status| status.success()) {
                return Err(format!("cannot copy {}", source.display()));
            }
        }
        let folder = root.path().to_owned();
        Ok(Desk { root, folder })
    }

    /// Runs a command as the reader would, and gives what it prints.
    ///
    /// # Errors
    /// In words, when it hangs.
    pub fn run(&mut self, command: &str) -> Result<Vec<String>, String> {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.folder = self.folder.join(folder);
            return Ok(Vec::new());
        }
        let tools = tool::threadbare().parent().unwrap_or(Path::new("."));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path =
            std::env::join_paths(std::iter::once(tools.to_owned()).chain(std::env::split_paths(&path)))
                .map_err(|error| format!("the search path: {error}"))?;
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{{ {command}\n}} 2>&1")).current_dir(&self.folder).env("PATH", path);
        shell.stdin(Stdio::null());
        for variable in ["CARGO_TARGET_DIR", "CARGO_INCREMENTAL", "COLUMNS"] {
            shell.env_remove(variable);
        }
        tool::plain_environment(&mut shell);
        tool::without_cargos_own(&mut shell);
        let outcome = tool::finish(&mut shell, tool::PATIENCE);
        if outcome.hung {
            return Err(format!("`{command}` hung"));
        }
        let here = self.root.path().to_string_lossy();
        Ok(outcome.stdout.lines().map(|line| line.replace(&*here, SHOWN_FOLDER)).collect())
    }
}

/// Whether what was printed is what the page shows.
pub fn agree(shown: &[String], printed: &[String]) -> bool {
    let masks = |lines: &[String]| lines.iter().map(|line| masked(line)).collect::<Vec<_>>();
    let (shown, printed) = (masks(shown), masks(printed));
    let mut pieces = shown.split(|line| line == ANY);
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    let mut pieces: Vec<&[String]> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let found = (0..=rest.len()).find(|&at| rest[at..].starts_with(piece));
        let Some(at) = found else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Words of lines whose numbers say how long something took, or how many runs and points it was.
const TALLIES: [&str; 8] =
    [" in 0.", " runs in ", " run in ", "seen in ", " again, ", "target(s) in ", " runs, ", " panicked at "];

/// The form of a campaign's date.
const DATE: &str = "0000-00-00 00:00";

/// Where a line has a date: it is a campaign's then.
fn date(line: &str) -> Option<usize> {
    let plain: String = line.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    plain.find(DATE)
}

/// Whether the text begins with the hash that ends a campaign's id; it depends on the folder.
fn is_id(text: &str) -> bool {
    let hash = text.strip_prefix('-').and_then(|rest| rest.get(..8));
    hash.is_some_and(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A line without what differs from machine to machine.
pub fn masked(line: &str) -> String {
    let tally = TALLIES.iter().any(|word| line.contains(word))
        || line.starts_with("FAILED")
        || line.starts_with("ok ");
    let dated = date(line);
    let line = match dated {
        Some(at) => format!("{}{}", &line[..at], &line[at + DATE.len()..]),
        None => line.to_owned(),
    };
    let mut masked = String::new();
    let mut rest = line.trim_end();
    while let Some(next) = rest.chars().next() {
        if let Some(digits) = rest.strip_prefix("0x") {
            masked.push_str("0x*");
            rest = digits.trim_start_matches(|digit: char| digit.is_ascii_hexdigit() || digit == '…');
        } else if dated.is_some() && is_id(rest) {
            masked.push_str("-*");
            rest = &rest[9..];
        } else if tally && next.is_ascii_digit() {
            masked.push('*');
            rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit() || ",.".contains(digit));
        } else if tally && next == ' ' {
            masked.push(' ');
            rest = rest.trim_start_matches(' ');
        } else {
            masked.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_page_comes_apart_and_together() {
        let text =
            "# Title\n\n```console\n$ one\n$ two -- `x`\nout\n\nmore\n```\ntext\n```\n$ not for us\n```\n";
        let parts = parts(text);
        let steps: Vec<&Part> = parts.iter().filter(|part| matches!(part, Part::Step(_))).collect();
        let two = Part::Step(Step { command: "two -- `x`".to_owned(), output: lines("out\n\nmore") });
        assert_eq!(steps.len(), 2);
        assert_eq!(*steps[1], two);
        assert_eq!(page(&parts), text);
    }

    #[test]
    fn times_and_addresses_do_not_matter() {
        let shown = lines("1 finding: 6 runs in 0.01 s (1,700/s), 1 failed\n  = `x`: 4 bytes at 0x55a8");
        let printed = lines("1 finding: 7 runs in 12.3 s (9/s), 1 failed\n  = `x`: 4 bytes at 0x7ff0");
        assert!(agree(&shown, &printed));
        assert!(!agree(&shown, &lines("1 finding: 7 runs in 12.3 s (9/s), 1 failed")));
        assert!(!agree(&lines("bank.c:9"), &lines("bank.c:10")));
        assert!(agree(
            &lines("bank-0a1b2c3d  2026-01-02 10:11  5"),
            &lines("bank-ffffffff  2027-11-12 23:59  5")
        ));
    }

    #[test]
    fn dots_stand_for_any_lines() {
        let printed = lines("a\nb\nc\nd");
        for shown in ["a\n…\nd", "…", "a\nb\nc\nd\n…", "…\nb\n…\nd", "a\nb\n…\nc\nd"] {
            assert!(agree(&lines(shown), &printed), "{shown}");
        }
        for shown in ["a\n…\nc", "b\n…", "…\nc\n…\nb\n…", "a\nb\nc"] {
            assert!(!agree(&lines(shown), &printed), "{shown}");
        }
    }
}
