//! Calls that met in no run, and touched the same object all the same: one in one run, the other in another one.
//!
//! That they may be under way at the same time is not known, only that nothing says otherwise: in each of the two runs the other one's strand
//! was there and had something to do when the object was touched, and no run has both of them at the same object, one ordered after the other. Two calls of one function are left
//! out: what one strand of several does once, whichever comes first, looks like this.
//!
//! An object of one run may be the same in another one if it is a variable of the program's, or if the same step of the same strand was the first to touch it: addresses
//! come again, and what a strand has for itself may lie where another one's lay before. Who records the two asks for blocks who allocated them.

use crate::calls::{Call, Calls};
use crate::meet::{Conflict, Span};
use crate::run::{RunSteps, StrandStep, Touch};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// Two calls of different runs at the same object.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The runs, by their numbers.
    pub runs: [u64; 2],
    /// The stretches of the two strands.
    pub spans: [Span; 2],
    /// What is in conflict.
    pub conflicts: BTreeSet<Conflict>,
    /// The bytes at which they conflict first.
    pub object: (u64, u64),
}

/// Who touched something first, by which objects are told apart: path, instruction and number.
pub type Toucher = (u64, u64, u64);

/// A call's own access.
#[derive(Clone, Debug)]
struct Access {
    touch: Touch,
    place: u64,
    held: Arc<[u64]>,
    /// Who touched it first in the run; nobody but the call itself.
    first: Option<Toucher>,
    /// Other strands that had something to do at that time, or could have.
    beside: Rc<BTreeSet<u64>>,
}

/// A call as it may be recorded.
#[derive(Clone, Debug)]
struct Lone {
    run: u64,
    strand: u64,
    span: Span,
    guards: Vec<u64>,
    accesses: Vec<Access>,
}

/// Calls of each function that are kept, of one path and one strand and of all; accesses of each.
const ALIKE: usize = 2;
const CALLS: usize = 24;
const ACCESSES: usize = 256;
/// Pairs of calls that are given for two functions.
const JOINTS: usize = 4;

/// Calls that all runs have shown.
#[derive(Clone, Debug, Default)]
pub struct Apart {
    calls: BTreeMap<u32, Vec<Lone>>,
    alike: HashMap<(u32, u64, u64), usize>,
}

impl Apart {
    /// Takes what a run shows.
    pub fn take(&mut self, run: &RunSteps, calls: &Calls) {
        let first = first_touchers(run);
        let mut strands: BTreeMap<u32, Vec<&StrandStep>> = BTreeMap::new();
        for event in &run.events {
            strands.entry(event.strand).or_default().push(event);
        }
        for (number, call) in calls.calls.iter().enumerate() {
            let Some(begin) = call.events.first().map(|&at| &run.events[at as usize]) else { continue };
            let list = self.calls.entry(call.function).or_default();
            let alike = self.alike.entry((call.function, call.path, begin.path)).or_default();
            if *alike >= ALIKE || list.len() >= CALLS || call.events.len() > ACCESSES {
                continue;
            }
            let accesses = accesses(run, calls, (number as u32, call), &first, &strands);
            if accesses.is_empty() {
                continue;
            }
            *alike += 1;
            list.push(Lone {
                run: run.number,
                strand: begin.path,
                span: whole(run, call),
                guards: call.guards.clone(),
                accesses,
            });
        }
    }

    /// Pairs of functions that met in no run: of each a few pairs of calls, the shortest first. Which bytes are variables of the program's is asked.
    pub fn joints(
        &self,
        wanted: &dyn Fn((u32, u32)) -> bool,
        is_variable: &dyn Fn(u64) -> bool,
    ) -> BTreeMap<(u32, u32), Vec<Joint>> {
        let mut found = BTreeMap::new();
        for (&f, ours) in &self.calls {
            for (&g, theirs) in self.calls.range(f + 1..) {
                if !wanted((f, g)) {
                    continue;
                }
                let mut joints = Vec::new();
                let mut ordered = false;
                for one in ours {
                    for two in theirs {
                        let same = |touch: &Touch, a: &Access, b: &Access| {
                            a.first == b.first || is_variable(touch.start)
                        };
                        let Some((conflicts, object)) = conflicts(one, two, &same) else { continue };
                        // Of one run they would have met, if they could.
                        ordered |= one.run == two.run;
                        if one.run != two.run && one.strand != two.strand {
                            let (runs, spans) = ([one.run, two.run], [one.span.clone(), two.span.clone()]);
                            joints.push(Joint { runs, spans, conflicts, object });
                        }
                    }
                }
                if ordered || joints.is_empty() {
                    continue;
                }
                joints.sort_by_key(|it| (it.spans[0].steps + it.spans[1].steps, it.runs));
                joints.truncate(JOINTS);
                found.insert((f, g), joints);
            }
        }
        found
    }
}

/// Who touched each eight bytes first.
pub fn first_touchers(run: &RunSteps) -> HashMap<u64, (usize, Toucher)> {
    let mut first = HashMap::new();
    for (at, event) in run.events.iter().enumerate() {
        for touch in event.touches.iter().filter(|touch| touch.does.is_data()) {
            for granule in crate::meet::granules(touch) {
                first.entry(granule).or_insert((at, (event.path, event.pc, event.number)));
            }
        }
    }
    first
}

/// What a call touches itself, each way of each eight bytes once.
fn accesses(
    run: &RunSteps,
    calls: &Calls,
    (number, call): (u32, &Call),
    first: &HashMap<u64, (usize, Toucher)>,
    strands: &BTreeMap<u32, Vec<&StrandStep>>,
) -> Vec<Access> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    let own = call.events.iter().map(|&at| at as usize);
    for at in own.filter(|&at| calls.around[at].first() == Some(&number)) {
        let event = &run.events[at];
        let mut beside = None;
        for touch in event.touches.iter().filter(|touch| touch.does.is_data()) {
            let granule = touch.start / 8;
            if !known.insert((granule, touch.does, calls.places[at])) {
                continue;
            }
            let before = first.get(&granule).filter(|(first, _)| *first < call.first());
            let first = before.map(|(_, step)| *step);
            let (place, held) = (calls.places[at], Arc::clone(&event.held));
            let beside = Rc::clone(beside.get_or_insert_with(|| Rc::new(others(event, strands))));
            found.push(Access { touch: *touch, place, held, first, beside });
        }
    }
    found
}

/// Strands with an event that is ordered neither before nor after this one.
fn others(this: &StrandStep, strands: &BTreeMap<u32, Vec<&StrandStep>>) -> BTreeSet<u64> {
    let others = strands.values().filter(|events| events[0].strand != this.strand);
    let beside = others.filter(|events| {
        let at = events.partition_point(|event| this.follows(event));
        events.get(at).is_some_and(|event| !event.follows(this))
    });
    beside.map(|events| events[0].path).collect()
}

/// What two calls conflict at, if no lock of one keeps the other out.
fn conflicts(
    one: &Lone,
    two: &Lone,
    same: &dyn Fn(&Touch, &Access, &Access) -> bool,
) -> Option<(BTreeSet<Conflict>, (u64, u64))> {
    let mut found = BTreeSet::new();
    let mut object = None;
    for a in &one.accesses {
        for b in two.accesses.iter().filter(|b| a.touch.depends(&b.touch)) {
            let kept_out = one.guards.iter().any(|lock| b.held.contains(lock))
                || two.guards.iter().any(|lock| a.held.contains(lock));
            // Of one run they would be known, if nothing orders them.
            let beside = a.beside.contains(&two.strand) && b.beside.contains(&one.strand);
            if !kept_out && (beside || one.run == two.run) && same(&a.touch, a, b) {
                found.insert((a.place, b.place));
                object.get_or_insert((a.touch.start.max(b.touch.start), a.touch.end.min(b.touch.end)));
            }
        }
    }
    Some((found, object?))
}

/// All of a call.
fn whole(run: &RunSteps, call: &Call) -> Span {
    let (first, last) = (&run.events[call.first()], &run.events[call.last()]);
    Span {
        path: first.path,
        first: (first.pc, first.number),
        last: (last.pc, last.number),
        steps: call.events.len() as u64,
        points: Vec::new(),
        late: (first.pc, first.number, 0),
    }
}
