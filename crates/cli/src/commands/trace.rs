//! `threadbare trace`: a recorded run, printed and filtered.

use crate::exit::{Exit, Trouble};
use crate::options::Format;
use crate::said::{self, Pieces};
use std::fs::File;
use std::io::BufReader;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use threadbare_explore::files;
use threadbare_report::recorded::{Printer, entry_json, head_json};
use threadbare_report::{Style, width};
use threadbare_trace::order::{happens_before, unordered};
use threadbare_trace::recording::{Entry, Filter, Recording, Refused, Table, Unknown, Wanted, What};

const EXAMPLES: &str = "\
Examples:
  threadbare replay deadlock-5f3a9c1e --record run.trace
  threadbare trace run.trace | less
  threadbare trace run.trace --strand 0.2 --kind access
  threadbare trace run.trace --object 'accounts[3]' --at bank.c:42
  threadbare trace run.trace --events 100..200 --format json
  threadbare trace run.trace --races               accesses that nothing orders";

/// Print a run that `replay --record` wrote, without the program.
///
/// Of several options of one sort any will do, and of several sorts each must hold.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// The trace.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only what this strand did: its place in the creation tree (0.1), or the name that the program gave it.
    #[arg(long, value_name = "STRAND")]
    strand: Vec<String>,
    /// Only what concerns this variable, lock or other object, or a part of it; or what is at an address (0x…).
    #[arg(long, value_name = "NAME")]
    object: Vec<String>,
    /// Only this kind: an operation (lock, write, atomic-store …), or access, atomic, order, acquire, release, strand,
    /// switch, waits, choice, time, memory.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Only what is done in this function, file, or line, or called from there.
    #[arg(long, value_name = "FUNCTION or FILE[:LINE]")]
    at: Vec<String>,
    /// Only these events, by their numbers: 57, 100..200, 100.. or ..200.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = range)]
    events: Option<RangeInclusive<u64>>,
    /// Only pairs of accesses to the same bytes, one a write, that nothing orders.
    #[arg(long, conflicts_with_all = ["strand", "object", "kind", "at", "events"])]
    races: bool,
    /// How it is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

fn range(text: &str) -> Result<RangeInclusive<u64>, String> {
    let number =
        |text: &str| text.trim().parse::<u64>().map_err(|_| format!("`{text}` is no event's number"));
    let range = match text.split_once("..") {
        None => number(text).map(|number| number..=number)?,
        Some((from, to)) => {
            let from = if from.is_empty() { 1 } else { number(from)? };
            let to = if to.is_empty() { u64::MAX } else { number(to.trim_start_matches('='))? };
            from..=to
        }
    };
    if range.is_empty() { Err(format!("`{text}` has no event: it ends before it begins")) } else { Ok(range) }
}

/// The most entries of which all pairs are looked at, and the most numbers in the clocks of all: each has one for every strand.
const MOST: u64 = 4_000_000;
const NUMBERS: u64 = 1 << 28;

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let refused = |why: Refused| not_read(&args.file, &why);
    let file = files::open(&args.file).map_err(|error| refused(error.into()))?;
    let mut recording = Recording::open(BufReader::new(file)).map_err(refused)?;
    if args.races {
        let strands = recording.table().strands.len().max(1) as u64;
        let (table, entries) = recording.read_all(MOST.min(NUMBERS / strands)).map_err(refused)?;
        return races(&table, &entries, args.format);
    }
    let filter = Filter {
        strands: args.strand.clone(),
        objects: args.object.clone(),
        kinds: args.kind.clone(),
        places: args.at.clone(),
        events: args.events.clone(),
    };
    let table = recording.table().clone();
    let wanted = filter.of(&table).map_err(|unknown| nothing_such(&table, &unknown))?;
    let mut out = Pieces::new();
    print(&mut recording, &table, &wanted, args.format, &mut out).map_err(refused)?;
    out.end()?;
    Ok(Exit::Clean)
}

fn print(
    recording: &mut Recording<BufReader<File>>,
    table: &Table,
    wanted: &Wanted,
    format: Format,
    out: &mut Pieces,
) -> Result<(), Refused> {
    let stdout = std::io::stdout();
    let mut printer = Printer::new(table, Style::for_stream(&stdout), width::of_stream(&stdout));
    let json = matches!(format, Format::Json);
    match json {
        // One object, whose last field is written entry by entry.
        true => {
            out.json(&format!("{},\"entries\":[", head_json(table).to_string().trim_end_matches('}')));
        }
        false => out.text(&printer.head()),
    }
    let mut shown = 0u64;
    for (number, entry) in (1..).zip(recording.entries()?) {
        let entry = entry?;
        if wanted.is_over(number) || out.is_over() {
            break;
        }
        printer.see(number, &entry);
        let quiet =
            !json && entry.what == What::Forget && !entry.what.kinds().iter().any(|kind| wanted.names(kind));
        if quiet || !wanted.has(number, &entry) {
            continue;
        }
        shown += 1;
        match json {
            true => {
                let comma = if shown > 1 { "," } else { "" };
                out.json(&format!("{comma}\n{}", entry_json(table, number, &entry)));
            }
            false => out.text(&printer.line(number, &entry)),
        }
    }
    if json {
        out.json(&format!("\n],\"shown\":{shown}}}\n"));
    }
    Ok(())
}

/// The pairs that nothing orders.
fn races(table: &Table, entries: &[Entry], format: Format) -> Result<Exit, Trouble> {
    let found = unordered(entries, table, &happens_before(entries, table));
    let exit = if found.is_empty() { Exit::Clean } else { Exit::Failure };
    if matches!(format, Format::Json) {
        let of = |at: usize| entry_json(table, at as u64 + 1, &entries[at]);
        let pairs: Vec<_> = found.iter().map(|&(first, second)| [of(first), of(second)]).collect();
        let mut value = head_json(table);
        value["races"] = serde_json::json!(pairs);
        said::json(&format!("{value}\n"))?;
        return Ok(exit);
    }
    let stdout = std::io::stdout();
    let printer = Printer::new(table, Style::for_stream(&stdout), width::of_stream(&stdout));
    let mut text = printer.head();
    if table.entries > entries.len() as u64 {
        text.push_str(&format!("only the first {} events are looked at\n", entries.len()));
    }
    for (first, second) in found {
        for at in [first, second] {
            text.push_str(&printer.line(at as u64 + 1, &entries[at]));
        }
        text.push_str("          nothing orders the two\n\n");
    }
    if exit == Exit::Clean {
        text.push_str("all accesses to the same bytes are ordered\n");
    }
    said::text(&text)?;
    Ok(exit)
}

fn not_read(path: &Path, why: &Refused) -> Trouble {
    let help = match why {
        Refused::Foreign => "`threadbare replay ID --record FILE` writes a trace",
        Refused::Version(_) => "read it with the version of Threadbare that wrote it, or record the run anew",
        Refused::CutOff | Refused::Damaged(_) => {
            "copy the whole file anew, or record the run again with `threadbare replay ID --record FILE`"
        }
        Refused::Io(_) => "check the path and its permissions",
    };
    Trouble::usage(format!("cannot read the trace `{}`: {why}", path.display()), help)
}

fn nothing_such(table: &Table, unknown: &Unknown) -> Trouble {
    const SHOWN: usize = 12;
    let list = |names: &mut dyn Iterator<Item = String>| {
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names.dedup();
        let more = if names.len() > SHOWN { ", …" } else { "" };
        format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
    };
    let strings = |rows: &mut dyn Iterator<Item = u32>| {
        list(&mut rows.filter_map(|row| table.string(row)).map(str::to_owned))
    };
    let (what, text, known) = match unknown {
        Unknown::Strand(text) => {
            ("strand", text, list(&mut table.strands.iter().map(|row| row.path.clone())))
        }
        Unknown::Object(text) => ("object", text, strings(&mut table.objects.iter().map(|row| row.name))),
        Unknown::Place(text) => {
            let own = table.frames.iter().filter(|frame| !frame.library);
            ("place", text, strings(&mut own.map(|frame| frame.function)))
        }
        Unknown::Kind(text) => ("kind of event", text, list(&mut What::all_kinds().map(str::to_owned))),
    };
    Trouble::usage(format!("the trace has no {what} `{text}`"), format!("it has {known}"))
}
