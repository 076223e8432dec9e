//! The compilers' own ThreadSanitizer, as the measure of which races can be told.

use crate::compile::{self, Compiler};
use crate::corpus::{Language, Lines, Program, in_order};
use crate::tool::{self, Outcome};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A race as ThreadSanitizer told it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Report {
    /// The lines of the program it names.
    pub lines: Lines,
    /// If one access is an allocation, which ThreadSanitizer counts as a write of the whole block: the line of the
    /// other one.
    pub besides_allocation: Option<u64>,
}

/// One access of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Access {
    line: u64,
    allocates: bool,
}

/// Runs a program that was built with ThreadSanitizer.
///
/// Exit-time races are waited for, but not for the full second that is the default.
pub fn run(executable: &Path, bare: bool) -> Outcome {
    let mut command = if bare { Command::new(executable) } else { Command::new("setarch") };
    if !bare {
        command.arg("-R").arg(executable);
    }
    command.env("TSAN_OPTIONS", "exitcode=66 color=never atexit_sleep_ms=50 allow_addr2line=1");
    tool::finish(&mut command, tool::PATIENCE)
}

/// Whether ThreadSanitizer works with a compiler, and whether it does so without `setarch -R`.
///
/// # Errors
/// In words, why it does not.
pub fn works(compiler: Compiler, program: &Program, folder: &Path) -> Result<bool, String> {
    static GCC: OnceLock<Result<bool, String>> = OnceLock::new();
    static CLANG: OnceLock<Result<bool, String>> = OnceLock::new();
    let known = if compiler == Compiler::Gcc { &GCC } else { &CLANG };
    let try_it = || {
        let executable = compile::sanitized(program, compiler, folder)?;
        let told = |outcome: &Outcome| !reports(program, &outcome.stderr).is_empty();
        // A kernel that spreads addresses widely is too much for older runtimes.
        let bare = run(&executable, true);
        if told(&bare) {
            return Ok(true);
        }
        let outcome = run(&executable, false);
        if told(&outcome) { Ok(false) } else { Err(bare.describe()) }
    };
    known.get_or_init(try_it).clone()
}

/// The races that a program shows in a number of runs.
///
/// # Errors
/// In words, when it cannot be built or does not end.
pub fn races(
    program: &Program,
    compiler: Compiler,
    folder: &Path,
    bare: bool,
    runs: u64,
) -> Result<BTreeSet<Report>, String> {
    let executable: PathBuf = compile::sanitized(program, compiler, folder)?;
    let mut found = BTreeSet::new();
    for _ in 0..runs {
        let outcome = run(&executable, bare);
        if outcome.hung {
            return Err(format!("{} with ThreadSanitizer: {}", program.name, outcome.describe()));
        }
        found.extend(reports(program, &outcome.stderr));
    }
    Ok(found)
}

/// Whether a program can be compared.
pub fn comparable(program: &Program) -> bool {
    program.is_twin() && !program.passes() && program.tsan && program.language != Language::Rust
}

/// The reports in what a program wrote; those without a line of the program for each access are left out.
fn reports(program: &Program, text: &str) -> Vec<Report> {
    let file = program.file_name();
    let texts = text.split("WARNING: ThreadSanitizer: ").skip(1);
    texts
        .filter(|report| report.starts_with("data race") || report.starts_with("heap-use-after-free"))
        .filter_map(|report| {
            let stacks = report.split("\n\n").filter(|part| part.contains(" of size "));
            let accesses: Vec<Access> = stacks.take(2).filter_map(|stack| access(stack, file)).collect();
            let [one, other] = accesses[..] else { return None };
            let besides_allocation = match (one.allocates, other.allocates) {
                (true, false) => Some(other.line),
                (false, true) => Some(one.line),
                _ => None,
            };
            Some(Report { lines: in_order(one.line, other.line), besides_allocation })
        })
        .collect()
}

/// The access that a stack belongs to: `    #0 function /path/file.c:12:3 (module+0x1)`.
fn access(stack: &str, file: &str) -> Option<Access> {
    let frames = || stack.lines().map(str::trim_start).filter(|line| line.starts_with('#'));
    let name = frames().next()?.split_whitespace().nth(1)?;
    let allocates = ["malloc", "calloc", "operator"].contains(&name);
    let line = frames().find_map(|frame| {
        let (_, rest) = frame.split_once(&format!("/{file}:"))?;
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok()
    })?;
    Some(Access { line, allocates })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "//@ expect: race\n//@ race: a a\nx(); //~ a\n";

    #[test]
    fn reports_are_read() {
        let program = Program::parse("race/it.c", Path::new("/p/it.c"), SOURCE).unwrap();
        let text = "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 4 at 0x1 by main \
                    thread:\n    #0 std::foo /usr/foo.h:7 (it+0x1)\n    #1 main /p/it.c:20:5 (it+0x2)\n\n  Previous \
                    atomic write of size 4 at 0x1 by thread T1:\n    #0 work /p/it.c:9 (it+0x3)\n\n  Location is \
                    global 'x' of size 4 at 0x1 (it+0x4)\n\nSUMMARY: ThreadSanitizer: data race\n";
        assert_eq!(reports(&program, text), [Report { lines: (9, 20), besides_allocation: None }]);
        let block = text.replace("work /p/it.c:9", "calloc lib.cpp:1 (x)\n    #1 work /p/it.c:9");
        assert_eq!(reports(&program, &block), [Report { lines: (9, 20), besides_allocation: Some(20) }]);
        assert_eq!(reports(&program, &text.replace("data race (", "signal-unsafe call (")), []);
        assert_eq!(reports(&program, &text.replace("/p/it.c:9", "<null>")), []);
    }
}
