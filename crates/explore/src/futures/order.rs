//! What is against a term by the order of the runs' steps alone: creation, join, barriers, semaphores and what is made once.
//!
//! The steps of each run that was looked at are gone through with the read held until it would see the write (`simulate`). A term that gets stuck so in every run,
//! however its read and write are held, is one that no order of those steps has. What a strand would do on another way through the program is not known to it, so
//! whoever asks has to see that the writes which come in between ([`Obstacle::between`]) are made on every way.
//!
//! Not taken for an order:
//! 1. Locks, and who was woken by whom: another run may have them the other way round.
//! 2. The wait on a condition. It may end without a signal, so what orders strands there is what the loop around it reads.
//! 3. A semaphore that more than one step posts.
//! 4. Where a write of a third strand was put, before the write or after the read: it might have been put the other way.

use super::Found;
use super::simulate::{Hold, Stuck, Why};
use super::wish::{MANNERS, Reference, Wish};
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;

/// What is against a term.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Obstacle {
    /// Who waits for whom, in one of the runs.
    pub stuck: Stuck,
    /// Writes that would have to be held back, and cannot, by site.
    pub between: BTreeSet<u64>,
}

/// Orders that are gone through for one term, at the most.
const SIMULATED: usize = 256;
/// Steps of the runs that are kept for this, all together, and runs.
const STEPS: usize = 40_000;
const RUNS: usize = 24;

impl Found {
    /// Keeps a run to ask of, if there is room.
    pub(super) fn keep(&mut self, reference: &std::sync::Arc<Reference>) {
        let kept: usize = self.kept.iter().map(|kept| kept.trace.events.len()).sum();
        if self.kept.len() < RUNS && kept + reference.trace.events.len() <= STEPS {
            self.kept.push(std::sync::Arc::clone(reference));
        }
    }

    /// Why no order of the steps of any run that was looked at has what is wished for; `None` if one may.
    pub fn obstacle(&self, wish: &Wish) -> Option<Obstacle> {
        let mut left = SIMULATED;
        let mut found: Option<Obstacle> = None;
        for reference in &self.kept {
            for (read, write) in reference.candidates(wish) {
                let (mut order, mut locked, mut against) = (None, false, false);
                for manner in MANNERS {
                    left = left.checked_sub(1)?;
                    // A strand's own order is against it.
                    let Ok(holds) = reference.holds(read, write, manner) else {
                        against = true;
                        continue;
                    };
                    let stuck = reference.try_in_any_time(&holds, read).err()?;
                    match reference.circle(&stuck, &holds, read, write) {
                        Circle::Order(between) => drop(order.get_or_insert((stuck, between))),
                        // Who is stopped behind the lock has it: what counts is where he stands before it.
                        Circle::Locks if !manner.outside => locked = true,
                        Circle::Locks | Circle::Other => return None,
                    }
                }
                let Some((stuck, between)) = order else {
                    if against && !locked {
                        continue;
                    }
                    return None;
                };
                match &mut found {
                    Some(found) => found.between.extend(between),
                    None => found = Some(Obstacle { stuck, between }),
                }
            }
        }
        found
    }
}

/// What a circle of waits is made of.
enum Circle {
    /// Orders that every run has, and the writes that are held back by it.
    Order(BTreeSet<u64>),
    /// A lock is among them.
    Locks,
    /// Something that may be otherwise in another run.
    Other,
}

impl Reference {
    fn circle(&self, stuck: &Stuck, holds: &[Hold], read: usize, write: Option<usize>) -> Circle {
        if stuck.iter().any(|waits| matches!(waits.why, Why::Lock(_))) {
            return Circle::Locks;
        }
        self.between(stuck, holds, read, write).map_or(Circle::Other, Circle::Order)
    }

    /// The writes that a circle of waits would hold back, if it is one of orders that every run has.
    fn between(
        &self,
        stuck: &Stuck,
        holds: &[Hold],
        read: usize,
        write: Option<usize>,
    ) -> Option<BTreeSet<u64>> {
        let (reads, events) = (&self.reads, &self.trace.events);
        let path = |access: usize| events[reads.accesses[access].event].path;
        let (reader, writer) = (path(read), write.map(path));
        let is_closed = stuck.last().is_some_and(|last| stuck.iter().any(|waits| waits.strand == last.whom));
        let mut between = BTreeSet::new();
        for waits in stuck {
            match waits.why {
                Why::Join => {}
                Why::After(_) if self.is_order(waits.kind, waits.strand) => {}
                Why::After(_) | Why::Lock(_) => return None,
                Why::Held(_) => {
                    let is_of_pair = |strand: u64| strand == reader || Some(strand) == writer;
                    if waits.kind == OpKind::End
                        || write.is_some() && !(is_of_pair(waits.strand) && is_of_pair(waits.whom))
                    {
                        return None;
                    }
                    let at = |hold: &&Hold| {
                        events[hold.held].path == waits.strand && events[hold.held].op.pc == waits.at[0]
                    };
                    let until_read = |hold: &&Hold| hold.until == reads.accesses[read].event;
                    // The write that it stands before, with the lock around it.
                    if let Some(hold) = holds.iter().find(|hold| at(hold) && until_read(hold)) {
                        let meets = |it: &&super::reads::Access| {
                            it.writes
                                && it.event >= hold.held
                                && events[it.event].path == waits.strand
                                && it.meets(&reads.accesses[read])
                        };
                        between.insert(reads.accesses.iter().find(meets)?.site);
                    }
                }
            }
        }
        is_closed.then_some(between)
    }

    /// Whether a step of this kind comes after the same steps in every run.
    fn is_order(&self, kind: OpKind, strand: u64) -> bool {
        match kind {
            OpKind::Start | OpKind::BarrierWait | OpKind::Once | OpKind::Join => true,
            OpKind::SemWait => self.has_one_post(strand),
            // The first step of a strand comes after its creation, whatever it is.
            _ => false,
        }
    }

    /// Whether each semaphore that a strand waits for is empty at first, and posted by one step.
    fn has_one_post(&self, strand: u64) -> bool {
        let events = &self.trace.events;
        let waited = events.iter().filter(|event| event.path == strand && event.op.kind == OpKind::SemWait);
        waited.into_iter().all(|wait| {
            let posts = |it: &&super::super::planner::trace::Event| {
                it.op.kind == OpKind::SemPost && it.op.addr == wait.op.addr
            };
            self.gates.counts.get(&wait.op.addr) == Some(&0) && events.iter().filter(posts).count() == 1
        })
    }
}
