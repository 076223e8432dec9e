//! The books' side of the journal: records on their way to the file.

use crate::journal::Journal;
use crate::journal::frame;
use crate::journal::record::RecordRef;
use crate::outcome::Outcome;
use crate::predict::Tried;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the time is written, and the file looked after.
const TICK: Duration = Duration::from_millis(100);
/// How often the file is forced to the disk.
const SYNC: Duration = Duration::from_secs(5);

/// Records that are not written yet. Without a journal it takes none.
#[derive(Debug, Default)]
pub(crate) struct Log {
    journal: Option<Journal>,
    bytes: Vec<u8>,
    /// Something is being told that must be on disk before the records.
    held: bool,
    ticked: Option<Instant>,
    synced: Option<Instant>,
    /// What is to be told to the user.
    trouble: Option<String>,
    /// Nothing more is written.
    full: bool,
}

impl Log {
    pub(crate) fn new(journal: Option<Journal>) -> Log {
        let now = Instant::now();
        Log { journal, ticked: Some(now), synced: Some(now), ..Log::default() }
    }

    fn is_open(&self) -> bool {
        self.journal.is_some() && !self.full
    }

    /// A run goes into the books. One in which Threadbare failed does not: it is to be made again.
    pub(crate) fn run(&mut self, run: u64, outcome: &Outcome) {
        if self.is_open() && outcome.mismatch.is_none() && !outcome.verdict.is_internal() {
            frame::push(&mut self.bytes, &RecordRef::Run(run, outcome));
        }
    }

    /// A prediction was tried.
    pub(crate) fn tried(&mut self, tried: &Tried) {
        let outcome = tried.outcome.as_deref();
        let fine = outcome.is_none_or(|it| it.mismatch.is_none() && !it.verdict.is_internal());
        if self.is_open() && fine {
            let record = RecordRef::Tried(tried.prediction.number, tried.tries, outcome);
            frame::push(&mut self.bytes, &record);
        }
    }

    /// Nothing is written from now on until [`Log::release`].
    pub(crate) fn hold(&mut self) {
        self.held = true;
    }

    /// What was told is on disk, with these notes on it.
    pub(crate) fn release(&mut self, notes: &[(u64, Vec<u8>)]) {
        self.held = false;
        if notes.is_empty() || !self.is_open() {
            return;
        }
        // They come before the runs they belong to: a run without its note would have lost its finding.
        let mut bytes = Vec::new();
        for (key, note) in notes {
            frame::push(&mut bytes, &RecordRef::Note(*key, note));
        }
        bytes.append(&mut self.bytes);
        self.bytes = bytes;
    }

    /// Writes what is there, unless it has to wait.
    pub(crate) fn flush(&mut self) {
        if self.held || self.full || self.bytes.is_empty() {
            return;
        }
        let Some(journal) = &mut self.journal else { return };
        if let Err(error) = journal.append(&self.bytes) {
            self.full = true;
            self.trouble = Some(format!(
                "the campaign's state cannot be written to `{}` any more ({error}): the campaign goes on, and \
                 `--resume` would go on from here",
                journal.path().display()
            ));
        }
        self.bytes.clear();
    }

    /// A little time has passed. Gives the file when it is to be forced to the disk, which takes a while.
    pub(crate) fn tick(&mut self, elapsed: Duration) -> Option<Arc<File>> {
        let now = Instant::now();
        let journal = self.journal.as_mut()?;
        if self.full || self.ticked.is_some_and(|then| now - then < TICK) {
            return None;
        }
        self.ticked = Some(now);
        match journal.restore() {
            Ok(false) => {}
            Ok(true) => {
                let path = journal.path().display();
                self.trouble = Some(format!("`{path}` was taken away; it was written again"));
            }
            Err(error) => {
                self.full = true;
                let path = journal.path().display();
                self.trouble = Some(format!("`{path}` was taken away and cannot be written again: {error}"));
                return None;
            }
        }
        self.clock(elapsed);
        if self.synced.is_some_and(|then| now - then < SYNC) {
            return None;
        }
        self.synced = Some(now);
        self.journal.as_ref().map(|journal| Arc::clone(&journal.file))
    }

    fn clock(&mut self, elapsed: Duration) {
        let nothing = self.journal.as_ref().is_none_or(|journal| journal.untouched) && self.bytes.is_empty();
        if self.is_open() && !nothing {
            let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
            frame::push(&mut self.bytes, &RecordRef::Clock(elapsed));
            self.flush();
        }
    }

    /// What the user is to hear, once.
    pub(crate) fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// The campaign is over: gives the journal back.
    pub(crate) fn finish(&mut self, elapsed: Duration) -> Option<Journal> {
        self.clock(elapsed);
        self.flush();
        self.journal.take()
    }
}
