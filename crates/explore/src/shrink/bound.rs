//! All schedules with fewer preemptions than the best one found: iterated context bounding, after Musuvathi and Qadeer.
//!
//! Level *c* has the runs with *c* preemptions. A run of a plan tells its decisions; each decision behind the plan's end
//! at which another strand could have gone on makes a new plan: on the same level where the strand had to wait, gave way
//! or ended, on the next one where it is preempted. So every schedule comes once, and when a level is done without the
//! finding, no schedule with so few preemptions shows it.
//!
//! Left out are preemptions before an operation on something that no other strand has touched in any run so far, or that
//! nobody has changed: it makes no difference whether they come before it or behind it. Such plans are kept, and made
//! when another strand turns out to touch it. Instructions that turn out to be shared are points from then on, and the levels are
//! begun anew.
//!
//! Runs that come to a decision that another run came to with as few preemptions have the same future (`state`): nothing is
//! made of them from there on.
//!
//! Nothing is proved of a program whose runs are cut off, make more decisions than can be noted, or have more than 64
//! strands.

use super::plan::{Plan, Stretch};
use super::reach::{Reach, reach};
use super::state::states;
use super::trial::{Halt, Made, Trials};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use threadbare_abi::decision::{Decision, bits};
use threadbare_abi::event::{ChoiceKind, Segment};
use threadbare_abi::strand::StrandId;
use threadbare_trace::shape::is_strand;

/// Plans that are kept at the most.
const KEPT: usize = 400_000;

/// What came of a search.
#[derive(Debug)]
pub(crate) enum Searched {
    /// A run with fewer preemptions; if the search was complete so far, none has still fewer.
    Found(Box<Made>, bool),
    /// There is none.
    Nothing,
    /// That is not known.
    Unknown,
}

/// Another way to go on from a decision of a run.
struct Branch {
    segments: Arc<[Segment]>,
    /// The segment of the strand that had stopped, and its events by then.
    at: (usize, u64),
    /// Who goes on instead.
    next: Stretch,
    /// A choice that is no strand: the option instead, at this place among the plan's choices.
    choice: Option<(usize, u64)>,
    /// Decisions of the run that are the plan's.
    decided: usize,
}

impl Branch {
    fn plan(&self) -> Plan {
        let mut plan = Plan::up_to(&self.segments, Some(self.at));
        if let Some((index, option)) = self.choice {
            // Up to where the choice is made; how the strand's stretch ends is open.
            plan.choices.truncate(index + 1);
            if let Some(choice) = plan.choices.get_mut(index) {
                choice.option = option;
            }
            if let Some(last) = plan.stretches.last_mut() {
                *last = Stretch { target: 0, stops: false, ..*last };
            }
            return plan;
        }
        plan.stretches.push(self.next);
        plan
    }
}

/// What strands touched.
#[derive(Default)]
struct Touched {
    cells: HashMap<u64, Cell>,
}

#[derive(Default)]
struct Cell {
    by: Option<StrandId>,
    several: bool,
    changed: bool,
}

impl Touched {
    fn note(&mut self, decision: &Decision) {
        let Reach::Cells(from, to) = reach(decision) else { return };
        let reads = decision.op.only_reads_memory();
        for cell in from..=to {
            let cell = self.cells.entry(cell).or_default();
            cell.several |= *cell.by.get_or_insert(decision.strand) != decision.strand;
            cell.changed |= !reads;
        }
    }

    fn matters(&self, decision: &Decision) -> bool {
        match reach(decision) {
            Reach::Nobody => false,
            Reach::Anybody => true,
            Reach::Cells(from, to) => {
                let shared = |cell| self.cells.get(&cell).is_some_and(|cell| cell.several && cell.changed);
                (from..=to).any(shared)
            }
        }
    }
}

struct Search<'a, 'b> {
    trials: &'a mut Trials<'b>,
    levels: Vec<VecDeque<Branch>>,
    /// Plans that make no difference as far as is known, with their level and operation.
    idle: Vec<(usize, Decision, Branch)>,
    kept: usize,
    touched: Touched,
    /// Decisions whose other ways are known, and the level they were met on.
    seen: HashMap<u64, usize>,
    complete: bool,
    below: u64,
}

/// Looks for a run with fewer preemptions than `below` that shows the finding.
pub(crate) fn search(trials: &mut Trials<'_>, below: u64) -> Result<Searched, Halt> {
    loop {
        let levels = (0..below).map(|_| VecDeque::new()).collect();
        let touched = Touched::default();
        let (idle, seen) = (Vec::new(), HashMap::new());
        let mut search = Search { trials, levels, idle, kept: 0, touched, seen, complete: true, below };
        let found = search.all()?;
        let complete = search.complete;
        if let Some(made) = found {
            return Ok(Searched::Found(Box::new(made), complete));
        }
        if !complete {
            return Ok(Searched::Unknown);
        }
        if !trials.learn() {
            return Ok(Searched::Nothing);
        }
    }
}

impl Search<'_, '_> {
    fn all(&mut self) -> Result<Option<Made>, Halt> {
        if self.below == 0 {
            return Ok(None);
        }
        let first = self.trials.make(&Plan::default())?;
        if let Some(found) = self.take(first, 0, 0, 0) {
            return Ok(Some(found));
        }
        for level in 0..self.levels.len() {
            loop {
                while let Some(branch) = self.levels[level].pop_front() {
                    self.kept -= 1;
                    let plan = branch.plan();
                    let made = self.trials.make(&plan)?;
                    if let Some(found) = self.take(made, level, branch.decided, plan.choices.len()) {
                        return Ok(Some(found));
                    }
                }
                if !self.wake_idle(level) {
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Plans of this level that make a difference after all; false if there are none.
    fn wake_idle(&mut self, level: usize) -> bool {
        let touched = &self.touched;
        let (woken, idle) = std::mem::take(&mut self.idle)
            .into_iter()
            .partition(|(at, decision, _)| *at <= level && touched.matters(decision));
        self.idle = idle;
        let woken: Vec<(usize, Decision, Branch)> = woken;
        let any = !woken.is_empty();
        self.levels[level].extend(woken.into_iter().map(|(_, _, branch)| branch));
        any
    }

    /// Takes a run: it is what is looked for, or it tells what else can be done.
    fn take(&mut self, made: Made, level: usize, decided: usize, chosen: usize) -> Option<Made> {
        if made.facts.is_some() && made.shape.preemptions < self.below {
            return Some(made);
        }
        self.complete &= !made.partial;
        made.decisions.iter().for_each(|decision| self.touched.note(decision));
        let states = states(&made.decisions, &made.paths);
        for (at, segment) in stops(&made).into_iter().enumerate().skip(decided) {
            if let Some(states) = &states {
                let seen = self.seen.entry(states[at]).or_insert(usize::MAX);
                if *seen <= level {
                    // From here on the run is one that was made.
                    break;
                }
                *seen = level;
            }
            let decision = &made.decisions[at];
            let next = made.decisions.get(at + 1).map(|next| next.strand);
            self.branch(&made, decision, next, level, (segment, at + 1));
        }
        self.choices(&made, level, decided, chosen);
        None
    }

    fn branch(
        &mut self,
        made: &Made,
        decision: &Decision,
        next: Option<StrandId>,
        level: usize,
        (segment, decided): (usize, usize),
    ) {
        let is = |bit| decision.told & bit != 0;
        self.complete &= !is(bits::MORE);
        if is(bits::PINNED) {
            return;
        }
        let free = !is(bits::READY) || is(bits::YIELDS);
        let to = level + usize::from(!free);
        if to >= self.levels.len() {
            return;
        }
        let enabled = (0..64).filter(|bit| decision.enabled >> bit & 1 != 0).map(StrandId);
        let strands = enabled.map(|id| (id, false));
        let deadline = (decision.timed != StrandId::NONE && self.trials.early_deadlines())
            .then_some((decision.timed, true));
        for (id, by_deadline) in strands.chain(deadline) {
            let Some(&other) = made.paths.get(&id) else {
                self.complete = false;
                continue;
            };
            if Some(id) == next && !by_deadline || id == decision.strand && !free {
                continue;
            }
            let branch = Branch {
                segments: Arc::clone(&made.segments),
                at: (segment, decision.own),
                next: Stretch { by_deadline, ..Stretch::open(other) },
                choice: None,
                decided,
            };
            self.keep(to, branch, (!free && !self.touched.matters(decision)).then_some(*decision));
        }
    }

    /// The other options of choices that are no strand, but for those of the plan.
    fn choices(&mut self, made: &Made, level: usize, decided: usize, chosen: usize) {
        let (mut own, mut index) = (HashMap::<u64, u64>::new(), 0);
        let mut waiting: Vec<(usize, &Segment)> = Vec::new();
        for (at, segment) in made.segments.iter().enumerate() {
            if !is_strand(segment) {
                if segment.kind == ChoiceKind::Wake as u8 && index >= chosen {
                    waiting.push((index, segment));
                }
                index += 1;
                continue;
            }
            let count = own.entry(segment.path).or_default();
            *count += segment.events;
            for (index, wake) in waiting.drain(..) {
                for option in (0..wake.events).filter(|option| *option != wake.path) {
                    let segments = Arc::clone(&made.segments);
                    let (at, next) = ((at, *count), Stretch::open(segment.path));
                    self.keep(
                        level,
                        Branch { segments, at, next, choice: Some((index, option)), decided },
                        None,
                    );
                }
            }
        }
    }

    fn keep(&mut self, level: usize, branch: Branch, idle: Option<Decision>) {
        if self.kept >= KEPT {
            self.complete = false;
            return;
        }
        self.kept += 1;
        match idle {
            Some(decision) => self.idle.push((level, decision, branch)),
            None => self.levels[level].push_back(branch),
        }
    }
}

/// The segment that each decision falls into, by index.
fn stops(made: &Made) -> Vec<usize> {
    let mut strands = made.segments.iter().enumerate().filter(|(_, segment)| is_strand(segment));
    // Events before `main` are nobody's.
    let mut total = made.decisions.first().map_or(0, |first| first.event - first.own.min(first.event));
    let mut current = strands.next();
    if let Some((_, segment)) = current {
        total += segment.events;
    }
    let mut list = Vec::with_capacity(made.decisions.len());
    for decision in &made.decisions {
        let Some((at, segment)) = current else { break };
        list.push(at);
        if decision.event == total && decision.how as u8 == segment.how {
            current = strands.next();
            total += current.map_or(0, |(_, segment)| segment.events);
        }
    }
    list
}
