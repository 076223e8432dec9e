//! The tasks of free runs as data: the JSON that other tools read.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error};
use serde_json::value::RawValue;
use threadbare_coverage::tasks::{Goal, Reason, State, TaskProgress, TaskSample, TaskTable};
use threadbare_coverage::{Spot, TaskCounts};

/// All tasks. Field names are an interface: others read them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TasksReport {
    /// How many tasks there are, are covered, and can be.
    pub counts: TaskCounts,
    /// What the last campaign added to what was covered before it.
    pub added: TaskProgress,
    /// How much was to be covered, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalReport>,
    /// How much was covered after how many runs of the last campaign.
    pub curve: Vec<TaskSample>,
    /// The functions, those with open tasks first.
    pub functions: Vec<FunctionTasks>,
    /// The pairs that can be covered.
    pub pairs: Pairs,
    /// Functions for which there was no room.
    pub lost: u64,
}

/// How much was to be covered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GoalReport {
    /// `model1` or `model2`.
    pub model: String,
    /// The share of its tasks, from 0 to 1.
    pub share: f64,
}

impl GoalReport {
    /// As it was asked for.
    pub fn of(goal: Goal) -> GoalReport {
        GoalReport { model: goal.model.name().to_owned(), share: goal.share }
    }
}

/// The tasks of a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionTasks {
    /// Where it is.
    #[serde(flatten)]
    pub spot: Spot,
    /// That a call is interrupted: `covered`, `open`, or why it cannot be: `alone`, `no_events`.
    pub interrupted: String,
    /// That a call runs through: `covered`, `open`, or why it cannot be: `alone`, `never_returned`.
    pub ran_through: String,
    /// Functions that ran while it was interrupted.
    pub pairs_covered: u64,
    /// Functions that can.
    pub pairs_coverable: u64,
}

impl FunctionTasks {
    /// Whether a task of it is open.
    pub fn is_open(&self) -> bool {
        self.interrupted == OPEN || self.ran_through == OPEN || self.pairs_covered < self.pairs_coverable
    }
}

/// Pairs of each sort that are listed, unless all are asked for.
const LISTED: usize = 100_000;

/// Pairs of functions by their places in the list: the second ran while the first was interrupted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Pairs {
    /// Those that a run did.
    pub covered: PairList,
    /// Those that none did.
    pub open: PairList,
    /// Whether there are more than are listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// Pairs, written in one line: there may be very many.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PairList(pub Vec<(u16, u16)>);

impl Serialize for PairList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let line = serde_json::to_string(&self.0).map_err(S::Error::custom)?;
        RawValue::from_string(line).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'a> Deserialize<'a> for PairList {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(PairList)
    }
}

/// The word for a task that a run did.
pub(super) const COVERED: &str = "covered";
/// The word for a task that none did.
pub(super) const OPEN: &str = "open";
/// The words for those that none can do as far as the runs show.
pub(super) const ALONE: &str = "alone";
pub(super) const NEVER_RETURNED: &str = "never_returned";
pub(super) const NO_EVENTS: &str = "no_events";
const ONE_STRAND: &str = "one_strand";

fn word(state: State) -> String {
    match state {
        State::Covered => COVERED,
        State::Open => OPEN,
        State::Out(Reason::Alone) => ALONE,
        State::Out(Reason::NeverReturned) => NEVER_RETURNED,
        State::Out(Reason::NoEvents) => NO_EVENTS,
        State::Out(Reason::OneStrand) => ONE_STRAND,
    }
    .to_owned()
}

impl TasksReport {
    /// Of a table of tasks. Without `all`, very many pairs are cut.
    pub fn of(table: &TaskTable, goal: Option<Goal>, all: bool) -> TasksReport {
        let places: Vec<u16> = table.functions().map(|(place, ..)| place).collect();
        let mut rows: Vec<(u16, FunctionTasks)> = table
            .functions()
            .map(|(place, function, spot)| {
                let mut tasks = FunctionTasks {
                    spot: spot.clone(),
                    interrupted: word(function.interrupted()),
                    ran_through: word(function.through()),
                    pairs_covered: 0,
                    pairs_coverable: 0,
                };
                for &other in &places {
                    let state = table.pair(place, other);
                    tasks.pairs_covered += u64::from(state == State::Covered);
                    tasks.pairs_coverable += u64::from(matches!(state, State::Covered | State::Open));
                }
                (place, tasks)
            })
            .collect();
        rows.sort_by_cached_key(|(_, tasks)| {
            let rank = match (tasks.interrupted.as_str(), tasks.ran_through.as_str()) {
                (OPEN, _) | (_, OPEN) => 0,
                _ if tasks.is_open() => 1,
                (ALONE, _) => 3,
                _ => 2,
            };
            let spot = &tasks.spot;
            (rank, spot.file.clone(), spot.line, spot.function.clone(), spot.address.clone())
        });
        let mut pairs = Pairs::default();
        for (one, (first, _)) in rows.iter().enumerate() {
            for (other, (second, _)) in rows.iter().enumerate() {
                let list = match table.pair(*first, *second) {
                    State::Covered => &mut pairs.covered.0,
                    State::Open => &mut pairs.open.0,
                    State::Out(_) => continue,
                };
                if all || list.len() < LISTED {
                    list.push((one as u16, other as u16));
                } else {
                    pairs.cut = true;
                }
            }
        }
        TasksReport {
            counts: table.counts(),
            added: table.added(),
            goal: goal.map(GoalReport::of),
            curve: table.curve().to_vec(),
            functions: rows.into_iter().map(|(_, tasks)| tasks).collect(),
            pairs,
            lost: table.lost(),
        }
    }
}
