//! Which calls of a run could have been under way at the same time and depend on each other.
//!
//! Conflicts are looked for by memory, not by pairs of calls: two accesses of different strands to the same bytes, one of them a write, that no creation, join or barrier orders. All calls around the
//! one meet all calls around the other.

use crate::calls::{Call, Calls};
use crate::run::{Does, RunSteps, StrandStep, Touch};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Calls that only read the same count, too.
    pub weak: bool,
    /// How many events may lie between two calls; any number if there is none.
    pub margin: Option<u64>,
}

/// Two accesses that can come in either order, by their places ([`Calls::places`]).
pub type Conflict = (u64, u64);

/// Two calls of a run that could have met.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// The run, by its number.
    pub run: u64,
    /// The stretches of the two strands.
    pub spans: [Span; 2],
    /// Events between the two; 0 if they were under way at the same time.
    pub distance: u64,
    /// The bytes at which they met first.
    pub object: (u64, u64),
    /// The way to the two calls: who made how many steps, by path, until both could stand before them.
    pub way: Vec<(u64, u64)>,
}

/// What is left of a call when steps are taken away that come before or after the other one in every run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// The strand.
    pub path: u64,
    /// Instruction and number of the first step.
    pub first: (u64, u64),
    /// The same of the last one.
    pub last: (u64, u64),
    /// How many steps there are.
    pub steps: u64,
    /// Before which of them, from 0, the turn can matter: they depend on one of the other call.
    pub points: Vec<u64>,
    /// Instruction, number and place, from 0, of the last step before which the strand can be held outside of locks of its own, and before it touches what the
    /// other does: where what comes before is what the other one needs to come to its call.
    pub late: (u64, u64, u64),
}

/// Two paths through two functions.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Calls that took them, the nearest first.
    pub meetings: Vec<Meeting>,
    /// What is in conflict.
    pub conflicts: BTreeSet<Conflict>,
    /// The bytes at which they met, the first few.
    pub objects: BTreeSet<(u64, u64)>,
    /// How many functions are between the conflicts and these two, the fewest.
    pub around: usize,
}

/// Two functions whose calls meet.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    /// One of them writes.
    pub strong: bool,
    /// All that is in conflict, whatever the paths.
    pub conflicts: BTreeSet<Conflict>,
    /// By paths.
    pub ways: BTreeMap<(u64, u64), Way>,
    /// Events between two of its calls, the fewest.
    pub distance: u64,
}

impl Pair {
    /// Whether the functions themselves meet, not only those that they call.
    pub fn is_own(&self) -> bool {
        self.ways.values().any(|way| way.around == 0)
    }
}

/// What all runs have shown.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// Pairs by their functions, the smaller number first.
    pub pairs: BTreeMap<(u32, u32), Pair>,
    /// Pairs that were left out because they lie too far apart.
    pub far: BTreeSet<(u32, u32)>,
    /// Pairs that were left out because one has a lock all the time that the other takes for what they have in common.
    pub guarded: BTreeSet<(u32, u32)>,
}

/// What two calls meet by.
#[derive(Clone, Copy)]
struct Fact {
    conflict: Conflict,
    object: (u64, u64),
    strong: bool,
    around: usize,
}

/// Meetings that are kept of one pair of paths.
const MEETINGS: usize = 3;
/// Objects that are kept of one pair of paths.
const OBJECTS: usize = 24;
/// Accesses of one strand at one instruction to the same bytes that are looked at.
const ALIKE: usize = 3;
/// Accesses of one strand to the same bytes that are looked at.
const SPREAD: usize = 48;
/// Bytes of a larger access that are looked at.
const LARGE: u64 = 4096;
/// Changes of strands on the way to two calls that are kept.
const LONGEST_WAY: usize = 512;
/// Steps of a span before which the turn may go.
const POINTS: usize = 24;

impl Book {
    /// Takes what a run shows.
    pub fn take(&mut self, run: &RunSteps, calls: &Calls, rules: Rules) {
        let mut seen = BTreeSet::new();
        for touches in by_memory(run).into_values() {
            for (number, &(first, one)) in touches.iter().enumerate() {
                for &(second, two) in &touches[number + 1..] {
                    let (e, f) = (&run.events[first], &run.events[second]);
                    let strong = one.does.writes() || two.does.writes();
                    let counts = one.meets(&two) && (strong || rules.weak) && e.strand != f.strand;
                    if !counts || e.follows(f) || f.follows(e) {
                        continue;
                    }
                    let conflict = (calls.places[first], calls.places[second]);
                    let object = (one.start.max(two.start), one.end.min(two.end));
                    for (above, &a) in calls.around[first].iter().enumerate() {
                        for (over, &b) in calls.around[second].iter().enumerate() {
                            if !seen.insert((a, b, conflict)) {
                                continue;
                            }
                            let (one, two) = (&calls.calls[a as usize], &calls.calls[b as usize]);
                            let inside = |call: &Call, of: &StrandStep| {
                                call.guards.iter().any(|it| of.held.contains(it))
                            };
                            if inside(one, f) || inside(two, e) {
                                let (f, g) = (one.function, two.function);
                                self.guarded.insert((f.min(g), f.max(g)));
                            } else {
                                let fact = Fact { conflict, object, strong, around: above + over };
                                self.meet(run, calls, (a, b), fact, rules);
                            }
                        }
                    }
                }
            }
        }
        self.locks(run, calls, rules);
    }

    fn meet(&mut self, run: &RunSteps, calls: &Calls, (a, b): (u32, u32), fact: Fact, rules: Rules) {
        let Fact { mut conflict, object, strong, around } = fact;
        let (mut one, mut two) = (&calls.calls[a as usize], &calls.calls[b as usize]);
        let key = |call: &Call| (call.function, call.path);
        if key(one) > key(two) {
            (one, two, conflict) = (two, one, (conflict.1, conflict.0));
        }
        let functions = (one.function, two.function);
        let distance = distance(one, two);
        if rules.margin.is_some_and(|margin| distance > margin) {
            self.far.insert(functions);
            return;
        }
        let known = self.pairs.contains_key(&functions);
        let pair = self.pairs.entry(functions).or_default();
        pair.strong |= strong;
        pair.conflicts.insert(conflict);
        pair.distance = if known { pair.distance.min(distance) } else { distance };
        let way = pair.ways.entry((one.path, two.path)).or_default();
        way.around = if way.conflicts.is_empty() { around } else { way.around.min(around) };
        let new = way.conflicts.insert(conflict);
        if way.objects.len() < OBJECTS {
            way.objects.insert(object);
        }
        let meetings = &mut way.meetings;
        let rank = |meeting: &Meeting| (meeting.spans[0].steps + meeting.spans[1].steps, meeting.distance);
        let size = |call: &Call| call.events.len() as u64;
        let worst = meetings.last().map(rank);
        if meetings.len() >= MEETINGS
            && !new
            && worst.is_some_and(|it| it <= (size(one) + size(two), distance))
        {
            return;
        }
        let (Some(first), Some(second)) = (span(run, one, two), span(run, two, one)) else { return };
        let to = way_to(run, &first, &second);
        let meeting = Meeting { run: run.number, spans: [first, second], distance, object, way: to };
        if meetings.iter().any(|other| other.spans == meeting.spans) {
            return;
        }
        meetings.push(meeting);
        meetings.sort_by_key(rank);
        meetings.truncate(MEETINGS);
    }

    /// Calls that take two locks that are the same for both depend on each other, whatever else they touch.
    fn locks(&mut self, run: &RunSteps, calls: &Calls, rules: Rules) {
        let mut takes: Vec<(u32, Vec<(u64, u64)>)> = Vec::new();
        let mut alike: HashMap<(u32, u32, u64), usize> = HashMap::new();
        for (number, call) in calls.calls.iter().enumerate() {
            let mut locks: Vec<(u64, u64)> = Vec::new();
            for &at in &call.events {
                let event = &run.events[at as usize];
                for touch in event.touches.iter().filter(|touch| touch.does == Does::Lock) {
                    if !locks.iter().any(|(lock, _)| *lock == touch.start) {
                        locks.push((touch.start, calls.places[at as usize]));
                    }
                }
            }
            let times = alike.entry((call.strand, call.function, call.path)).or_default();
            *times += 1;
            if locks.len() > 1 && *times <= ALIKE {
                takes.push((number as u32, locks));
            }
        }
        takes.truncate(SPREAD * ALIKE);
        for (number, (a, ours)) in takes.iter().enumerate() {
            for (b, theirs) in &takes[number + 1..] {
                let (one, two) = (&calls.calls[*a as usize], &calls.calls[*b as usize]);
                if one.strand == two.strand || !may_meet(run, one, two) {
                    continue;
                }
                let both: Vec<(u64, Conflict)> = ours
                    .iter()
                    .filter_map(|(lock, pc)| {
                        let other = theirs.iter().find(|(other, _)| other == lock)?;
                        Some((*lock, (*pc, other.1)))
                    })
                    .collect();
                if both.len() < 2 {
                    continue;
                }
                let depth = |call: u32, of: &Call| {
                    calls.around[of.first()].iter().position(|&it| it == call).unwrap_or(0)
                };
                let around = depth(*a, one) + depth(*b, two);
                for (lock, conflict) in both {
                    let fact = Fact { conflict, object: (lock, lock + 1), strong: true, around };
                    self.meet(run, calls, (*a, *b), fact, rules);
                }
            }
        }
    }
}

/// The accesses to each eight bytes, of what several strands touch; of many alike a few.
fn by_memory(run: &RunSteps) -> BTreeMap<u64, Vec<(usize, Touch)>> {
    let mut all: BTreeMap<u64, Vec<(usize, Touch)>> = BTreeMap::new();
    let mut counts: HashMap<(u64, u32, u64, Does), usize> = HashMap::new();
    let mut spread: HashMap<(u64, u32), usize> = HashMap::new();
    for (at, event) in run.events.iter().enumerate() {
        for touch in event.touches.iter().filter(|touch| touch.does.is_data()) {
            let end = touch.end.min(touch.start + LARGE);
            for granule in touch.start / 8..end.div_ceil(8) {
                let alike = counts.entry((granule, event.strand, event.pc, touch.does)).or_default();
                let many = spread.entry((granule, event.strand)).or_default();
                if *alike < ALIKE && *many < SPREAD {
                    *alike += 1;
                    *many += 1;
                    all.entry(granule).or_default().push((at, *touch));
                }
            }
        }
    }
    let strand = |entry: &(usize, Touch)| run.events[entry.0].strand;
    all.retain(|_, touches| touches.iter().any(|other| strand(other) != strand(&touches[0])));
    all
}

/// Whether a lock that both have all the time keeps them apart.
fn are_guarded(one: &Call, two: &Call) -> bool {
    one.guards.iter().any(|lock| two.guards.contains(lock))
}

/// Whether no run needs one to end before the other begins.
fn may_meet(run: &RunSteps, one: &Call, two: &Call) -> bool {
    let event = |at: usize| &run.events[at];
    !are_guarded(one, two)
        && !event(two.first()).follows(event(one.last()))
        && !event(one.first()).follows(event(two.last()))
}

/// Events between two calls.
fn distance(one: &Call, two: &Call) -> u64 {
    let (first, second) = if one.first() <= two.first() { (one, two) } else { (two, one) };
    (second.first() as u64).saturating_sub(first.last() as u64)
}

/// What is left of a call beside another.
fn span(run: &RunSteps, call: &Call, other: &Call) -> Option<Span> {
    let (begin, end) = (&run.events[other.first()], &run.events[other.last()]);
    let events: Vec<&StrandStep> = call.events.iter().map(|&at| &run.events[at as usize]).collect();
    let events: Vec<&StrandStep> =
        events.into_iter().filter(|event| !begin.follows(event) && !event.follows(end)).collect();
    let (first, last) = (events.first()?, events.last()?);
    let mut theirs: HashMap<u64, Vec<Touch>> = HashMap::new();
    for touch in other.events.iter().flat_map(|&at| &run.events[at as usize].touches) {
        for granule in granules(touch) {
            let list = theirs.entry(granule).or_default();
            if list.len() < SPREAD && !list.contains(touch) {
                list.push(*touch);
            }
        }
    }
    let matters = |event: &StrandStep| {
        event.touches.iter().any(|touch| {
            let mut near = granules(touch).filter_map(|granule| theirs.get(&granule));
            near.any(|list| list.iter().any(|other| other.depends(touch)))
        })
    };
    let mut times: HashMap<u64, usize> = HashMap::new();
    let mut points: Vec<u64> = Vec::new();
    let all: Vec<usize> = (0..events.len()).filter(|&at| matters(events[at])).collect();
    for &at in &all {
        let again = times.entry(events[at].pc).or_default();
        *again += 1;
        if *again <= 2 && points.len() < POINTS {
            points.push(at as u64);
        }
    }
    if let Some(&last) = all.last().filter(|&&last| !points.contains(&(last as u64))) {
        points.push(last as u64);
    }
    let data = |event: &StrandStep| event.touches.iter().any(|touch| touch.does.is_data());
    let met = all.iter().copied().find(|&at| data(events[at])).unwrap_or(0);
    let takes = |event: &&StrandStep| {
        let locks = event.touches.iter().filter(|touch| touch.does == Does::Lock);
        locks.into_iter().any(|lock| events[met].held.contains(&lock.start))
    };
    let outside = events[..met].iter().position(|event| takes(event) && !events[met].held.is_empty());
    let held = outside.unwrap_or(met);
    let late = (events[held].pc, events[held].number, held as u64);
    Some(Span {
        late,
        path: first.path,
        first: (first.pc, first.number),
        last: (last.pc, last.number),
        steps: events.len() as u64,
        points,
    })
}

/// The way to two calls: the steps of the run until both are begun, without those of a strand that would stand before its call by then.
fn way_to(run: &RunSteps, first: &Span, second: &Span) -> Vec<(u64, u64)> {
    let mut way: Vec<(u64, u64)> = Vec::new();
    let mut begun = [false; 2];
    for event in &run.events {
        for (begun, span) in begun.iter_mut().zip([first, second]) {
            *begun |= span.path == event.path && span.first == (event.pc, event.number);
        }
        if begun == [true; 2] || way.len() >= LONGEST_WAY {
            break;
        }
        if begun.iter().zip([first, second]).any(|(&begun, span)| begun && span.path == event.path) {
            continue;
        }
        match way.last_mut() {
            Some((path, steps)) if *path == event.path => *steps += 1,
            _ => way.push((event.path, 1)),
        }
    }
    way
}

pub(crate) fn granules(touch: &Touch) -> impl Iterator<Item = u64> + use<> {
    touch.start / 8..touch.end.min(touch.start + LARGE).div_ceil(8)
}

/// Pairs of functions that were under way at the same time in a run, or could have been; with a margin only those that were so near.
pub fn running(run: &RunSteps, calls: &Calls, margin: Option<u64>) -> BTreeSet<(u32, u32)> {
    let mut by_function: BTreeMap<u32, BTreeMap<u32, Vec<&Call>>> = BTreeMap::new();
    for call in calls.calls.iter().filter(|call| !call.events.is_empty()) {
        by_function.entry(call.function).or_default().entry(call.strand).or_default().push(call);
    }
    // Of many calls of a strand the first and the last say most.
    for list in by_function.values_mut().flat_map(|strands| strands.values_mut()) {
        if list.len() > 2 * ALIKE {
            list.drain(ALIKE..list.len() - ALIKE);
        }
    }
    let near = |a: &Call, b: &Call| margin.is_none_or(|margin| distance(a, b) <= margin);
    let mut found = BTreeSet::new();
    for (f, ours) in &by_function {
        for (g, theirs) in by_function.range(f..) {
            let meets = ours.iter().any(|(strand, list)| {
                let others = theirs.iter().filter(|(other, _)| *other != strand).flat_map(|(_, list)| list);
                let mut pairs = others.flat_map(|b| list.iter().map(move |a| (*a, *b)));
                pairs.any(|(a, b)| near(a, b) && may_meet(run, a, b))
            });
            if meets {
                found.insert((*f, *g));
            }
        }
    }
    found
}
