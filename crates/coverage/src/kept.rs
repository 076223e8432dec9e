//! What stays of a campaign's coverage: `coverage.json` in its folder.
//!
//! Later campaigns of the same build add to the file, so that it tells what all of them covered. Those of other builds of
//! the same program are dropped: their places are others.

use crate::books::{Books, Counts};
use crate::curve::Sample;
use crate::estimate::Estimate;
use crate::iroots::KeptIroots;
use crate::tasks::{KeptTasks, TaskTable};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use threadbare_strategy::classes::Kind;

/// The version of the form.
pub const FORMAT_VERSION: u32 = 1;
/// The file's name.
pub const FILE: &str = "coverage.json";
/// Campaigns that are kept of the same program with the same arguments.
const MOST_CAMPAIGNS: usize = 8;
/// Classes that are kept of a campaign.
const MOST_CLASSES: usize = 1 << 16;

/// A place in the program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Spot {
    /// Module and offset: what tells it from others.
    pub address: String,
    /// The source file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Whether it is in a library, not in the program's own code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub library: bool,
}

/// The classes of a campaign. Of very many, those with the smallest numbers are kept: as numbers are spread evenly, they
/// stand for all.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Classes {
    /// How many there were.
    pub total: u64,
    /// Their numbers in order, sixteen hexadecimal digits each.
    numbers: String,
    /// How many runs were of each.
    counts: Vec<u32>,
}

impl Classes {
    fn of(mut all: Vec<(u64, u32)>) -> Classes {
        let total = all.len() as u64;
        all.truncate(MOST_CLASSES);
        let numbers = all.iter().map(|(class, _)| format!("{class:016x}")).collect();
        Classes { total, numbers, counts: all.iter().map(|(_, count)| *count).collect() }
    }

    /// The classes that are kept, each with how many runs were of it.
    pub fn all(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let (digits, _) = self.numbers.as_bytes().as_chunks::<16>();
        let number = |digits: &[u8; 16]| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        digits.iter().filter_map(number).zip(self.counts.iter().copied())
    }

    /// Up to which number all classes are kept.
    pub fn complete_to(&self) -> u64 {
        match self.total <= self.counts.len() as u64 {
            true => u64::MAX,
            false => self.all().last().map_or(0, |(class, _)| class),
        }
    }
}

/// What tells a campaign from others.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Identity {
    /// The program.
    pub program: String,
    /// Which build of it.
    pub program_id: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Which test it is; empty if none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The strategy.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// Which operations were points.
    pub points: String,
}

impl Identity {
    /// Whether two campaigns are about the same, so that what they covered can be put together.
    pub fn same_program(&self, other: &Identity) -> bool {
        (&self.program, &self.program_id, &self.args, &self.label, &self.points)
            == (&other.program, &other.program_id, &other.args, &other.label, &other.points)
    }
}

/// A campaign's coverage.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CampaignCoverage {
    /// What tells it from others.
    #[serde(flatten)]
    pub identity: Identity,
    /// Runs.
    pub runs: u64,
    /// How much they covered.
    pub counts: Counts,
    /// How likely something new is.
    pub estimate: Option<Estimate>,
    /// Whether runs were independent of each other.
    pub independent: bool,
    /// How much was covered after how many runs.
    pub curve: Vec<Sample>,
    /// The classes.
    pub classes: Classes,
    /// The places.
    pub spots: Vec<Spot>,
    /// What was told: a kind's code, and places by their number.
    told: Vec<(u8, u32, u32)>,
    /// What free runs covered; none where strands were controlled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<KeptTasks>,
    /// Instances of interleaving idioms, where somebody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iroots: Option<KeptIroots>,
}

impl CampaignCoverage {
    /// What stays of a campaign; `spot` tells of a place where it is.
    pub fn new(identity: Identity, books: &Books, mut spot: impl FnMut(u64) -> Spot) -> CampaignCoverage {
        let mut numbers = HashMap::new();
        let mut spots = Vec::new();
        let mut number = |pc: u64| {
            *numbers.entry(pc).or_insert_with(|| {
                spots.push(if pc == 0 { Spot::default() } else { spot(pc) });
                spots.len() as u32 - 1
            })
        };
        let told = books.told().map(|(kind, one, other)| (kind as u8, number(one), number(other))).collect();
        CampaignCoverage {
            identity,
            runs: books.runs(),
            counts: books.counts(),
            estimate: books.estimate(),
            independent: books.is_independent(),
            curve: books.samples(),
            classes: Classes::of(books.species().all()),
            spots,
            told,
            tasks: None,
            iroots: None,
        }
    }

    /// Whether what the two covered can be put together: of free and of controlled runs it is not the same.
    pub fn is_about_the_same(&self, other: &CampaignCoverage) -> bool {
        self.identity.same_program(&other.identity) && self.tasks.is_some() == other.tasks.is_some()
    }

    /// The same with what free runs covered; `made` tells it from others that came to the same.
    pub fn with_tasks(self, tasks: &TaskTable, made: u64) -> CampaignCoverage {
        // The runs whose classes are known are not drawn by chance.
        let mut tasks = tasks.keep();
        tasks.made = made;
        CampaignCoverage { tasks: Some(tasks), estimate: None, independent: false, ..self }
    }

    /// What was told; the second place of a thing that has only one is [`Spot::default`].
    pub fn told(&self) -> impl Iterator<Item = (Kind, &Spot, &Spot)> + '_ {
        self.told.iter().filter_map(|&(kind, one, other)| {
            Some((Kind::from_code(kind)?, self.spots.get(one as usize)?, self.spots.get(other as usize)?))
        })
    }
}

/// The file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The campaigns, the latest last.
    pub campaigns: Vec<CampaignCoverage>,
}

impl Default for Kept {
    fn default() -> Self {
        Kept { format_version: FORMAT_VERSION, campaigns: Vec::new() }
    }
}

impl Kept {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Kept, String> {
        let version = |value: &serde_json::Value| value.get("format_version")?.as_u64();
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match version(&value) {
            Some(version) if version == u64::from(FORMAT_VERSION) => {
                serde_json::from_value(value).map_err(|error| error.to_string())
            }
            Some(version) => Err(format!("it has version {version}, this Threadbare reads {FORMAT_VERSION}")),
            None => Err("it is no coverage".to_owned()),
        }
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Adds a campaign. One that is the same, or a longer form of one that is there, takes its place; free runs are never the same, so
    /// only a campaign that went on does.
    pub fn add(&mut self, mut campaign: CampaignCoverage) {
        let is_another = campaign.tasks.as_ref().is_some_and(|tasks| tasks.first_run == 0);
        let before = self.campaigns.iter().rev().find(|old| old.identity == campaign.identity);
        if let (Some(tasks), Some(before)) =
            (&mut campaign.tasks, before.and_then(|before| before.tasks.as_ref()))
            && !is_another
        {
            tasks.goes_on_from(before);
        }
        let new = &campaign.identity;
        let stale = |old: &Identity| {
            (&old.program, &old.args, &old.label) == (&new.program, &new.args, &new.label)
                && old.program_id != new.program_id
        };
        let latest = self.campaigns.iter().rposition(|old| old.identity == *new);
        let mut place = 0..;
        self.campaigns.retain(|old| {
            let replaced = !is_another && place.next() == latest;
            !stale(&old.identity) && !replaced
        });
        let same = |old: &CampaignCoverage| old.is_about_the_same(&campaign);
        if self.campaigns.iter().filter(|old| same(old)).count() >= MOST_CAMPAIGNS
            && let Some(first) = self.campaigns.iter().position(same)
        {
            self.campaigns.remove(first);
        }
        self.campaigns.push(campaign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contribution::Contribution;
    use threadbare_strategy::StrategyId;
    use threadbare_strategy::classes::told::record;

    fn campaign(seed: u64, build: &str) -> CampaignCoverage {
        let mut books = Books::default();
        for class in [seed, seed + 1, 7] {
            let records = vec![record(Kind::ReadsFrom, 0x10, 0x20), record(Kind::Point, 0x30 + seed, 0)];
            books.take(StrategyId::Random, &Contribution { class: Some(class), records });
        }
        let identity =
            Identity { program: "bank".into(), program_id: build.into(), seed, ..Identity::default() };
        CampaignCoverage::new(identity, &books, |pc| Spot {
            address: format!("bank+{pc:#x}"),
            ..Spot::default()
        })
    }

    #[test]
    fn the_file_round_trips() {
        let mut kept = Kept::default();
        kept.add(campaign(1, "a"));
        kept.add(campaign(20, "a"));
        let again = Kept::parse(&kept.to_text()).unwrap();
        assert_eq!(again, kept);
        let told: Vec<_> =
            again.campaigns[0].told().map(|(kind, one, _)| (kind, one.address.as_str())).collect();
        assert_eq!(told, [(Kind::ReadsFrom, "bank+0x10"), (Kind::Point, "bank+0x31")]);
        assert_eq!(again.campaigns[0].classes.all().collect::<Vec<_>>(), [(1, 1), (2, 1), (7, 1)]);
    }

    #[test]
    fn campaigns_replace_what_they_make_void() {
        let mut kept = Kept::default();
        for seed in 0..20 {
            kept.add(campaign(seed, "a"));
        }
        kept.add(campaign(19, "a"));
        let seeds: Vec<u64> = kept.campaigns.iter().map(|it| it.identity.seed).collect();
        assert_eq!(seeds, (12..20).collect::<Vec<_>>());
        kept.add(campaign(1, "b"));
        assert_eq!(kept.campaigns.len(), 1);
    }

    /// A free campaign of one function that is interrupted in run `first`.
    fn free(seed: u64, first: u64, function: u64) -> CampaignCoverage {
        use crate::tasks::{Function, Seen, TaskBooks};
        use threadbare_abi::tasks::marks::{BESIDE, EVENTS, INTERRUPTED};
        let mut books = TaskBooks::default();
        let function = Function { pc: function, marks: BESIDE | EVENTS | INTERRUPTED, strand: 1 };
        books.take(first, &Seen { functions: vec![function], ..Seen::default() });
        campaign(seed, "a").with_tasks(
            &TaskTable::new(&books, |pc| Spot { address: format!("bank+{pc:#x}"), ..Spot::default() }),
            first,
        )
    }

    #[test]
    fn free_campaigns_are_never_the_same() {
        let mut kept = Kept::default();
        kept.add(campaign(1, "a"));
        kept.add(free(1, 0, 10));
        kept.add(free(1, 0, 20));
        assert_eq!(kept.campaigns.len(), 3);
        let again = Kept::parse(&kept.to_text()).unwrap();
        assert_eq!(again, kept);
        // One that was ended and goes on is one.
        kept.add(free(1, 5, 30));
        assert_eq!(kept.campaigns.len(), 3);
        let tasks = kept.campaigns[2].tasks.as_ref().unwrap();
        let curve: Vec<_> = tasks.curve.iter().map(|sample| sample.runs).collect();
        assert_eq!((tasks.added.interrupted, curve), (2, vec![1, 6]));
        // They do not drive out those of controlled runs.
        (0..20).for_each(|_| kept.add(free(2, 0, 10)));
        assert_eq!(kept.campaigns.iter().filter(|it| it.tasks.is_none()).count(), 1);
        assert_eq!(kept.campaigns.len(), 1 + MOST_CAMPAIGNS);
    }

    #[test]
    fn files_without_tasks_are_read() {
        let mut kept = Kept::default();
        kept.add(campaign(1, "a"));
        let text = kept.to_text();
        assert!(!text.contains("tasks"), "{text}");
        assert_eq!(Kept::parse(&text).unwrap().campaigns[0].tasks, None);
    }

    #[test]
    fn bad_files_are_refused_and_say_why() {
        for (text, why) in [
            ("", "EOF"),
            ("{}", "no coverage"),
            (r#"{"format_version": 99}"#, "version 99"),
            (r#"{"format_version": 1}"#, "campaigns"),
        ] {
            let error = Kept::parse(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        // Numbers that lead nowhere are left out.
        let mut broken = campaign(1, "a");
        broken.told.push((1, 900, 0));
        broken.told.push((99, 0, 0));
        broken.classes.numbers.push_str("xyz");
        assert_eq!((broken.told().count(), broken.classes.all().count()), (2, 3));
    }

    #[test]
    fn of_very_many_classes_some_stand_for_all() {
        let all: Vec<(u64, u32)> = (0..2 * MOST_CLASSES as u64).map(|at| (at << 40, 1)).collect();
        let classes = Classes::of(all);
        assert_eq!(classes.total, 2 * MOST_CLASSES as u64);
        assert_eq!(classes.all().count(), MOST_CLASSES);
        assert_eq!(classes.complete_to(), (MOST_CLASSES as u64 - 1) << 40);
    }
}
