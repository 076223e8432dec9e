//! What a run did, as planners see it: its steps, what each depends on, and which pairs of them race.
//!
//! Two steps of different strands depend on each other if the order of their operations can matter. The order of all such
//! pairs is the run's class (a Mazurkiewicz trace): runs of one class differ in nothing that anybody can see.

use super::functions::Functions;
use super::holds::{Before, acquires};
use super::states::States;
use super::waits::{Place, Waits};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use threadbare_abi::event::ChoiceKind;
use threadbare_abi::op::{Op, OpKind, Order};
use threadbare_abi::step::{DEPTH_SHIFT, Doubt, Step, StepKind, flags};
use threadbare_trace::order::clock::join;
use threadbare_trace::order::{GRAIN, SIGNALS, depends, grains, is_large};

/// A place that an operation of a step concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Touch {
    pub(crate) op: Op,
    /// For whom it could not have been acquired before: flags of a step.
    pub(crate) shut: u32,
}

/// What all waits with a deadline concern when they begin and when they end by it.
const TIMER: Touch = Touch { op: Op::new(OpKind::Sleep, 0, 0), shut: 0 };

/// One step of one strand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    /// The strand's path.
    pub(crate) path: u64,
    /// It went on by its deadline.
    pub(crate) by_deadline: bool,
    /// Options taken and how many there were.
    pub(crate) choices: Vec<(u32, u32)>,
    /// Which of them are faults, a bit for each of the first 64.
    pub(crate) faults: u64,
    /// What it concerns.
    pub(crate) touches: Vec<Touch>,
    /// The operation it began with.
    pub(crate) op: Op,
    /// What was in memory there before and after it.
    pub(crate) before: u64,
    pub(crate) after: u64,
    /// What an exchange looks for, and what it puts there.
    pub(crate) wants: Option<(u64, u64)>,
    /// The strand's index in its run.
    pub(crate) index: u16,
    /// Other strands that could have gone on, by index, and the one whose deadline could have come.
    pub(crate) enabled: u64,
    pub(crate) timed: Option<u16>,
    /// The wait has a deadline.
    pub(crate) has_deadline: bool,
    /// It was asleep and was woken.
    pub(crate) resumed: bool,
    /// Stands for the innermost callers.
    pub(crate) context: u64,
    /// Stands for what the strand had in registers and on its stack.
    pub(crate) local: u64,
    /// Of an atomic load or store: how many newer stores it did not see, or came before.
    pub(crate) back: u64,
    /// It could have seen another store than it did, or come to another place among them.
    pub(crate) chose: bool,
    /// The run ended by a failure in it.
    pub(crate) fails: bool,
}

impl Event {
    /// Whether others can do something else because of it: they have been created, were waiting for it, or see what it has written.
    pub(crate) fn is_seen(&self) -> bool {
        let kind = self.op.kind;
        let writes = (kind.is_plain_access() || kind.is_atomic_access()) && kind.writes_memory();
        kind == OpKind::Create || kind.releases() || writes
    }

    /// Whether it is a load that did not see what is in memory.
    pub(crate) fn is_stale(&self) -> bool {
        self.back > 0 && self.op.kind.looks()
    }

    /// Whether the order of the two can matter. Steps of one strand are always ordered.
    pub(crate) fn depends(&self, other: &Event) -> bool {
        self.path == other.path
            || self.touches.iter().any(|a| other.touches.iter().any(|b| depends(&a.op, &b.op)))
    }

    /// Whether the choice with this number is a fault.
    pub(crate) fn is_fault(&self, at: usize) -> bool {
        self.faults.checked_shr(at as u32).unwrap_or(0) & 1 == 1
    }

    /// Faults that happened in it.
    pub(crate) fn faults_taken(&self) -> u32 {
        let taken = |(at, choice): (usize, &(u32, u32))| if self.is_fault(at) { choice.0 } else { 0 };
        self.choices.iter().enumerate().map(taken).sum()
    }

    /// Whether the object could not have been acquired in this way before.
    pub(crate) fn shut(&self, addr: u64, mode: u32) -> bool {
        self.touches.iter().any(|touch| touch.op.addr == addr && touch.shut & mode != 0)
    }

    /// An exchange or a try that fails or changes nothing only looks.
    fn look_only(&mut self) {
        if self.before == self.after {
            for touch in self.touches.iter_mut().filter(|touch| touch.op.addr == self.op.addr) {
                if touch.op.kind.deciding_word(touch.op.size).is_some() {
                    touch.op.kind = OpKind::AtomicLoad;
                }
            }
        }
    }

    /// Whether it is the same step of the same strand, as far as that can be told before it is made.
    pub(crate) fn is(&self, other: &Event) -> bool {
        self.path == other.path
            && self.by_deadline == other.by_deadline
            && self.choices.iter().zip(&other.choices).all(|(a, b)| a.0 == b.0)
            && !self.has_more_faults(other)
            && !other.has_more_faults(self)
    }

    /// Whether a fault happens in it at a choice that the other does not have: what is not known is that none does.
    pub(crate) fn has_more_faults(&self, other: &Event) -> bool {
        let more = self.choices.iter().enumerate().skip(other.choices.len());
        more.into_iter().any(|(at, choice)| self.is_fault(at) && choice.0 != 0)
    }
}

/// Two steps that could have come in the other order, and what comes then.
#[derive(Clone, Debug)]
pub(crate) struct Race {
    /// The earlier one.
    pub(crate) first: usize,
    /// The later one; it may not have been made.
    pub(crate) second: Event,
    /// Its place, if it was made.
    pub(crate) made: Option<usize>,
    /// Others that the second has to come before as well.
    pub(crate) later: Vec<usize>,
    /// The steps of a waiting loop that would look in vain if the second came first; the last of them is the first event.
    pub(crate) vain: Vec<usize>,
}

impl Race {
    /// With a step that was not made.
    fn of_pending(first: usize, second: Event) -> Race {
        Race { first, second, made: None, later: Vec::new(), vain: Vec::new() }
    }

    /// Whether this event has to come after the second one.
    pub(crate) fn comes_later(&self, at: usize, trace: &Trace, analysis: &Analysis) -> bool {
        let after = |first: usize| first == at || analysis.precedes(first, at, trace);
        after(self.first) || self.later.iter().any(|&first| after(first))
    }
}

/// An event that another could have come before; whether by its deadline, and what else would have come later.
struct Found {
    first: usize,
    by_deadline: bool,
    later: Vec<usize>,
}

/// A loop that was seen to wait.
#[derive(Clone, Debug)]
pub(crate) struct Spin {
    /// The strand's index.
    pub(crate) strand: u16,
    /// Events before it was seen.
    pub(crate) at: usize,
    /// What it loads.
    pub(crate) places: Vec<Place>,
    /// It may end by itself, after many rounds.
    pub(crate) ends: bool,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) events: Vec<Event>,
    /// Choices before the second strand, which belong to no step: options taken and how many there were.
    pub(crate) first: Vec<(u32, u32)>,
    /// What strands were about to do when the run ended; whether they could have.
    pending: Vec<(Event, bool)>,
    /// Who was asleep then.
    sleeping: Vec<Event>,
    /// For each event, events of other strands that made it possible.
    after: Vec<Vec<usize>>,
    /// Waits with a deadline that somebody ended: by which event, and what the deadline would have been.
    woken: Vec<(usize, Event)>,
    /// Loops that were seen to wait.
    pub(crate) spins: Vec<Spin>,
    /// Paths by strand index.
    pub(crate) paths: Vec<u64>,
    /// What cannot be followed, and at which instruction.
    pub(crate) doubts: Vec<(Doubt, u64)>,
    /// The callers that contexts stand for, where that was told.
    pub(crate) callers: HashMap<u64, [u64; 3]>,
    /// In which functions the events were made, where that was told.
    pub(crate) functions: Functions,
    /// Memory of stacks that came into use anew, where that was told.
    pub(crate) renewed: Vec<Renewed>,
}

/// Memory that came into use anew: before which touch of which event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Renewed {
    pub(crate) event: usize,
    pub(crate) touch: usize,
    pub(crate) memory: Range<u64>,
}

fn op_of(step: &Step) -> Op {
    let kind = OpKind::from_code(step.op).unwrap_or(OpKind::Start);
    Op { kind, order: Order::SeqCst, size: step.size, addr: step.addr, pc: step.pc }
}

/// The step of a strand whose wait ends by its deadline.
fn deadline_of(waiting: &Event) -> Event {
    Event {
        by_deadline: true,
        resumed: true,
        choices: Vec::new(),
        faults: 0,
        touches: vec![Touch { op: waiting.op, shut: 0 }, TIMER],
        ..waiting.clone()
    }
}

impl Trace {
    /// The trace in a run's records.
    pub(crate) fn read(steps: &[Step]) -> Trace {
        let mut trace = Trace::default();
        for step in steps.iter().filter(|step| step.kind == StepKind::Born as u8) {
            let index = step.strand as usize;
            if trace.paths.len() <= index {
                trace.paths.resize(index + 1, 0);
            }
            trace.paths[index] = step.addr;
        }
        let mut wakers: HashMap<u16, usize> = HashMap::new();
        let mut last: HashMap<u16, usize> = HashMap::new();
        let mut creators: HashMap<u16, usize> = HashMap::new();
        let mut spins = false;
        // It belongs to the access that is told next.
        let mut renewed: Vec<Range<u64>> = Vec::new();
        // What the last step left in memory is not told if the run did not come to its end.
        let last_step = steps.iter().rposition(|step| step.kind == StepKind::Step as u8);
        let last_step = last_step.filter(|_| trace.paths.is_empty());
        for (place, step) in steps.iter().enumerate() {
            let kind = StepKind::from_code(step.kind).unwrap_or(StepKind::Born);
            let goes_on = std::mem::replace(&mut spins, kind == StepKind::Spin);
            match kind {
                StepKind::Step => {
                    let mut event = trace.event(step);
                    if Some(place) != last_step {
                        event.look_only();
                    }
                    // What nobody decided belongs to the step before it.
                    if step.flags & flags::PINNED != 0
                        && let Some(before) = trace.events.last_mut().filter(|it| it.index == step.strand)
                    {
                        let (at, touch) = (trace.after.len() - 1, before.touches.len());
                        let memory = renewed.drain(..);
                        trace.renewed.extend(memory.map(|memory| Renewed { event: at, touch, memory }));
                        before.touches.extend(event.touches);
                        continue;
                    }
                    let at = trace.events.len();
                    let memory = renewed.drain(..);
                    trace.renewed.extend(memory.map(|memory| Renewed { event: at, touch: 0, memory }));
                    let mut after = Vec::new();
                    if event.resumed {
                        after.extend(wakers.remove(&step.strand));
                    }
                    // Where deadlines keep their order, nobody else could go on.
                    if event.by_deadline && !event.has_deadline {
                        after.extend(
                            last.iter().filter(|(other, _)| **other != step.strand).map(|(_, at)| *at),
                        );
                        after.sort_unstable();
                    }
                    if !last.contains_key(&step.strand) {
                        after.extend(creators.get(&step.strand).copied());
                    }
                    if event.op.kind == OpKind::Join {
                        after.extend(last.get(&(event.op.addr as u16)).copied());
                    }
                    if event.op.kind == OpKind::Create {
                        creators.insert(event.op.addr as u16, at);
                    }
                    last.insert(step.strand, at);
                    trace.functions.event(step.strand, step.flags >> DEPTH_SHIFT);
                    trace.events.push(event);
                    trace.after.push(after);
                }
                StepKind::Touch => {
                    if let Some(event) = trace.events.last_mut() {
                        let (at, touch) = (trace.after.len() - 1, event.touches.len());
                        let memory = renewed.drain(..);
                        trace.renewed.extend(memory.map(|memory| Renewed { event: at, touch, memory }));
                        event.touches.push(Touch { op: op_of(step), shut: step.flags });
                    }
                }
                StepKind::Wake => trace.wake(step, &mut wakers, &last),
                // Of any value there is nothing to plan.
                StepKind::Choice if step.op == ChoiceKind::Own as u8 && step.before == 0 => {}
                StepKind::Choice => {
                    if let Some(event) = trace.events.last_mut() {
                        if step.op == ChoiceKind::Spurious as u8 {
                            event.faults |= 1u64.checked_shl(event.choices.len() as u32).unwrap_or(0);
                        }
                        event.choices.push((step.addr as u32, step.before as u32));
                        if step.op == ChoiceKind::ReadsFrom as u8 {
                            (event.back, event.chose) = (step.enabled, true);
                        }
                        if event.is_stale() {
                            (event.before, event.after) = (step.after, step.after);
                        }
                    } else if step.op == ChoiceKind::Own as u8 {
                        trace.first.push((step.addr as u32, step.before as u32));
                    }
                }
                StepKind::Spin => {
                    let (strand, at) = (step.strand, trace.events.len());
                    let size = step.size as u8;
                    let (value, context) = (step.before, step.context);
                    let place = Place { pc: step.pc, addr: step.addr, size, value, context };
                    match trace.spins.last_mut().filter(|_| goes_on) {
                        Some(spin) => spin.places.push(place),
                        None => {
                            let ends = step.flags & flags::ENDS != 0;
                            trace.spins.push(Spin { strand, at, places: vec![place], ends });
                        }
                    }
                }
                StepKind::Pending => {
                    let event = trace.event(step);
                    if step.flags & flags::ASLEEP == 0 {
                        trace.pending.push((event, step.flags & flags::BLOCKED == 0));
                    } else {
                        trace.sleeping.push(event);
                    }
                }
                StepKind::Doubt => trace.doubts.extend(Doubt::from_code(step.op).map(|it| (it, step.pc))),
                StepKind::Wants => {
                    if let Some(event) = trace.events.last_mut().filter(|it| it.op.addr == step.addr) {
                        event.wants = Some((step.before, step.after));
                    }
                }
                StepKind::Callers => {
                    trace.callers.insert(step.context, [step.addr, step.before, step.after]);
                }
                StepKind::Renewed => renewed.push(step.addr..step.after),
                StepKind::Entered => trace.functions.entered(step.strand, step.pc, step.addr),
                StepKind::Born => {}
            }
        }
        if let Some(at) = trace.failing() {
            trace.events[at].fails = true;
        }
        trace
    }

    fn event(&self, step: &Step) -> Event {
        let op = op_of(step);
        let resumed = step.flags & flags::RESUMED != 0;
        let by_deadline = step.flags & flags::TIMEOUT != 0;
        // Who was woken does nothing to the object any more, but for a futex word: what the caller does then is not seen.
        let concerns = !resumed || by_deadline || op.kind == OpKind::FutexWait;
        let mut touches = if concerns { vec![Touch { op, shut: step.flags }] } else { Vec::new() };
        if by_deadline && op.kind != OpKind::Sleep {
            touches.push(TIMER);
        }
        // Precompiled code has written what the step only looked at.
        if op.kind.looks() && step.before != step.after {
            touches.push(Touch { op: Op { kind: OpKind::AtomicRmw, ..op }, shut: 0 });
        }
        Event {
            path: self.paths.get(step.strand as usize).copied().unwrap_or(0),
            by_deadline,
            choices: Vec::new(),
            faults: 0,
            touches,
            op,
            before: step.before,
            after: step.after,
            wants: None,
            index: step.strand,
            enabled: step.enabled,
            timed: step.timed.checked_sub(1).map(|index| index as u16),
            has_deadline: step.flags & flags::TIMED != 0,
            resumed,
            context: step.context,
            local: step.local,
            back: 0,
            chose: false,
            fails: false,
        }
    }

    fn wake(&mut self, step: &Step, wakers: &mut HashMap<u16, usize>, last: &HashMap<u16, usize>) {
        let woken = step.addr as u16;
        let Some(at) = self.events.len().checked_sub(1) else { return };
        if step.flags & flags::ASLEEP == 0 {
            return;
        }
        wakers.insert(woken, at);
        if step.flags & flags::TIMED != 0
            && self.events[at].index != woken
            && let Some(&waits) = last.get(&woken)
        {
            let waiting = &self.events[waits];
            self.woken.push((at, deadline_of(waiting)));
        }
    }

    /// The events of other strands that made an event possible.
    pub(crate) fn made_possible_by(&self, at: usize) -> &[usize] {
        &self.after[at]
    }

    /// What strands stood before in the end and could not do.
    pub(crate) fn blocked(&self) -> impl Iterator<Item = &Event> {
        self.pending.iter().filter(|(_, enabled)| !enabled).map(|(event, _)| event)
    }

    /// The end of the process, if that was a step.
    pub(crate) fn end(&self) -> Option<usize> {
        let last = self.events.len().checked_sub(1)?;
        (self.events[last].op.kind == OpKind::End).then_some(last)
    }

    /// Takes steps away.
    pub(crate) fn without(mut self, void: &HashSet<usize>) -> Trace {
        if void.is_empty() {
            return self;
        }
        let mut places = Vec::with_capacity(self.events.len());
        let mut kept = 0;
        for at in 0..self.events.len() {
            places.push(kept);
            kept += usize::from(!void.contains(&at));
        }
        let keep = |at: &usize| !void.contains(at);
        let mut at = 0;
        self.events.retain(|_| (keep(&at), at += 1).0);
        let mut at = 0;
        self.after.retain(|_| (keep(&at), at += 1).0);
        for after in &mut self.after {
            after.retain(keep);
            after.iter_mut().for_each(|at| *at = places[*at]);
        }
        self.woken.retain(|(at, _)| keep(at));
        self.woken.iter_mut().for_each(|(at, _)| *at = places[*at]);
        for it in &mut self.renewed {
            it.touch = if void.contains(&it.event) { 0 } else { it.touch };
            it.event = places[it.event];
        }
        self
    }

    /// What the strand does next after an event, in this run.
    pub(crate) fn next_of(&self, at: usize) -> Option<&Event> {
        let index = self.events[at].index;
        self.events[at + 1..]
            .iter()
            .find(|event| event.index == index)
            .or_else(|| self.pending.iter().map(|(event, _)| event).find(|event| event.index == index))
    }

    /// The step in which the run ended by a failure, if there is one: its strand has not ended and stands before nothing else.
    fn failing(&self) -> Option<usize> {
        let at = self.events.len().checked_sub(1)?;
        let Event { index, op, .. } = &self.events[at];
        let ends = matches!(op.kind, OpKind::Exit | OpKind::End | OpKind::Quit);
        (!ends && self.left_waiting(*index).is_none()).then_some(at)
    }

    /// Whether the run ended before the first step, and some strand could have made one.
    pub(crate) fn is_cut_at_once(&self) -> bool {
        self.events.is_empty() && self.pending.iter().any(|(_, enabled)| *enabled)
    }

    /// The order of the run's steps, and the pairs that could have come otherwise.
    pub(crate) fn analyse(&self, waits: &Waits) -> Analysis {
        let mut analysis = Analysis { states: waits.states(self), ..Analysis::default() };
        for at in 0..self.events.len() {
            analysis.add(self, at, waits);
        }
        for (at, deadline) in &self.woken {
            analysis.races.push(Race::of_pending(*at, deadline.clone()));
        }
        let last = self.events.len().checked_sub(1);
        let end = last.filter(|&last| self.events[last].op.kind == OpKind::End);
        for (event, enabled) in &self.pending {
            let before = analysis.last.get(&event.index).copied();
            let mut found = Vec::new();
            let clock = before.map(|at| analysis.clocks[at].clone()).unwrap_or_default();
            // Who waits could not have gone on before the process ended, either.
            analysis.ended = end.filter(|_| !enabled);
            analysis.races_of(self, event, before, &clock, waits, &mut found);
            // What nobody can tell from its not having been made hides what comes after it.
            if *enabled
                && (end.is_none() || event.op.kind.is_quiet())
                && let Some(last) = last.filter(|&last| self.events[last].index != event.index)
                && !found.iter().any(|found: &Found| found.first == last)
                && let Before::Made(later) = analysis.before(self, last, event, before, &clock, waits)
            {
                found.push(Found { first: last, by_deadline: false, later });
            }
            for Found { first, by_deadline, mut later } in found {
                // What was not made before the end of the process comes before it, too.
                later.extend(end.filter(|&end| end != first));
                let second = Event { by_deadline, ..event.clone() };
                analysis.races.push(Race { later, ..Race::of_pending(first, second) });
            }
        }
        // The next deadline could have come before the end.
        if let Some(first) = end
            && let Some(waiting) = self.events[first].timed.and_then(|next| self.left_waiting(next))
        {
            analysis.races.push(Race::of_pending(first, deadline_of(waiting)));
        }
        analysis
    }

    /// What a strand waited for when the run ended.
    fn left_waiting(&self, index: u16) -> Option<&Event> {
        let pending = self.pending.iter().map(|(event, _)| event);
        pending.chain(&self.sleeping).find(|event| event.index == index)
    }
}

/// The order of a run's steps.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// For each event, how many events of each strand come before it or are it.
    pub(super) clocks: Vec<Vec<u32>>,
    /// The number of each event in its strand, from 1.
    pub(super) ordinals: Vec<u32>,
    /// For each event, those of other strands that it directly depends on, the latest first.
    pub(crate) sources: Vec<Vec<usize>>,
    /// The pairs that could have come otherwise.
    pub(crate) races: Vec<Race>,
    /// What strands know, if that matters.
    pub(super) states: States,
    last: HashMap<u16, usize>,
    history: HashMap<u64, Vec<usize>>,
    /// Events with a range too long for that: candidates for everything.
    large: Vec<usize>,
    /// The end of the process, if what is looked at could not have come before it.
    ended: Option<usize>,
}

/// An access that a machine may make in several parts.
fn in_parts(op: &Op) -> bool {
    op.kind.is_plain_access() && u64::from(op.size) > GRAIN
}

impl Analysis {
    /// The instructions of accesses of more than a word that nothing keeps others from coming in the midst of.
    pub(crate) fn torn(&self, trace: &Trace) -> Vec<u64> {
        let mut found = Vec::new();
        for race in &self.races {
            for a in &trace.events[race.first].touches {
                for b in &race.second.touches {
                    let accesses = [&a.op, &b.op]
                        .iter()
                        .all(|op| op.kind.is_plain_access() || op.kind.is_atomic_access());
                    if accesses && depends(&a.op, &b.op) {
                        found.extend([&a.op, &b.op].iter().filter(|op| in_parts(op)).map(|op| op.pc));
                    }
                }
            }
        }
        found
    }

    /// Whether nothing keeps others from coming in the midst of what an instruction does.
    pub(crate) fn races_at(&self, trace: &Trace, pc: u64) -> bool {
        self.races.iter().any(|race| {
            let (first, second) = (&trace.events[race.first].touches, &race.second.touches);
            first.iter().any(|a| {
                second.iter().any(|b| depends(&a.op, &b.op) && [a, b].iter().any(|it| it.op.pc == pc))
            })
        })
    }

    /// Whether the first event comes before the second in every run of this class.
    pub(crate) fn precedes(&self, first: usize, second: usize, trace: &Trace) -> bool {
        let strand = trace.events[first].index as usize;
        self.clocks[second].get(strand).is_some_and(|&count| count >= self.ordinals[first])
    }

    fn add(&mut self, trace: &Trace, at: usize, waits: &Waits) {
        let event = &trace.events[at];
        let before = self.last.get(&event.index).copied();
        let mut clock = before.map(|at| self.clocks[at].clone()).unwrap_or_default();
        for &other in &trace.after[at] {
            let other = self.clocks[other].clone();
            join(&mut clock, &other);
        }
        let mut found = Vec::new();
        let sources = self.races_of(trace, event, before, &clock, waits, &mut found);
        for &source in &sources {
            let source = self.clocks[source].clone();
            join(&mut clock, &source);
        }
        let strand = event.index as usize;
        if clock.len() <= strand {
            clock.resize(strand + 1, 0);
        }
        let ordinal = before.map_or(0, |at| self.ordinals[at]) + 1;
        clock[strand] = ordinal;
        for Found { first, by_deadline, later } in found {
            let second = self.earlier(trace, first, event, by_deadline);
            let vain = waits.vain(trace, &self.states, first, &second);
            self.races.push(Race { first, second, made: Some(at), later, vain });
        }
        self.clocks.push(clock);
        self.ordinals.push(ordinal);
        self.sources.push(sources);
        self.last.insert(event.index, at);
        for touch in &event.touches {
            if is_large(&touch.op) {
                self.large.push(at);
                continue;
            }
            for grain in grains(&touch.op) {
                let list = self.history.entry(grain).or_default();
                if list.last() != Some(&at) {
                    list.push(at);
                }
            }
        }
    }

    /// The events that `event` directly depends on, latest first; those of them that could have come after it go into
    /// `found`, with whether its deadline would have come then.
    fn races_of(
        &self,
        trace: &Trace,
        event: &Event,
        before: Option<usize>,
        clock: &[u32],
        waits: &Waits,
        found: &mut Vec<Found>,
    ) -> Vec<usize> {
        let mut candidates: Vec<usize> = Vec::new();
        let concerned = |touch: &Touch| {
            let range = grains(&touch.op);
            match is_large(&touch.op) {
                true => self.history.keys().copied().filter(|grain| range.contains(grain)).collect(),
                false => range.collect::<Vec<u64>>(),
            }
        };
        candidates.extend(&self.large);
        for touch in &event.touches {
            for grain in concerned(touch) {
                let Some(list) = self.history.get(&grain) else { continue };
                let mut reversible = false;
                for &other in list.iter().rev() {
                    let theirs = &trace.events[other];
                    let Some(hit) = theirs.touches.iter().find(|theirs| depends(&theirs.op, &touch.op))
                    else {
                        continue;
                    };
                    candidates.push(other);
                    reversible |=
                        matches!(self.before(trace, other, event, before, clock, waits), Before::Made(_));
                    // All that came before a write of the whole place comes before this, too.
                    let whole = hit.op.addr <= touch.op.addr
                        && hit.op.addr + u64::from(hit.op.size) >= touch.op.addr + u64::from(touch.op.size);
                    if reversible && whole && hit.op.kind.changes() {
                        break;
                    }
                }
            }
        }
        let everything = |touch: &Touch| {
            matches!(touch.op.kind, OpKind::Signal | OpKind::Cancel | OpKind::End | OpKind::Region)
        };
        if event.touches.iter().any(everything) {
            candidates.extend(0..self.clocks.len());
        } else {
            candidates.extend(self.history.get(&SIGNALS).into_iter().flatten());
        }
        // If the event would have waited in a loop, others that decide about the loop may have come after it.
        let elsewhere = waits.others(trace, &self.states, event, before);
        let decides = |at: &usize| {
            let other = &trace.events[*at];
            !other.op.kind.looks() && elsewhere.iter().any(|place| place.is_of(other))
        };
        if !elsewhere.is_empty() {
            candidates.extend((0..self.clocks.len()).filter(decides));
        }
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        candidates.dedup();
        let mut waited = false;
        let mut ordered = clock.to_vec();
        let mut raced = clock.to_vec();
        let covers = |clock: &[u32], at: usize| {
            clock.get(trace.events[at].index as usize).is_some_and(|&count| count >= self.ordinals[at])
        };
        let mut sources = Vec::new();
        for at in candidates {
            if trace.events[at].index == event.index || self.ended == Some(at) {
                continue;
            }
            let depends = trace.events[at].depends(event);
            if depends && !covers(&ordered, at) {
                sources.push(at);
                join(&mut ordered, &self.clocks[at]);
            }
            if (depends || waited) && !covers(&raced, at) {
                let found_at = |by_deadline, later| Found { first: at, by_deadline, later };
                match self.before(trace, at, event, before, clock, waits) {
                    Before::Made(later) => {
                        // What could not be taken in time is free before somebody took it.
                        let free = acquires(event.op.kind).is_some();
                        found.push(found_at(event.by_deadline && !free, later));
                        join(&mut raced, &self.clocks[at]);
                    }
                    Before::Waits if event.by_deadline => {
                        found.push(found_at(true, Vec::new()));
                        join(&mut raced, &self.clocks[at]);
                    }
                    Before::Waits if event.has_deadline => found.push(found_at(true, Vec::new())),
                    Before::Perhaps => {
                        found.push(found_at(event.by_deadline, Vec::new()));
                        waited = true;
                    }
                    Before::Waits | Before::InVain => waited = true,
                }
            }
        }
        sources
    }

    /// The run's class as a number: the same for all runs of a class.
    pub(crate) fn class(&self, trace: &Trace) -> u64 {
        // Who was woken and has done nothing since has done nothing that others can tell.
        let told =
            |at: &usize| !trace.events[*at].op.kind.is_quiet() && !trace.events[*at].touches.is_empty();
        (0..trace.events.len()).filter(told).fold(0, |sum: u64, at| sum.wrapping_add(self.mark(trace, at)))
    }

    /// What an event adds to the number of a class.
    pub(crate) fn mark(&self, trace: &Trace, at: usize) -> u64 {
        use threadbare_strategy::rng::mix;
        let event = &trace.events[at];
        let mut mark = mix(event.path ^ u64::from(self.ordinals[at]).rotate_left(32));
        mark = mix(mark ^ u64::from(event.by_deadline) ^ (event.op.kind as u64) << 8 ^ event.op.pc << 16);
        for &(taken, options) in &event.choices {
            mark = mix(mark ^ u64::from(taken) ^ u64::from(options) << 32);
        }
        // The order of strands in a run's list may differ within a class.
        let mut sum = 0u64;
        for (index, &count) in self.clocks[at].iter().enumerate().filter(|(_, count)| **count > 0) {
            let path = trace.paths.get(index).copied().unwrap_or(0);
            sum = sum.wrapping_add(mix(path ^ mix(u64::from(count))));
        }
        mix(mark ^ sum)
    }
}
