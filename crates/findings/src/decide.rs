//! Why a run fails, in words: the pair of operations whose order decides, the pattern it is part of, and the two orders
//! side by side.
//!
//! Several pairs may decide; each is told as a [`Candidate`], and the best one is shown. Not every pair is worth telling:
//! one with an operation of a test harness or of a library alone, one whose two orders look the same, one that passes only
//! because what fails was skipped. Nothing beats a pair that merely happens to decide.

use crate::deciding_term::Compared;
use crate::done::{Doer, Done};
use crate::finding::{AccessDetail, Explanation, LaneStep, PairPlace};
use crate::framed::Framed;
use crate::operation::Operations;
use crate::pattern::{Around, Pattern, Shown, looks, overlap};
use crate::places::{Place, Places};
use crate::std_locks::{is_bookkeeping, is_channel, word};
use crate::steps::{Focus, placed, steps_on};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use threadbare_abi::event::Event;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::pair::{Act, DecidingPair};
use threadbare_trace::report::{Block, StrandReport};
use threadbare_trace::run::RunFacts;
use threadbare_trace::strands::Strands;

/// The most steps of each order that are shown.
const STEPS: usize = 10;
/// Looks of the failing strand before the end that what fails may hang on.
const LAST_LOOKS: usize = 6;

/// The nearest run that passes.
#[derive(Clone, Debug)]
pub struct Passing<'a> {
    /// Its last events.
    pub events: &'a [Event],
    /// Its strands.
    pub strands: &'a Strands,
}

/// What is known of a failing run besides its facts.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Words of memory that are locks.
    pub locks: &'a BTreeSet<u64>,
    /// Blocks of the heap.
    pub blocks: &'a [Block],
    /// What the finding calls the memory it is about.
    pub name: Option<&'a str>,
    /// Every access to memory that strands share is among the events.
    pub all_accesses: bool,
}

/// A pair in words, with what tells which of several is the best.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The words.
    pub explanation: Explanation,
    /// The larger, the better.
    pub rank: (bool, u32, usize, u32),
    /// The memory and the locks that it names, and the two operations: what a picture of the run must show.
    pub focus: Focus,
    /// Memory of the heap that has no name.
    pub nameless: bool,
}

/// Words of memory that are locks, though the operations on them do not say so: those of std, and those that strands
/// hold.
pub fn lock_words(facts: &RunFacts, places: &dyn Places) -> BTreeSet<u64> {
    let all = Doer::all(&facts.events);
    let takes = |done: &&Done| {
        let frames = placed(done, places);
        word(done.op.name(), &frames).is_some_and(|word| word.contains("lock"))
    };
    let held = facts.report.strands.iter().flat_map(|strand| &strand.held).map(|(addr, _)| *addr);
    let words = all.iter().filter(|done| done.op.is_atomic_access()).filter(takes).map(|done| done.addr);
    words.chain(held).collect()
}

/// The explanation of a failing run, whose events are there, by a pair that decides; `None` for one that is not worth
/// telling.
pub fn decided(
    facts: &RunFacts,
    pair: &DecidingPair,
    passing: &Passing<'_>,
    known: Known<'_>,
    places: &dyn Places,
) -> Option<Candidate> {
    let places = &Framed::new(places, &facts.report);
    let strands = Strands::from_report(&facts.report);
    let failing = Doer::all(&facts.events);
    let passed = renumbered(Doer::all(passing.events), passing.strands, &strands, facts);
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
        (None, true) => passed.iter().find(|it| {
            let name = passing.strands.name(pair.second.strand);
            strands.name(it.strand) == name && it.event == pair.second.event
        })?,
        (None, false) => return None,
    };
    // What is a helper shows where it goes on, too: a run that fails ends in the middle.
    let mut operations =
        Operations::new(failing.iter().chain(&passed), &strands, places, known.blocks, known.locks);
    operations.subject = facts.report.block.zip(known.name);
    if !operations.is_told(first) || !operations.is_told(second) {
        return None;
    }
    let noise = |done: &Done| {
        let frames = placed(done, places);
        frames.iter().all(|frame| frame.library)
            || is_bookkeeping(done.op.name(), &frames)
            || is_channel(&frames)
    };
    let around = Around {
        done: &failing,
        passed: &passed,
        first,
        second,
        at: (at_first, at_second),
        locks: known.locks,
        cycle: is_cycle(facts, places),
        waits: pair.second.waits,
        hangs: is_stuck(facts),
        together: &|one, other| operations.together(one, other),
        line: &|done| operations.line(done),
        again: &|one, other| operations.is_again(one, other),
        noise: &noise,
    };
    let mut shown = around.pattern();
    let channels = [first, second].into_iter().any(|done| is_channel(&placed(done, places)));
    if channels || shown.operations().any(|done| !operations.is_told(done)) {
        // What cannot be shown is not claimed.
        shown = Shown::bare(Pattern::OrderViolation);
    }
    let end = End::of(facts, &failing, &passed, &operations);
    if end.is_skipped(&passed) && shown.pattern != Pattern::CheckThenAct {
        return None;
    }
    let words = Words { operations: &operations };
    let text = words.text(&shown, first, second);
    let named: Vec<&Done> = [first, second].into_iter().chain(shown.operations()).collect();
    // What only the passing run came to is no step of this one.
    let here: &[&Done] = if at_second.is_some() { &[first, second] } else { &[first] };
    let focus = focus(&named, here, &operations);
    let (fails, passes) = columns(&focus, facts, [first, second], &strands, passing, places)?;
    let pair_places: Vec<PairPlace> = [first, second].map(|done| operations.place(done)).into();
    let mut others: Vec<PairPlace> = Vec::new();
    for done in shown.operations().filter(|done| *done != first && *done != second) {
        others.push(operations.place(done));
    }
    let compared =
        Compared { failing: &failing, passed: &passed, locks: known.locks, operations: &operations };
    let decided_by = known.all_accesses.then(|| compared.term(named.iter().copied())).flatten();
    // Adding to a counter is seldom what decides, unless what fails has looked at it.
    let looked = end.hangs_on(&named);
    let near = looked > 0;
    let adds = |done: &Done| done.op == OpKind::AtomicRmw;
    if adds(first) && adds(second) && !near {
        return None;
    }
    let bare = matches!(shown.pattern, Pattern::OrderViolation | Pattern::UseBeforeInit);
    // Who waits and who wakes says little of a failure that is no waiting.
    // A loop that waits for a write looks again when it has come: its earlier looks did no harm.
    let again = |it: &Done| !it.waits && looks(it.op) && overlap(it, first) && operations.is_again(it, first);
    let comes = |it: &Done| it.strand == second.strand && it.pc == second.pc && overlap(it, second);
    let came = at_second.or_else(|| failing.iter().position(comes));
    if bare && looks(first.op) && came.is_some_and(|at| failing[at..].iter().any(again)) {
        return None;
    }
    let block = facts.report.block.map(|block| block.addr..block.addr + block.size.max(1));
    let hits =
        block.as_ref().is_some_and(|block| [first, second].iter().all(|done| block.contains(&done.addr)));
    // Nothing beats an order that merely happens to decide. Of a block, it is what was done to that.
    if bare && !is_stuck(facts) && around.is_counter() && (!near || block.is_some() && !hits) {
        return None;
    }
    let counts = channels || bare && !near && (around.is_counter() || around.is_of_waiting());
    let tells = if counts { 0 } else { 1 + shown.pattern.tells() };
    // With the change first, the look sees it. Two writes the other way round may pass as well, by one more mistake: what the one wrote is lost.
    let sees = if shown.is_mended_by(first, second) { 2 } else { u32::from(looks(first.op)) };
    let nameless = named.iter().any(|done| operations.name(done).is_none_or(|name| name.starts_with("0x")));
    Some(Candidate {
        explanation: Explanation {
            pattern: Some(shown.pattern),
            pair: pair_places,
            others,
            text,
            decided_by,
            failing: fails,
            passing: passes,
        },
        rank: (hits, tells, looked, sees),
        focus,
        nameless,
    })
}

/// Whether the run does not come to its end.
fn is_stuck(facts: &RunFacts) -> bool {
    matches!(facts.verdict.kind, VerdictKind::Deadlock | VerdictKind::Livelock | VerdictKind::Timeout)
}

/// Whether strands wait for each other's locks: those the runtime found in a circle, or those that all wait for locks it
/// does not know the holders of.
fn is_cycle(facts: &RunFacts, places: &dyn Places) -> bool {
    let strands = &facts.report.strands;
    let wants_lock = |strand: &&StrandReport| {
        let Some(pending) = strand.pending.filter(|_| strand.state == Some(StrandState::Blocked)) else {
            return false;
        };
        let name = pending.op.name();
        let frames = || -> Vec<Place> {
            std::iter::once(&pending.pc).chain(&strand.frames).flat_map(|&pc| places.at(pc)).collect()
        };
        name.contains("lock") || word(name, &frames()).is_some_and(|word| word.contains("lock"))
    };
    let stuck = strands.iter().filter(|strand| strand.stuck).count();
    let waiting = || strands.iter().filter(wants_lock).count();
    facts.verdict.kind == VerdictKind::Deadlock && (stuck > 1 || stuck == 0 && waiting() > 1)
}

/// The operations of the passing run with the numbers that strands have in the failing one.
fn renumbered(done: Vec<Done>, theirs: &Strands, ours: &Strands, facts: &RunFacts) -> Vec<Done> {
    let numbers: HashMap<String, StrandId> = facts
        .report
        .strands
        .iter()
        .map(|strand| (ours.name(StrandId(strand.index)), StrandId(strand.index)))
        .collect();
    let number = |id: StrandId| numbers.get(&theirs.name(id)).copied().unwrap_or(StrandId(u16::MAX - 1));
    done.into_iter().map(|it| Done { strand: number(it.strand), ..it }).collect()
}

/// Where the run fails: the last things that the failing strand looked at.
struct End {
    looks: Vec<Done>,
    /// The very last one, whatever it was for.
    last: Option<Done>,
}

impl End {
    fn of(facts: &RunFacts, failing: &[Done], passed: &[Done], operations: &Operations<'_>) -> End {
        let about_one = !is_stuck(facts);
        let strand = match &facts.report.details.panic {
            Some(panic) => panic.strand,
            None => facts.verdict.strand,
        };
        // What was taken out is looked at, unless all that anybody does there is to count.
        let counts = |done: &Done| {
            let writes = |it: &Done| it.op.writes_memory() && it.op != OpKind::AtomicRmw && overlap(it, done);
            !failing.iter().chain(passed).any(writes)
        };
        let looks_at = |done: &Done| looks(done.op) || done.op == OpKind::AtomicRmw && !counts(done);
        // Telling of a panic, and unwinding, look at much.
        let panics = facts.report.details.panic.as_ref().map_or(u64::MAX, |panic| panic.event);
        let own = |done: &&Done| {
            let before = done.strand == StrandId(strand) && done.event <= panics && !done.waits;
            before && looks_at(done) && operations.is_told(done)
        };
        // Putting a panic into words, and what unwinding gives back, is nothing that a run which passes comes to.
        let at_all = |done: &&Done| {
            let before = done.strand == StrandId(strand) && done.event <= panics && !done.waits;
            before && looks(done.op) && operations.is_told(done)
        };
        let last = failing.iter().rev().find(at_all).cloned();
        let looks = failing.iter().rev().filter(own).take(LAST_LOOKS).cloned().collect();
        if about_one { End { looks, last } } else { End { looks: Vec::new(), last: None } }
    }

    /// Whether the run that passes does not come to what fails.
    fn is_skipped(&self, passed: &[Done]) -> bool {
        self.last.as_ref().is_some_and(|last| passed.iter().all(|it| it.pc != last.pc))
    }

    /// How late what fails has looked at one of these; 0 if it has not.
    fn hangs_on(&self, named: &[&Done]) -> usize {
        let looked = |look: &Done| named.iter().any(|done| overlap(look, done));
        self.looks.iter().position(looked).map_or(0, |at| LAST_LOOKS - at)
    }
}

/// What a picture must show of the memory and locks that are named.
fn focus(named: &[&Done], decisive: &[&Done], operations: &Operations<'_>) -> Focus {
    let range = |it: &Done| it.addr..it.addr + u64::from(it.size.max(1));
    let names = named.iter().filter_map(|it| Some((range(it), operations.name(it)?)));
    Focus {
        memory: named.iter().map(|it| range(it)).collect::<Vec<Range<u64>>>(),
        strands: named.iter().map(|it| it.strand.0).collect(),
        names: names.filter(|(_, name)| !name.starts_with("0x")).collect(),
        name: operations.subject.map(|(_, name)| name.to_owned()),
        decisive: decisive.iter().map(|it| (it.strand.0, it.event)).collect(),
        ..Focus::default()
    }
}

/// The two orders side by side, both empty where half a picture would be left; `None` where they look the same.
fn columns(
    focus: &Focus,
    facts: &RunFacts,
    pair: [&Done; 2],
    strands: &Strands,
    passing: &Passing<'_>,
    places: &dyn Places,
) -> Option<(Vec<LaneStep>, Vec<LaneStep>)> {
    let list = |events: &[Event], strands: &Strands| steps_on(focus, events, strands, places);
    let (mut fails, mut passes) = (list(&facts.events, strands), list(passing.events, passing.strands));
    let same =
        fails.len() == passes.len() && fails.iter().zip(&passes).all(|(one, other)| one.is_like(other));
    if !fails.is_empty() && same {
        return None;
    }
    // An access that is no point of the passing run is not in its stream: half a picture says less than none.
    let by = |done: &Done| passes.iter().any(|step| step.strand == strands.name(done.strand));
    if !pair.iter().all(|done| by(done)) {
        return Some((Vec::new(), Vec::new()));
    }
    // Of long orders, what comes from where they part on, with a little before it.
    let parts = fails.iter().zip(&passes).take_while(|(one, other)| {
        (&one.strand, &one.operation, &one.object) == (&other.strand, &other.operation, &other.object)
    });
    let common = parts.count();
    for steps in [&mut fails, &mut passes] {
        let from = steps.len().saturating_sub(STEPS).min(common.saturating_sub(2));
        steps.drain(..from);
        steps.truncate(STEPS);
    }
    Some((fails, passes))
}

/// The explanation of a race: its two accesses, which nothing orders.
pub fn of_race(accesses: &[AccessDetail], object: Option<&str>) -> Option<Explanation> {
    let [later, earlier] = accesses else { return None };
    let place = |access: &AccessDetail| {
        let place = crate::places::shown(&access.stack);
        PairPlace {
            file: place.and_then(|place| place.file.clone()),
            line: place.and_then(|place| place.line),
            function: place.and_then(|place| place.function.clone()),
            strand: access.strand.clone(),
            operation: access.operation.clone(),
            object: object.map(str::to_owned),
            caller: None,
            dependency: place.is_some_and(|place| place.dependency),
        }
    };
    let pair = vec![place(earlier), place(later)];
    let text = format!("nothing orders {} and {}", told(&pair[0]), told(&pair[1]));
    Some(Explanation { pair, text, ..Explanation::default() })
}

/// `bank.c:9 (read, strand 0.1)`.
fn told(place: &PairPlace) -> String {
    format!("{} ({}, strand {}{})", at(place), short(&place.operation), place.strand, called(place))
}

/// `bank.c:9 (read)`.
fn done(place: &PairPlace) -> String {
    format!("{} ({}{})", at(place), short(&place.operation), called(place))
}

/// Who called it, where that is told.
fn called(place: &PairPlace) -> String {
    let caller = place.caller.as_ref().and_then(|caller| caller.file.as_deref().zip(caller.line));
    caller.map(|(file, line)| format!(", called at {}:{line}", file_name(file))).unwrap_or_default()
}

fn at(place: &PairPlace) -> String {
    match (&place.file, place.line, &place.function) {
        (Some(file), Some(line), _) if place.dependency => format!("{file}:{line}"),
        (Some(file), Some(line), _) => format!("{}:{line}", file_name(file)),
        (_, _, Some(function)) => function.clone(),
        _ => "an unknown place".to_owned(),
    }
}

fn file_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn short(operation: &str) -> &str {
    let operation = operation.trim_end_matches("-range");
    match operation {
        "read-write" => "read and write",
        other => other,
    }
}

struct Words<'a> {
    operations: &'a Operations<'a>,
}

impl Words<'_> {
    /// On what, if it has a name.
    fn on(&self, done: &Done) -> String {
        match self.operations.name(done) {
            Some(name) if !name.starts_with("0x") => format!(" on `{name}`"),
            _ => String::new(),
        }
    }

    fn text(&self, shown: &Shown, first: &Done, second: &Done) -> String {
        let name = shown.pattern.name();
        let place = |done: &Done| self.operations.place(done);
        let (one, other) = (place(first), place(second));
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
                    "{name}{}: it {took} at {} by strand {}{} before strand {} came for it at {}{}",
                    self.on(first),
                    at(&one),
                    one.strand,
                    called(&one),
                    other.strand,
                    at(&other),
                    called(&other)
                )
            }
            _ => match (&shown.inner, &shown.outer) {
                (Some(inner), Some([before, after])) => {
                    let on = match shown.pattern {
                        Pattern::TornPair => self.both(before, after),
                        _ => self.on(before),
                    };
                    let strand = place(after).strand;
                    format!(
                        "{name}{on}: {} ran between {} and {} of strand {strand}",
                        told(&place(inner)),
                        done(&place(before)),
                        done(&place(after)),
                    )
                }
                _ => {
                    let on = if first.op == OpKind::Free { second } else { first };
                    format!("{name}{}: {} came before {}", self.on(on), told(&one), told(&other))
                }
            },
        };
        format!(
            "{what}; with {} of {} before {} of {} the run passes",
            at(&other),
            other.strand,
            at(&one),
            one.strand
        )
    }

    /// The two places of a torn pair, if both have a name.
    fn both(&self, one: &Done, other: &Done) -> String {
        let named = |done: &Done| self.operations.name(done).filter(|name| !name.starts_with("0x"));
        match (named(one), named(other)) {
            (Some(one), Some(other)) => format!(" of `{one}` and `{other}`"),
            _ => String::new(),
        }
    }
}

fn is_taking(op: OpKind) -> bool {
    op.name().contains("lock") && !op.name().contains("unlock") || op.is_atomic_access()
}
