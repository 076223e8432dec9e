//! A run as a trace file that ui.perfetto.dev and chrome://tracing open: JSON trace events, one track a strand.
//!
//! A track shows when its strand ran and what it waited for; points are instants with the object and the place; arrows
//! lead from an unlock or a wake to who went on by it, and along creations and joins. Time is the run's virtual time.
//! Events are written as they come: what is kept grows with strands, places and locks, not with the length of the run.

use crate::text::words::place_in_function;
use std::collections::HashMap;
use std::io::{self, Write};
use threadbare_abi::event::Event;
use threadbare_abi::object::ObjectClass;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_abi::time::time_of;
use threadbare_findings::Places;
use threadbare_findings::done::{Doer, Done};
use threadbare_findings::places::{chain, shown};
use threadbare_findings::steps::operand;
use threadbare_trace::events::{Happening, TraceEvent};
use threadbare_trace::strands::Strands;

/// Releases that are remembered for the arrows from them; a run with more loses the arrows of old ones.
const RELEASES: usize = 1 << 16;

/// Writes the trace of one run.
pub struct Perfetto<'a, W> {
    places: &'a dyn Places,
    out: W,
    /// The first error of the writer; nothing is written after it.
    broken: Option<io::Error>,
    empty: bool,
    strands: Strands,
    doer: Doer,
    tracks: HashMap<StrandId, Track>,
    running: StrandId,
    now: u64,
    events: u64,
    jumped: u64,
    releases: HashMap<u64, (StrandId, u64)>,
    flows: u64,
    place_texts: HashMap<Vec<u64>, String>,
    names: HashMap<(u8, u64, u32), String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slice {
    None,
    Runs,
    Waits,
}

#[derive(Clone, Copy, Debug)]
struct Track {
    open: Slice,
    /// When it last went on.
    since: u64,
    /// When it came to the operation it stands before.
    arrived: u64,
    /// The arrow that leads to its beginning.
    created: Option<u64>,
    /// The arrow that leads from its end.
    ended: Option<u64>,
}

impl<'a, W: Write> Perfetto<'a, W> {
    /// A trace that is written to `out`.
    pub fn new(places: &'a dyn Places, out: W) -> Perfetto<'a, W> {
        let mut trace = Perfetto {
            places,
            out,
            broken: None,
            empty: true,
            strands: Strands::new(),
            doer: Doer::default(),
            tracks: HashMap::new(),
            running: StrandId::MAIN,
            now: 0,
            events: 0,
            jumped: 0,
            releases: HashMap::new(),
            flows: 0,
            place_texts: HashMap::new(),
            names: HashMap::new(),
        };
        trace.raw("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        trace.goes_on(StrandId::MAIN);
        trace
    }

    /// Adds an event of the run.
    pub fn event(&mut self, event: &Event) {
        let Some(TraceEvent { strand, happening }) = TraceEvent::decode(event) else { return };
        match happening {
            Happening::Point { events, .. } => self.counted(events),
            Happening::Switch { events, .. } => self.counted(events),
            Happening::Created { parent, ordinal } => self.strands.created(strand, parent, ordinal),
            Happening::Time(time) => {
                self.now = self.now.max(time);
                self.jumped = self.now.saturating_sub(time_of(self.events));
            }
            _ => {}
        }
        let mut done = Vec::new();
        self.doer.event(event, &mut done);
        let value = if let Happening::Value(value) = happening { Some(value) } else { None };
        for done in &done {
            self.done(done, value);
        }
        match happening {
            Happening::Point { .. } => {
                let now = self.now;
                self.track(strand).arrived = now;
            }
            Happening::Switch { .. } => self.goes_on(strand),
            Happening::Created { .. } => _ = self.track(strand),
            Happening::Ended => {
                let flow = self.next_flow();
                self.flow('s', flow, "end", strand, self.now);
                self.track(strand).ended = Some(flow);
            }
            _ => {}
        }
    }

    /// Ends the trace: open slices are closed, tracks get their names, and the verdict is marked. `names` are those the
    /// program gave its strands.
    pub fn finish(
        mut self,
        program: &str,
        names: &HashMap<u16, String>,
        verdict: Option<(StrandId, &str)>,
    ) -> io::Result<W> {
        let mut last = Vec::new();
        self.doer.finish(&mut last);
        for done in &last {
            self.done(done, None);
        }
        if let Some((strand, message)) = verdict {
            let (tid, ts, text) = (tid(strand), micros(self.now), quoted(message));
            self.write(&format!(
                "{{\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":{tid},\"ts\":{ts},\"cat\":\"verdict\",\"name\":{text}}}"
            ));
        }
        let mut tracks: Vec<StrandId> = self.tracks.keys().copied().collect();
        tracks.sort_unstable();
        for &strand in &tracks {
            self.close(strand);
        }
        let process = quoted(program);
        self.write(&format!(
            "{{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{{\"name\":{process}}}}}"
        ));
        for strand in tracks {
            let given = names.get(&strand.0).filter(|name| !name.is_empty());
            let given = given.map(|name| format!(" ({name})")).unwrap_or_default();
            let name = quoted(&format!("strand {}{given}", self.strands.name(strand)));
            let (tid, order) = (tid(strand), strand.0);
            self.write(&format!(
                "{{\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"name\":\"thread_name\",\"args\":{{\"name\":{name}}}}}"
            ));
            self.write(&format!(
                "{{\"ph\":\"M\",\"pid\":1,\"tid\":{tid},\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{order}}}}}"
            ));
        }
        self.raw("\n]}\n");
        match self.broken {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    fn counted(&mut self, events: u64) {
        self.events = self.events.max(events);
        self.now = self.now.max(time_of(self.events) + self.jumped);
    }

    fn track(&mut self, strand: StrandId) -> &mut Track {
        let now = self.now;
        self.tracks.entry(strand).or_insert(Track {
            open: Slice::None,
            since: now,
            arrived: now,
            created: None,
            ended: None,
        })
    }

    fn goes_on(&mut self, strand: StrandId) {
        let before = std::mem::replace(&mut self.running, strand);
        if self.track(before).open == Slice::Runs {
            self.close(before);
        }
        self.close(strand);
        self.begin(strand, "runs", "run", "");
        let now = self.now;
        let track = self.track(strand);
        (track.open, track.since) = (Slice::Runs, now);
        if let Some(flow) = track.created.take() {
            self.flow('f', flow, "create", strand, now);
        }
    }

    fn close(&mut self, strand: StrandId) {
        if std::mem::replace(&mut self.track(strand).open, Slice::None) != Slice::None {
            let (tid, ts) = (tid(strand), micros(self.now));
            self.write(&format!("{{\"ph\":\"E\",\"pid\":1,\"tid\":{tid},\"ts\":{ts}}}"));
        }
    }

    fn begin(&mut self, strand: StrandId, name: &str, category: &str, args: &str) {
        let (tid, ts, name) = (tid(strand), micros(self.now), quoted(name));
        self.write(&format!(
            "{{\"ph\":\"B\",\"pid\":1,\"tid\":{tid},\"ts\":{ts},\"cat\":\"{category}\",\"name\":{name}{args}}}"
        ));
    }

    fn done(&mut self, done: &Done, value: Option<u64>) {
        let (strands, places) = (&self.strands, self.places);
        let named = self.names.entry((done.op as u8, done.addr, done.size));
        let object = named
            .or_insert_with(|| operand(done.op, done.addr, done.size, strands, places).unwrap_or_default())
            .clone();
        let place = self.place(done);
        let title = format!("{} {object}", done.op.name());
        let mut args = format!(",\"args\":{{\"place\":{}", quoted(&place));
        if !object.is_empty() {
            args.push_str(&format!(",\"object\":{}", quoted(&object)));
        }
        if let Some(value) = value {
            args.push_str(&format!(",\"value\":\"{value:#x}\""));
        }
        args.push_str(&format!(",\"event\":{}}}", done.event));
        if done.waits {
            self.close(done.strand);
            self.begin(done.strand, &format!("waits: {}", title.trim_end()), "wait", &args);
            self.track(done.strand).open = Slice::Waits;
            return;
        }
        let track = *self.track(done.strand);
        let at = track.since.max(track.arrived).min(self.now);
        let (tid, ts, name) = (tid(done.strand), micros(at), quoted(title.trim_end()));
        self.write(&format!(
            "{{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":{tid},\"ts\":{ts},\"cat\":\"point\",\"name\":{name}{args}}}"
        ));
        self.arrows(done, at);
    }

    fn arrows(&mut self, done: &Done, at: u64) {
        match done.op {
            OpKind::Create => {
                let flow = self.next_flow();
                self.flow('s', flow, "create", done.strand, at);
                if let Ok(child) = u16::try_from(done.addr) {
                    self.track(StrandId(child)).created = Some(flow);
                }
            }
            OpKind::Join => {
                let ended = u16::try_from(done.addr).ok().and_then(|child| self.track(StrandId(child)).ended);
                if let Some(flow) = ended {
                    self.flow('f', flow, "end", done.strand, at);
                }
            }
            op if releases(op) => {
                if self.releases.len() >= RELEASES {
                    self.releases.clear();
                }
                self.releases.insert(done.addr, (done.strand, at));
            }
            op if acquires(op) => {
                if let Some(&(from, when)) = self.releases.get(&done.addr)
                    && from != done.strand
                {
                    let flow = self.next_flow();
                    self.flow('s', flow, "order", from, when);
                    self.flow('f', flow, "order", done.strand, at);
                }
            }
            _ => {}
        }
    }

    fn next_flow(&mut self) -> u64 {
        self.flows += 1;
        self.flows
    }

    fn flow(&mut self, phase: char, id: u64, name: &str, strand: StrandId, at: u64) {
        let (tid, ts) = (tid(strand), micros(at));
        let bind = if phase == 'f' { ",\"bp\":\"e\"" } else { "" };
        self.write(&format!(
            "{{\"ph\":\"{phase}\",\"id\":{id},\"pid\":1,\"tid\":{tid},\"ts\":{ts},\"cat\":\"flow\",\"name\":\"{name}\"{bind}}}"
        ));
    }

    fn place(&mut self, done: &Done) -> String {
        let places = self.places;
        let mut pcs = vec![done.pc];
        pcs.extend(&done.callers);
        let text = self.place_texts.entry(pcs).or_insert_with_key(|pcs| {
            let frames = if pcs[0] == 0 { Vec::new() } else { chain(places, pcs[0], &pcs[1..]) };
            shown(&frames).map(place_in_function).unwrap_or_default()
        });
        text.clone()
    }

    fn write(&mut self, event: &str) {
        let gap = if std::mem::take(&mut self.empty) { "\n" } else { ",\n" };
        self.raw(gap);
        self.raw(event);
    }

    fn raw(&mut self, text: &str) {
        if self.broken.is_none() {
            self.broken = self.out.write_all(text.as_bytes()).err();
        }
    }
}

/// The track of a strand; 0 is the process's own.
fn tid(strand: StrandId) -> u32 {
    u32::from(strand.0) + 1
}

/// Nanoseconds as the format's microseconds.
fn micros(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether strands hand something over by the operation's object, one to another.
fn hands_over(op: OpKind) -> bool {
    op.does().class.is_some_and(ObjectClass::is_handed_over)
}

fn releases(op: OpKind) -> bool {
    hands_over(op) && op.releases()
}

fn acquires(op: OpKind) -> bool {
    hands_over(op) && op.acquires()
}

impl<W> std::fmt::Debug for Perfetto<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Perfetto").field("events", &self.events).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
