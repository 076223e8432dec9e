//! The records of the event stream, typed.

use threadbare_abi::event::{ChoiceKind, Event, EventKind};
use threadbare_abi::op::{OpKind, Order};
use threadbare_abi::strand::StrandId;

/// Something that happened in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happening {
    /// The strand came to a point.
    Point {
        /// What it is about to do.
        op: OpKind,
        /// The memory order of an atomic operation.
        order: Option<Order>,
        /// Bytes concerned.
        size: u32,
        /// The object.
        addr: u64,
        /// The instruction.
        pc: u64,
        /// The strand's events so far.
        events: u64,
    },
    /// The strand goes on.
    Switch {
        /// Events since it last began.
        events: u64,
        /// Whether it goes on by its deadline.
        by_timeout: bool,
    },
    /// The strand was created.
    Created {
        /// By whom.
        parent: StrandId,
        /// As which child, from 1.
        ordinal: u32,
    },
    /// The strand ended.
    Ended,
    /// The strand cannot go on.
    Blocked {
        /// What it waits to do.
        op: OpKind,
        /// With what.
        addr: u64,
        /// The instruction.
        pc: u64,
    },
    /// A choice other than a strand.
    Choice {
        /// Of what.
        kind: ChoiceKind,
        /// The option taken.
        taken: u64,
        /// The number of options.
        options: u64,
    },
    /// What an operation read or wrote.
    Value(u64),
    /// Virtual time moved to this nanosecond.
    Time(u64),
    /// A caller of the strand's next point: the return address. The innermost comes first.
    Caller(u64),
}

/// A record with its strand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceEvent {
    /// The strand it concerns.
    pub strand: StrandId,
    /// What happened.
    pub happening: Happening,
}

impl TraceEvent {
    /// Decodes a record; `None` for one this version does not know.
    pub fn decode(event: &Event) -> Option<TraceEvent> {
        let op = || OpKind::from_code(event.op);
        let happening = match EventKind::from_code(event.kind)? {
            EventKind::Point => {
                let op = op()?;
                let order = Order::from_code((event.size_order >> 24) as u8);
                let ordered = op.is_atomic_access() || op == OpKind::Fence;
                Happening::Point {
                    op,
                    order: order.filter(|_| ordered),
                    size: event.size_order & 0xff_ffff,
                    addr: event.addr,
                    pc: event.pc,
                    events: event.value,
                }
            }
            EventKind::Switch => Happening::Switch { events: event.value, by_timeout: event.addr == 1 },
            EventKind::Created => {
                Happening::Created { parent: StrandId(event.addr as u16), ordinal: event.value as u32 }
            }
            EventKind::Ended => Happening::Ended,
            EventKind::Blocked => Happening::Blocked { op: op()?, addr: event.addr, pc: event.pc },
            EventKind::Choice => Happening::Choice {
                kind: ChoiceKind::from_code(event.op)?,
                taken: event.addr,
                options: event.value,
            },
            EventKind::Value => Happening::Value(event.value),
            EventKind::Time => Happening::Time(event.value),
            EventKind::Caller => Happening::Caller(event.pc),
            // Of a stream for those who infer from values; `threadbare-values` reads it.
            EventKind::Entered
            | EventKind::Made
            | EventKind::Left
            | EventKind::Block
            | EventKind::Local
            | EventKind::Returned
            | EventKind::Beside
            | EventKind::Allocated => return None,
            // What is done, for a trace that is kept; `recording` reads it.
            EventKind::Accessed
            | EventKind::Atomic
            | EventKind::Fenced
            | EventKind::Acquired
            | EventKind::Released
            | EventKind::AcquiredWord
            | EventKind::AcquiredAll
            | EventKind::Joined
            | EventKind::Forgotten => return None,
        };
        Some(TraceEvent { strand: StrandId(event.strand), happening })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_point_has_its_order_only_if_it_is_atomic() {
        let event = Event {
            pc: 7,
            addr: 8,
            value: 9,
            strand: 2,
            kind: EventKind::Point as u8,
            op: OpKind::AtomicLoad as u8,
            size_order: 4 | (Order::Acquire as u32) << 24,
        };
        let point = |op, order| {
            let happening = Happening::Point { op, order, size: 4, addr: 8, pc: 7, events: 9 };
            Some(TraceEvent { strand: StrandId(2), happening })
        };
        assert_eq!(TraceEvent::decode(&event), point(OpKind::AtomicLoad, Some(Order::Acquire)));
        let plain = Event { op: OpKind::Write as u8, ..event };
        assert_eq!(TraceEvent::decode(&plain), point(OpKind::Write, None));
        assert_eq!(TraceEvent::decode(&Event { kind: 200, ..event }), None);
    }

    proptest! {
        #[test]
        fn any_record_is_decoded_or_left_out(kind in any::<u8>(), op in any::<u8>(), words in any::<[u64; 3]>()) {
            let event = Event { pc: words[0], addr: words[1], value: words[2], kind, op, ..Event::default() };
            let known = EventKind::from_code(kind).is_some();
            prop_assert!(known || TraceEvent::decode(&event).is_none());
        }
    }
}
