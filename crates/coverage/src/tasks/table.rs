//! Tasks with the places of their functions: what is shown, and what is kept.

use crate::kept::Spot;
use crate::tasks::{Function, Seen, State, TaskBooks, TaskCounts, TaskProgress, TaskSample};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What is kept of a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct KeptFunction {
    #[serde(flatten)]
    spot: Spot,
    marks: u32,
    #[serde(default)]
    strand: u64,
}

/// The tasks of a campaign as they are kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptTasks {
    /// How many tasks there are, are covered, and can be.
    pub counts: TaskCounts,
    /// What the campaign covered that those it went on from had not.
    pub added: TaskProgress,
    /// The first run that was counted: later than 0 where an earlier campaign went on.
    #[serde(default)]
    pub first_run: u64,
    /// How much was covered after how many runs.
    pub curve: Vec<TaskSample>,
    functions: Vec<KeptFunction>,
    /// For each function the bits of those that ran while it was interrupted, as hexadecimal digits, the first function's bit the lowest
    /// of the first digit.
    rows: Vec<String>,
    #[serde(default)]
    lost: u64,
    #[serde(default)]
    followed: u64,
    /// When it was made: two campaigns that came to the same are two all the same.
    #[serde(default)]
    pub(crate) made: u64,
}

impl KeptTasks {
    /// This is the same campaign, which went on; what it did before is put before it.
    pub(crate) fn goes_on_from(&mut self, before: &KeptTasks) {
        self.added.interrupted += before.added.interrupted;
        self.added.ran_through += before.added.ran_through;
        self.added.pairs += before.added.pairs;
        let mut curve: Vec<TaskSample> =
            before.curve.iter().filter(|sample| sample.runs <= self.first_run).copied().collect();
        curve.append(&mut self.curve);
        self.curve = curve;
        self.first_run = before.first_run;
    }

    fn pairs(&self) -> Vec<(u16, u16)> {
        let mut pairs = Vec::new();
        for (one, row) in self.rows.iter().take(self.functions.len()).enumerate() {
            for (digit, bits) in row.chars().map(|digit| digit.to_digit(16).unwrap_or(0)).enumerate() {
                let others = (0..4).filter(|bit| bits & (1 << bit) != 0).map(|bit| digit * 4 + bit);
                pairs.extend(
                    others
                        .filter(|other| *other < self.functions.len())
                        .map(|other| (one as u16, other as u16)),
                );
            }
        }
        pairs
    }

    /// What it is as a run leaves it, if the places are at these pcs; functions without one are left out.
    fn seen(&self, mut pc: impl FnMut(&Spot) -> Option<u64>) -> Seen {
        let mut numbers = Vec::new();
        let mut functions = Vec::new();
        for kept in &self.functions {
            numbers.push(pc(&kept.spot).map(|pc| {
                functions.push(Function { pc, marks: kept.marks, strand: kept.strand });
                functions.len() as u16 - 1
            }));
        }
        let number = |at: u16| numbers.get(usize::from(at)).copied().flatten();
        let pairs = self.pairs();
        let pairs = pairs.iter().filter_map(|&(one, other)| Some((number(one)?, number(other)?)));
        Seen { pairs: pairs.collect(), functions, lost: self.lost }
    }
}

/// Tasks with the places of their functions.
#[derive(Clone, Debug, Default)]
pub struct TaskTable {
    books: TaskBooks,
    /// Where each function of the books is.
    spots: Vec<Spot>,
    curve: Vec<TaskSample>,
    added: TaskProgress,
    followed: u64,
}

impl TaskTable {
    /// The tasks of a campaign; `spot` tells of a function where it is.
    pub fn new(books: &TaskBooks, mut spot: impl FnMut(u64) -> Spot) -> TaskTable {
        TaskTable {
            spots: books.functions().iter().map(|function| spot(function.pc)).collect(),
            curve: books.samples(),
            added: books.added(),
            books: books.clone(),
            followed: 0,
        }
    }

    /// The same where so many runs were made again under control.
    pub fn with_followed(self, followed: u64) -> TaskTable {
        TaskTable { followed, ..self }
    }

    /// The tasks of campaigns, put together in their order. The curve and what was added are the last one's.
    pub fn merged<'a>(campaigns: impl IntoIterator<Item = &'a KeptTasks>) -> TaskTable {
        let mut table = TaskTable::default();
        let mut numbers: HashMap<String, u64> = HashMap::new();
        for kept in campaigns {
            let before = table.books.counts().point();
            let seen = kept.seen(|spot| {
                let next = numbers.len() as u64;
                Some(*numbers.entry(spot.address.clone()).or_insert_with(|| {
                    table.spots.push(spot.clone());
                    next
                }))
            });
            table.books.begin_with(&seen);
            table.curve.clone_from(&kept.curve);
            table.followed += kept.followed;
            // One that went on from the others knows itself what it added; one of another folder began with nothing.
            table.added = table.books.counts().point().less(before).least(kept.added);
        }
        // Functions for which there was no room have no place in the books.
        table.spots.truncate(table.books.functions().len());
        table
    }

    /// What stays of them.
    pub fn keep(&self) -> KeptTasks {
        let functions = self.books.functions().iter().zip(&self.spots).map(|(function, spot)| KeptFunction {
            spot: spot.clone(),
            marks: function.marks,
            strand: function.strand,
        });
        KeptTasks {
            counts: self.counts(),
            added: self.added,
            first_run: self.books.first_run(),
            curve: self.curve.clone(),
            functions: functions.collect(),
            rows: self.books.rows().iter().map(|row| digits(row)).collect(),
            lost: self.books.lost(),
            followed: self.followed,
            made: 0,
        }
    }

    /// As a run leaves it, if the places are at these pcs.
    pub fn seen(&self, mut pc: impl FnMut(&Spot) -> Option<u64>) -> Seen {
        self.keep().seen(&mut pc)
    }

    /// How many tasks there are, are covered, and can be.
    pub fn counts(&self) -> TaskCounts {
        self.books.counts()
    }

    /// How much was covered after how many runs of the last campaign.
    pub fn curve(&self) -> &[TaskSample] {
        &self.curve
    }

    /// What the last campaign added.
    pub fn added(&self) -> TaskProgress {
        self.added
    }

    /// Runs that were made again under control.
    pub fn followed(&self) -> u64 {
        self.followed
    }

    /// Functions for which there was no room.
    pub fn lost(&self) -> u64 {
        self.books.lost()
    }

    /// The functions that have tasks: their places in the books, what is known, and where they are.
    pub fn functions(&self) -> impl Iterator<Item = (u16, &Function, &Spot)> + '_ {
        let all = self.books.functions().iter().zip(&self.spots).enumerate();
        all.filter(|(_, (function, _))| function.is_asked_for())
            .map(|(place, (function, spot))| (place as u16, function, spot))
    }

    /// How the pair of the functions at these places stands.
    pub fn pair(&self, one: u16, other: u16) -> State {
        self.books.pair(one, other)
    }
}

/// Bits as hexadecimal digits, without zeros at the end.
fn digits(row: &[u64]) -> String {
    let digit = |word: u64, at: u32| char::from_digit((word >> (4 * at) & 15) as u32, 16).unwrap_or('0');
    let text: String = row.iter().flat_map(|&word| (0..16).map(move |at| digit(word, at))).collect();
    text.trim_end_matches('0').to_owned()
}
