//! The tests inside a test binary.
//!
//! libtest is asked itself (`--list --format terse`), with the user's own filters, so that filters mean what they
//! mean for `cargo test`. Its list has the ignored tests too unless only those are wanted, so they are asked for apart.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{CargoRequest, RunTarget};
use crate::error::{Error, Result};

/// A harness of another make may take `--list` for an order to run everything.
const PATIENCE: Duration = Duration::from_secs(20);

/// The tests that would run, and the ignored ones that would not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// Each with whether it is marked `#[ignore]`.
    pub(super) tests: Vec<(String, bool)>,
    pub(super) left_out: Vec<String>,
}

/// Which of the ignored tests the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    LeaveOut,
    Only,
    Include,
}

/// Asks `target` for its tests. A custom harness that does not answer in libtest's way gives none.
pub(super) fn list(target: &RunTarget, request: &CargoRequest<'_>, custom: bool) -> Result<Option<Listing>> {
    let (filters, wanted) = read_arguments(&target.arguments);
    let ask = |extra: &[&str]| -> Result<Option<Vec<String>>> {
        let answer = ask(target, request, &filters, extra, custom)?;
        let names = answer.ended.filter(ExitStatus::success).and_then(|_| parse(&answer.stdout));
        match (names, answer.ended) {
            (Some(names), _) => Ok(Some(names)),
            (None, _) if custom => Ok(None),
            (None, ended) => Err(Error::Listing {
                program: target.program.clone(),
                status: ended.unwrap_or_default(),
                output: answer.stderr,
            }),
        }
    };
    let all = match wanted {
        Ignored::Only => ask(&["--ignored"])?,
        Ignored::LeaveOut | Ignored::Include => ask(&[])?,
    };
    let Some(all) = all else { return Ok(None) };
    if custom && all.is_empty() {
        return Ok(None);
    }
    let ignored: BTreeSet<String> = match wanted {
        Ignored::Only => all.iter().cloned().collect(),
        Ignored::LeaveOut | Ignored::Include => {
            ask(&["--ignored"])?.unwrap_or_default().into_iter().collect()
        }
    };
    let (out, kept): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|name| wanted == Ignored::LeaveOut && ignored.contains(name));
    let tests =
        kept.into_iter().map(|name| (ignored.contains(&name), name)).map(|(i, name)| (name, i)).collect();
    Ok(Some(Listing { tests, left_out: out }))
}

/// The arguments that run one test alone, in the calling strand and with its output let through.
pub(super) fn arguments_of_case(name: &str, ignored: bool) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        vec![name.into(), "--exact".into(), "--nocapture".into(), "--test-threads=1".into()];
    if ignored {
        arguments.push("--include-ignored".into());
    }
    arguments
}

/// Keeps what chooses tests, drops what only concerns the running and the output.
fn read_arguments(arguments: &[OsString]) -> (Vec<OsString>, Ignored) {
    const WITH_VALUE: [&str; 5] = ["--format", "--test-threads", "--color", "--logfile", "--shuffle-seed"];
    const ALONE: [&str; 12] = [
        "--nocapture",
        "--no-capture",
        "--quiet",
        "-q",
        "--show-output",
        "--list",
        "--test",
        "--bench",
        "--shuffle",
        "--report-time",
        "--ensure-time",
        "--force-run-in-process",
    ];
    let (mut kept, mut wanted) = (Vec::new(), Ignored::LeaveOut);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        match text.as_ref() {
            "--ignored" => wanted = Ignored::Only,
            "--include-ignored" => wanted = Ignored::Include,
            option if WITH_VALUE.contains(&option) => _ = rest.next(),
            option if ALONE.contains(&option) => {}
            option if option.split_once('=').is_some_and(|(name, _)| WITH_VALUE.contains(&name)) => {}
            "--skip" => kept.extend([argument.clone()].into_iter().chain(rest.next().cloned())),
            _ => kept.push(argument.clone()),
        }
    }
    (kept, wanted)
}

struct Answer {
    /// Absent when patience ran out.
    ended: Option<ExitStatus>,
    stdout: String,
    stderr: String,
}

fn ask(
    target: &RunTarget,
    request: &CargoRequest<'_>,
    filters: &[OsString],
    extra: &[&str],
    custom: bool,
) -> Result<Answer> {
    let failed = |source| Error::Start { program: target.program.display().to_string(), source };
    // Files rather than pipes: a program that writes much must not wait for a reader.
    let (mut stdout, mut stderr) =
        (tempfile::tempfile().map_err(failed)?, tempfile::tempfile().map_err(failed)?);
    let mut child = Command::new(&target.program)
        .args(["--list", "--format", "terse"])
        .args(extra)
        .args(filters)
        .current_dir(&target.folder)
        .env_clear()
        .envs(request.env.iter())
        .envs(target.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().map_err(failed)?)
        .stderr(stderr.try_clone().map_err(failed)?)
        .spawn()
        .map_err(failed)?;
    let ended = if custom {
        let started = Instant::now();
        loop {
            match child.try_wait().map_err(failed)? {
                Some(status) => break Some(status),
                None if started.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
                None => {
                    child.kill().and_then(|()| child.wait()).map_err(failed)?;
                    break None;
                }
            }
        }
    } else {
        Some(child.wait().map_err(failed)?)
    };
    let text = |file: &mut fs::File| -> std::io::Result<String> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Answer {
        ended,
        stdout: text(&mut stdout).map_err(failed)?,
        stderr: text(&mut stderr).map_err(failed)?,
    })
}

/// The names in a terse list; none when the text is something else.
fn parse(text: &str) -> Option<Vec<String>> {
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let name = line.strip_suffix(": test").or_else(|| line.strip_suffix(": benchmark"))?;
            Some(name.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn only_choices_reach_the_list() {
        let (kept, wanted) = read_arguments(&words(
            "some --nocapture --skip --ignored --exact --format json --test-threads=3 -q",
        ));
        assert_eq!(kept, words("some --skip --ignored --exact"));
        assert_eq!(wanted, Ignored::LeaveOut, "the value of --skip is no flag");
        assert_eq!(read_arguments(&words("--ignored")), (Vec::new(), Ignored::Only));
        assert_eq!(read_arguments(&words("a --include-ignored")), (words("a"), Ignored::Include));
    }

    #[test]
    fn terse_lists() {
        assert_eq!(parse("a::b: test\nc: benchmark\n\n").unwrap(), ["a::b", "c"]);
        assert_eq!(parse("").unwrap(), [""; 0]);
        assert_eq!(parse("running 3 tests\n"), None);
    }
}
