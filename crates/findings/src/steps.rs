//! The last steps of a run that have to do with a finding, for the picture a reader sees.
//!
//! What matters: operations on the memory and the locks that the finding is about, the creation of its strands and the
//! waits for their end, and the last step of each strand. Where the finding names no object (an assertion, a crash),
//! it is what two strands touched. How many steps are left out is told with the step that follows.

use crate::done::{Doer, Done};
use crate::explain::object;
use crate::finding::LaneStep;
use crate::places::{Place, Places, chain, shown};
use crate::std_locks::{is_bookkeeping, word};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use threadbare_abi::event::Event;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::report::Race;
use threadbare_trace::run::RunFacts;
use threadbare_trace::strands::Strands;

/// The most steps a finding keeps.
const STEPS: usize = 400;
/// Bytes of the largest lock, and of what lies around the word a lock waits on.
const LOCK: u64 = 40;

/// What a finding is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Focus {
    /// Memory; without any, all memory that two strands touched.
    pub memory: Vec<Range<u64>>,
    /// Strands whose creation and end matter; without any, all.
    pub strands: BTreeSet<u16>,
    /// The event after which nothing matters.
    pub until: Option<u64>,
    /// What the memory is called where its address tells no name.
    pub name: Option<String>,
    /// What parts of it are called.
    pub names: Vec<(Range<u64>, String)>,
    /// The memory and the locks that an explanation names.
    pub about: Vec<Range<u64>>,
    /// The operations whose order decides, each by its strand and the run's event count.
    pub decisive: BTreeSet<(u16, u64)>,
}

impl Focus {
    /// What the verdict of a run is about.
    pub fn of(facts: &RunFacts) -> Focus {
        let mut focus = Focus::default();
        match facts.verdict.kind {
            VerdictKind::Race => {
                if let Some(race) = facts.report.races.first() {
                    focus = Focus::on_race(race);
                }
            }
            VerdictKind::Deadlock | VerdictKind::Livelock => focus.waits(facts),
            VerdictKind::UseAfterFree
            | VerdictKind::DoubleFree
            | VerdictKind::InvalidFree
            | VerdictKind::HeapOverflow
            | VerdictKind::Leak
            | VerdictKind::StackUseAfterEnd
            | VerdictKind::UseAfterDestroy => match &facts.report.block {
                Some(block) => focus.memory.push(block.addr..block.addr + block.size.max(1)),
                None if facts.verdict.addr != 0 => {
                    focus.memory.push(facts.verdict.addr..facts.verdict.addr + 8);
                }
                None => {}
            },
            _ => {}
        }
        let stale = facts.report.stale.iter().map(|stale| stale.addr..stale.addr + stale.size);
        if !focus.memory.is_empty() {
            focus.memory.extend(stale);
        }
        focus
    }

    /// What a race is about; what came after it does not matter.
    pub fn on_race(race: &Race) -> Focus {
        let moments = || race.accesses.iter().map(|access| &access.moment);
        let mut focus = Focus {
            memory: Vec::new(),
            strands: moments().map(|moment| moment.strand).collect(),
            until: moments().map(|moment| moment.event).max(),
            ..Focus::default()
        };
        focus.memory.push(race.addr..race.addr + race.size.max(1));
        // A lock that one of them held is what the other one lacks.
        let held = moments().flat_map(|moment| &moment.held);
        focus.memory.extend(held.map(|&(addr, _)| addr..addr + LOCK));
        focus
    }

    fn waits(&mut self, facts: &RunFacts) {
        let blocked = |state| matches!(state, Some(StrandState::Blocked));
        for strand in facts.report.strands.iter().filter(|strand| blocked(strand.state)) {
            self.strands.insert(strand.index);
            for (addr, _) in &strand.held {
                self.memory.push(*addr..*addr + LOCK);
            }
            match strand.pending {
                Some(pending) if pending.op == OpKind::Join => _ = self.strands.insert(pending.addr as u16),
                Some(pending) if pending.op.has_memory_address() => {
                    let size = if pending.op == OpKind::FutexWait { 4 } else { LOCK };
                    self.memory.push(pending.addr..pending.addr + size);
                }
                _ => {}
            }
        }
    }

    fn has_memory(&self, done: &Done) -> bool {
        let end = done.addr.saturating_add(u64::from(done.size.max(1)));
        self.memory.iter().any(|range| range.start < end && done.addr < range.end)
    }

    /// Whether an operation is on what an explanation names.
    fn is_about(&self, done: &Done) -> bool {
        let end = done.addr.saturating_add(u64::from(done.size.max(1)));
        let named = |range: &Range<u64>| range.start < end && done.addr < range.end;
        done.op.has_memory_address() && self.about.iter().any(named)
    }

    fn decides(&self, done: &Done) -> bool {
        self.decisive.contains(&(done.strand.0, done.event))
    }

    /// The name of the memory that an operation is on.
    fn name_of(&self, done: &Done) -> Option<String> {
        let named = |(range, _): &&(Range<u64>, String)| range.contains(&done.addr);
        // A part has a better name than the whole.
        let part = self.names.iter().filter(named).min_by_key(|(range, _)| range.end - range.start);
        part.map(|(_, name)| name.clone()).or_else(|| self.name.clone())
    }

    fn has_strand(&self, strand: u64) -> bool {
        self.strands.is_empty() || u16::try_from(strand).is_ok_and(|strand| self.strands.contains(&strand))
    }
}

/// The steps that have to do with the verdict of a run.
pub fn steps(facts: &RunFacts, strands: &Strands, places: &dyn Places) -> Vec<LaneStep> {
    steps_about(&Focus::of(facts), facts, strands, places)
}

/// The steps that have to do with this.
pub fn steps_about(focus: &Focus, facts: &RunFacts, strands: &Strands, places: &dyn Places) -> Vec<LaneStep> {
    let mut all = Doer::all(&facts.events);
    if let Some(until) = focus.until {
        let end = all.iter().rposition(|done| done.event <= until && done.event != 0);
        all.truncate(end.map_or(all.len(), |at| at + 1));
    }
    let mut texts = Texts { focus, strands, places, placed: HashMap::new(), named: HashMap::new() };
    let shared = shared(&all);
    let mut matters = selection(focus, &all, &shared, &mut texts);
    // Memory that one strand uses alone, or that nobody changes, is nothing that a reader misses.
    let missed = |done: &Done| {
        !done.waits && tells(done.op) && (!done.op.is_plain_access() || shared.contains(&key(done)))
    };
    // One step takes no more room than the sign that it is left out, unless it brings in another strand.
    let fits = |done: &Done| {
        focus.has_strand(u64::from(done.strand.0)) && !matches!(done.op, OpKind::Create | OpKind::Join)
    };
    let mut left_out = None;
    for at in 0..all.len() {
        if matters[at] {
            if let Some(only) = left_out.take().flatten() {
                matters[only] = true;
            }
        } else if missed(&all[at]) {
            left_out = Some((left_out.is_none() && fits(&all[at])).then_some(at));
        }
    }
    let mut steps: Vec<LaneStep> = Vec::new();
    let mut skipped = 0;
    for (done, matters) in all.iter().zip(matters) {
        if !matters {
            skipped += u64::from(missed(done));
            continue;
        }
        let (mut step, of_std) = texts.step(done);
        if of_std && is_again(&mut steps, &step) {
            continue;
        }
        step.skipped = std::mem::take(&mut skipped);
        steps.push(step);
    }
    shortened(folded(steps))
}

/// Of the same step again and again, as in a loop that waits, the first and the last one.
fn folded(steps: Vec<LaneStep>) -> Vec<LaneStep> {
    let alike = |one: &LaneStep, other: &LaneStep| one.is_like(other) && !one.decides && !other.decides;
    let mut list: Vec<LaneStep> = Vec::new();
    let mut again = 0;
    for mut step in steps {
        // Three alike are not worth a sign that one was left out.
        let repeats = list.len() >= 3 && list[list.len() - 3..].iter().all(|before| alike(before, &step));
        if repeats || again > 0 && list.last().is_some_and(|last| alike(last, &step)) {
            let mut dropped = list.pop().into_iter().collect::<Vec<_>>();
            if again == 0 {
                dropped.extend(list.pop());
            }
            again += dropped.len();
            step.skipped += dropped.iter().map(|it| it.skipped + u64::from(!it.waits)).sum::<u64>();
        } else {
            again = 0;
        }
        list.push(step);
    }
    list
}

/// The last of many steps, and before them what an explanation names: that goes last, and the pair that decides never.
fn shortened(steps: Vec<LaneStep>) -> Vec<LaneStep> {
    let mut over = steps.len().saturating_sub(STEPS);
    let mut kept: Vec<bool> = vec![true; steps.len()];
    let rounds: [fn(&LaneStep) -> bool; 2] = [|step| !step.decides && !step.about, |step| !step.decides];
    for may_go in rounds {
        for (at, _) in steps.iter().enumerate().filter(|(_, step)| may_go(step)) {
            if over > 0 && kept[at] {
                kept[at] = false;
                over -= 1;
            }
        }
    }
    let mut left = 0;
    let mut list = Vec::with_capacity(STEPS);
    for (mut step, kept) in steps.into_iter().zip(kept) {
        left += step.skipped;
        if kept {
            step.skipped = std::mem::take(&mut left);
            list.push(step);
        } else {
            left += u64::from(!step.waits);
        }
    }
    list
}

/// The steps on this memory, and no others.
pub fn steps_on(focus: &Focus, events: &[Event], strands: &Strands, places: &dyn Places) -> Vec<LaneStep> {
    let mut texts = Texts { focus, strands, places, placed: HashMap::new(), named: HashMap::new() };
    let mut steps: Vec<LaneStep> = Vec::new();
    for done in Doer::all(events) {
        let on = done.op.has_memory_address() && focus.has_memory(&done);
        if !on || !focus.has_strand(u64::from(done.strand.0)) || !tells(done.op) {
            continue;
        }
        let (step, of_std) = texts.step(&done);
        if !(of_std && is_again(&mut steps, &step)) {
            steps.push(step);
        }
    }
    steps
}

/// The functions that an operation was done in, innermost first.
pub fn placed(done: &Done, places: &dyn Places) -> Vec<Place> {
    if done.pc == 0 { Vec::new() } else { chain(places, done.pc, &done.callers) }
}

/// Whether a step of std's only goes on with the one before it: a lock is tried before it is waited for, and one call
/// may be several operations.
fn is_again(steps: &mut [LaneStep], step: &LaneStep) -> bool {
    let Some(last) = steps.last_mut().filter(|last| last.strand == step.strand) else { return false };
    let same = (&last.operation, &last.object) == (&step.operation, &step.object)
        && last.place.as_ref().map(|place| (&place.file, place.line))
            == step.place.as_ref().map(|place| (&place.file, place.line));
    if !same || last.waits {
        return false;
    }
    last.waits = step.waits;
    last.decides |= step.decides;
    true
}

/// Which operations matter.
fn selection(focus: &Focus, all: &[Done], shared: &HashSet<Key>, texts: &mut Texts<'_>) -> Vec<bool> {
    let quiet: Vec<bool> = all.iter().map(|done| !tells(done.op) || texts.is_noise(done)).collect();
    let mut chosen: Vec<bool> = all
        .iter()
        .zip(&quiet)
        .map(|(done, quiet)| match done.op {
            OpKind::Create | OpKind::Join => focus.has_strand(done.addr),
            _ if done.by_deadline || done.stale || focus.decides(done) => true,
            _ if !quiet && focus.is_about(done) => true,
            op if !tells(op) => false,
            _ if !focus.memory.is_empty() => {
                // What the finding is about matters wherever it is done, but for looks at it on the way.
                let look = *quiet && done.op == OpKind::AtomicLoad;
                done.op.has_memory_address() && focus.has_memory(done) && !look
            }
            OpKind::Sleep => true,
            _ => !quiet && shared.contains(&key(done)),
        })
        .collect();
    let mut seen = HashSet::new();
    for (at, done) in all.iter().enumerate().rev() {
        if !quiet[at] && focus.has_strand(u64::from(done.strand.0)) && seen.insert(done.strand) {
            chosen[at] = true;
        }
    }
    chosen
}

/// Whether an operation says anything to a reader.
fn tells(op: OpKind) -> bool {
    use OpKind::{Annotate, Clock, Detach, Exit, Fence, Start, Yield};
    !matches!(op, Start | Exit | Yield | Clock | Fence | Detach | Annotate)
}

/// Objects that two strands used, and, of plain memory, one wrote.
fn shared(all: &[Done]) -> HashSet<Key> {
    #[derive(Default)]
    struct Use {
        by: Option<StrandId>,
        several: bool,
        changed: bool,
    }
    let mut uses: HashMap<Key, Use> = HashMap::new();
    for done in all {
        let entry = uses.entry(key(done)).or_default();
        entry.several |= *entry.by.get_or_insert(done.strand) != done.strand;
        entry.changed |= !done.op.only_reads_memory() && done.op != OpKind::Fence;
    }
    uses.into_iter().filter(|(_, used)| used.several && used.changed).map(|(key, _)| key).collect()
}

/// What an operation is on: memory, or a number that means something else for every kind.
type Key = (Option<OpKind>, u64);

fn key(done: &Done) -> Key {
    let kind = match done.op {
        OpKind::IoWait => OpKind::Io,
        op => op,
    };
    ((!done.op.has_memory_address()).then_some(kind), done.addr)
}

/// Steps in words; a run has few places and objects, and many points.
struct Texts<'a> {
    focus: &'a Focus,
    strands: &'a Strands,
    places: &'a dyn Places,
    placed: HashMap<Vec<u64>, Vec<Place>>,
    named: HashMap<(u8, u64, u32), Option<String>>,
}

impl Texts<'_> {
    fn frames(&mut self, done: &Done) -> &[Place] {
        let places = self.places;
        let mut pcs = vec![done.pc];
        pcs.extend(&done.callers);
        self.placed.entry(pcs).or_insert_with_key(|pcs| match pcs[0] {
            0 => Vec::new(),
            pc => chain(places, pc, &pcs[1..]),
        })
    }

    /// Whether an operation is nobody's business but a library's.
    fn is_noise(&mut self, done: &Done) -> bool {
        let name = done.op.name();
        let named = matches!(done.op, OpKind::Create | OpKind::Join) || done.waits;
        let frames = self.frames(done);
        let library = !frames.is_empty() && frames.iter().all(|frame| frame.library);
        !named && (library || is_bookkeeping(name, frames))
    }

    /// The step, and whether it is part of a call of std's.
    fn step(&mut self, done: &Done) -> (LaneStep, bool) {
        let (strands, places) = (self.strands, self.places);
        let frames = self.frames(done);
        let place = shown(frames).cloned();
        let word = word(done.op.name(), frames);
        let operation = match done.op {
            _ if done.by_deadline => "deadline",
            OpKind::AtomicLoad if done.stale => "stale-load",
            OpKind::AtomicStore if done.stale => "late-store",
            _ => word.unwrap_or(done.op.name()),
        };
        let at = place.as_ref().and_then(|place| place.file.as_deref().zip(place.line));
        let source = at.and_then(|(file, line)| places.source(file, line));
        let named = self.named.entry((done.op as u8, done.addr, done.size));
        let object = named.or_insert_with(|| operand(done.op, done.addr, done.size, strands, places));
        // Where a strand is parked is its own affair.
        let parks = matches!(word, Some("park" | "unpark"));
        let mut object = object.clone().filter(|name| !(parks && name.starts_with("0x")));
        let access = done.op.is_plain_access() || done.op.is_atomic_access() || done.op == OpKind::Free;
        let nameless = object.as_ref().is_none_or(|name| name.starts_with("0x"));
        if nameless && access && (self.focus.has_memory(done) || self.focus.is_about(done)) {
            object = self.focus.name_of(done).or(object);
        }
        let step = LaneStep {
            strand: strands.name(done.strand),
            operation: operation.to_owned(),
            object,
            place,
            source,
            waits: done.waits,
            decides: self.focus.decides(done),
            about: self.focus.is_about(done),
            skipped: 0,
        };
        (step, word.is_some())
    }
}

/// What an operation concerns, in words: of an access, the variable it touches.
pub fn operand(op: OpKind, addr: u64, size: u32, strands: &Strands, places: &dyn Places) -> Option<String> {
    let access = op.is_plain_access() || op.is_atomic_access();
    let named = if access { places.variable(addr, u64::from(size)) } else { None };
    named.or_else(|| object(op, addr, strands, places))
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_abi::event::EventKind;
    use threadbare_trace::report::{Access, Moment, Pending, RunReport, StrandReport};
    use threadbare_trace::run::{Counters, End, Output, Verdict};

    #[test]
    fn a_loop_that_waits_takes_two_rows() {
        let step = |operation: &str| LaneStep {
            strand: "0".into(),
            operation: operation.into(),
            ..LaneStep::default()
        };
        let list = |count: usize| {
            let loads = std::iter::repeat_with(|| step("load")).take(count);
            folded(std::iter::once(step("store")).chain(loads).chain([step("read")]).collect())
        };
        let told = |count: usize| -> Vec<(String, u64)> {
            list(count).into_iter().map(|step| (step.operation, step.skipped)).collect()
        };
        assert_eq!(told(3).len(), 5, "three are shown");
        let many = [("store", 0), ("load", 0), ("load", 998), ("read", 0)];
        assert_eq!(told(1000), many.map(|(operation, skipped)| (operation.to_owned(), skipped)));
        let decides = LaneStep { decides: true, ..step("load") };
        assert_eq!(folded(vec![decides; 5]).len(), 5, "what decides stays");
    }

    struct Known;

    impl Places for Known {
        fn at(&self, pc: u64) -> Vec<Place> {
            let own = pc < 100;
            vec![Place {
                function: Some(format!("f{pc}")),
                file: Some(if own { "bank.c" } else { "lib.h" }.into()),
                line: Some(pc as u32),
                library: !own,
                ..Place::default()
            }]
        }

        fn variable(&self, addr: u64, _size: u64) -> Option<String> {
            Some(format!("v{addr}"))
        }

        fn source(&self, _file: &str, line: u32) -> Option<String> {
            Some(format!("source {line}"))
        }
    }

    fn facts(kind: VerdictKind, strands: Vec<StrandReport>, events: Vec<Event>) -> RunFacts {
        RunFacts {
            run: 0,
            seed: 0,
            end: End::Exited(66),
            verdict: Verdict { kind, ..Verdict::clean() },
            counters: Counters { points: 1000, ..Counters::default() },
            report: RunReport { strands, ..RunReport::default() },
            segments: Vec::new(),
            stdout: Output::default(),
            stderr: Output::default(),
            events,
        }
    }

    fn strand(index: u16, pending: Option<Pending>) -> StrandReport {
        let state = Some(StrandState::Blocked);
        StrandReport { index, ordinal: u32::from(index), state, pending, ..StrandReport::default() }
    }

    /// Points, one after the other, each of a strand; the strand goes on when another point of it comes.
    fn points(list: &[(u16, OpKind, u64, u64)]) -> Vec<Event> {
        let mut events = Vec::new();
        for (number, &(strand, op, addr, pc)) in list.iter().enumerate() {
            events.push(Event { kind: EventKind::Switch as u8, strand, ..Event::default() });
            events.push(Event {
                kind: EventKind::Point as u8,
                strand,
                op: op as u8,
                addr,
                pc,
                value: number as u64 + 1,
                size_order: 4,
            });
            events.push(Event { kind: EventKind::Value as u8, strand, ..Event::default() });
        }
        events
    }

    fn lines(steps: &[LaneStep]) -> Vec<String> {
        let object = |step: &LaneStep| step.object.clone().unwrap_or_default();
        let line = |step: &LaneStep| step.place.as_ref().and_then(|place| place.line).unwrap_or(0);
        steps
            .iter()
            .map(|step| {
                let waits = if step.waits { " waits" } else { "" };
                format!(
                    "{}+{} {} {} {}{waits}",
                    step.skipped,
                    step.strand,
                    step.operation,
                    object(step),
                    line(step)
                )
            })
            .collect()
    }

    #[test]
    fn of_a_failure_without_an_object_what_strands_share_matters() {
        use OpKind::{AtomicLoad, Read, Write, Yield};
        let strands = vec![strand(0, None), strand(1, None)];
        let events = points(&[
            (0, Write, 8, 1),
            (0, Write, 16, 2),
            (1, AtomicLoad, 24, 3),
            (0, AtomicLoad, 24, 3),
            (1, Read, 8, 4),
            (1, Yield, 0, 5),
            (0, Write, 16, 6),
        ]);
        let facts = facts(VerdictKind::Assertion, strands, events);
        let steps = steps(&facts, &Strands::from_report(&facts.report), &Known);
        assert_eq!(
            lines(&steps),
            ["0+0 write v8 1", "2+0.1 read v8 4", "0+0 write v16 6"],
            "the memory that both touch, and each one's last step"
        );
        assert_eq!(steps[0].source.as_deref(), Some("source 1"));
    }

    #[test]
    fn of_a_deadlock_the_locks_and_the_strands_matter() {
        use OpKind::{Join, MutexLock, Write};
        let on = |op, addr| Some(Pending { op, addr, pc: 0, size: 0 });
        let mut holder = strand(1, on(MutexLock, 200));
        holder.held = vec![(100, 0)];
        let strands = vec![strand(0, on(Join, 1)), holder];
        let mut events = points(&[
            (0, OpKind::Create, 2, 1),
            (0, OpKind::Create, 1, 1),
            (1, MutexLock, 100, 2),
            (1, MutexLock, 900, 3),
            (1, Write, 8, 3),
        ]);
        events.extend([Event {
            kind: EventKind::Blocked as u8,
            strand: 1,
            op: MutexLock as u8,
            addr: 200,
            pc: 4,
            ..Event::default()
        }]);
        let facts = facts(VerdictKind::Deadlock, strands, events);
        let steps = steps(&facts, &Strands::from_report(&facts.report), &Known);
        assert_eq!(
            lines(&steps),
            ["1+0 create strand 0.1 1", "0+0.1 lock v100 2", "0+0.1 lock v900 3", "0+0.1 lock v200 4 waits"],
            "one lock more takes no more room than the sign that it is left out"
        );
    }

    #[test]
    fn a_race_ends_with_its_later_access_and_library_code_is_told_by_its_caller() {
        use OpKind::{Read, Write};
        let mut events = points(&[(0, Write, 8, 1), (1, Read, 8, 200), (0, Write, 8, 3), (1, Read, 8, 4)]);
        let caller = Event { kind: EventKind::Caller as u8, strand: 1, pc: 50, ..Event::default() };
        events.insert(4, caller);
        let facts = facts(VerdictKind::None, vec![strand(0, None), strand(1, None)], events);
        let access = |strand, event| Access {
            op: Read,
            size: 4,
            moment: Moment { strand, event, ..Moment::default() },
        };
        let race = Race { addr: 8, size: 4, block: None, accesses: vec![access(1, 2), access(0, 1)] };
        let strands = Strands::from_report(&facts.report);
        let steps = steps_about(&Focus::on_race(&race), &facts, &strands, &Known);
        assert_eq!(lines(&steps), ["0+0 write v8 1", "0+0.1 read v8 50"]);
    }

    #[test]
    fn a_long_run_is_cut_and_the_count_stays_right() {
        let list: Vec<_> = (0..1000).map(|n| (n % 2, OpKind::Write, 8, 1)).collect();
        let facts = facts(VerdictKind::Assertion, vec![strand(0, None), strand(1, None)], points(&list));
        let steps = steps(&facts, &Strands::from_report(&facts.report), &Known);
        assert_eq!(steps.len(), STEPS);
        assert_eq!(steps[0].skipped, 600);
    }
}
