//! An iroot that is to come true: which plans for it there are, and which were made.

use super::plan::{AGAIN, FIRST, Guide, MANNERS, Manner, Profile};
use super::values::Ways;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use threadbare_idioms::{Instance, Iroot};

/// Runs that try one iroot.
const TRIES: u32 = 5;
/// Of them, those that are made although a strand would read what leads it elsewhere; of one dependency, all of them may be.
const DOUBTFUL: u32 = 2;
/// Of them, those that are made although they do not seem to lead anywhere.
const BLIND: u32 = 1;
/// Runs that it is planned by.
const PROFILES: usize = 3;
/// Instances of an iroot that was shown, by the steps they name, that are tried one after another.
const OTHERS: usize = 8;
/// Orders of each such run that are gone through for one plan.
const SIMULATED: usize = 12;

/// An iroot that was not shown.
#[derive(Debug, Default)]
pub(super) struct Target {
    instances: Vec<(Arc<Profile>, Vec<Instance>)>,
    /// The steps that instances name, where each is to be another one, with the runs that have them: with what strands read in one they may not come there, with what
    /// they read in the next they may.
    named: HashMap<Vec<(u64, u64, u64)>, usize>,
    planned: HashSet<Guide>,
    tries: u32,
    doubtful: u32,
    blind: u32,
}

impl Target {
    /// Another run in which its accesses were made.
    pub(super) fn add(&mut self, profile: &Arc<Profile>, instances: &[Instance]) {
        if self.instances.len() < PROFILES {
            self.instances.push((Arc::clone(profile), instances.to_vec()));
        }
    }

    /// The instances of another run; of those that name the same steps, those of a few runs.
    pub(super) fn add_others(&mut self, profile: &Arc<Profile>, instances: &[Instance]) {
        for instance in instances {
            let steps = instance.accesses().iter().map(|&at| {
                let mark = profile.reference.reads.mark(profile.run.accesses[at].step);
                (mark.path, mark.pc, mark.number)
            });
            let (others, steps) = (self.named.len(), steps.collect());
            let runs = match self.named.entry(steps) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(_) if others >= OTHERS => continue,
                Entry::Vacant(new) => new.insert(0),
            };
            if *runs < PROFILES {
                *runs += 1;
                self.instances.push((Arc::clone(profile), vec![*instance]));
            }
        }
    }

    /// A plan was made; a run that learnt of shared memory does not count.
    pub(super) fn tried(&mut self, guide: &Guide, fair: bool) {
        self.tries += 1;
        if !fair {
            self.planned.remove(guide);
        }
    }

    /// Whether some order of a run's steps would have it, by what is known of them now. What a strand reads does not count where there is one dependency
    /// only: with another number of rounds of a loop it may be.
    pub(super) fn seems_possible(&self, iroot: &Iroot, ways: &Ways) -> bool {
        let ways = (iroot.idiom > 1).then_some(ways);
        self.instances.iter().any(|(profile, instances)| {
            let mut left = SIMULATED;
            instances.iter().any(|instance| {
                MANNERS.iter().take(left).any(|&manner| {
                    left = left.saturating_sub(1);
                    let holds = profile.holds(iroot, instance, manner);
                    profile.seems_possible(iroot, instance, &holds, ways)
                })
            })
        })
    }

    /// The next plan: the guide of `ordered`.
    pub(super) fn plan(&mut self, iroot: &Iroot, ways: &Ways) -> Option<Guide> {
        if self.tries >= TRIES {
            return None;
        }
        let (plan, _) = self.search(iroot, &MANNERS, Some(ways));
        if plan.is_some() {
            return plan;
        }
        let (plan, blind) = self.search(iroot, &MANNERS, None);
        if plan.is_some() {
            self.doubtful += 1;
            return plan.filter(|_| iroot.idiom == 1 || self.doubtful <= DOUBTFUL);
        }
        let blind = blind.filter(|_| self.blind < BLIND)?;
        self.blind += 1;
        self.planned.insert(Arc::clone(&blind));
        Some(blind)
    }

    /// A plan in which the two strands come before all others.
    pub(super) fn plan_first(&mut self, iroot: &Iroot, ways: &Ways) -> Option<Guide> {
        self.search(iroot, &FIRST, Some(ways)).0
    }

    /// Another one, of another instance first: what fails with one object, or in one round, need not with the next. Without `ways`, one in which strands may go another way
    /// than they did.
    pub(super) fn plan_again(&mut self, iroot: &Iroot, ways: Option<&Ways>) -> Option<Guide> {
        for manner in AGAIN {
            for (profile, instances) in &self.instances {
                for instance in instances {
                    let holds = profile.holds(iroot, instance, manner);
                    let guide = profile.guide(&holds);
                    if !self.planned.contains(&guide) && profile.seems_possible(iroot, instance, &holds, ways)
                    {
                        self.planned.insert(Arc::clone(&guide));
                        return Some(guide);
                    }
                }
            }
        }
        None
    }

    /// The first plan that seems to lead somewhere, and one that does not.
    fn search(
        &mut self,
        iroot: &Iroot,
        manners: &[Manner],
        ways: Option<&Ways>,
    ) -> (Option<Guide>, Option<Guide>) {
        let mut blind = None;
        for (profile, instances) in &self.instances {
            let mut left = SIMULATED;
            for instance in instances {
                for &manner in manners {
                    let holds = profile.holds(iroot, instance, manner);
                    let guide = profile.guide(&holds);
                    if self.planned.contains(&guide) || left == 0 {
                        continue;
                    }
                    left -= 1;
                    if profile.seems_possible(iroot, instance, &holds, ways) {
                        self.planned.insert(Arc::clone(&guide));
                        return (Some(guide), blind);
                    }
                    blind.get_or_insert(guide);
                }
            }
        }
        (None, blind)
    }
}
