//! A run, point by point: what `replay --trace` prints.
//!
//! One line a point: its number, the strand, the operation, the variable or address, the function and the place with
//! the inlined frames in brackets. A switch has a line of its own.

use crate::style::Style;
use std::collections::HashMap;
use std::fmt::Write;
use threadbare_abi::event::{ChoiceKind, Event};
use threadbare_abi::op::OpKind;
use threadbare_findings::Places;
use threadbare_findings::explain::{object, place_text};
use threadbare_trace::events::{Happening, TraceEvent};
use threadbare_trace::strands::Strands;

/// Turns the event stream into lines.
pub struct TracePrinter<'a> {
    places: &'a dyn Places,
    style: Style,
    strands: Strands,
    points: u64,
    /// Texts of places and objects: a run has few of them and many points.
    place_texts: HashMap<u64, String>,
    object_texts: HashMap<(u8, u64), String>,
}

impl<'a> TracePrinter<'a> {
    /// A printer for one run.
    pub fn new(places: &'a dyn Places, style: Style) -> TracePrinter<'a> {
        TracePrinter {
            places,
            style,
            strands: Strands::new(),
            points: 0,
            place_texts: HashMap::new(),
            object_texts: HashMap::new(),
        }
    }

    /// The run begins anew.
    pub fn restart(&mut self) {
        self.strands = Strands::new();
        self.points = 0;
        self.object_texts.clear();
    }

    /// Points so far.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// Adds the line of an event, if it has one.
    pub fn event(&mut self, event: &Event, out: &mut String) {
        let Some(TraceEvent { strand, happening }) = TraceEvent::decode(event) else { return };
        if let Happening::Created { parent, ordinal } = happening {
            self.strands.created(strand, parent, ordinal);
        }
        let name = self.strands.name(strand);
        let _ = match happening {
            Happening::Point { op, order, size, addr, pc, .. } => {
                self.points += 1;
                let mut operation = op.name().to_owned();
                if let Some(order) = order {
                    let _ = write!(operation, " {}", order.name());
                }
                if op.is_plain_access() || op.is_atomic_access() {
                    let _ = write!(operation, " {size}");
                }
                let number = self.points;
                let object = match op {
                    OpKind::Create => format!("strand {}", self.strands.next_child(strand)),
                    _ => self.object(op, addr, size).to_owned(),
                };
                let place = self.place(pc);
                writeln!(out, "{number:>8}  {name:<8} {operation:<22} {object:<24} {place}")
            }
            Happening::Switch { by_timeout, .. } => {
                let why = if by_timeout { " (its deadline has come)" } else { "" };
                writeln!(out, "{}", self.style.strong(format!("{:>8}  -> {name}{why}", "")))
            }
            Happening::Created { parent, .. } => {
                let parent = self.strands.name(parent);
                writeln!(out, "{:>8}  {name:<8} created by {parent}", "")
            }
            Happening::Ended => writeln!(out, "{:>8}  {name:<8} ended", ""),
            Happening::Blocked { op, addr, .. } => {
                let object = self.object(op, addr, 0);
                writeln!(out, "{:>8}  {name:<8} waits: {} {object}", "", op.name())
            }
            Happening::Choice { kind: ChoiceKind::Strand, .. } => Ok(()),
            Happening::Choice { kind, taken, options } => {
                writeln!(out, "{:>8}  {name:<8} choice: {} {} of {options}", "", kind.name(), taken + 1)
            }
            Happening::Value(value) => writeln!(out, "{:>8}  {name:<8} value {value:#x}", ""),
            Happening::Time(ns) => {
                writeln!(out, "{:>8}  time is {}.{:09} s", "", ns / 1_000_000_000, ns % 1_000_000_000)
            }
        };
    }

    fn object(&mut self, op: OpKind, addr: u64, size: u32) -> &str {
        let (places, strands) = (self.places, &self.strands);
        self.object_texts.entry((op as u8, addr)).or_insert_with(|| {
            let plain = op.is_plain_access() || op.is_atomic_access();
            let named = if plain { places.variable(addr, u64::from(size)) } else { None };
            named.or_else(|| object(op, addr, strands, places)).unwrap_or_default()
        })
    }

    fn place(&mut self, pc: u64) -> &str {
        let places = self.places;
        self.place_texts.entry(pc).or_insert_with(|| {
            if pc == 0 {
                return String::new();
            }
            let frames = places.at(pc);
            let Some((first, rest)) = frames.split_first() else { return format!("{pc:#x}") };
            let mut text = String::new();
            if let Some(function) = &first.function {
                let _ = write!(text, "{function} ");
            }
            text.push_str(&place_text(first));
            for frame in rest {
                let function = frame.function.as_deref().unwrap_or("??");
                let _ = write!(text, " [in {function} {}]", place_text(frame));
            }
            text
        })
    }
}

impl std::fmt::Debug for TracePrinter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TracePrinter").field("points", &self.points).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_abi::event::EventKind;
    use threadbare_abi::op::Order;
    use threadbare_findings::Place;

    struct Known;

    impl Places for Known {
        fn at(&self, pc: u64) -> Vec<Place> {
            let place = |function: &str, line, inlined| Place {
                function: Some(function.into()),
                file: Some("bank.c".into()),
                line: Some(line),
                inlined,
                ..Place::default()
            };
            match pc {
                1 => vec![place("lock_it", 7, true), place("transfer", 20, false)],
                2 => vec![place("deposit", 31, false)],
                _ => vec![Place { address: "bank+0x33".into(), ..Place::default() }],
            }
        }

        fn variable(&self, addr: u64, _size: u64) -> Option<String> {
            (addr == 0x40).then(|| "accounts[3].lock".into())
        }

        fn source(&self, _file: &str, _line: u32) -> Option<String> {
            None
        }
    }

    #[test]
    fn a_trace_reads_like_this() {
        let event = |kind: EventKind, strand, op: u8, addr, value, pc| Event {
            pc,
            addr,
            value,
            strand,
            kind: kind as u8,
            op,
            size_order: 4 | (Order::Release as u32) << 24,
        };
        let events = [
            event(EventKind::Created, 1, 0, 0, 1, 0),
            event(EventKind::Point, 0, OpKind::MutexLock as u8, 0x40, 0, 1),
            event(EventKind::Switch, 1, 0, 0, 3, 0),
            event(EventKind::Point, 1, OpKind::AtomicStore as u8, 0x99, 0, 2),
            event(EventKind::Point, 1, OpKind::Join as u8, 0, 0, 3),
            event(EventKind::Blocked, 1, OpKind::MutexLock as u8, 0x40, 0, 2),
            event(EventKind::Choice, 0, ChoiceKind::Wake as u8, 1, 3, 0),
            event(EventKind::Time, 0, 0, 0, 1_500_000_000, 0),
            event(EventKind::Switch, 0, 0, 1, 3, 0),
            event(EventKind::Ended, 0, 0, 0, 0, 0),
        ];
        let mut printer = TracePrinter::new(&Known, Style::PLAIN);
        let mut out = String::new();
        for event in &events {
            printer.event(event, &mut out);
        }
        insta::assert_snapshot!(out);
        assert_eq!(printer.points(), 3);
    }
}
