//! Several campaigns put together: what each added, and what none of them did.

use crate::books::Counts;
use crate::estimate::Estimate;
use crate::iroots::{IrootCounts, MergedIroots};
use crate::kept::{CampaignCoverage, Spot};
use crate::species::Species;
use crate::tasks::TaskTable;
use std::collections::{BTreeMap, BTreeSet};
use threadbare_strategy::classes::Kind;

/// Two places whose accesses were seen in one order only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OneOrder {
    /// The one that always came first.
    pub first: Spot,
    /// The one that always came after it.
    pub then: Spot,
}

/// Campaigns of one program, put together.
#[derive(Clone, Debug)]
pub struct Merged<'a> {
    /// The campaigns, in the order they are put together.
    pub campaigns: Vec<&'a CampaignCoverage>,
    /// What each added to those before it.
    pub added: Vec<Counts>,
    /// What all covered.
    pub counts: Counts,
    /// Whether there were so many classes that their number is an estimate.
    pub approximate: bool,
    /// How likely something new is in another campaign of the last one's strategy.
    pub estimate: Option<Estimate>,
    /// Points that were reached and at which no strand was preempted, by source.
    pub never_preempted: Vec<Spot>,
    /// Accesses that met in one order only; the other may be impossible.
    pub one_order: Vec<OneOrder>,
    /// What free runs covered; none where strands were controlled.
    pub tasks: Option<TaskTable>,
    /// Instances of interleaving idioms, where somebody looked.
    pub iroots: Option<IrootCounts>,
}

type Thing<'a> = (Kind, &'a str, &'a str);

impl<'a> Merged<'a> {
    /// Puts campaigns of one program together, in their order.
    pub fn new(campaigns: Vec<&'a CampaignCoverage>) -> Merged<'a> {
        let mut things: BTreeSet<Thing<'a>> = BTreeSet::new();
        let mut spots: BTreeMap<&str, &Spot> = BTreeMap::new();
        let mut points: BTreeSet<&str> = BTreeSet::new();
        let mut classes: BTreeMap<u64, u32> = BTreeMap::new();
        let complete_to =
            campaigns.iter().map(|campaign| campaign.classes.complete_to()).min().unwrap_or(u64::MAX);
        let mut added = Vec::new();
        let mut counts = Counts::default();
        for campaign in &campaigns {
            for (kind, one, other) in campaign.told() {
                things.insert((kind, &one.address, &other.address));
                for spot in [one, other].into_iter().filter(|spot| !spot.address.is_empty()) {
                    spots.insert(&spot.address, spot);
                    points.insert(&spot.address);
                }
            }
            for (class, count) in campaign.classes.all().filter(|(class, _)| *class <= complete_to) {
                *classes.entry(class).or_default() += count;
            }
            let before = counts;
            counts = count(&things, points.len(), scaled(classes.len(), complete_to));
            added.push(minus(counts, before));
        }
        let estimate = estimate(&campaigns, &classes, complete_to);
        Merged {
            added,
            counts,
            approximate: complete_to != u64::MAX,
            estimate,
            never_preempted: never_preempted(&things, &points, &spots),
            one_order: one_order(&things, &spots),
            tasks: campaigns
                .iter()
                .any(|campaign| campaign.tasks.is_some())
                .then(|| TaskTable::merged(campaigns.iter().filter_map(|campaign| campaign.tasks.as_ref()))),
            iroots: MergedIroots::of(&campaigns).map(|merged| merged.counts()),
            campaigns,
        }
    }

    /// Runs of all campaigns.
    pub fn runs(&self) -> u64 {
        self.campaigns.iter().map(|campaign| campaign.runs).sum()
    }

    /// The campaigns of each program, put together, in the order the programs come.
    pub fn by_program(campaigns: impl IntoIterator<Item = &'a CampaignCoverage>) -> Vec<Merged<'a>> {
        let mut groups: Vec<Vec<&CampaignCoverage>> = Vec::new();
        for campaign in campaigns {
            match groups.iter_mut().find(|group| group[0].is_about_the_same(campaign)) {
                // The same campaign in two folders is one.
                Some(group) if group.contains(&campaign) => {}
                Some(group) => group.push(campaign),
                None => groups.push(vec![campaign]),
            }
        }
        groups.into_iter().map(Merged::new).collect()
    }
}

/// How many there are in all if so many have a number up to this.
fn scaled(found: usize, complete_to: u64) -> u64 {
    match complete_to {
        u64::MAX => found as u64,
        most => (found as f64 * (u64::MAX as f64 / most.max(1) as f64)).round() as u64,
    }
}

fn count(things: &BTreeSet<Thing<'_>>, points: usize, classes: u64) -> Counts {
    let of = |kind: Kind| things.iter().filter(|thing| thing.0 == kind).count() as u64;
    Counts {
        classes,
        reads_from: of(Kind::ReadsFrom),
        hapset: of(Kind::ReadsFrom) + of(Kind::Before),
        sync_pairs: of(Kind::Sync),
        blocked_pairs: of(Kind::Blocked),
        points: points as u64,
        points_preempted: things
            .iter()
            .filter(|(kind, one, _)| *kind == Kind::Preempted && !one.is_empty())
            .count() as u64,
    }
}

fn minus(now: Counts, before: Counts) -> Counts {
    Counts {
        classes: now.classes.saturating_sub(before.classes),
        reads_from: now.reads_from - before.reads_from,
        hapset: now.hapset - before.hapset,
        sync_pairs: now.sync_pairs - before.sync_pairs,
        blocked_pairs: now.blocked_pairs - before.blocked_pairs,
        points: now.points - before.points,
        points_preempted: now.points_preempted - before.points_preempted,
    }
}

/// One campaign has its own estimate. Several of one strategy that forgets are one long one.
fn estimate(
    campaigns: &[&CampaignCoverage],
    classes: &BTreeMap<u64, u32>,
    complete_to: u64,
) -> Option<Estimate> {
    let last = campaigns.last()?;
    let same = campaigns
        .iter()
        .all(|campaign| campaign.independent && campaign.identity.strategy == last.identity.strategy);
    if let Some(proved) = campaigns.iter().filter_map(|it| it.estimate).find(Estimate::is_proved) {
        return Some(proved);
    }
    if campaigns.len() == 1 || !same || complete_to != u64::MAX {
        return last.estimate.filter(|_| campaigns.len() == 1);
    }
    let mut species = Species::default();
    for (&class, &count) in classes {
        for _ in 0..count {
            species.see(class);
        }
    }
    Estimate::independent(&species)
}

/// Where a spot is in the source, for telling spots of one line once.
fn line(spot: &Spot) -> (&Option<String>, Option<u32>, &Option<String>) {
    (&spot.file, spot.line, &spot.function)
}

fn is_own(spot: &Spot) -> bool {
    !spot.library && spot.file.is_some()
}

fn never_preempted(
    things: &BTreeSet<Thing<'_>>,
    points: &BTreeSet<&str>,
    spots: &BTreeMap<&str, &Spot>,
) -> Vec<Spot> {
    let preempted = |address: &str| things.contains(&(Kind::Preempted, address, ""));
    let own = || points.iter().filter_map(|address| spots.get(address)).filter(|spot| is_own(spot));
    // A line with several instructions is covered if one of them is.
    let covered: BTreeSet<_> = own().filter(|spot| preempted(&spot.address)).map(|spot| line(spot)).collect();
    let mut found: Vec<Spot> =
        own().filter(|spot| !covered.contains(&line(spot))).map(|&spot| spot.clone()).collect();
    found.sort_by(|a, b| line(a).cmp(&line(b)));
    found.dedup_by(|a, b| line(a) == line(b));
    found
}

fn one_order(things: &BTreeSet<Thing<'_>>, spots: &BTreeMap<&str, &Spot>) -> Vec<OneOrder> {
    let met = |one: &str, other: &str| {
        [Kind::ReadsFrom, Kind::Before].iter().any(|&kind| things.contains(&(kind, one, other)))
    };
    let lines: BTreeSet<_> = things
        .iter()
        .filter(|thing| matches!(thing.0, Kind::ReadsFrom | Kind::Before) && met(thing.1, thing.2))
        .filter_map(|&(_, one, other)| Some((line(spots.get(one)?), line(spots.get(other)?))))
        .collect();
    let mut found: Vec<OneOrder> = things
        .iter()
        .filter(|thing| matches!(thing.0, Kind::ReadsFrom | Kind::Before))
        .filter_map(|&(_, one, other)| Some((*spots.get(one)?, *spots.get(other)?)))
        .filter(|(one, other)| is_own(one) && is_own(other) && line(one) != line(other))
        .filter(|(one, other)| !lines.contains(&(line(other), line(one))))
        .map(|(first, then)| OneOrder { first: first.clone(), then: then.clone() })
        .collect();
    found.sort_by(|a, b| (line(&a.first), line(&a.then)).cmp(&(line(&b.first), line(&b.then))));
    found.dedup_by(|a, b| line(&a.first) == line(&b.first) && line(&a.then) == line(&b.then));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::books::Books;
    use crate::contribution::Contribution;
    use crate::kept::Identity;
    use threadbare_strategy::StrategyId;
    use threadbare_strategy::classes::told::record;

    const READ: u64 = 0x10;
    const WRITE: u64 = 0x20;
    const LOCK: u64 = 0x30;
    const LIBRARY: u64 = 0x99;

    fn campaign(seed: u64, classes: &[u64], told: &[(Kind, u64, u64)]) -> CampaignCoverage {
        let mut books = Books::default();
        for &class in classes {
            let records = told.iter().map(|&(kind, one, other)| record(kind, one, other)).collect();
            books.take(StrategyId::Random, &Contribution { class: Some(class), records });
        }
        let identity = Identity { program: "bank".into(), seed, ..Identity::default() };
        CampaignCoverage::new(identity, &books, |pc| Spot {
            address: format!("bank+{pc:#x}"),
            file: Some("bank.c".into()),
            line: Some(pc as u32),
            function: Some("main".into()),
            library: pc == LIBRARY,
        })
    }

    #[test]
    fn a_second_campaign_says_what_it_added() {
        let one = campaign(1, &[1, 2, 2], &[(Kind::ReadsFrom, WRITE, READ), (Kind::Preempted, READ, 0)]);
        let two = campaign(2, &[2, 3, 4], &[(Kind::Before, READ, WRITE), (Kind::Sync, LOCK, LOCK)]);
        let merged = Merged::new(vec![&one, &two]);
        assert_eq!(merged.runs(), 6);
        assert_eq!((merged.counts.classes, merged.added[0].classes, merged.added[1].classes), (4, 2, 2));
        assert_eq!((merged.counts.hapset, merged.added[1].hapset, merged.added[1].sync_pairs), (2, 1, 1));
        let lines: Vec<_> = merged.never_preempted.iter().filter_map(|spot| spot.line).collect();
        assert_eq!(lines, [WRITE as u32, LOCK as u32]);
        // Together they have seen both orders, the first alone one.
        assert!(merged.one_order.is_empty());
        let alone = Merged::new(vec![&one]).one_order;
        assert_eq!((alone[0].first.line, alone[0].then.line), (Some(WRITE as u32), Some(READ as u32)));
    }

    #[test]
    fn what_is_not_the_programs_own_is_not_asked_for() {
        let one = campaign(1, &[1], &[(Kind::Point, LIBRARY, 0), (Kind::ReadsFrom, WRITE, LIBRARY)]);
        let merged = Merged::new(vec![&one]);
        assert_eq!((merged.never_preempted.len(), merged.one_order.len()), (1, 0));
    }

    #[test]
    fn campaigns_of_a_strategy_that_forgets_are_one_long_one() {
        let classes: Vec<u64> = (0..40).map(|run| run % 20).collect();
        let (one, two) = (campaign(1, &classes, &[]), campaign(2, &classes, &[]));
        let merged = Merged::by_program([&one, &two, &one]);
        let [both] = &merged[..] else { panic!("one program") };
        assert_eq!(both.campaigns.len(), 2);
        assert_eq!(both.estimate.map(|estimate| estimate.runs), Some(80));
        let mut other = campaign(3, &classes, &[]);
        other.identity.strategy = "rff".into();
        assert_eq!(Merged::new(vec![&one, &other]).estimate, None);
        other.identity.program_id = "another build".into();
        assert_eq!(Merged::by_program([&one, &other]).len(), 2);
    }
}
