//! A recorded run: what `threadbare trace` prints.
//!
//! One line an entry: its number, the strand, what it did, with what, and where. What orders strands names the entry that it comes after. No line
//! is wider than the stream, and what goes last is the place.

use crate::columns::printable;
use crate::style::Style;
use crate::text::shell_word;
use crate::trace::PlaceText;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use threadbare_abi::event::atomic;
use threadbare_abi::verdict::VerdictKind;
use threadbare_findings::Place;
use threadbare_trace::recording::{Entry, ObjectRow, Table, What};

/// Turns a recorded run into lines.
#[derive(Debug)]
pub struct Printer<'a> {
    table: &'a Table,
    style: Style,
    width: usize,
    /// The last release of each object: its number and strand.
    releases: HashMap<(u8, u64), (u64, u16)>,
}

impl<'a> Printer<'a> {
    /// A printer whose lines have at most `width` columns.
    pub fn new(table: &'a Table, style: Style, width: usize) -> Printer<'a> {
        Printer { table, style, width, releases: HashMap::new() }
    }

    /// What is said before the entries.
    pub fn head(&self) -> String {
        let Table { arg0, args, run, entries, strands, .. } = self.table;
        let mut command = shell_word(arg0);
        for arg in args {
            let _ = write!(command, " {}", shell_word(&String::from_utf8_lossy(arg)));
        }
        let verdict = match self.table.verdict() {
            VerdictKind::None => self.style.good("clean").to_string(),
            kind => format!("{}: {}", self.style.bad(kind.name()), printable(&self.table.message)),
        };
        let named = strands.iter().map(|row| match row.name.is_empty() {
            true => row.path.clone(),
            false => format!("{} ({})", row.path, row.name),
        });
        let named: Vec<String> = named.collect();
        format!("run {run} of {command}: {verdict}\n{entries} events of strands {}\n\n", named.join(", "))
    }

    /// Sees an entry, shown or not: later ones speak of it.
    pub fn see(&mut self, number: u64, entry: &Entry) {
        if entry.what == What::Release
            && let Some(object) = self.table.object(entry.object)
        {
            self.releases.insert((object.class, object.addr), (number, entry.strand));
        }
    }

    /// The line of an entry.
    pub fn line(&self, number: u64, entry: &Entry) -> String {
        let strand = self.table.strand(entry.strand);
        let object = self.table.object(entry.object);
        let (what, with) = self.words(entry, object);
        let mut line = match entry.what {
            What::Switch { .. } => format!("{number:>8}  {what}"),
            _ => format!("{number:>8}  {strand:<8} {what:<22} {with:<24} "),
        };
        let room = self.width.saturating_sub(line.chars().count());
        let frames = self.table.place(entry.place).map(|place| self.frames(place)).unwrap_or_default();
        line.push_str(&PlaceText::of(&frames).fitting(room));
        let line = line.trim_end();
        let line = match line.chars().count() > self.width {
            true => line.chars().take(self.width.saturating_sub(1)).chain(['…']).collect(),
            false => line.to_owned(),
        };
        match entry.what {
            What::Switch { .. } => format!("{}\n", self.style.strong(line)),
            _ => format!("{line}\n"),
        }
    }

    fn words(&self, entry: &Entry, object: Option<&ObjectRow>) -> (String, String) {
        let name = object.and_then(|object| self.table.string(object.name)).unwrap_or_default().to_owned();
        let size = object.map_or(0, |object| object.size);
        let sorted = |object: &ObjectRow| match object.class() {
            Some(class) if name != "precompiled code" && !name.starts_with(class.name()) => {
                format!("{} {name}", class.name())
            }
            _ => name.clone(),
        };
        let with = object.map(sorted).unwrap_or_default();
        match entry.what {
            What::Operation { op, order } => {
                let order = order.map(|order| format!(" {}", order.name())).unwrap_or_default();
                (format!("{}{order}", op.name()), name)
            }
            What::Access { op } => (format!("{} {size}", op.name()), name),
            What::Atomic { op, order, flags, back, found, left } => {
                let mut with = match (op.writes_memory(), flags & atomic::REFUSED != 0) {
                    (true, false) if op.reads_memory() => format!("{name}: {found} -> {left}"),
                    (true, false) => format!("{name}: {left}"),
                    (_, true) => format!("{name}: {found}, refused"),
                    _ => format!("{name}: {found}"),
                };
                if back > 0 {
                    let _ = write!(with, ", {back} newer");
                }
                (format!("{} {} {size}", op.name(), order.name()), with)
            }
            What::Fence(order) => (format!("fence {}", order.name()), String::new()),
            What::Acquire => {
                let key = object.map(|object| (object.class, object.addr)).unwrap_or_default();
                let from = self.releases.get(&key).filter(|(_, strand)| *strand != entry.strand);
                let from = from
                    .map(|&(number, strand)| format!(", after {} at {number}", self.table.strand(strand)));
                ("  acquires".to_owned(), format!("{with}{}", from.unwrap_or_default()))
            }
            What::Release => ("  releases".to_owned(), with),
            What::AcquireWord { .. } => ("  acquires word".to_owned(), name),
            What::AcquireAll => ("  comes after all".to_owned(), "precompiled code".to_owned()),
            What::Join => ("  comes after".to_owned(), name),
            What::Created { parent, .. } => {
                ("created".to_owned(), format!("by {}", self.table.strand(parent)))
            }
            What::Ended => ("ended".to_owned(), String::new()),
            What::Waits { op } => (format!("waits: {}", op.name()), name),
            What::Switch { by_deadline } => {
                let why = if by_deadline { " (its deadline has come)" } else { "" };
                (format!("-> {}{why}", self.table.strand(entry.strand)), String::new())
            }
            What::Choice { kind, taken, options } => {
                ("choice".to_owned(), format!("{} {} of {options}", kind.name(), taken.saturating_add(1)))
            }
            What::Time(ns) => {
                ("time".to_owned(), format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000))
            }
            What::Forget => ("memory is new".to_owned(), format!("{size} bytes at {name}")),
        }
    }

    fn frames(&self, place: &threadbare_trace::recording::PlaceRow) -> Vec<Place> {
        let text = |row: u32| self.table.string(row).map(str::to_owned);
        let frames = self.table.frames(place).map(|frame| Place {
            function: text(frame.function),
            file: text(frame.file),
            line: (frame.line != 0).then_some(frame.line),
            library: frame.library,
            ..Place::default()
        });
        let frames: Vec<Place> = frames.collect();
        if !frames.is_empty() {
            return frames;
        }
        let module = self.table.modules.get(usize::from(place.module).wrapping_sub(1));
        let file = module.and_then(|module| module.path.rsplit('/').next()).unwrap_or_default();
        let plus = if file.is_empty() { "" } else { "+" };
        vec![Place { address: format!("{file}{plus}{:#x}", place.offset), ..Place::default() }]
    }
}

/// What is known of a recorded run, for programs; the entries are missing.
pub fn head_json(table: &Table) -> Value {
    let strands = table.strands.iter().enumerate().map(|(index, row)| {
        let parent = (usize::from(row.parent) != index).then(|| table.strand(row.parent));
        json!({"strand": row.path, "parent": parent, "name": row.name})
    });
    let args = table.args.iter().map(|arg| String::from_utf8_lossy(arg));
    json!({
        "version": threadbare_trace::recording::VERSION,
        "program": table.program,
        "arg0": table.arg0,
        "args": args.collect::<Vec<_>>(),
        "program_id": table.program_id,
        "run": table.run,
        "seed": table.seed,
        "verdict": if table.verdict() == VerdictKind::None { "clean" } else { "failure" },
        "kind": table.verdict().name(),
        "message": table.message,
        "strands": strands.collect::<Vec<_>>(),
        "events": table.entries,
    })
}

/// An entry, for programs.
pub fn entry_json(table: &Table, number: u64, entry: &Entry) -> Value {
    let [kind, group] = entry.what.kinds();
    let mut value =
        json!({"event": number, "strand": table.strand(entry.strand), "kind": kind, "group": group});
    if let Some(object) = table.object(entry.object) {
        value["object"] = json!({
            "class": object.class().map(|class| class.name()),
            "name": table.string(object.name),
            "address": format!("{:#x}", object.addr),
            "size": object.size,
        });
    }
    if let Some(place) = table.place(entry.place) {
        let frames = table.frames(place).map(|frame| {
            json!({
                "function": table.string(frame.function),
                "file": table.string(frame.file),
                "line": (frame.line != 0).then_some(frame.line),
                "library": frame.library,
            })
        });
        let module = table.modules.get(usize::from(place.module).wrapping_sub(1)).map(|module| &module.path);
        value["module"] = json!(module);
        value["offset"] = json!(format!("{:#x}", place.offset));
        value["frames"] = frames.collect();
    }
    match entry.what {
        What::Operation { order: Some(order), .. } | What::Fence(order) => {
            value["order"] = json!(order.name())
        }
        What::Atomic { order, flags, back, found, left, .. } => {
            value["order"] = json!(order.name());
            value["found"] = json!(found);
            value["left"] = json!(left);
            value["refused"] = json!(flags & atomic::REFUSED != 0);
            value["newer"] = json!(back);
        }
        What::Created { parent, .. } => value["parent"] = json!(table.strand(parent)),
        What::Waits { op } => value["operation"] = json!(op.name()),
        What::Switch { by_deadline } => value["by_deadline"] = json!(by_deadline),
        What::Choice { kind, taken, options } => {
            value["choice"] = json!({"of": kind.name(), "taken": taken, "options": options});
        }
        What::Time(ns) => value["ns"] = json!(ns),
        _ => {}
    }
    value
}
