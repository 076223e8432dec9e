//! `dpor`: one run for each class, and no run that is of no use.
//!
//! Optimal dynamic partial-order reduction (Abdulla, Aronis, Jonsson, Sagonas, POPL 2014). The runs made so far are a path
//! through a tree of steps. After each run, every pair of steps that could have come in the other order is turned into a
//! sequence that shows that order and nothing else that is new; it is added to the tree at the first of the two steps
//! unless what is there shows it already: a sleeping strand (a planner has been there) or a branch with the same steps in
//! another order. The next run takes the leftmost branch that has not been made.

use super::trace::{Analysis, Event, Race, Trace};
use super::{MOST_FAULTS, Pick, Plan, Ran, Reason, Search};
use std::collections::HashSet;
use threadbare_abi::op::OpKind;

/// A branch of the tree: a step, and what follows it.
#[derive(Debug)]
struct Branch {
    event: Event,
    /// The step as it was planned, if it turned out to do something else.
    planned: Option<Event>,
    next: Vec<Branch>,
}

impl Branch {
    fn new(event: Event, next: Vec<Branch>) -> Branch {
        Branch { event, planned: None, next }
    }
}

/// A tree can be as deep as a run is long, too deep for one call within another.
impl Drop for Branch {
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.next);
        while let Some(mut branch) = left.pop() {
            left.append(&mut branch.next);
        }
    }
}

/// A place on the path.
#[derive(Debug)]
struct Node {
    /// Branches that are left; the first is on the path.
    branches: Vec<Branch>,
    /// Steps that need not be made here.
    asleep: Vec<Event>,
}

impl Node {
    /// Whether the orders of a sequence were shown when a step that sleeps was made.
    fn has_shown(&self, sequence: &[Event]) -> bool {
        self.asleep.iter().any(|event| begins(sequence, event).is_some())
    }
}

/// The planner's state.
#[derive(Debug, Default)]
pub(crate) struct Dpor {
    path: Vec<Node>,
    begun: bool,
    /// Plans that could not be carried out.
    departed: u64,
}

impl Search for Dpor {
    fn next(&mut self) -> Option<Plan> {
        if !self.begun {
            self.begun = true;
            return Some(Plan::default());
        }
        // The deepest place with a branch that is not on the path.
        loop {
            let node = self.path.last_mut()?;
            let done = node.branches.remove(0);
            if !node.asleep.iter().any(|event| event.is(&done.event) && event.choices == done.event.choices) {
                node.asleep.push(done.event.clone());
            }
            if !node.branches.is_empty() {
                break;
            }
            self.path.pop();
        }
        self.descend();
        let picks = self.path.iter().map(|node| Pick::of(&node.branches[0].event)).collect();
        let mut sleepers = self.path.last().map(asleep_after).unwrap_or_default();
        // Where only the fault of a step sleeps, the step itself may come.
        sleepers.retain(|event| event.faults_taken() == 0);
        Some(Plan { picks, sleepers })
    }

    fn learn(&mut self, run: Ran) {
        let Ran { trace, analysis, notes, void } = run;
        let planned = self.path.len();
        if let Some(first) = void.iter().copied().min().filter(|&first| first < planned) {
            self.plan_without(&void, first);
            // Of what came before them the run is one like others: whom nothing waits for there may be known only now.
            let made = self.path.iter().zip(&trace.events).take(first);
            if notes.departed == 0 && made.into_iter().all(|(node, event)| node.branches[0].event.is(event)) {
                for race in analysis.races.iter().filter(|race| race.first < first) {
                    self.reverse(&trace, &analysis, race, trace.events.len());
                }
            }
            return;
        }
        let fits = trace.events.len() >= planned
            && self.path.iter().zip(&trace.events).all(|(node, event)| node.branches[0].event.is(event));
        if notes.departed == 0 && self.has_no_chance(&trace) {
            return;
        }
        if !fits || notes.departed != 0 {
            // Deadlines come in their order: another one before this is no order that the program can show.
            let last = self.path.last().is_some_and(|node| node.branches[0].event.by_deadline);
            let impossible = last && notes.departed == planned as u64;
            self.departed += u64::from(!impossible);
            return;
        }
        // What could only be guessed is known now.
        let mut faults = 0;
        for (node, event) in self.path.iter_mut().zip(&trace.events) {
            expand(node, event, &mut faults);
        }
        // Where only those could go on who are asleep, the rest was made elsewhere.
        let before = |at: usize| void.iter().filter(|&&void| void < at).count();
        let asleep_at = (notes.asleep as usize).checked_sub(1).map(|at| at - before(at));
        let mut useful = planned.min(trace.events.len());
        for event in &trace.events[useful..] {
            let asleep = self.path.last().map(asleep_after).unwrap_or_default();
            let sleeps = |other: &Event| {
                other.path == event.path
                    && other.by_deadline == event.by_deadline
                    && other.faults_taken() == 0
            };
            if Some(useful) == asleep_at && asleep.iter().any(sleeps) {
                break;
            }
            let branches = vec![Branch::new(event.clone(), Vec::new())];
            self.path.push(Node { branches, asleep });
            if let Some(node) = self.path.last_mut() {
                expand(node, event, &mut faults);
            }
            useful += 1;
        }
        let stood = |race: &Race| match race.made {
            Some(at) => at < useful,
            None => !trace.events[useful..].iter().any(|event| event.path == race.second.path),
        };
        for race in analysis.races.iter().filter(|race| race.first < useful && stood(race)) {
            self.reverse(&trace, &analysis, race, useful);
        }
    }

    fn withdrawal(&self) -> Option<Reason> {
        (self.departed > 0).then_some(Reason::Departed(self.departed))
    }
}

/// Who sleeps after the step on the path. A step that was planned as one that others would have noticed has them woken
/// whatever it did: sequences that begin with it have been left to what comes after it.
fn asleep_after(node: &Node) -> Vec<Event> {
    let Branch { event: step, planned, .. } = &node.branches[0];
    let wakes = |event: &Event| event.depends(step) || planned.as_ref().is_some_and(|it| event.depends(it));
    node.asleep.iter().filter(|event| !wakes(event)).cloned().collect()
}

/// The step was made: its other options are branches, too, a fault only if there were not enough before it.
fn expand(node: &mut Node, event: &Event, faults: &mut u32) {
    let made = &mut node.branches[0];
    let planned = std::mem::replace(&mut made.event, event.clone());
    if planned.touches != event.touches && made.planned.is_none() {
        made.planned = Some(planned);
    }
    for (at, &(taken, options)) in event.choices.iter().enumerate() {
        if event.is_fault(at) {
            let enough = *faults >= MOST_FAULTS;
            *faults += taken;
            if enough && taken == 0 {
                continue;
            }
        }
        for option in (0..options).filter(|&option| option != taken) {
            // What is chosen after another option is not known yet.
            let mut choices = event.choices[..=at].to_vec();
            choices[at].0 = option;
            let other = Event { choices, ..event.clone() };
            let known = |event: &Event| event.path == other.path && event.choices == other.choices;
            if !node.branches.iter().any(|branch| known(&branch.event)) && !node.asleep.iter().any(known) {
                node.branches.push(Branch::new(other, Vec::new()));
            }
        }
    }
}

impl Dpor {
    /// Whether a fault was planned where the step, moved, has no chance for it: the order without it is planned besides.
    fn has_no_chance(&self, trace: &Trace) -> bool {
        let steps = self.path.iter().map(|node| &node.branches[0].event).zip(&trace.events);
        let mut first = steps.skip_while(|(planned, made)| planned.is(made));
        first.next().is_some_and(|(planned, made)| planned.has_more_faults(made))
    }

    /// Goes down the leftmost branches to the end of what is planned.
    fn descend(&mut self) {
        while let Some(node) = self.path.last_mut() {
            let branches = std::mem::take(&mut node.branches[0].next);
            if branches.is_empty() {
                return;
            }
            let asleep = asleep_after(node);
            self.path.push(Node { branches, asleep });
        }
    }

    /// Some steps of the plan looked in vain: it is made without them.
    fn plan_without(&mut self, void: &HashSet<usize>, first: usize) {
        let sequence: Vec<Event> = (first..self.path.len())
            .filter(|at| !void.contains(at))
            .map(|at| self.path[at].branches[0].event.clone())
            .collect();
        let node = &mut self.path[first];
        if !sequence.is_empty() && !node.has_shown(&sequence) {
            insert(&mut node.branches, 1, sequence);
        }
    }

    /// Plans the other order of two steps.
    fn reverse(&mut self, trace: &Trace, analysis: &Analysis, race: &Race, useful: usize) {
        // What comes after a failure is never made, so the failure comes last.
        let fails = |at: usize| trace.events[at].fails;
        let mut sequence: Vec<Event> = (race.first + 1..useful)
            .filter(|&at| Some(at) != race.made && !fails(at) && !race.comes_later(at, trace, analysis))
            .map(|at| trace.events[at].clone())
            .collect();
        sequence.push(race.second.clone());
        let mut first = race.first;
        if let Some(&begun) = race.vain.first() {
            // The loop is begun later.
            let between = (begun..race.first).filter(|at| !race.vain.contains(at));
            sequence.splice(0..0, between.map(|at| trace.events[at].clone()));
            first = begun;
        }
        let node = &mut self.path[first];
        if node.has_shown(&sequence) {
            return;
        }
        // The first branch is the run that was just made.
        insert(&mut node.branches, 1, sequence);
    }
}

/// Whether a step can come first in a sequence: where it is in it, or that it is not and depends on nothing there.
fn begins(sequence: &[Event], event: &Event) -> Option<Option<usize>> {
    match sequence.iter().position(|other| other.path == event.path) {
        Some(at) => {
            let first = &sequence[at];
            let free = !sequence[..at].iter().any(|other| other.depends(first));
            (free && first.is(event)).then_some(Some(at))
        }
        // The strand will make the step, but not with a fault; and what would come after a failure, or the process's end, was never made.
        None if event.faults_taken() > 0 || event.fails || event.op.kind == OpKind::End => None,
        None => (!sequence.iter().any(|other| other.depends(event))).then_some(None),
    }
}

/// Adds a sequence to branches, from the given one on, unless they show it already.
fn insert(mut branches: &mut Vec<Branch>, mut from: usize, mut sequence: Vec<Event>) {
    while let Some((at, found)) =
        (from..branches.len()).find_map(|at| begins(&sequence, &branches[at].event).map(|found| (at, found)))
    {
        if let Some(first) = found {
            sequence.remove(first);
        }
        if branches[at].next.is_empty() || sequence.is_empty() {
            return;
        }
        (branches, from) = (&mut branches[at].next, 0);
    }
    let mut next = Vec::new();
    for event in sequence.into_iter().rev() {
        next = vec![Branch::new(event, next)];
    }
    branches.append(&mut next);
}
