//! The books' side of the journal: records on their way to the file.

use crate::campaign::Progress;
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
    records: Vec<Vec<u8>>,
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
            self.records.push(frame::encode(&RecordRef::Run(run, outcome)));
        }
    }

    /// A prediction was tried.
    pub(crate) fn tried(&mut self, tried: &Tried) {
        let outcome = tried.outcome.as_deref();
        let fine = outcome.is_none_or(|it| it.mismatch.is_none() && !it.verdict.is_internal());
        if self.is_open() && fine {
            let record = RecordRef::Tried(tried.prediction.number, tried.tries, outcome);
            self.records.push(frame::encode(&record));
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
        let notes = notes.iter().map(|(key, note)| frame::encode(&RecordRef::Note(*key, note)));
        self.records.splice(..0, notes);
    }

    /// Writes what is there, unless it has to wait.
    pub(crate) fn flush(&mut self) {
        if self.held || self.full || self.records.is_empty() {
            return;
        }
        let Some(journal) = &mut self.journal else { return };
        if let Err(error) = journal.append(&self.records) {
            self.full = true;
            self.trouble = Some(format!(
                "the campaign's state cannot be written to `{}` any more ({error}): the campaign goes on, and \
                 `--resume` would go on from here",
                journal.path().display()
            ));
        }
        self.records.clear();
    }

    /// A little time has passed. Gives the file when it is to be forced to the disk, which takes a while.
    pub(crate) fn tick(&mut self, progress: &Progress) -> Option<Arc<File>> {
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
        self.clock(progress);
        if self.synced.is_some_and(|then| now - then < SYNC) {
            return None;
        }
        self.synced = Some(now);
        self.journal.as_ref().map(|journal| Arc::clone(&journal.file))
    }

    fn clock(&mut self, progress: &Progress) {
        let nothing = self.journal.as_ref().is_none_or(|journal| journal.untouched || journal.bare)
            && self.records.is_empty();
        if self.is_open() && !nothing {
            let elapsed = u64::try_from(progress.elapsed.as_millis()).unwrap_or(u64::MAX);
            self.records.push(frame::encode(&RecordRef::Clock(elapsed, progress.runs, progress.failed)));
            self.flush();
        }
    }

    /// What the user is to hear, once.
    pub(crate) fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// The campaign is over: gives the journal back.
    pub(crate) fn finish(&mut self, progress: &Progress) -> Option<Journal> {
        self.clock(progress);
        self.flush();
        self.journal.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::overview::overview;
    use crate::journal::pack::History;
    use crate::journal::record::Session;
    use std::path::{Path, PathBuf};
    use threadbare_trace::run::Counters;

    fn session() -> Session {
        Session {
            tool: "tool".to_owned(),
            identity: 1,
            program: PathBuf::from("/p"),
            program_id: "id".to_owned(),
            arg0: None,
            args: Vec::new(),
            env: Vec::new(),
            cwd: PathBuf::from("/"),
            stdin: None,
            options: Vec::new(),
            began: 5,
        }
    }

    fn clean() -> Outcome {
        Outcome::clean(Counters { points: 3, ..Counters::default() }, vec![7, 8])
    }

    fn runs(path: &Path) -> u64 {
        overview(path).map_or(0, |overview| overview.runs)
    }

    #[test]
    fn a_run_is_written_at_once_but_after_what_is_being_told() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.campaign");
        let mut log = Log::new(Some(Journal::create(&path, &session()).unwrap()));
        log.run(0, &clean());
        log.flush();
        assert_eq!(runs(&path), 1);
        log.run(1, &clean());
        log.hold();
        log.tick(&Progress { elapsed: Duration::from_secs(9), ..Progress::default() });
        log.flush();
        assert_eq!(runs(&path), 1);
        log.release(&[(4, vec![1, 2])]);
        log.flush();
        assert_eq!(runs(&path), 2);
        drop(log.finish(&Progress::default()));
        let (journal, _) = Journal::resume(&path).unwrap();
        let kinds: Vec<u8> = journal
            .records()
            .map(|record| match record {
                crate::journal::Record::Session(_) => b's',
                crate::journal::Record::Run(..) => b'r',
                crate::journal::Record::Note(4, _) => b'n',
                _ => b'-',
            })
            .filter(|&kind| kind != b'-')
            .collect();
        assert_eq!(kinds, b"srnr");
        assert!(matches!(Journal::resume(&path), Err(crate::Error::Busy { .. })));
    }

    #[test]
    fn without_a_run_nothing_stays_and_an_earlier_campaign_does() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.campaign");
        drop(Journal::create(&path, &session()).unwrap());
        assert!(!path.exists());
        let mut log = Log::new(Some(Journal::create(&path, &session()).unwrap()));
        log.run(0, &clean());
        drop(log.finish(&Progress::default()));
        drop(Journal::create(&path, &session()).unwrap());
        assert_eq!(runs(&path), 1);
    }

    #[test]
    fn a_full_disk_is_told_once_and_keeps_what_is_there() {
        let mut log = Log::new(Some(Journal {
            path: PathBuf::from("/dev/full"),
            file: Arc::new(File::options().write(true).open("/dev/full").unwrap()),
            length: 0,
            untouched: false,
            bare: false,
            past: Vec::new(),
            history: History::default(),
            broken: false,
        }));
        for run in 0..3 {
            log.run(run, &clean());
            log.flush();
        }
        let trouble = log.trouble().unwrap();
        assert!(trouble.contains("No space left"), "{trouble}");
        assert!(log.trouble().is_none() && log.records.is_empty());
    }

    #[test]
    fn a_journal_that_is_taken_away_comes_back() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("out/a.campaign");
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        let mut journal = Journal::create(&path, &session()).unwrap();
        journal.append(&[frame::encode(&RecordRef::Run(0, &clean()))]).unwrap();
        assert!(!journal.restore().unwrap());
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        assert!(journal.restore().unwrap());
        journal.append(&[frame::encode(&RecordRef::Run(1, &clean()))]).unwrap();
        assert_eq!(runs(&path), 2);
    }
}
