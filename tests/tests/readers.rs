//! Readers of files stand damaged files: a few thousand made from real ones here, `cargo xtask fuzz readers` makes as many as are asked for. What was
//! found once is in `tests/readers/`, and is read again.

use libtest_mimic::{Arguments, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;
use threadbare_tests::readers::{READERS, Reader, hunt, samples};
use threadbare_tests::{extent, tool};

/// Inputs of a fast reader.
const SHORT: u64 = 8_000;
const FULL: u64 = 200_000;

fn main() -> ExitCode {
    hunt::be_child();
    let arguments = Arguments::from_args();
    let trials =
        READERS.iter().map(|reader| Trial::test(reader.name, move || stands(reader).map_err(Into::into)));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The samples, made once a tool.
fn folder() -> &'static Result<std::path::PathBuf, String> {
    static FOLDER: OnceLock<Result<std::path::PathBuf, String>> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let built = std::fs::metadata(tool::threadbare()).and_then(|file| file.modified());
        let built = built.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let name = format!("samples-{}", built.map_or(0, |time| time.as_micros()));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        samples::make(&folder).map(|()| folder)
    })
}

fn stands(reader: &'static Reader) -> Result<(), String> {
    if let Some((case, why)) = hunt::again(reader, &hunt::kept().join(reader.name))? {
        return Err(format!("{}: {why}", case.display()));
    }
    let count = extent::either(SHORT, FULL) / reader.slowness;
    let found = hunt::hunt(reader, folder().as_ref().map_err(Clone::clone)?, 1, count)?;
    match found.cases.first() {
        None => Ok(()),
        Some(case) => Err(format!(
            "input {}: {}\nhelp: `cargo xtask fuzz readers {count} --only {}` keeps it",
            case.number, case.why, reader.name
        )),
    }
}
