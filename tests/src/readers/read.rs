//! What the tool does with each sort of file.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use threadbare_code::{Code, terms};
use threadbare_coverage::kept::Kept as KeptCoverage;
use threadbare_coverage::merged::Merged;
use threadbare_explore::journal;
use threadbare_findings::{Finding, Suppressions};
use threadbare_inputs::grammar::Grammar;
use threadbare_inputs::{Template, regressions, rng::Rng};
use threadbare_invariants::{Kept as KeptInvariants, daikon};
use threadbare_report::recorded::{Printer, entry_json, head_json};
use threadbare_report::{Screen, Style, text};
use threadbare_symbols::{Module, Pc, Symbols};
use threadbare_trace::order::{dependence, happens_before, unordered};
use threadbare_trace::recording::{self, Filter, Recording};
use threadbare_trace::schedule::Schedule;

/// The variable that names the folder for such files.
pub(super) const FOLDER: &str = "THREADBARE_READERS";
/// More entries than that are not looked at one by one.
const ENTRIES: u64 = 5_000;

pub(super) fn schedule(bytes: &[u8]) -> bool {
    let Ok(schedule) = Schedule::parse(&String::from_utf8_lossy(bytes)) else { return false };
    let text = schedule.to_text();
    assert_eq!(Schedule::parse(&text).as_ref(), Ok(&schedule), "what is written is not read: {text}");
    true
}

/// The bytes as a file, for readers that want one.
fn file(bytes: &[u8]) -> PathBuf {
    let folder = std::env::var_os(FOLDER).expect("a child has a folder");
    let path = Path::new(&folder).join("input");
    fs::write(&path, bytes).expect("the input can be written");
    path
}

pub(super) fn journal(bytes: &[u8]) -> bool {
    let path = file(bytes);
    let is_whole = journal::overview(&path).is_ok_and(|overview| overview.damaged == 0);
    // Going on with it cuts off what is damaged.
    drop(journal::Journal::resume(&path));
    is_whole
}

pub(super) fn coverage(bytes: &[u8]) -> bool {
    let Ok(kept) = KeptCoverage::parse(&String::from_utf8_lossy(bytes)) else { return false };
    for merged in Merged::by_program(&kept.campaigns) {
        let _ = merged.runs();
    }
    let _ = kept.to_text();
    true
}

pub(super) fn finding(bytes: &[u8]) -> bool {
    let Ok(finding) = serde_json::from_slice::<Finding>(bytes) else { return false };
    let _ = text::finding(&finding, Screen::PLAIN, false);
    true
}

pub(super) fn trace(bytes: &[u8]) -> bool {
    let Ok(mut recording) = Recording::open(Cursor::new(bytes)) else { return false };
    let table = recording.table().clone();
    let filter = Filter { strands: vec!["0.1".to_owned()], ..Filter::default() };
    let _ = filter.of(&table).map(|wanted| wanted.is_over(1));
    let mut printer = Printer::new(&table, Style::PLAIN, 100);
    let _ = (printer.head(), head_json(&table));
    let Ok(entries) = recording.entries() else { return false };
    let mut read = Vec::new();
    for (number, entry) in (1..=ENTRIES).zip(entries) {
        let Ok(entry) = entry else { break };
        printer.see(number, &entry);
        let _ = (printer.line(number, &entry), entry_json(&table, number, &entry));
        read.push(entry);
    }
    let order = happens_before(&read, &table);
    let _ = (unordered(&read, &table, &order), dependence(&read, &table));
    read.len() as u64 == table.entries.min(ENTRIES)
}

/// The entries of a trace, then its table, with the place where one ends in the last 4 bytes: the file around them is made here.
pub(super) fn trace_inside(bytes: &[u8]) -> bool {
    let Some((parts, border)) = bytes.split_last_chunk::<4>() else { return false };
    let (entries, table) = parts.split_at((u32::from_le_bytes(*border) as usize).min(parts.len()));
    recording::around(entries, table).is_ok_and(|file| trace(&file))
}

pub(super) fn suppressions(bytes: &[u8]) -> bool {
    let mut suppressions = Suppressions::new();
    let is_read = suppressions.parse("file", &String::from_utf8_lossy(bytes)).is_ok();
    let message = "data race on `balance`".to_owned();
    let _ = suppressions.matching(&Finding { kind: "race".to_owned(), message, ..Finding::default() });
    is_read
}

pub(super) fn invariants(bytes: &[u8]) -> bool {
    KeptInvariants::parse(&String::from_utf8_lossy(bytes)).is_ok_and(|kept| !kept.lines().is_empty())
}

pub(super) fn daikon(bytes: &[u8]) -> bool {
    let mut samples = 0;
    let read = daikon::Reader::new().read(bytes, |_, _| samples += 1);
    read.is_ok() && samples > 0
}

pub(super) fn inputs(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let is_regression = regressions::is_one(&text) && !regressions::cases(&text).is_empty();
    let grammar = Grammar::parse(&text).map(|grammar| grammar.draw(&mut Rng::new(1)));
    let mut template = Template::default();
    let is_template = template.arg(&text).is_ok() && template.count() != Some(1) && !template.is_fixed();
    is_regression || grammar.is_ok() || is_template
}

/// Where a program is loaded.
const BASE: u64 = 0x5555_5555_4000;

pub(super) fn symbols(bytes: &[u8]) -> bool {
    let size = (bytes.len() as u64).next_multiple_of(4096) + 0x1_0000;
    let symbols = Symbols::new([Module::new(file(bytes), BASE, size)]);
    for offset in (0x1000..0x2000).step_by(0x90) {
        for frame in symbols.frames(Pc::Return(BASE + offset)).iter() {
            let _ = (frame.short_name().len(), frame.line);
        }
        let _ = symbols.locals(Pc::Return(BASE + offset));
        let _ = symbols.field_access(&[Pc::Return(BASE + offset)], 64, 8, 4);
    }
    for offset in (0x3f00..0x4200).step_by(0x28) {
        let _ = symbols.variable_access(BASE + offset, 4);
    }
    let _ = symbols.function_at("bank.c".as_ref(), 9);
    symbols.has_debug_info(0)
}

pub(super) fn code(bytes: &[u8]) -> bool {
    let Ok(code) = Code::parse(bytes.to_vec()) else { return false };
    let _ = terms::before_strands(&code);
    !terms::table(&code).is_empty()
}
