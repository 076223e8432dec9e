//! `pcb`: every order with no preemption, then with one, with two, … up to the bound.
//!
//! A preemption is a switch away from a strand that could have gone on (Musuvathi and Qadeer, PLDI 2007). Orders with
//! fewer preemptions come first, so the first failure has the fewest. Two runs whose steps so far are of one class, with the
//! same strand last, have the same future: what one of them has been through with no more preemptions, the other leaves
//! out.

use super::trace::{Event, Trace};
use super::{Pick, Plan, Promise, Ran, Reason, Search};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The bound unless the user sets another.
const BOUND: u64 = 2;

/// A decision to make otherwise: in which run, where, and how.
#[derive(Debug)]
struct Branch {
    run: Arc<Vec<Pick>>,
    at: usize,
    pick: Pick,
    /// Preemptions before the decision.
    before: u64,
}

/// The planner's state.
#[derive(Debug)]
pub(crate) struct Pcb {
    bound: u64,
    /// Branches by their preemptions.
    open: Vec<VecDeque<Branch>>,
    /// The fewest preemptions with which each state was come to.
    seen: HashMap<(u64, u64), u64>,
    /// What is planned of the run under way: its length, and the preemptions before its last decision.
    planned: (usize, u64),
    /// Options that its last decision has from the plan: the others of those are planned already.
    chosen: usize,
    begun: bool,
    departed: u64,
    cut: bool,
}

impl Pcb {
    /// A planner with a bound; 0 for the usual one.
    pub(crate) fn new(bound: u64) -> Pcb {
        Pcb {
            bound: if bound == 0 { BOUND } else { bound },
            open: Vec::new(),
            seen: HashMap::new(),
            planned: (0, 0),
            chosen: 0,
            begun: false,
            departed: 0,
            cut: false,
        }
    }
}

impl Search for Pcb {
    fn next(&mut self) -> Option<Plan> {
        if !self.begun {
            self.begun = true;
            return Some(Plan::default());
        }
        let branch = self.open.iter_mut().find_map(VecDeque::pop_front)?;
        let mut picks = branch.run[..branch.at].to_vec();
        self.chosen = branch.pick.options.len();
        picks.push(branch.pick);
        self.planned = (picks.len(), branch.before);
        Some(Plan { picks, sleepers: Vec::new() })
    }

    fn takes_waits(&self) -> bool {
        true
    }

    fn learn(&mut self, run: Ran) {
        let Ran { trace, analysis, notes, void } = run;
        if notes.departed != 0 {
            self.departed += 1;
            return;
        }
        let run: Arc<Vec<Pick>> = Arc::new(trace.events.iter().map(Pick::of).collect());
        let (planned, mut spent) = self.planned;
        let fresh = planned.saturating_sub(1);
        // A round in vain that nobody disturbed leads to where it began.
        if planned > 0 && void.contains(&fresh) && in_one_go(&trace, &void, fresh) {
            return;
        }
        let mut state = (0..fresh.min(trace.events.len()))
            .fold(0u64, |sum, at| sum.wrapping_add(analysis.mark(&trace, at)));
        let mut faults = trace.events.iter().take(fresh).map(Event::faults_taken).sum();
        for at in fresh..trace.events.len() {
            let event = &trace.events[at];
            let last = at.checked_sub(1).map(|before| &trace.events[before]);
            let could_go_on = |index: u16| event.enabled >> index.min(63) & 1 == 1;
            let preempts = |pick: &Pick| {
                last.is_some_and(|last| last.path != pick.path && could_go_on(last.index)) as u64
            };
            // The alternatives of the planned decision are known from the run that it was taken from.
            let mut others = super::options(event, if at < planned { self.chosen } else { 0 }, faults);
            faults += event.faults_taken();
            if at >= planned {
                others.extend(super::alternatives(event, &trace.paths));
                let key = (state, last.map_or(0, |last| last.path));
                match self.seen.get_mut(&key) {
                    Some(fewest) if *fewest <= spent => return,
                    Some(fewest) => *fewest = spent,
                    None => {
                        self.seen.insert(key, spent);
                    }
                }
            }
            for pick in others {
                let cost = spent + preempts(&pick);
                if cost > self.bound {
                    self.cut = true;
                    continue;
                }
                if self.open.len() <= cost as usize {
                    self.open.resize_with(cost as usize + 1, VecDeque::new);
                }
                let run = Arc::clone(&run);
                self.open[cost as usize].push_back(Branch { run, at, pick, before: spent });
            }
            spent += preempts(&run[at]);
            state = state.wrapping_add(analysis.mark(&trace, at));
        }
    }

    fn promise(&self) -> Promise {
        Promise::Preemptions(self.bound, self.cut)
    }

    fn withdrawal(&self) -> Option<Reason> {
        (self.departed > 0).then_some(Reason::Departed(self.departed))
    }
}

/// Whether the strand's steps in vain from this one on follow each other until it has looked at everything.
fn in_one_go(trace: &Trace, void: &HashSet<usize>, from: usize) -> bool {
    let Some(event) = trace.events.get(from) else { return false };
    let head = (event.op.pc, event.op.addr);
    let mut own = trace.events[from + 1..].iter().zip(from + 1..);
    own.find_map(|(next, at)| {
        if next.index != event.index || !void.contains(&at) {
            // Whoever comes in between comes too early, unless the round is over.
            return Some(false);
        }
        ((next.op.pc, next.op.addr) == head).then_some(true)
    })
    .unwrap_or(false)
}
