//! What a journal tells of its campaign without the campaign going on.

use crate::error::Error;
use crate::files;
use crate::journal::frame;
use crate::journal::pack::History;
use crate::journal::record::{Close, Record, Session};
use rustix::fs::{FlockOperation, flock};
use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A campaign, seen from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overview {
    /// Its journal.
    pub path: PathBuf,
    /// Its sittings; never empty.
    pub sessions: Vec<Session>,
    /// Runs in its books.
    pub runs: u64,
    /// Runs that failed.
    pub failed: u64,
    /// How long it has taken.
    pub elapsed: Duration,
    /// How its last sitting ended; `None` if it was killed or is under way.
    pub close: Option<Close>,
    /// Bytes from the start that are whole.
    pub good: u64,
    /// Bytes behind them that are of no use.
    pub damaged: u64,
    /// The process that makes it now: its id if that is known.
    pub under_way: Option<Option<u32>>,
}

impl Overview {
    /// The sitting that began it.
    pub fn first(&self) -> &Session {
        &self.sessions[0]
    }
}

/// Reads a journal, be it under way or not.
pub fn overview(path: &Path) -> Result<Overview, Error> {
    let file = files::no_link().read(true).open(path).map_err(super::refused(path))?;
    let bytes = files::read_open(&file).map_err(super::refused(path))?;
    let (mut overview, _) = of_bytes(path, &bytes)?;
    overview.under_way = is_locked(&file).then(|| holder(&file));
    Ok(overview)
}

pub(crate) fn of_bytes(path: &Path, bytes: &[u8]) -> Result<(Overview, History), Error> {
    let mut frames = frame::frames(bytes).map_err(|refused| refused.error(path))?;
    let mut overview = Overview {
        path: path.to_owned(),
        sessions: Vec::new(),
        runs: 0,
        failed: 0,
        elapsed: Duration::ZERO,
        close: None,
        good: 0,
        damaged: 0,
        under_way: None,
    };
    let mut hidden = HashSet::new();
    for record in frames.by_ref() {
        match record {
            Record::Session(session) => {
                overview.sessions.push(session);
                overview.close = None;
            }
            Record::Run(_, outcome) => {
                overview.runs += 1;
                overview.failed += u64::from(outcome.has_failed(&mut hidden));
            }
            Record::Tried(_, _, outcome) => {
                overview.failed += outcome.map_or(0, |outcome| u64::from(outcome.has_failed(&mut hidden)));
            }
            Record::Clock(elapsed, runs, failed) => {
                overview.elapsed = Duration::from_millis(elapsed);
                // Another version of the tool has other records of runs.
                overview.runs = overview.runs.max(runs);
                overview.failed = overview.failed.max(failed);
            }
            Record::Close(close) => overview.close = Some(close),
            Record::Note(..) | Record::Unknown => {}
        }
    }
    overview.good = frames.good() as u64;
    overview.damaged = bytes.len() as u64 - overview.good;
    if overview.sessions.is_empty() {
        let why = "its first record is damaged".to_owned();
        return Err(Error::Journal { path: path.to_owned(), why });
    }
    Ok((overview, frames.into_history()))
}

fn is_locked(file: &File) -> bool {
    // A shared lock that is had for a moment keeps nobody out for longer.
    let free = flock(file, FlockOperation::NonBlockingLockShared).is_ok();
    if free {
        let _ = flock(file, FlockOperation::Unlock);
    }
    !free
}

/// The process that has the lock of a file, if the system tells.
pub(crate) fn holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino().to_string();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let kind = words.nth(1)?;
        let id = words.nth(2)?;
        let place = words.next()?;
        (kind == "FLOCK" && place.rsplit(':').next() == Some(&inode)).then(|| id.parse().ok())?
    })
}
