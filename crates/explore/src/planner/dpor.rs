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
use std::sync::Arc;
use threadbare_abi::op::OpKind;

/// A branch of the tree: a step, and what follows it.
#[derive(Debug)]
struct Branch {
    event: Event,
    /// The step as it was planned, if it turned out to do something else.
    planned: Option<Event>,
    next: Vec<Branch>,
    /// Orders that are left to what comes after it.
    left: Vec<Left>,
}

impl Branch {
    fn new(event: Event, next: Vec<Branch>) -> Branch {
        Branch { event, planned: None, next, left: Vec::new() }
    }
}

/// An order that was not planned, because a branch will show it.
#[derive(Clone, Debug)]
struct Left {
    /// The run in which the pair came in the one order.
    made: Arc<Made>,
    /// The pair.
    race: usize,
    /// The place on the path where the other order begins.
    from: usize,
}

/// A run.
#[derive(Debug)]
struct Made {
    trace: Trace,
    analysis: Analysis,
    /// How many of its steps count.
    useful: usize,
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
                let useful = trace.events.len();
                let made = Arc::new(Made { trace, analysis, useful });
                for race in made.races().filter(|&race| made.analysis.races[race].first < first) {
                    self.reverse(&made, race);
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
        let last = self.path.last_mut().map(|node| &mut node.branches[0]);
        let left = last.map(|branch| std::mem::take(&mut branch.left)).unwrap_or_default();
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
        let races: Vec<usize> = (0..analysis.races.len())
            .filter(|&race| analysis.races[race].first < useful && stood(&analysis.races[race]))
            .collect();
        let made = Arc::new(Made { trace, analysis, useful });
        for race in races {
            self.reverse(&made, race);
        }
        if made.is_cut() {
            for left in left {
                self.plan_left(left);
            }
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
            insert(&mut node.branches, 1, sequence, None);
        }
    }

    /// Plans the other order of two steps.
    fn reverse(&mut self, made: &Arc<Made>, race: usize) {
        let (from, sequence) = made.other_order(race);
        let node = &mut self.path[from];
        if !node.has_shown(&sequence) {
            // The first branch is the run that was just made.
            insert(&mut node.branches, 1, sequence, Some(Left { made: Arc::clone(made), race, from }));
        }
    }

    /// A run has ended before it came to what was left to it: that is planned to come before its last step.
    fn plan_left(&mut self, left: Left) {
        let (_, mut sequence) = left.made.other_order(left.race);
        let Some(last) = self.path.len().checked_sub(1) else { return };
        for node in &self.path[left.from..last] {
            match begins(&sequence, &node.branches[0].event) {
                Some(Some(at)) => drop(sequence.remove(at)),
                Some(None) => {}
                None => return,
            }
        }
        let ending = &self.path[last].branches[0].event;
        if let Some(at) = sequence.iter().position(|event| event.path == ending.path) {
            // It ends this order, too, behind what does not need it.
            let mut kept: Vec<Event> = Vec::new();
            let mut needs = vec![sequence[at].clone()];
            for (place, event) in sequence.iter().enumerate().filter(|(place, _)| *place != at) {
                if place > at && needs.iter().any(|it| event.path == it.path || event.depends(it)) {
                    needs.push(event.clone());
                } else {
                    kept.push(event.clone());
                }
            }
            if kept.is_empty() {
                return;
            }
            kept.push(ending.clone());
            sequence = kept;
        }
        let node = &mut self.path[last];
        if !sequence.is_empty() && !node.has_shown(&sequence) {
            insert(&mut node.branches, 1, sequence, Some(left));
        }
    }
}

impl Made {
    fn races(&self) -> std::ops::Range<usize> {
        0..self.analysis.races.len()
    }

    /// Whether others could have gone on when it ended: by a failure, or the end of the process.
    fn is_cut(&self) -> bool {
        let last = self.trace.events.last().filter(|_| self.useful == self.trace.events.len());
        last.is_some_and(|event| event.fails || event.op.kind == OpKind::End)
    }

    /// The other order of a pair: where it begins, and the steps that show it.
    fn other_order(&self, race: usize) -> (usize, Vec<Event>) {
        let Made { trace, analysis, useful } = self;
        let race: &Race = &analysis.races[race];
        // What comes after a failure is never made, so the failure comes last.
        let fails = |at: usize| trace.events[at].fails;
        let mut sequence: Vec<Event> = (race.first + 1..*useful)
            .filter(|&at| Some(at) != race.made && !fails(at) && !race.comes_later(at, trace, analysis))
            .map(|at| trace.events[at].clone())
            .collect();
        sequence.push(race.second.clone());
        let Some(&begun) = race.vain.first() else { return (race.first, sequence) };
        // The loop is begun later.
        let between = (begun..race.first).filter(|at| !race.vain.contains(at));
        sequence.splice(0..0, between.map(|at| trace.events[at].clone()));
        (begun, sequence)
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

/// Adds a sequence to branches, from the given one on, unless they show it already. One that is left to a branch whose run has not been made
/// is kept there: that run may end before it.
fn insert(mut branches: &mut Vec<Branch>, mut from: usize, mut sequence: Vec<Event>, left: Option<Left>) {
    while let Some((at, found)) =
        (from..branches.len()).find_map(|at| begins(&sequence, &branches[at].event).map(|found| (at, found)))
    {
        if let Some(first) = found {
            sequence.remove(first);
        }
        if sequence.is_empty() {
            return;
        }
        if branches[at].next.is_empty() {
            branches[at].left.extend(left);
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
