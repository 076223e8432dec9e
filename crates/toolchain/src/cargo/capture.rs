//! How cargo would run what it has built.
//!
//! cargo knows the folder, the variables (`CARGO_PKG_*`, `OUT_DIR`, `[env]`, the library path) and the arguments of
//! every program it runs. Rather than work them out again, cargo is asked to run them with a runner of ours: a script
//! that writes down what it was given and ends well.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};

use super::RunTarget;
use super::setup::Setup;
use crate::atomic_file;
use crate::environment::Environment;
use crate::error::{Error, Result};

const FOLDER_VARIABLE: &str = "THREADBARE_CAPTURE";

const RUNNER: &str = r#"#!/bin/sh
# Writes down what cargo asks to be run, and runs nothing.
run=0
until mkdir "$THREADBARE_CAPTURE/$run" 2>/dev/null; do
    [ -d "$THREADBARE_CAPTURE/$run" ] || exit 1
    run=$((run + 1))
done
cd -P . && printf '%s\0' "$PWD" "$@" >"$THREADBARE_CAPTURE/$run/command" &&
    env -0 >"$THREADBARE_CAPTURE/$run/env"
"#;

/// What the reader sees of cargo's own output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing, unless cargo fails: all of it was shown by an earlier call.
    Failure,
    /// Everything but the line that names the runner.
    Progress,
}

/// Lets `cargo SUBCOMMAND` run its programs with our runner; one target a program, in cargo's order.
pub(super) fn capture(
    setup: &Setup,
    subcommand: &str,
    extra: &[&str],
    program_arguments: &[OsString],
    shown: Shown,
) -> Result<Vec<RunTarget>> {
    let scratch = scratch_folder()?;
    let runner = scratch.path().join("runner");
    let records = scratch.path().join("runs");
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| Error::File { action: "write", path, source }
    };
    atomic_file::place(&runner, RUNNER.as_bytes(), 0o755).map_err(failed(&runner))?;
    fs::create_dir(&records).map_err(failed(&records))?;

    let mut env = setup.env.clone();
    let upper = setup.triple.replace(['-', '.'], "_").to_uppercase();
    env.set(format!("CARGO_TARGET_{upper}_RUNNER"), &runner);
    env.set(FOLDER_VARIABLE, &records);
    if shown == Shown::Progress && std::io::stderr().is_terminal() && env.get("CARGO_TERM_COLOR").is_none() {
        env.set("CARGO_TERM_COLOR", "always");
    }
    let mut command = setup.command(subcommand, extra);
    command.env_clear().envs(env.iter()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    if !program_arguments.is_empty() {
        command.arg("--").args(program_arguments);
    }
    let child = command.spawn().map_err(setup.start_error())?;
    let status = relay(child, shown, &runner).map_err(setup.start_error())?;
    if !status.success() {
        return Err(Error::CargoFailed { status });
    }
    (0..)
        .map(|run| records.join(run.to_string()))
        .take_while(|folder| folder.is_dir())
        .map(|f| read(&f, &env))
        .collect()
}

/// cargo splits the runner's variable at blanks, so the folder's name must have none.
fn scratch_folder() -> Result<tempfile::TempDir> {
    let usual = tempfile::tempdir();
    let spaced = usual
        .as_ref()
        .is_ok_and(|folder| folder.path().as_os_str().as_encoded_bytes().iter().any(u8::is_ascii_whitespace));
    let folder = if spaced { tempfile::tempdir_in("/tmp") } else { usual };
    folder.map_err(|source| Error::File { action: "make a folder in", path: std::env::temp_dir(), source })
}

fn relay(mut child: Child, shown: Shown, runner: &Path) -> std::io::Result<ExitStatus> {
    let runner = runner.as_os_str().as_encoded_bytes();
    let mut held = Vec::new();
    let mut stderr = std::io::stderr().lock();
    if let Some(pipe) = child.stderr.take() {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line)? != 0 {
            match shown {
                Shown::Failure => held.extend_from_slice(&line),
                Shown::Progress if contains(&line, runner) => {}
                Shown::Progress => stderr.write_all(&line)?,
            }
            line.clear();
        }
    }
    let status = child.wait()?;
    if !status.success() {
        stderr.write_all(&held)?;
    }
    Ok(status)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// One record of the runner. `given` are the variables cargo had: what goes beyond them was set by cargo.
fn read(folder: &Path, given: &Environment) -> Result<RunTarget> {
    let strings = |name: &str| -> Result<Vec<OsString>> {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(|source| Error::File { action: "read", path, source })?;
        let mut parts: Vec<_> =
            bytes.split(|&byte| byte == 0).map(|part| OsString::from_vec(part.to_vec())).collect();
        parts.pop();
        Ok(parts)
    };
    let mut command = strings("command")?.into_iter();
    let (Some(cwd), Some(program)) = (command.next(), command.next()) else {
        return Err(Error::NothingToRun);
    };
    let variables: Environment = strings("env")?
        .into_iter()
        .filter_map(|entry| {
            let bytes = entry.into_vec();
            let at = bytes.iter().position(|&byte| byte == b'=')?;
            let value = bytes[at + 1..].to_vec();
            Some((OsString::from_vec(bytes[..at].to_vec()), OsString::from_vec(value)))
        })
        // The shell's own.
        .filter(|(name, _)| !["_", "PWD", "OLDPWD", "SHLVL"].iter().any(|shell| name == shell))
        .collect();
    let folder = PathBuf::from(cwd);
    Ok(RunTarget {
        program: folder.join(program),
        arguments: command.collect(),
        env: variables.beyond(given),
        folder,
    })
}
