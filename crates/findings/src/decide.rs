//! Why a run fails, in words: the pair of operations whose order decides, the pattern it is part of, and the two orders
//! side by side.

use crate::done::{Doer, Done};
use crate::finding::{Explanation, PairPlace, Step};
use crate::pattern::{Around, Pattern, Shown};
use crate::places::Places;
use crate::std_locks::{is_bookkeeping, word};
use crate::steps::{Focus, placed, steps_on};
use std::collections::BTreeSet;
use threadbare_abi::event::Event;
use threadbare_abi::op::OpKind;
use threadbare_trace::pair::{Act, DecidingPair};
use threadbare_trace::run::RunFacts;
use threadbare_trace::strands::Strands;

/// The most steps of each order that are shown.
const STEPS: usize = 10;

/// The nearest run that passes.
#[derive(Clone, Debug)]
pub struct Passing<'a> {
    /// Its last events.
    pub events: &'a [Event],
    /// Its strands.
    pub strands: &'a Strands,
}

/// Words of memory that are locks of std's, though the operations on them do not say so.
pub fn lock_words(facts: &RunFacts, places: &dyn Places) -> BTreeSet<u64> {
    let all = Doer::all(&facts.events);
    let takes = |done: &&Done| {
        let frames = placed(done, places);
        word(done.op.name(), &frames).is_some_and(|word| word.contains("lock"))
    };
    all.iter().filter(|done| done.op.is_atomic_access()).filter(takes).map(|done| done.addr).collect()
}

/// The explanation of a failing run, whose events are there, by the pair that decides.
pub fn decided(
    facts: &RunFacts,
    pair: &DecidingPair,
    passing: &Passing<'_>,
    locks: &BTreeSet<u64>,
    places: &dyn Places,
) -> Option<Explanation> {
    let strands = Strands::from_report(&facts.report);
    let failing = Doer::all(&facts.events);
    let passed = Doer::all(passing.events);
    let position = |act: &Act| {
        let same = |it: &&Done| it.strand == act.strand && it.event == act.event;
        failing
            .iter()
            .rposition(|it| same(&it) && it.waits == act.waits)
            .or_else(|| failing.iter().position(|it| same(&it)))
    };
    let at_first = position(&pair.first);
    let at_second = if pair.comes_too_late { None } else { position(&pair.second) };
    let first = &failing[at_first?];
    let second = match (at_second, pair.comes_too_late) {
        (Some(at), _) => &failing[at],
        (None, true) => {
            passed.iter().find(|it| it.strand == pair.second.strand && it.event == pair.second.event)?
        }
        (None, false) => return None,
    };
    let cycle = facts.report.strands.iter().any(|strand| strand.stuck);
    let noise = |done: &Done| {
        let frames = placed(done, places);
        frames.iter().all(|frame| frame.library) || is_bookkeeping(done.op.name(), &frames)
    };
    let around = Around {
        done: &failing,
        first,
        second,
        at: (at_first, at_second),
        locks,
        cycle,
        waits: pair.second.waits,
        noise: &noise,
    };
    let shown = around.pattern();
    let words = Words { strands: &strands, places };
    let text = words.text(&shown, first, second);
    let mut memory: Vec<&Done> = vec![first, second];
    memory.extend(shown.inner.iter());
    memory.extend(shown.outer.iter().flatten());
    let focus = Focus {
        memory: memory.iter().map(|it| it.addr..it.addr + u64::from(it.size.max(1))).collect(),
        strands: memory.iter().map(|it| it.strand.0).collect(),
        ..Focus::default()
    };
    let tail = |events: &[Event], strands: &Strands| {
        let mut steps: Vec<Step> = steps_on(&focus, events, strands, places);
        steps.drain(..steps.len().saturating_sub(STEPS));
        steps
    };
    let (mut fails, mut passes) = (tail(&facts.events, &strands), tail(passing.events, passing.strands));
    // An access that is no point of the passing run is not in its stream: half a picture says less than none.
    let whole = |steps: &[Step]| {
        let by = |done: &Done| steps.iter().any(|step| step.strand == strands.name(done.strand));
        by(first) && by(second)
    };
    if !whole(&passes) {
        fails.clear();
        passes.clear();
    }
    Some(Explanation {
        pattern: Some(shown.pattern),
        pair: [first, second].map(|done| words.place(done)).into(),
        text,
        failing: fails,
        passing: passes,
    })
}

/// The explanation of a race: its two accesses, which nothing orders.
pub fn of_race(accesses: &[crate::finding::AccessDetail], object: Option<&str>) -> Option<Explanation> {
    let [later, earlier] = accesses else { return None };
    let place = |access: &crate::finding::AccessDetail| {
        let place = crate::places::shown(&access.stack);
        PairPlace {
            file: place.and_then(|place| place.file.clone()),
            line: place.and_then(|place| place.line),
            function: place.and_then(|place| place.function.clone()),
            strand: access.strand.clone(),
            operation: access.operation.clone(),
            object: object.map(str::to_owned),
        }
    };
    let pair = vec![place(earlier), place(later)];
    let text = format!("nothing orders {} and {}", told(&pair[0]), told(&pair[1]));
    Some(Explanation { pattern: None, pair, text, failing: Vec::new(), passing: Vec::new() })
}

fn told(place: &PairPlace) -> String {
    let at = at(place);
    format!("{at} ({}, strand {})", short(&place.operation), place.strand)
}

fn at(place: &PairPlace) -> String {
    match (&place.file, place.line, &place.function) {
        (Some(file), Some(line), _) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
        (_, _, Some(function)) => function.clone(),
        _ => "an unknown place".to_owned(),
    }
}

fn short(operation: &str) -> &str {
    let operation = operation.trim_end_matches("-range");
    match operation {
        "read-write" => "read and write",
        other => other,
    }
}

struct Words<'a> {
    strands: &'a Strands,
    places: &'a dyn Places,
}

impl Words<'_> {
    fn place(&self, done: &Done) -> PairPlace {
        let frames = placed(done, self.places);
        let shown = crate::places::shown(&frames);
        let operation = word(done.op.name(), &frames).unwrap_or(done.op.name());
        PairPlace {
            file: shown.and_then(|place| place.file.clone()),
            line: shown.and_then(|place| place.line),
            function: shown.and_then(|place| place.function.clone()),
            strand: self.strands.name(done.strand),
            operation: operation.to_owned(),
            object: crate::steps::operand(done.op, done.addr, done.size, self.strands, self.places),
        }
    }

    /// Whether an operation has a place in the program's own code.
    fn is_own(&self, done: &Done) -> bool {
        let frames = placed(done, self.places);
        crate::places::shown(&frames).is_some_and(|place| !place.library && place.file.is_some())
    }

    /// On what, if it has a name.
    fn on(&self, done: &Done) -> String {
        match self.place(done).object {
            Some(name) if !name.starts_with("0x") => format!(" on `{name}`"),
            _ => String::new(),
        }
    }

    fn text(&self, shown: &Shown, first: &Done, second: &Done) -> String {
        let name = shown.pattern.name();
        let (one, other) = (self.place(first), self.place(second));
        let what = match shown.pattern {
            Pattern::LostWakeUp => format!(
                "{name}{}: {} came before strand {} waited at {}",
                self.on(first),
                told(&one),
                other.strand,
                at(&other)
            ),
            Pattern::LockOrderCycle => {
                let took = if is_taking(first.op) { "was taken" } else { "came first" };
                format!(
                    "{name}{}: it {took} at {} by strand {} before strand {} came for it at {}",
                    self.on(first),
                    at(&one),
                    one.strand,
                    other.strand,
                    at(&other)
                )
            }
            _ => match (&shown.inner, &shown.outer) {
                (Some(inner), Some([before, after])) if self.is_own(before) && self.is_own(after) => {
                    let (before, after) = (self.place(before), self.place(after));
                    let on = if shown.pattern == Pattern::TornPair { String::new() } else { self.on(second) };
                    format!(
                        "{name}{on}: {} ran between {} ({}) and {} ({}) of strand {}",
                        told(&self.place(inner)),
                        at(&before),
                        short(&before.operation),
                        at(&after),
                        short(&after.operation),
                        after.strand
                    )
                }
                _ => format!("{name}{}: {} came before {}", self.on(first), told(&one), told(&other)),
            },
        };
        format!(
            "{what}; with {} before {} the run passes",
            self.brief(second, first),
            self.brief(first, second)
        )
    }

    /// A place, with its strand where the other one is the same line.
    fn brief(&self, done: &Done, other: &Done) -> String {
        let (one, other) = (self.place(done), self.place(other));
        match at(&one) == at(&other) {
            true => format!("that of strand {}", one.strand),
            false => at(&one),
        }
    }
}

fn is_taking(op: OpKind) -> bool {
    op.name().contains("lock") && !op.name().contains("unlock") || op.is_atomic_access()
}
