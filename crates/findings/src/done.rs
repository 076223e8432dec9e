//! Operations in the order they were done.
//!
//! The event stream tells when a strand *comes to* a point; it may be stopped there, and does the operation when it goes
//! on. A reader wants the order of the effects, so an operation is told when its strand is seen to go on behind it.
//!
//! **A picture of a run shows operations where they were done** (`findings::done`): the stream tells when a strand
//! comes to a point, and a strand may be stopped there while others go on.

use std::collections::HashMap;
use threadbare_abi::event::{ChoiceKind, Event};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_trace::events::{Happening, TraceEvent};

/// An operation that a strand did, or began to wait for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Done {
    /// Who.
    pub strand: StrandId,
    /// What.
    pub op: OpKind,
    /// Bytes concerned.
    pub size: u32,
    /// The object; of a creation, the new strand.
    pub addr: u64,
    /// The instruction.
    pub pc: u64,
    /// Its callers, innermost first.
    pub callers: Vec<u64>,
    /// The run's event count at the point.
    pub event: u64,
    /// Whether the strand had to wait here; when it goes on, the operation comes again.
    pub waits: bool,
    /// Whether the wait ended by its deadline.
    pub by_deadline: bool,
    /// Whether it is an atomic load that saw an older store, or a store that came before newer ones.
    pub stale: bool,
}

/// Puts events into order.
#[derive(Clone, Debug)]
pub struct Doer {
    running: StrandId,
    /// What each strand stands before.
    pending: HashMap<StrandId, Pending>,
    callers: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Pending {
    done: Done,
    waits: bool,
}

impl Default for Doer {
    fn default() -> Doer {
        Doer { running: StrandId::MAIN, pending: HashMap::new(), callers: Vec::new() }
    }
}

impl Doer {
    /// The operations of a whole stream.
    pub fn all(events: &[Event]) -> Vec<Done> {
        let (mut doer, mut out) = (Doer::default(), Vec::new());
        for event in events {
            doer.event(event, &mut out);
        }
        doer.finish(&mut out);
        out
    }

    /// Takes an event; adds what is known to be done by it.
    pub fn event(&mut self, event: &Event, out: &mut Vec<Done>) {
        let Some(TraceEvent { strand, happening }) = TraceEvent::decode(event) else { return };
        match happening {
            Happening::Point { op, size, addr, pc, events, .. } => {
                self.running = strand;
                self.went_on(strand, out);
                let callers = std::mem::take(&mut self.callers);
                let done = Done {
                    strand,
                    op,
                    size,
                    addr,
                    pc,
                    callers,
                    event: events,
                    waits: false,
                    by_deadline: false,
                    stale: false,
                };
                self.pending.insert(strand, Pending { done, waits: false });
            }
            Happening::Caller(pc) => {
                self.went_on(strand, out);
                self.callers.push(pc);
            }
            Happening::Switch { by_timeout, .. } => {
                self.running = strand;
                if let Some(pending) = self.pending.get_mut(&strand) {
                    pending.done.by_deadline = by_timeout && pending.waits;
                }
            }
            Happening::Created { parent, .. } => {
                if let Some(pending) = self.pending.get_mut(&parent)
                    && pending.done.op == OpKind::Create
                {
                    pending.done.addr = u64::from(strand.0);
                }
                self.went_on(parent, out);
            }
            Happening::Blocked { op, addr, pc } => {
                if strand != self.running {
                    // What the running strand did took away what this one stands before.
                    self.went_on(self.running, out);
                }
                let callers = self.pending.get(&strand).map(|pending| pending.done.callers.clone());
                let event = self.pending.get(&strand).map_or(0, |pending| pending.done.event);
                let done = Done {
                    strand,
                    op,
                    size: 0,
                    addr,
                    pc,
                    callers: callers.unwrap_or_default(),
                    event,
                    waits: true,
                    by_deadline: false,
                    stale: false,
                };
                let before = self.pending.insert(strand, Pending { done: done.clone(), waits: true });
                // One wait may be told more than once: a strand that is woken in vain waits again.
                if !before
                    .is_some_and(|before| before.waits && before.done.addr == addr && before.done.op == op)
                {
                    out.push(done);
                }
            }
            Happening::Ended | Happening::Value(_) => self.went_on(strand, out),
            Happening::Choice { kind: ChoiceKind::ReadsFrom, .. } => {
                if let Some(pending) = self.pending.get_mut(&strand) {
                    pending.done.stale = true;
                }
            }
            Happening::Choice { .. } | Happening::Time(_) => {}
        }
    }

    /// The stream is over: what the running strand stood before was the last thing it did.
    pub fn finish(&mut self, out: &mut Vec<Done>) {
        if self.pending.get(&self.running).is_some_and(|pending| !pending.waits) {
            self.went_on(self.running, out);
        }
    }

    fn went_on(&mut self, strand: StrandId, out: &mut Vec<Done>) {
        if let Some(Pending { mut done, .. }) = self.pending.remove(&strand) {
            done.waits = false;
            out.push(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_abi::event::EventKind;

    fn event(kind: EventKind, strand: u16, op: OpKind, addr: u64) -> Event {
        Event { strand, kind: kind as u8, op: op as u8, addr, ..Event::default() }
    }

    fn told(events: &[Event]) -> Vec<(u16, OpKind, u64, bool)> {
        Doer::all(events).iter().map(|done| (done.strand.0, done.op, done.addr, done.waits)).collect()
    }

    #[test]
    fn a_stopped_strand_does_its_operation_when_it_goes_on() {
        use EventKind::{Created, Ended, Point, Switch};
        let events = [
            event(Point, 0, OpKind::Create, 0),
            event(Created, 1, OpKind::Start, 0),
            event(Point, 0, OpKind::Write, 8),
            event(Switch, 1, OpKind::Start, 0),
            event(Point, 1, OpKind::Read, 8),
            event(Point, 1, OpKind::Write, 8),
            event(Switch, 0, OpKind::Start, 0),
            event(Point, 0, OpKind::Read, 8),
            event(Switch, 1, OpKind::Start, 0),
            event(Ended, 1, OpKind::Exit, 0),
        ];
        assert_eq!(
            told(&events),
            [
                (0, OpKind::Create, 1, false),
                (1, OpKind::Read, 8, false),
                (0, OpKind::Write, 8, false),
                (1, OpKind::Write, 8, false),
            ],
            "strand 0 never did its last read"
        );
    }

    #[test]
    fn a_wait_is_told_when_it_begins_and_when_it_is_over() {
        use EventKind::{Blocked, Point, Switch};
        let timed_out = Event { addr: 1, ..event(Switch, 1, OpKind::Start, 0) };
        let events = [
            event(Point, 1, OpKind::MutexLock, 8),
            event(Switch, 0, OpKind::Start, 0),
            event(Point, 0, OpKind::MutexLock, 8),
            // Strand 0 has taken the lock that strand 1 stands before.
            event(Blocked, 1, OpKind::MutexLock, 8),
            event(Point, 0, OpKind::MutexUnlock, 8),
            event(Switch, 1, OpKind::Start, 0),
            event(Blocked, 1, OpKind::MutexLock, 8),
            timed_out,
            event(Point, 1, OpKind::Write, 16),
        ];
        assert_eq!(
            told(&events),
            [
                (0, OpKind::MutexLock, 8, false),
                (1, OpKind::MutexLock, 8, true),
                (1, OpKind::MutexLock, 8, false),
                (1, OpKind::Write, 16, false),
            ]
        );
        assert!(Doer::all(&events)[2].by_deadline);
    }
}
