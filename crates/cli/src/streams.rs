//! A replay whose events are looked at while it runs: printed point by point, written for Perfetto, or recorded.

use crate::conduct::cannot;
use crate::exit::Trouble;
use crate::said::{self, Pieces};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration;
use threadbare_abi::event::Event;
use threadbare_abi::layout::Record;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::run::{EventSink, Follow, Request};
use threadbare_explore::server::Server;
use threadbare_findings::{Places, SymbolPlaces};
use threadbare_report::perfetto::Perfetto;
use threadbare_report::trace::TracePrinter;
use threadbare_report::{Style, width};
use threadbare_session::recording::Recorder;
use threadbare_trace::conflicts::Conflicts;
use threadbare_trace::run::RunFacts;
use threadbare_trace::schedule::Schedule;

/// For a run whose every event is looked at.
const ENOUGH: Duration = Duration::from_secs(24 * 3600);

/// Where the events go.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// To standard output, in words.
    pub(crate) lines: bool,
    /// To a trace file.
    pub(crate) perfetto: Option<PathBuf>,
    /// To a recording.
    pub(crate) record: Option<PathBuf>,
    /// How long the run may take.
    pub(crate) timeout: Option<Duration>,
}

impl Wanted {
    /// Whether anybody looks at the events.
    pub(crate) fn anything(&self) -> bool {
        self.lines || self.perfetto.is_some() || self.record.is_some()
    }
}

/// Makes the run once to see which accesses matter, then again and hands on its points.
pub(crate) fn run(
    server: &mut Server,
    request: &Request,
    schedule: &Schedule,
    program: &Path,
    wanted: &Wanted,
) -> Result<RunFacts, Trouble> {
    let follow = Follow::Segments(&schedule.segments);
    let mut conflicting = Vec::new();
    let modules = if schedule.then.is_some() {
        // A strategy decides at every point, so more points would be another run.
        let ended = server.run(request, follow, None)?;
        server.facts(request, &ended, false)?.report.modules
    } else {
        let everything = Request { record: Record::Everything, timeout: ENOUGH, ..request.clone() };
        let mut found = Found::default();
        let ended = server.run(&everything, follow, Some(&mut found))?;
        let modules = server.facts(&everything, &ended, false)?.report.modules;
        if wanted.record.is_some() {
            // Of what libc writes for the program only the race check knows.
            let effects = Request { record: Record::Effects, races: true, ..everything };
            server.run(&effects, follow, Some(&mut found))?;
        }
        conflicting = found.0.pcs();
        server.set_known(&[&schedule.known[..], &conflicting].concat());
        modules
    };
    let places = SymbolPlaces::new(&modules, program);
    // Writing takes longer than running; a run that never ends is still bounded by what the campaign allowed.
    let endless = schedule.verdict == VerdictKind::Timeout;
    let generous = if endless { request.timeout } else { ENOUGH };
    let timeout = wanted.timeout.unwrap_or(generous);
    let mut request = Request { record: Record::Points, timeout, ..request.clone() };
    if wanted.record.is_some() {
        // What orders strands is told by the race check.
        request = Request { record: Record::Effects, races: true, ..request };
    }
    let mut sinks = Sinks {
        recorder: match &wanted.record {
            Some(path) => Some(Recorder::new(path, conflicting)?),
            None => None,
        },
        lines: wanted.lines.then(|| Lines::new(&places)),
        file: wanted.perfetto.as_deref().map(|path| TraceFile::new(path, &places)),
    };
    let ended = server.run(&request, follow, Some(&mut sinks))?;
    if let Some(lines) = sinks.lines.take() {
        lines.finish()?;
    }
    let facts = server.facts(&request, &ended, false)?;
    if let Some(recorder) = sinks.recorder {
        let count = recorder.finish(&facts, schedule, program, &places)?;
        if let Some(path) = wanted.record.as_deref().map(Path::display) {
            said::note(&format!("recorded {count} events in `{path}`: `threadbare trace {path}` shows them"));
        }
    }
    if let Some(file) = sinks.file {
        let path = file.path;
        file.finish(&facts, program)
            .map_err(|error| cannot(&format!("write the trace `{}`", path.display()), &error))?;
        said::note(&format!("the trace is in `{}`; open it in ui.perfetto.dev", path.display()));
    }
    Ok(facts)
}

/// Finds the accesses that matter.
#[derive(Default)]
struct Found(Conflicts);

impl EventSink for Found {
    fn events(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.0.event(event));
    }

    fn restart(&mut self) {
        self.0 = Conflicts::default();
    }
}

struct Sinks<'a> {
    recorder: Option<Recorder>,
    lines: Option<Lines<'a>>,
    file: Option<TraceFile<'a>>,
}

impl EventSink for Sinks<'_> {
    fn events(&mut self, events: &[Event]) {
        if let Some(lines) = &mut self.lines {
            lines.events(events);
        }
        if let Some(Ok(trace)) = self.file.as_mut().map(|file| &mut file.trace) {
            events.iter().for_each(|event| trace.event(event));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.events(events);
        }
    }

    fn restart(&mut self) {
        if let Some(lines) = &mut self.lines {
            lines.restart();
        }
        if let Some(file) = &mut self.file {
            *file = TraceFile::new(file.path, file.places);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.restart();
        }
    }
}

/// Prints events as they come.
struct Lines<'a> {
    printer: TracePrinter<'a>,
    out: Pieces,
}

impl<'a> Lines<'a> {
    fn new(places: &'a dyn Places) -> Lines<'a> {
        let stdout = io::stdout();
        let printer = TracePrinter::new(places, Style::for_stream(&stdout), width::of_stream(&stdout));
        Lines { printer, out: Pieces::new() }
    }

    fn events(&mut self, events: &[Event]) {
        let mut lines = String::new();
        for event in events {
            self.printer.event(event, &mut lines);
        }
        // A reader that went away gets nothing more; the run still ends.
        self.out.text(&lines);
        self.out.flush();
    }

    fn restart(&mut self) {
        self.printer.restart();
        self.out.text("-- the run is made again from its beginning --\n");
    }

    fn finish(mut self) -> Result<(), Trouble> {
        let mut lines = String::new();
        self.printer.finish(&mut lines);
        self.out.text(&lines);
        self.out.end()
    }
}

/// Writes events as they come.
struct TraceFile<'a> {
    path: &'a Path,
    places: &'a dyn Places,
    trace: io::Result<Perfetto<'a, BufWriter<File>>>,
}

impl<'a> TraceFile<'a> {
    fn new(path: &'a Path, places: &'a dyn Places) -> TraceFile<'a> {
        let trace = File::create(path).map(|file| Perfetto::new(places, BufWriter::new(file)));
        TraceFile { path, places, trace }
    }

    fn finish(self, facts: &RunFacts, program: &Path) -> io::Result<()> {
        let strands = facts.report.strands.iter();
        let names: HashMap<u16, String> = strands.map(|strand| (strand.index, strand.name.clone())).collect();
        let verdict = &facts.verdict;
        let strand = if verdict.strand == u16::MAX { facts.counters.current } else { verdict.strand };
        let told = (StrandId(strand), verdict.message.as_str());
        let program = program.file_name().unwrap_or_default().to_string_lossy();
        self.trace?.finish(&program, &names, verdict.is_failure().then_some(told))?;
        Ok(())
    }
}
