//! The algorithms of `tests/programs/planner/exclusion.c`, small enough to count their classes by trying every order.
//!
//! An order in which a strand looks at memory and comes back to where it was, having changed nothing, is left out: that is a
//! loop that waits, and the same order without that round is counted anyway.

use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Where a strand is. The names are those of the steps in [`step`].
type State = (&'static str, i32);

/// What a step does.
enum Does {
    /// Writes a value and goes on.
    Write(&'static str, i32, State),
    /// Looks at a place, and goes on by what it finds.
    Read(&'static str, Box<dyn Fn(i32) -> State>),
}

const END: &str = "end";
const FLAG: [&str; 2] = ["flag 0", "flag 1"];
const NUMBER: [&str; 2] = ["number 0", "number 1"];

fn read(place: &'static str, then: impl Fn(i32) -> &'static str + 'static, mine: i32) -> Does {
    Does::Read(place, Box::new(move |found| (then(found), mine)))
}

/// The step that a strand makes next. `mine` is what it remembers: the bakery's number.
fn step(algorithm: &str, me: usize, (at, mine): State) -> Does {
    use Does::Write;
    let other = 1 - me;
    let (flag, theirs, them) = (FLAG[me], FLAG[other], other as i32);
    match (algorithm, at) {
        (_, "enters") => Write("inside", 0, ("works", mine)),
        (_, "works") => Write("inside", 0, ("leaves", mine)),
        (_, "begins") => {
            let next = if algorithm == "peterson" { "gives turn" } else { "looks" };
            Write(flag, 1, (next, mine))
        }
        ("peterson", "gives turn") => Write("turn", them, ("looks", mine)),
        ("peterson", "looks") => read(theirs, |flag| if flag == 0 { "enters" } else { "asks" }, mine),
        ("peterson", "asks") => read("turn", move |turn| if turn != them { "enters" } else { "looks" }, mine),
        ("peterson", "leaves") => Write(flag, 0, (END, mine)),
        ("dekker", "looks") => read(theirs, |flag| if flag == 0 { "enters" } else { "asks" }, mine),
        ("dekker", "asks") => {
            read("turn", move |turn| if turn == them { "gives way" } else { "looks" }, mine)
        }
        ("dekker", "gives way") => Write(flag, 0, ("waits", mine)),
        ("dekker", "waits") => read("turn", move |turn| if turn == them { "waits" } else { "tries" }, mine),
        ("dekker", "tries") => Write(flag, 1, ("looks", mine)),
        ("dekker", "leaves") => Write("turn", them, ("is out", mine)),
        ("dekker", "is out") => Write(flag, 0, (END, mine)),
        ("lamport", "looks") => Does::Read(NUMBER[other], Box::new(|number| ("draws", number + 1))),
        ("lamport", "draws") => Write(NUMBER[me], mine, ("has drawn", mine)),
        ("lamport", "has drawn") => Write(flag, 0, ("waits", mine)),
        ("lamport", "waits") => read(theirs, |flag| if flag != 0 { "waits" } else { "compares" }, mine),
        ("lamport", "compares") => read(
            NUMBER[other],
            move |theirs| match theirs == 0 || (theirs, other) > (mine, me) {
                true => "enters",
                false => "compares",
            },
            mine,
        ),
        ("lamport", "leaves") => Write(NUMBER[me], 0, (END, mine)),
        ("szymanski", "looks") => read(theirs, |flag| if flag >= 3 { "looks" } else { "door" }, mine),
        ("szymanski", "door") => Write(flag, 3, ("in door", mine)),
        ("szymanski", "in door") => read(theirs, |flag| if flag == 1 { "gives way" } else { "closes" }, mine),
        ("szymanski", "gives way") => Write(flag, 2, ("waits", mine)),
        ("szymanski", "waits") => read(theirs, |flag| if flag != 4 { "waits" } else { "closes" }, mine),
        ("szymanski", "closes") => Write(flag, 4, (if me == 1 { "lets pass" } else { "enters" }, mine)),
        ("szymanski", "lets pass") => {
            read(theirs, |flag| if flag >= 2 { "lets pass" } else { "enters" }, mine)
        }
        ("szymanski", "leaves") if me == 0 => {
            read(theirs, |flag| if matches!(flag, 2 | 3) { "leaves" } else { "is out" }, mine)
        }
        ("szymanski", "leaves" | "is out") => Write(flag, 0, (END, mine)),
        (algorithm, at) => panic!("{algorithm} has no step `{at}`"),
    }
}

/// A step of a class: the strand, its number there, and how many writes of its place come before it.
type Mark = (usize, usize, &'static str, usize);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Run {
    strands: [State; 2],
    memory: BTreeMap<&'static str, i32>,
    writes: BTreeMap<&'static str, usize>,
    steps: [usize; 2],
    /// Where each strand was since it last wrote.
    looked: [Vec<State>; 2],
    class: BTreeSet<Mark>,
}

/// How many classes of runs the algorithm has.
pub fn classes(algorithm: &str) -> usize {
    let first = Run {
        strands: [("begins", 0); 2],
        memory: BTreeMap::new(),
        writes: BTreeMap::new(),
        steps: [0; 2],
        looked: [const { Vec::new() }; 2],
        class: BTreeSet::new(),
    };
    let mut known = HashSet::from([first.clone()]);
    let mut open = vec![first];
    let mut classes = HashSet::new();
    while let Some(run) = open.pop() {
        if run.strands.iter().all(|(at, _)| *at == END) {
            classes.insert(run.class);
            continue;
        }
        for me in (0..2).filter(|&me| run.strands[me].0 != END) {
            if let Some(next) = go(algorithm, &run, me)
                && known.insert(next.clone())
            {
                open.push(next);
            }
        }
    }
    classes.len()
}

fn go(algorithm: &str, run: &Run, me: usize) -> Option<Run> {
    let mut next = run.clone();
    let at = run.strands[me];
    let place = match step(algorithm, me, at) {
        Does::Write(place, value, then) => {
            next.memory.insert(place, value);
            next.strands[me] = then;
            next.looked[me].clear();
            *next.writes.entry(place).or_default() += 1;
            place
        }
        Does::Read(place, then) => {
            next.strands[me] = then(run.memory.get(place).copied().unwrap_or(0));
            next.looked[me].push(at);
            if next.looked[me].contains(&next.strands[me]) {
                return None;
            }
            place
        }
    };
    let before = run.writes.get(place).copied().unwrap_or(0);
    next.class.insert((me, run.steps[me], place, before));
    next.steps[me] += 1;
    Some(next)
}
