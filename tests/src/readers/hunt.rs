//! Inputs in a child process: what ends the child is the fault of the input that it was at.

use super::read::FOLDER;
use super::{Reader, mutate, named, samples};
use crate::tool;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The first argument of a child.
pub const CHILD: &str = "--reads-damaged-files";
/// Memory of a child, its program and samples included.
const MEMORY: u64 = 1 << 30;
/// The longest that one input may take of the processor: many times what any takes on a slow machine.
const LONGEST: Duration = Duration::from_secs(20);
/// The longest that one may take if it waits: a busy machine may not come to a child for long.
const WAITED: Duration = Duration::from_secs(600);
/// Inputs of one child.
const STRETCH: u64 = 20_000;

/// An input that a reader does not stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The reader's name.
    pub reader: &'static str,
    /// The input's number.
    pub number: u64,
    /// The input.
    pub bytes: Vec<u8>,
    /// What became of the child.
    pub why: String,
}

/// If this process is a child, reads what it was told to, and ends.
pub fn be_child() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(CHILD) {
        return;
    }
    let words: Vec<String> = arguments.collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let (Some(reader), Some(folder)) = (words.first().and_then(|name| named(name)), words.get(1)) else {
        std::process::exit(2);
    };
    let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    setrlimit(Resource::As, limit).expect("memory can be bounded");
    watch();
    match (number(2), number(3), number(4)) {
        (Some(seed), Some(from), Some(to)) => {
            let samples = samples::of(Path::new(folder), reader.name);
            for number in from..to {
                at(number);
                let taken = (reader.read)(&make(reader, &samples, seed, number));
                TAKEN.fetch_add(taken.into(), Ordering::Relaxed);
            }
        }
        // A folder of cases.
        _ => {
            for (number, path) in (0..).zip(samples::files(Path::new(folder))) {
                at(number);
                let taken = (reader.read)(&fs::read(path).expect("a case"));
                TAKEN.fetch_add(taken.into(), Ordering::Relaxed);
            }
        }
    }
    at(TAKEN.load(Ordering::Relaxed));
    std::process::exit(0);
}

fn make(reader: &Reader, samples: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    (reader.mend)(mutate::input(samples, reader.words, seed, number))
}

/// Where the child is, and since when, in its own time.
static AT: AtomicU64 = AtomicU64::new(0);

/// Inputs that were taken for whole.
static TAKEN: AtomicU64 = AtomicU64::new(0);

/// Tells which input comes next, and when there is none, how many were taken.
fn at(number: u64) {
    AT.store(number + 1, Ordering::Relaxed);
    let mut out = std::io::stdout().lock();
    let told = out.write_all(&number.to_le_bytes()).and_then(|()| out.flush());
    told.expect("the parent listens");
}

/// Ends the process when one input takes too long.
fn watch() {
    thread::spawn(|| {
        let now = || (Instant::now(), processor_time());
        let (mut seen, mut since) = (0, now());
        loop {
            thread::sleep(Duration::from_millis(100));
            let number = AT.load(Ordering::Relaxed);
            if number != seen {
                (seen, since) = (number, now());
            } else if processor_time().saturating_sub(since.1) > LONGEST || since.0.elapsed() > WAITED {
                let (longest, waited) = (LONGEST.as_secs(), WAITED.as_secs());
                eprintln!("one input takes more than {longest} s of the processor, or {waited} s");
                std::process::exit(3);
            }
        }
    });
}

/// What this process has had of the processor.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// What a child came to: why it ended, if not by being through, and the input it was at; else how many were taken.
fn child(arguments: &[String]) -> Result<(u64, Option<String>), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.arg(CHILD).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    tool::plain_environment(&mut command);
    // In memory, where there is such a folder: a disk would take most of the time.
    let folder = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .map_err(|error| error.to_string())?;
    command.env(FOLDER, folder.path());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut last = 0;
    if let Some(mut told) = child.stdout.take() {
        let mut number = [0; 8];
        while told.read_exact(&mut number).is_ok() {
            last = u64::from_le_bytes(number);
        }
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok((last, (!output.status.success()).then(|| format!("{}: {said}", output.status))))
}

/// What a reader came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hunted {
    /// Inputs that were taken for whole.
    pub taken: u64,
    /// Those that it does not stand.
    pub cases: Vec<Case>,
}

/// Reads so many inputs of a reader.
///
/// # Errors
/// If there are no samples, or a sample is not taken, or no child can be made.
pub fn hunt(reader: &'static Reader, folder: &Path, seed: u64, count: u64) -> Result<Hunted, String> {
    const ENOUGH: usize = 20;
    let own = samples::of(folder, reader.name);
    if own.is_empty() {
        return Err(format!("there is no sample of `{}` in {}", reader.name, folder.display()));
    }
    match child(&[reader.name.to_owned(), folder.join(reader.name).display().to_string()])? {
        (taken, None) if taken == own.len() as u64 => {}
        what => {
            return Err(format!("of {} samples of `{}` not all are read: {what:?}", own.len(), reader.name));
        }
    }
    let (mut from, mut found) = (0, Hunted::default());
    while from < count && found.cases.len() < ENOUGH {
        let to = count.min(from + STRETCH);
        let words = [reader.name.to_owned(), folder.display().to_string()];
        let numbers = [seed, from, to].map(|number| number.to_string());
        let (last, why) = child(&[&words[..], &numbers].concat())?;
        match why {
            None => (from, found.taken) = (to, found.taken + last),
            Some(why) => {
                found.cases.push(Case {
                    reader: reader.name,
                    number: last,
                    bytes: make(reader, &own, seed, last),
                    why,
                });
                from = last + 1;
            }
        }
    }
    Ok(found)
}

/// Reads the kept cases of a reader again; the one that it does not stand, and why.
///
/// # Errors
/// If no child can be made.
pub fn again(reader: &Reader, folder: &Path) -> Result<Option<(PathBuf, String)>, String> {
    let cases = samples::files(folder);
    if cases.is_empty() {
        return Ok(None);
    }
    let (last, why) = child(&[reader.name.to_owned(), folder.display().to_string()])?;
    Ok(why.map(|why| (cases.get(last as usize).cloned().unwrap_or_default(), why)))
}

/// The folder with what was found once.
pub fn kept() -> PathBuf {
    tool::root().join("tests/readers")
}

/// Keeps a case.
///
/// # Errors
/// If it cannot be written.
pub fn keep(case: &Case, seed: u64) -> Result<PathBuf, String> {
    let folder = kept().join(case.reader);
    let path = folder.join(format!("{seed}-{}", case.number));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&path, &case.bytes))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}
