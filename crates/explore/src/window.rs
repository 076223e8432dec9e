//! The last events before something happened in a run.
//!
//! The stream of a run goes by once; each finding keeps the stretch before its own moment: a race the events up to its
//! later access, a failure the events up to the end.

use crate::run::EventSink;
use std::collections::VecDeque;
use threadbare_abi::event::{Event, EventKind};
use threadbare_abi::op::{OpKind, Order};
use threadbare_trace::report::{Access, Moment};
use threadbare_trace::run::RunFacts;

/// Events kept for a finding.
const KEPT: usize = 4096;
/// Events kept of a run that is compared with another.
const LONG: usize = 1 << 18;
/// Callers that come before a point: as many as the runtime tells.
const CALLERS: usize = 8;

/// One stretch for each finding.
#[derive(Debug)]
pub(crate) struct Windows {
    list: Vec<Window>,
}

#[derive(Debug)]
struct Window {
    until: u64,
    room: usize,
    kept: VecDeque<Event>,
    reached: bool,
    closed: bool,
}

impl Window {
    fn new(until: u64, room: usize) -> Window {
        Window { until, room, kept: VecDeque::new(), reached: false, closed: false }
    }

    fn push(&mut self, event: &Event) {
        if self.closed {
            return;
        }
        let point = event.kind == EventKind::Point as u8;
        let moves_on = point || event.kind == EventKind::Switch as u8;
        if moves_on && self.reached || point && event.value > self.until {
            self.closed = true;
            return;
        }
        self.reached |= point && event.value == self.until;
        if self.kept.len() == self.room {
            self.kept.pop_front();
        }
        self.kept.push_back(*event);
    }

    fn into_events(self) -> Vec<Event> {
        let mut events = Vec::from(self.kept);
        // Callers of a point that was not kept.
        while self.closed && events.last().is_some_and(|event| event.kind == EventKind::Caller as u8) {
            events.pop();
        }
        events
    }
}

impl Windows {
    /// A stretch that ends with each of these events.
    pub(crate) fn new(ends: impl Iterator<Item = u64>) -> Windows {
        Windows { list: ends.map(|end| Window::new(end, KEPT)).collect() }
    }

    /// One stretch that ends with the run, and is as long as anybody may want to look at.
    pub(crate) fn long() -> Windows {
        Windows { list: vec![Window::new(u64::MAX, LONG)] }
    }

    /// The stretches, in the order of their ends as given.
    pub(crate) fn into_events(self) -> impl Iterator<Item = Vec<Event>> {
        self.list.into_iter().map(Window::into_events)
    }
}

impl EventSink for Windows {
    fn events(&mut self, events: &[Event]) {
        for window in self.list.iter_mut().filter(|window| !window.closed) {
            events.iter().for_each(|event| window.push(event));
        }
    }

    fn restart(&mut self) {
        for window in &mut self.list {
            *window = Window::new(window.until, window.room);
        }
    }
}

/// Puts what the finding is about where it belongs among the events: what was no point is not streamed.
pub(crate) fn complete(facts: &mut RunFacts) {
    let (report, verdict) = (&facts.report, &facts.verdict);
    for race in &report.races {
        for access in &race.accesses {
            insert(&mut facts.events, access, race.addr);
        }
    }
    let Some(block) = report.block else { return };
    if let Some(moment) = report.details.releases.get(&block.addr).filter(|_| block.freed) {
        let free = Access { op: OpKind::Free, size: block.size as u32, moment: moment.clone() };
        insert(&mut facts.events, &free, block.addr);
    }
    let strand = report.strand(verdict.strand);
    if let Some((pending, frames)) = strand.and_then(|strand| Some((strand.pending?, strand.frames.clone())))
    {
        // The access that ended the run is made by nobody any more: it comes after all events.
        let event = facts.counters.events + 1;
        let moment = Moment { strand: verdict.strand, pc: pending.pc, event, frames, held: Vec::new() };
        let access = Access { op: pending.op, size: pending.size, moment };
        if pending.pc == verdict.pc && (pending.op.is_plain_access() || pending.op.is_atomic_access()) {
            insert(&mut facts.events, &access, verdict.addr);
        }
    }
}

/// Ends the events where a strand begins to write of its panic, and tells that moment. The panic's words are the last the
/// strand writes to the standard error; what it does beside writing is little.
pub(crate) fn until_panic(events: &mut Vec<Event>, strand: u16) -> Option<Moment> {
    const STDERR: u64 = 2;
    const BESIDE: usize = 64;
    let mut begin = None;
    let mut beside = 0;
    for (at, event) in events.iter().enumerate().rev() {
        if event.strand != strand || event.kind != EventKind::Point as u8 {
            continue;
        }
        if event.op == OpKind::Io as u8 && event.addr == STDERR {
            (begin, beside) = (Some(at), 0);
        } else if begin.is_some() {
            beside += 1;
            if beside > BESIDE {
                break;
            }
        }
    }
    let begin = begin?;
    let (event, pc) = (events[begin].value, events[begin].pc);
    events.truncate(begin);
    let mut frames = Vec::new();
    while let Some(caller) = events.pop_if(|event| event.kind == EventKind::Caller as u8) {
        frames.push(caller.pc);
    }
    frames.reverse();
    Some(Moment { strand, pc, event, frames, held: Vec::new() })
}

fn insert(events: &mut Vec<Event>, access: &Access, addr: u64) {
    let moment = &access.moment;
    let is_point = |event: &Event| event.kind == EventKind::Point as u8;
    if events
        .iter()
        .any(|event| is_point(event) && event.value == moment.event && event.strand == moment.strand)
    {
        return;
    }
    // A strand stops at points only, so the access comes in the stretch that ends with the next point.
    let next = events.iter().position(|event| is_point(event) && event.value > moment.event);
    let mut at = next.unwrap_or(events.len());
    while next.is_some() && at > 0 && events[at - 1].kind == EventKind::Caller as u8 {
        at -= 1;
    }
    let event =
        |kind: EventKind, pc: u64| Event { pc, strand: moment.strand, kind: kind as u8, ..Event::default() };
    let point = Event {
        addr,
        value: moment.event,
        op: access.op as u8,
        size_order: access.size.min(0xff_ffff) | (Order::Relaxed as u32) << 24,
        ..event(EventKind::Point, moment.pc)
    };
    let callers = moment.frames.iter().take(CALLERS).map(|&pc| event(EventKind::Caller, pc));
    events.splice(at..at, callers.chain([point]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind, strand: u16, value: u64) -> Event {
        Event { strand, kind: kind as u8, value, ..Event::default() }
    }

    /// Points at every third event, each with a caller, and a switch behind each.
    fn stream(count: u64) -> Vec<Event> {
        let point = |at: u64| {
            let strand = (at % 2) as u16;
            [
                event(EventKind::Caller, strand, 0),
                event(EventKind::Point, strand, 3 * at),
                event(EventKind::Switch, 1 - strand, 1),
            ]
        };
        (1..=count).flat_map(point).collect()
    }

    fn points(events: &[Event]) -> Vec<u64> {
        let points = events.iter().filter(|event| event.kind == EventKind::Point as u8);
        points.map(|event| event.value).collect()
    }

    #[test]
    fn each_stretch_ends_at_its_own_event() {
        let mut windows = Windows::new([6, u64::MAX, 7].into_iter());
        windows.events(&stream(1));
        windows.restart();
        stream(9000).chunks(100).for_each(|chunk| windows.events(chunk));
        let [exact, all, between] = windows.into_events().collect::<Vec<_>>().try_into().unwrap();
        assert_eq!((points(&exact), exact.len()), (vec![3, 6], 5));
        assert_eq!((all.len(), points(&all).last()), (KEPT, Some(&27_000)));
        // The switch to whoever makes the access is there; the caller of the next point is not.
        assert_eq!(
            (points(&between), between.last().map(|event| event.kind)),
            (vec![3, 6], Some(EventKind::Switch as u8))
        );
    }

    #[test]
    fn a_panic_is_where_the_strand_writes_last() {
        let write = |strand, value| Event {
            op: OpKind::Io as u8,
            addr: 2,
            pc: 0x50,
            ..event(EventKind::Point, strand, value)
        };
        let mut events = stream(200);
        events.insert(3, write(1, 4));
        let end = events.len();
        events.extend([
            Event { pc: 0x20, ..event(EventKind::Caller, 1, 0) },
            Event { pc: 0x30, ..event(EventKind::Caller, 1, 0) },
            write(1, 601),
            event(EventKind::Point, 1, 602),
            write(0, 603),
            write(1, 604),
            event(EventKind::Point, 1, 605),
            write(0, 606),
        ]);
        assert_eq!(until_panic(&mut events.clone(), 7), None);
        let moment = until_panic(&mut events, 1).unwrap();
        assert_eq!((moment.event, moment.pc, &moment.frames[..]), (601, 0x50, &[0x20, 0x30][..]));
        assert_eq!(events.len(), end, "what came after it, and its callers, are gone");
    }

    #[test]
    fn an_access_that_was_no_point_is_put_in() {
        let access = |strand, at| Access {
            op: OpKind::Write,
            size: 4,
            moment: Moment { strand, pc: 0x10, event: at, frames: vec![0x20], ..Moment::default() },
        };
        let mut events = stream(3);
        insert(&mut events, &access(0, 6), 0x1000);
        assert_eq!(points(&events), [3, 6, 9], "it is there already");
        insert(&mut events, &access(0, 4), 0x1000);
        assert_eq!(points(&events), [3, 4, 6, 9]);
        let at = events.iter().position(|event| event.value == 4).unwrap();
        assert_eq!(events[at - 1], Event { pc: 0x20, ..event(EventKind::Caller, 0, 0) });
        assert_eq!(events[at - 2].kind, EventKind::Switch as u8);
        assert_eq!((events[at].op, events[at].addr), (OpKind::Write as u8, 0x1000));
        insert(&mut events, &access(1, 1), 0x1000);
        insert(&mut events, &access(1, 12), 0x1000);
        assert_eq!(points(&events), [1, 3, 4, 6, 9, 12]);
    }
}
