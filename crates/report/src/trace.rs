//! A run, point by point: what `replay --trace` prints.
//!
//! One line a point: its number, the strand, the operation, the variable or address, the innermost function of the
//! program's own with its place, and in brackets the next one that it was inlined into. A switch has a line of its own.
//! No line of a point is wider than the stream, and what goes last is the place.

use crate::style::Style;
use std::collections::HashMap;
use std::fmt::Write;
use threadbare_abi::event::{ChoiceKind, Event};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_findings::explain::place_text;
use threadbare_findings::places::chain;
use threadbare_findings::steps::operand;
use threadbare_findings::{Place, Places};
use threadbare_trace::events::{Happening, TraceEvent};
use threadbare_trace::strands::Strands;

/// Turns the event stream into lines.
pub struct TracePrinter<'a> {
    places: &'a dyn Places,
    style: Style,
    width: usize,
    strands: Strands,
    points: u64,
    /// The strand that runs.
    running: StrandId,
    /// The line of a switch, and the strand it left: that one tells afterwards what it waits for.
    switch: Option<(StrandId, String)>,
    /// Texts of places and objects: a run has few of them and many points.
    place_texts: HashMap<Vec<u64>, PlaceText>,
    /// Callers of the next point, the innermost first.
    callers: Vec<u64>,
    object_texts: HashMap<(u8, u64), String>,
}

impl<'a> TracePrinter<'a> {
    /// A printer for one run whose lines have at most `width` columns.
    pub fn new(places: &'a dyn Places, style: Style, width: usize) -> TracePrinter<'a> {
        TracePrinter {
            places,
            style,
            width,
            strands: Strands::new(),
            points: 0,
            running: StrandId(0),
            switch: None,
            place_texts: HashMap::new(),
            callers: Vec::new(),
            object_texts: HashMap::new(),
        }
    }

    /// The run begins anew.
    pub fn restart(&mut self) {
        self.strands = Strands::new();
        self.points = 0;
        self.running = StrandId(0);
        self.switch = None;
        self.callers.clear();
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
        if let Happening::Caller(pc) = happening {
            self.callers.push(pc);
            return;
        }
        let left = self.switch.as_ref().map(|(left, _)| *left);
        if !(matches!(happening, Happening::Blocked { .. }) && left == Some(strand)) {
            self.finish(out);
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
                let line = format!("{number:>8}  {name:<8} {operation:<22} {object:<24} ");
                let room = self.width.saturating_sub(line.chars().count());
                writeln!(out, "{}", format!("{line}{}", self.place(pc).fitting(room)).trim_end())
            }
            Happening::Switch { by_timeout, .. } => {
                let why = if by_timeout { " (its deadline has come)" } else { "" };
                let line = self.style.strong(format!("{:>8}  -> {name}{why}", "")).to_string();
                self.switch = Some((std::mem::replace(&mut self.running, strand), line));
                Ok(())
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
            Happening::Choice { kind: ChoiceKind::Strand, .. } | Happening::Caller(_) => Ok(()),
            Happening::Choice { kind, taken, options } => {
                writeln!(out, "{:>8}  {name:<8} choice: {} {} of {options}", "", kind.name(), taken + 1)
            }
            Happening::Value(value) => writeln!(out, "{:>8}  {name:<8} value {value:#x}", ""),
            Happening::Time(ns) => {
                writeln!(out, "{:>8}  time is {}.{:09} s", "", ns / 1_000_000_000, ns % 1_000_000_000)
            }
        };
    }

    /// Adds what was held back.
    pub fn finish(&mut self, out: &mut String) {
        if let Some((_, line)) = self.switch.take() {
            out.push_str(&line);
            out.push('\n');
        }
    }

    fn object(&mut self, op: OpKind, addr: u64, size: u32) -> &str {
        let (places, strands) = (self.places, &self.strands);
        let entry = self.object_texts.entry((op as u8, addr));
        entry.or_insert_with(|| operand(op, addr, size, strands, places).unwrap_or_default())
    }

    fn place(&mut self, pc: u64) -> &PlaceText {
        let places = self.places;
        let mut pcs = std::mem::take(&mut self.callers);
        pcs.insert(0, pc);
        self.place_texts.entry(pcs).or_insert_with_key(|pcs| {
            if pc == 0 {
                return PlaceText::default();
            }
            let frames = chain(places, pc, &pcs[1..]);
            match frames.is_empty() {
                true => PlaceText { at: format!("{pc:#x}"), ..PlaceText::default() },
                false => PlaceText::of(&frames),
            }
        })
    }
}

/// The place of a point in parts, so that it can be made to fit.
#[derive(Default)]
pub(crate) struct PlaceText {
    function: String,
    at: String,
    /// One function further out.
    outer: String,
}

impl PlaceText {
    /// Of the functions at the instruction, and of its callers where all those are a library's.
    pub(crate) fn of(frames: &[Place]) -> PlaceText {
        let own = |frame: &Place| !frame.library && frame.file.is_some();
        let first = frames.iter().position(own);
        let Some(shown) = frames.get(first.unwrap_or(0)) else { return PlaceText::default() };
        let outer = match first {
            Some(at) => frames[at + 1..].iter().find(|frame| own(frame)),
            // All a library's: what the program has called is the outermost.
            None => frames.last().filter(|_| frames.len() > 1),
        };
        let (function, at) = parts(shown);
        let outer = outer.map(|frame| {
            let (function, at) = parts(frame);
            format!(" [in {}]", format!("{function} {at}").trim())
        });
        PlaceText { function, at, outer: outer.unwrap_or_default() }
    }

    /// As much as has room: first the outer function goes, then the end of the function's name, then the place's beginning.
    pub(crate) fn fitting(&self, room: usize) -> String {
        let length = |text: &str| text.chars().count();
        let gap = if self.function.is_empty() || self.at.is_empty() { "" } else { " " };
        let whole = format!("{}{gap}{}{}", self.function, self.at, self.outer);
        if length(&whole) <= room {
            return whole;
        }
        let left = room.saturating_sub(length(&self.at) + gap.len());
        if length(&self.function) <= left {
            return format!("{}{gap}{}", self.function, self.at);
        }
        const LEAST: usize = 4;
        if left >= LEAST {
            let function: String = self.function.chars().take(left - 1).collect();
            return format!("{function}…{gap}{}", self.at);
        }
        let skipped = (length(&self.at) + 1).saturating_sub(room);
        match skipped {
            0 | 1 => self.at.clone(),
            skipped => format!("…{}", self.at.chars().skip(skipped).collect::<String>()),
        }
    }
}

/// Function, and file and line, or what there is instead.
fn parts(frame: &Place) -> (String, String) {
    let function = frame.function.clone().unwrap_or_default();
    match frame.file.is_some() && frame.line.is_some() || function.is_empty() {
        true => (function, place_text(frame)),
        false => (function, String::new()),
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
        let mut printer = TracePrinter::new(&Known, Style::PLAIN, 160);
        let mut out = String::new();
        for event in &events {
            printer.event(event, &mut out);
        }
        insta::assert_snapshot!(out);
        assert_eq!(printer.points(), 3);
    }

    #[test]
    fn who_waits_is_told_before_the_switch() {
        let event = |kind: EventKind, strand, value| Event {
            strand,
            value,
            kind: kind as u8,
            op: OpKind::MutexLock as u8,
            addr: 0x40,
            ..Event::default()
        };
        let mut printer = TracePrinter::new(&Known, Style::PLAIN, 160);
        let mut out = String::new();
        printer.event(&Event { addr: 0, ..event(EventKind::Switch, 1, 0) }, &mut out);
        printer.event(&event(EventKind::Blocked, 0, 0), &mut out);
        printer.event(&Event { addr: 0, ..event(EventKind::Switch, 0, 0) }, &mut out);
        printer.finish(&mut out);
        let lines: Vec<&str> = out.lines().map(str::trim).collect();
        assert_eq!(lines.len(), 3, "{out}");
        assert!(lines[0].contains("waits: lock"), "{out}");
        assert!(lines[1].starts_with("->") && lines[2].starts_with("->"), "{out}");
    }

    #[test]
    fn the_programs_own_function_leads_and_the_line_fits() {
        let frame = |function: &str, file: Option<&str>, library| Place {
            function: Some(function.into()),
            file: file.map(Into::into),
            line: file.map(|_| 7),
            library,
            ..Place::default()
        };
        let lock = frame("__gthread_mutex_lock", Some("/usr/include/gthr.h"), true);
        let guard = frame("std::lock_guard::lock_guard", Some("/usr/include/std_mutex.h"), true);
        let (any, main) =
            (frame("Stock::any", Some("stock.cc"), false), frame("main", Some("stock.cc"), false));
        let text = PlaceText::of(&[lock.clone(), guard.clone(), any.clone(), main]);
        assert_eq!(text.fitting(99), "Stock::any stock.cc:7 [in main stock.cc:7]");
        assert_eq!(text.fitting(40), "Stock::any stock.cc:7");
        assert_eq!(text.fitting(17), "Stock… stock.cc:7");
        assert_eq!(text.fitting(8), "…ck.cc:7");
        let called = PlaceText::of(&[lock.clone(), guard.clone(), any]);
        assert_eq!(called.fitting(99), "Stock::any stock.cc:7", "by its callers");
        let library = PlaceText::of(&[lock, guard]);
        assert!(
            library
                .fitting(200)
                .starts_with("__gthread_mutex_lock /usr/include/gthr.h:7 [in std::lock_guard")
        );
        let nameless = PlaceText::of(&[frame("std::thread::_M_start_thread", None, true)]);
        assert_eq!(nameless.fitting(99), "std::thread::_M_start_thread", "told once");
    }
}
