//! Loops that wait for memory to change.
//!
//! A strand that loads the same values again and again, and has the same in registers and on its stack each time, waits for others. How often it looked in vain makes no difference to
//! anybody, so a round of such a loop that only leads to the next one is no part of a run's class: planners take the loop as
//! one operation that can be made when the values are others. Which values make it wait is learnt from runs in which the
//! engine found the loop spinning; that they do so in a state of the strand ([`super::states`]), from runs in which it looked in vain.

use super::states::{States, gives_way};
use super::trace::{Event, Spin, Trace};
use std::collections::HashSet;
use threadbare_abi::op::OpKind;
use threadbare_strategy::planned;

/// A load of a loop, and the value that keeps it waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Place {
    pub(crate) pc: u64,
    pub(crate) addr: u64,
    pub(crate) size: u8,
    pub(crate) value: u64,
    /// Stands for the innermost callers: in code that is not optimised one instruction makes the loads of many loops.
    pub(crate) context: u64,
}

impl Place {
    fn is_at(&self, event: &Event) -> bool {
        self.pc == event.op.pc && self.addr == event.op.addr && self.context == event.context
    }

    /// Whether the event touches the same memory.
    pub(crate) fn is_of(&self, event: &Event) -> bool {
        self.addr == event.op.addr && u32::from(self.size) == event.op.size
    }
}

/// Rounds of loops that lead to the next round, each by its loads in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    rounds: Vec<Vec<Place>>,
    /// In which states of their strands which of them were made in vain.
    seen: HashSet<(usize, u64)>,
    /// Atomic loads may see older stores.
    pub(crate) weak: bool,
}

/// The most rounds that are kept.
const MOST: usize = 1024;
/// The most of their states.
const MOST_SEEN: usize = 1 << 20;

impl Waits {
    /// Learns from a run; whether there was something new.
    pub(crate) fn learn(&mut self, trace: &Trace) -> bool {
        let mut new = false;
        for spin in &trace.spins {
            if let Some(round) = in_order(trace, spin)
                && self.rounds.len() < MOST
                && !self.rounds.contains(&round)
            {
                self.rounds.push(round);
                new = true;
            }
        }
        self.learn_states(trace);
        new
    }

    /// Learns in which states the rounds of a run were made in vain.
    fn learn_states(&mut self, trace: &Trace) {
        let rounds = self.rounds_in_vain(trace, &|_| false);
        if rounds.is_empty() || self.seen.len() > MOST_SEEN {
            return;
        }
        let states = States::of(trace, &events_of(&rounds));
        self.seen.extend(rounds.iter().map(|(round, events)| (*round, states.before(events[0]))));
    }

    /// How much is known of loops that wait.
    pub(crate) fn known(&self) -> usize {
        self.seen.len()
    }

    /// The states of the strands of a run.
    pub(crate) fn states(&self, trace: &Trace) -> States {
        if self.rounds.is_empty() {
            return States::default();
        }
        States::of(trace, &self.in_vain(trace))
    }

    /// Adds them to the words of a guide.
    pub(crate) fn tell(&self, words: &mut Vec<u64>) {
        let place = |place: &Place| [place.pc, place.addr, u64::from(place.size), place.value, place.context];
        for round in &self.rounds {
            planned::wait(&round.iter().map(place).collect::<Vec<_>>(), words);
        }
    }

    /// The events of rounds that only led to the next one, but for looks at the newest store that could have seen an older one: what comes of that is
    /// a difference.
    pub(crate) fn void(&self, trace: &Trace) -> HashSet<usize> {
        events_of(&self.rounds_in_vain(trace, &|event| event.chose && event.back == 0))
    }

    /// The events of all rounds that only led to the next one.
    pub(crate) fn in_vain(&self, trace: &Trace) -> HashSet<usize> {
        events_of(&self.rounds_in_vain(trace, &|_| false))
    }

    /// The rounds that only led to the next one, each by its number and its events.
    fn rounds_in_vain(&self, trace: &Trace, counts: &dyn Fn(&Event) -> bool) -> Vec<(usize, Vec<usize>)> {
        let mut void = Vec::new();
        if self.rounds.is_empty() {
            return void;
        }
        let strands: HashSet<u16> = trace.events.iter().map(|event| event.index).collect();
        for strand in strands {
            let own: Vec<usize> =
                (0..trace.events.len()).filter(|&at| trace.events[at].index == strand).collect();
            let mut at = 0;
            while at < own.len() {
                let whole = |round: &Vec<Place>| self.whole(trace, &own[at..], round, counts);
                match self.rounds.iter().enumerate().find_map(|(number, it)| Some((number, whole(it)?))) {
                    Some((number, length)) => {
                        void.push((number, own[at..at + length].to_vec()));
                        at += length;
                    }
                    None => at += 1,
                }
            }
        }
        void
    }

    /// How many events of the strand make up this round and lead to the same loop again.
    fn whole(
        &self,
        trace: &Trace,
        own: &[usize],
        round: &[Place],
        counts: &dyn Fn(&Event) -> bool,
    ) -> Option<usize> {
        let mut at = 0;
        for place in round {
            while at > 0 && own.get(at).is_some_and(|&at| gives_way(&trace.events[at])) {
                at += 1;
            }
            let event = &trace.events[*own.get(at)?];
            if !place.is_at(event) || event.before != place.value || counts(event) {
                return None;
            }
            at += 1;
        }
        while own.get(at).is_some_and(|&at| gives_way(&trace.events[at])) {
            at += 1;
        }
        let next = trace.next_of(own[at - 1])?;
        (round[0].is_at(next) && next.local == trace.events[own[0]].local).then_some(at)
    }

    /// The steps of a loop, up to `last`, that would look in vain if `writes` came before the last of them.
    pub(crate) fn vain(&self, trace: &Trace, states: &States, last: usize, writes: &Event) -> Vec<usize> {
        let event = &trace.events[last];
        let changes = writes.op.addr == event.op.addr && writes.op.size == event.op.size;
        if self.rounds.is_empty() || !changes || event.before == writes.after {
            return Vec::new();
        }
        let own = || (0..last).rev().filter(|&at| trace.events[at].index == event.index);
        let found = self.rounds.iter().enumerate().find_map(|(number, round)| {
            let (end, earlier) = round.split_last()?;
            // A loop of one load is not begun while it would wait.
            if earlier.is_empty() || !end.is_at(event) || writes.after != end.value {
                return None;
            }
            let mut own = own().filter(|&at| !gives_way(&trace.events[at]));
            let mut steps = vec![last];
            for place in earlier.iter().rev() {
                let at = own.next()?;
                let event = &trace.events[at];
                if !place.is_at(event) || event.before != place.value {
                    return None;
                }
                steps.push(at);
            }
            steps.reverse();
            self.seen.contains(&(number, states.before(steps[0]))).then_some(steps)
        });
        found.unwrap_or_default()
    }

    /// Whether `event`, made just before the event `at` instead, would only have begun or ended a round in vain. For a round
    /// that it begins, nothing that comes later may change what is left of it. `comes_before` tells of the events up to this one
    /// whether they could have been made before it.
    pub(crate) fn would_wait(
        &self,
        trace: &Trace,
        states: &States,
        event: &Event,
        before: Option<usize>,
        at: usize,
        comes_before: &dyn Fn(usize) -> bool,
    ) -> bool {
        let other = &trace.events[at];
        self.rounds_of(trace, states, event, before).any(|(place, rest)| {
            let value = match place.is_of(other) {
                true => Some(other.before),
                // What nobody has touched is what the event itself finds.
                false => value_of(trace, place, comes_before).or(Some(event.before)),
            };
            value == Some(place.value)
                && rest.iter().all(|rest| stays(trace, rest, event.index, comes_before))
        })
    }

    /// Whether a load that would go on with a loop in vain, by the newest store, could have seen another one.
    pub(crate) fn may_see_older(
        &self,
        trace: &Trace,
        states: &States,
        event: &Event,
        before: Option<usize>,
        comes_before: &dyn Fn(usize) -> bool,
    ) -> bool {
        let older = |place: &Place| has_older(trace, place, comes_before);
        self.weak
            && event.op.kind == OpKind::AtomicLoad
            && self
                .rounds_of(trace, states, event, before)
                .any(|(place, rest)| older(place) || rest.iter().any(&older))
    }

    /// Where else the rounds look that `event` begins, or goes on with: writes there decide whether it waits, too.
    pub(crate) fn others(
        &self,
        trace: &Trace,
        states: &States,
        event: &Event,
        before: Option<usize>,
    ) -> Vec<Place> {
        self.rounds_of(trace, states, event, before).flat_map(|(_, rest)| rest).copied().collect()
    }

    /// The rounds in which the strand is with this event, each by the event's place and what is left of the round: those that were seen
    /// to be in vain in the strand's state.
    fn rounds_of<'a>(
        &'a self,
        trace: &'a Trace,
        states: &'a States,
        event: &'a Event,
        before: Option<usize>,
    ) -> impl Iterator<Item = (&'a Place, &'a [Place])> {
        self.rounds.iter().enumerate().flat_map(move |(number, round)| {
            (0..round.len())
                .filter(move |&place| {
                    round[place].is_at(event)
                        && begins(trace, before, event.index, &round[..place]).is_some_and(|first| {
                            let state =
                                first.map_or_else(|| states.at(event, before), |it| states.before(it));
                            self.seen.contains(&(number, state))
                        })
                })
                .map(move |place| (&round[place], &round[place + 1..]))
        })
    }
}

fn events_of(rounds: &[(usize, Vec<usize>)]) -> HashSet<usize> {
    rounds.iter().flat_map(|(_, events)| events).copied().collect()
}

/// Whether a load of the place after the events that come before could see another store than the newest.
fn has_older(trace: &Trace, place: &Place, comes_before: &dyn Fn(usize) -> bool) -> bool {
    let stores = |event: &Event| place.is_of(event) && !event.op.kind.looks();
    (0..trace.events.len()).any(|at| comes_before(at) && stores(&trace.events[at]))
}

/// What the place holds after the events that come before.
fn value_of(trace: &Trace, place: &Place, comes_before: &dyn Fn(usize) -> bool) -> Option<u64> {
    let tells = |event: &Event| place.is_of(event) && !event.is_stale();
    let touching = || (0..trace.events.len()).filter(|&at| tells(&trace.events[at]));
    match touching().filter(|&at| comes_before(at)).last() {
        Some(last) => Some(trace.events[last].after),
        None => touching().next().map(|first| trace.events[first].before),
    }
}

/// Whether the place has the value that keeps the loop waiting after the events that come before, and keeps it.
fn stays(trace: &Trace, place: &Place, strand: u16, comes_before: &dyn Fn(usize) -> bool) -> bool {
    let mut after = trace.events.iter().enumerate().filter(|(at, _)| !comes_before(*at));
    // What the strand itself does comes after its loop.
    value_of(trace, place, comes_before) == Some(place.value)
        && after.all(|(_, event)| {
            let reads = event.op.kind.looks();
            !place.is_of(event) || event.index == strand || reads || event.after == place.value
        })
}

/// If the strand's last events, up to `before`, are these loads with these values: the first of them, if there are any.
fn begins(trace: &Trace, before: Option<usize>, strand: u16, places: &[Place]) -> Option<Option<usize>> {
    let made = before.map_or(0, |before| before + 1);
    let is_own = |at: &usize| trace.events[*at].index == strand && !gives_way(&trace.events[*at]);
    let mut own = (0..made).rev().filter(is_own);
    let mut first = None;
    for place in places.iter().rev() {
        let at = own.next()?;
        let event = &trace.events[at];
        if !place.is_at(event) || event.before != place.value {
            return None;
        }
        first = Some(at);
    }
    Some(first)
}

/// The places of a loop in the order in which the strand came to them when it entered the loop.
fn in_order(trace: &Trace, spin: &Spin) -> Option<Vec<Place>> {
    let place_of = |event: &Event| spin.places.iter().find(|place| place.is_at(event)).copied();
    let own = trace.events[..spin.at].iter().rev().filter(|event| event.index == spin.strand);
    let stretch: Vec<&Event> =
        own.take_while(|event| gives_way(event) || place_of(event).is_some()).collect();
    let mut order: Vec<Place> = Vec::new();
    for place in stretch.into_iter().rev().filter_map(place_of) {
        if !order.contains(&place) {
            order.push(place);
        }
    }
    (order.len() == spin.places.len() && !order.is_empty()).then_some(order)
}
