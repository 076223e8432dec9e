//! The table: each read of shared data with its terms, the writes that may reach it.
//!
//! The code says what may be (`threadbare_code::terms`), runs say what was; `join` puts the two together. A pair that a run has seen is in the table whatever the code
//! says; one that the code struck out and a run saw all the same is told apart ([`Table::contradictions`]), since one of the two is wrong then.
//! Where both a read and a write were made, and never at the same address, they are taken for accesses to different objects.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use threadbare_report::branches::Branch;
use threadbare_report::choices::Came;

/// Whose write a read sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Whose {
    /// The reading strand's.
    Own,
    /// Another strand's.
    Other,
    /// What was there from the beginning.
    Initial,
    /// Of code that is not instrumented.
    Unseen,
}

/// What is known of a term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Runs have seen it.
    Seen {
        /// Which.
        runs: BTreeSet<u64>,
        /// Which of them failed.
        failed: BTreeSet<u64>,
        /// In which of them a load saw it although there was a newer store.
        stale: BTreeSet<u64>,
    },
    /// It may be, and no run has seen it. Whether the write was made in any.
    Possible {
        /// Whether the write was made in any.
        written: bool,
    },
    /// No run can have it.
    StruckOut {
        /// Why.
        reason: String,
        /// By the code, not by the steps of the runs that there were: nobody needs to try it.
        certain: bool,
    },
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Site {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) function: String,
    /// The line's text, without the space around it.
    pub(crate) text: String,
    /// The code is the language's or the system's library.
    pub(crate) library: bool,
}

impl Term {
    pub(super) fn new(whose: Whose, write: Option<Site>, state: State, sites: Vec<u64>) -> Term {
        let branches = Vec::new();
        Term { whose, write, state, tried: None, sites, named: true, branches, passing: None }
    }

    /// Whether it is there for the code alone, which cannot tell where pointers lead: no run has made the write to shared memory.
    pub(crate) fn is_guess(&self) -> bool {
        let unmade = match &self.tried {
            Some(tried) => matches!(tried.came, Came::NotReached { .. }),
            None => self.state == State::Possible { written: false },
        };
        unmade && !self.named
    }
}

impl Site {
    /// The place with the file as the compiler was given it.
    pub(crate) fn whole(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// The place as users write it.
    pub(crate) fn short(&self) -> String {
        let name = Path::new(&self.file).file_name().unwrap_or_default().to_string_lossy();
        if self.line == 0 { name.into_owned() } else { format!("{name}:{}", self.line) }
    }
}

/// A value that a read may see.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    pub(crate) whose: Whose,
    pub(crate) write: Option<Site>,
    pub(crate) state: State,
    /// What came of it, if it was tried.
    pub(crate) tried: Option<Tried>,
    /// Sites of the write.
    pub(crate) sites: Vec<u64>,
    /// The write names what the read names, or a run saw it: not only pointers of which the code cannot tell where they lead.
    pub(crate) named: bool,
    /// What must be so for the write to be made, if no run made it.
    pub(crate) branches: Vec<Branch>,
    /// The nearest future that passes, if a run that has this failed.
    pub(crate) passing: Option<Passing>,
}

/// A future that passes, by the first read in which it differs from one that fails.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Passing {
    /// The term of the one that fails, as users write it.
    pub(crate) fails: String,
    /// What the read sees in the one that passes.
    pub(crate) passes: String,
    /// In how many reads the two differ; those after the first may follow from it.
    pub(crate) differs: usize,
}

/// What came of a term that was tried.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub(crate) came: Came,
    /// Runs that were planned for it.
    pub(crate) tries: u32,
    /// The strand that reads, and the how-manieth time it comes there, in the first run that has it.
    pub(crate) read: Option<(String, u64)>,
    /// What failed in the first run that has it.
    pub(crate) failed: Option<Failed>,
}

/// A failure of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failed {
    /// The finding's kind.
    pub(crate) kind: String,
    /// The finding, if it was told.
    pub(crate) finding: Option<String>,
}

impl Failed {
    /// The finding as people read it.
    pub(crate) fn name(&self) -> &str {
        self.finding.as_deref().unwrap_or("hidden")
    }
}

/// A read.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) read: Site,
    /// Columns of the line, where debug info has them.
    pub(crate) columns: BTreeSet<u32>,
    pub(crate) variable: Option<String>,
    /// Whether a run made it.
    pub(crate) reached: bool,
    /// What must be so for it to be made, if no run made it.
    pub(crate) branches: Vec<Branch>,
    pub(crate) terms: Vec<Term>,
    pub(crate) sites: Vec<u64>,
}

/// All reads of shared data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub(crate) runs: u64,
    /// Runs that had more steps than are kept, and show nothing.
    pub(crate) cut: u64,
    pub(crate) reads: Vec<Row>,
    /// Runs that were made for terms.
    pub(crate) made: u64,
    /// What runs failed by.
    pub(crate) failures: BTreeMap<u64, Failed>,
    /// Reads that no run made of memory that strands shared.
    pub(crate) unshared: usize,
    /// Reads in libraries, which are not told.
    pub(crate) library_reads: usize,
    /// Terms of accesses that were made, and never to the same memory, or by the strands that it takes.
    pub(crate) apart: usize,
    /// Terms of writes that no run made, beyond those that are listed.
    pub(crate) unlisted: usize,
    /// Accesses of the program's file that runs made of shared memory, and those of them whose address the code tells.
    pub(crate) shared: usize,
    pub(crate) known: usize,
    /// Reads that code without instrumentation may have written for, and was not seen to.
    pub(crate) unseen: usize,
    /// Functions of the program's own that have no instrumentation, and write.
    pub(crate) uninstrumented: Vec<String>,
    /// Pairs that runs saw and the code denies.
    pub(crate) contradictions: Vec<String>,
}

/// Adds a term; one of the same place is the same.
pub(super) fn add(list: &mut Vec<Term>, term: Term) {
    let same = |other: &&mut Term| other.whose == term.whose && other.write == term.write;
    let Some(other) = list.iter_mut().find(same) else { return list.push(term) };
    for site in term.sites {
        if !other.sites.contains(&site) {
            other.sites.push(site);
        }
    }
    other.named |= term.named;
    match (&mut other.state, term.state) {
        (State::Seen { runs, failed, stale }, State::Seen { runs: more, failed: worse, stale: older }) => {
            // A run that saw it as the newest at one of two places saw it so.
            stale.retain(|run| older.contains(run) || !more.contains(run));
            stale.extend(older.iter().filter(|run| !runs.contains(run)));
            runs.extend(more);
            failed.extend(worse);
        }
        (State::Seen { .. }, _) => {}
        (state, seen @ State::Seen { .. }) => *state = seen,
        (State::Possible { written }, State::Possible { written: more }) => *written |= more,
        (state @ State::StruckOut { .. }, possible @ State::Possible { .. }) => *state = possible,
        (_, State::StruckOut { .. }) => {}
    }
}
