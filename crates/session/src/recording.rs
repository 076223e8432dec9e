//! A run that is recorded while it is made again: its entries as they come, and at its end the names of all they speak of.
//!
//! The file appears under its name when it is whole.

use crate::trouble::{Trouble, cannot};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use threadbare_abi::event::Event;
use threadbare_abi::object::{ObjectClass, ObjectId};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::files;
use threadbare_findings::places::chain;
use threadbare_findings::steps::operand;
use threadbare_findings::{Place, Places};
use threadbare_trace::recording::{
    FrameRow, Module, ObjectRow, PlaceRow, RaceRow, StrandRow, Table, Taker, Writer,
};
use threadbare_trace::run::{RunFacts, Verdict};
use threadbare_trace::schedule::Schedule;
use threadbare_trace::strands::Strands;

/// Writes a run down.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    /// Where that leads to.
    place: PathBuf,
    /// The file until it is whole.
    draft: PathBuf,
    writer: io::Result<Writer<BufWriter<File>>>,
    taker: Taker,
    /// Instructions whose accesses matter.
    conflicting: Vec<u64>,
}

impl Recorder {
    /// Begins a file.
    pub fn new(path: &Path, conflicting: Vec<u64>) -> Result<Recorder, Trouble> {
        let place = place(path).map_err(|error| not_written(path, &error))?;
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}", files::unforeseen()));
        let draft = place.with_file_name(name);
        let writer = begin(&draft).map_err(|error| not_written(path, &error))?;
        let taker = Taker::keeping(conflicting.iter().copied());
        Ok(Recorder { path: path.to_owned(), place, draft, writer: Ok(writer), taker, conflicting })
    }

    /// Takes events.
    pub fn events(&mut self, events: &[Event]) {
        let mut entries = Vec::new();
        events.iter().for_each(|event| self.taker.event(event, &mut entries));
        self.push(&entries);
    }

    fn push(&mut self, entries: &[threadbare_trace::recording::Entry]) {
        if let Ok(writer) = &mut self.writer
            && let Err(error) = entries.iter().try_for_each(|entry| writer.push(entry))
        {
            self.writer = Err(error);
        }
    }

    /// The run begins anew.
    pub fn restart(&mut self) {
        self.taker = Taker::keeping(self.conflicting.iter().copied());
        self.writer = fs::remove_file(&self.draft).and_then(|()| begin(&self.draft));
    }

    /// Ends the file; how many events are in it.
    pub fn finish(
        mut self,
        facts: &RunFacts,
        schedule: &Schedule,
        program: &Path,
        places: &dyn Places,
    ) -> Result<u64, Trouble> {
        let mut entries = Vec::new();
        self.taker.finish(&mut entries);
        self.push(&entries);
        let table = table(&self.taker, facts, schedule, program, places);
        let written = self.writer.and_then(|writer| writer.finish(table));
        let kept = written.and_then(|(_, _, count)| fs::rename(&self.draft, &self.place).map(|()| count));
        match kept {
            Ok(count) => Ok(count),
            Err(error) => {
                // What is left of it is of no use, whether it can be taken away or not.
                let _ = fs::remove_file(&self.draft);
                Err(not_written(&self.path, &error))
            }
        }
    }
}

/// Where the whole file will be: what is there is replaced, so it must be a file, and a link stays one.
fn place(path: &Path) -> io::Result<PathBuf> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() => fs::canonicalize(path),
        Ok(about) if about.is_dir() => Err(io::Error::other("it is a folder")),
        Ok(_) => Err(io::Error::other("it is no file, and would be replaced by one")),
        Err(_) => Ok(path.to_owned()),
    }
}

fn begin(draft: &Path) -> io::Result<Writer<BufWriter<File>>> {
    Writer::new(BufWriter::new(File::create_new(draft)?))
}

fn not_written(path: &Path, error: &io::Error) -> Trouble {
    cannot(&format!("write the trace `{}`", path.display()), error)
}

/// Rows that are there once each.
#[derive(Default)]
struct Rows {
    strings: Vec<String>,
    by_string: HashMap<String, u32>,
    frames: Vec<FrameRow>,
    by_frame: HashMap<FrameRow, u32>,
}

impl Rows {
    fn string(&mut self, text: Option<String>) -> u32 {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return 0 };
        let strings = &mut self.strings;
        *self.by_string.entry(text).or_insert_with_key(|text| {
            strings.push(text.clone());
            strings.len() as u32
        })
    }

    fn frame(&mut self, place: Place) -> u32 {
        let row = FrameRow {
            function: self.string(place.function),
            file: self.string(place.file),
            line: place.line.unwrap_or(0),
            library: place.library,
        };
        let frames = &mut self.frames;
        *self.by_frame.entry(row).or_insert_with_key(|row| {
            frames.push(row.clone());
            frames.len() as u32 - 1
        })
    }
}

fn table(taker: &Taker, facts: &RunFacts, schedule: &Schedule, program: &Path, places: &dyn Places) -> Table {
    let mut strands = Strands::new();
    taker.strands().iter().for_each(|&(strand, parent, ordinal)| {
        strands.created(StrandId(strand), StrandId(parent), ordinal);
    });
    let mut rows = Rows::default();
    let report = &facts.report;
    let located = |pc: u64| match report.module_of(pc) {
        Some((index, module)) => (index as u16 + 1, pc - module.base),
        None => (0, pc),
    };
    let of_places = taker.places().iter().map(|pcs| {
        let (pc, callers) = pcs.split_first().map_or((0, &[][..]), |(&pc, callers)| (pc, callers));
        let (module, offset) = located(pc);
        let known = chain(places, pc, callers)
            .into_iter()
            .filter(|frame| frame.function.is_some() || frame.file.is_some());
        PlaceRow { module, offset, frames: known.map(|frame| rows.frame(frame)).collect() }
    });
    let of_places: Vec<PlaceRow> = of_places.collect();
    let objects = taker.objects().iter();
    let objects =
        objects.map(|object| ObjectRow { name: rows.string(name(object, &strands, places)), ..*object });
    let objects: Vec<ObjectRow> = objects.collect();
    let last = taker.strands().iter().map(|(strand, ..)| *strand).max().unwrap_or(0);
    let of_strands = (0..=last).map(|index| StrandRow {
        path: strands.name(StrandId(index)),
        parent: taker
            .strands()
            .iter()
            .find(|(strand, ..)| *strand == index)
            .map_or(index, |(_, parent, _)| *parent),
        name: report
            .strands
            .iter()
            .find(|strand| strand.index == index)
            .map_or_else(String::new, |strand| strand.name.clone()),
    });
    let modules = report.modules.iter().enumerate().map(|(index, module)| {
        let own = index == 0 && module.path.is_empty();
        let path = if own { program.display().to_string() } else { module.path.clone() };
        Module { path, base: module.base }
    });
    let races = report.races.iter().filter_map(|race| {
        let [later, earlier] = &race.accesses[..] else { return None };
        let both = [&later.moment, &earlier.moment];
        Some(RaceRow {
            addr: race.addr,
            strands: both.map(|moment| moment.strand),
            places: both.map(|moment| located(moment.pc)),
        })
    });
    let verdict = match schedule.race.and_then(|pair| report.race_of(pair)) {
        // A race does not end its run; the schedule is kept for it.
        Some(_) => {
            Verdict { kind: VerdictKind::Race, message: schedule.message.clone(), ..facts.verdict.clone() }
        }
        None => facts.verdict.clone(),
    };
    Table {
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        program: program.display().to_string(),
        arg0: schedule
            .arg0
            .as_ref()
            .map_or_else(|| program.display().to_string(), |name| name.display().to_string()),
        args: schedule.args.iter().map(|arg| arg.as_bytes().to_vec()).collect(),
        program_id: schedule.program_id.clone(),
        run: facts.run,
        seed: facts.seed,
        verdict: verdict.kind as u8,
        message: verdict.message,
        strand: (verdict.strand != u16::MAX).then_some(verdict.strand),
        entries: 0,
        strands: of_strands.collect(),
        modules: modules.collect(),
        places: of_places,
        objects,
        races: races.collect(),
        strings: rows.strings,
        frames: rows.frames,
    }
}

/// What an object is called.
fn name(object: &ObjectRow, strands: &Strands, places: &dyn Places) -> Option<String> {
    if (object.class, object.addr) == (ObjectId::UNSEEN.class as u8, ObjectId::UNSEEN.addr) {
        return Some("precompiled code".to_owned());
    }
    let op = match object.class() {
        Some(ObjectClass::Memory) => OpKind::Read,
        Some(ObjectClass::Readers) => OpKind::ReadUnlock,
        Some(ObjectClass::FutexLock) => OpKind::FutexWait,
        Some(ObjectClass::Strand) => OpKind::Join,
        Some(class) => OpKind::ALL.iter().copied().find(|kind| kind.does().class == Some(class))?,
        None => OpKind::Init,
    };
    let size = u32::try_from(object.size).unwrap_or(u32::MAX);
    operand(op, object.addr, size, strands, places)
}
