//! `replay --gdb`: the run stands where it failed, and gdb knows its strands.

use crate::conduct::cannot;
use crate::exit::{Exit, Trouble};
use crate::said;
use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use threadbare_abi::event::Segment;
use threadbare_abi::layout::flags;
use threadbare_explore::files;
use threadbare_explore::run::{Follow, Request, Stopped};
use threadbare_explore::server::Server;
use threadbare_report::Style;

const SCRIPT: &str = include_str!("gdb.py");
/// Names the debugger to call.
const VARIABLE: &str = "THREADBARE_GDB";

/// Makes the run until it fails, or until the race that the request watches for, and opens gdb there. The run ends with
/// gdb.
pub(crate) fn open(
    server: &mut Server,
    request: &Request,
    segments: &[Segment],
    program: &Path,
    race: Option<&str>,
) -> Result<Exit, Trouble> {
    let gdb = std::env::var_os(VARIABLE).unwrap_or_else(|| "gdb".into());
    check(&gdb)?;
    let request = Request { flags: request.flags | flags::STOP_ON_FAILURE, ..request.clone() };
    let pid = match server.run_until_stopped(&request, Follow::Segments(segments))? {
        Stopped::At(pid, ended) => {
            let facts = server.facts(&request, &ended, false)?;
            let style = Style::for_stream(&std::io::stderr());
            let (kind, message) = match race {
                Some(race) => ("race", race),
                None => (facts.verdict.kind.name(), facts.verdict.message.as_str()),
            };
            said::note(&format!("{} {message}", style.bad(format!("{kind}:"))));
            pid
        }
        Stopped::Not(ended) => {
            let facts = server.facts(&request, &ended, false)?;
            let said = match facts.verdict.is_failure() {
                true => format!("the run ended before gdb could be opened: {}", facts.verdict.message),
                false => format!("the run did not fail this time: {}", facts.verdict.message),
            };
            return Err(Trouble::internal(said, "look at the run with `threadbare replay FILE --trace`"));
        }
    };
    let script = Script::write()?;
    let result = Command::new(&gdb)
        .arg("-q")
        .args(["-ex", "set pagination off", "-ex", "set confirm off"])
        .arg("-p")
        .arg(pid.to_string())
        .arg("-x")
        .arg(&script.path)
        .arg(program)
        .status();
    server.end_stopped(pid);
    match result {
        Ok(_) => Ok(Exit::Failure),
        Err(error) => Err(cannot("start gdb", &error)),
    }
}

fn check(gdb: &OsString) -> Result<(), Trouble> {
    match Command::new(gdb).args(["-nx", "-batch", "-ex", "python print('ok')"]).output() {
        Ok(output) if output.stdout.starts_with(b"ok") => Ok(()),
        Ok(_) => Err(Trouble::usage(
            format!("`{}` has no Python", gdb.to_string_lossy()),
            format!("install gdb with Python (Debian: `apt install gdb`), or name one in {VARIABLE}"),
        )),
        Err(error) => Err(Trouble::usage(
            format!("cannot start `{}`: {error}", gdb.to_string_lossy()),
            format!("install gdb (Debian: `apt install gdb`), or name one in {VARIABLE}"),
        )),
    }
}

/// The script as a file, for as long as gdb runs.
struct Script {
    path: PathBuf,
}

impl Script {
    fn write() -> Result<Script, Trouble> {
        let path = std::env::temp_dir().join(format!("threadbare-gdb-{}.py", files::unforeseen()));
        // A new file only: the folder is everybody's, and gdb runs what it finds there.
        File::create_new(&path)
            .and_then(|mut file| file.write_all(SCRIPT.as_bytes()))
            .map_err(|error| cannot(&format!("write gdb's script `{}`", path.display()), &error))?;
        Ok(Script { path })
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
