//! A failing run in terms of the source: where it failed, what each strand was doing.

use crate::finding::{FORMAT_VERSION, Finding, HeldLock, Location, StrandDetail};
use crate::places::{Place, Places, shown};
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::report::StrandReport;
use threadbare_trace::run::{Output, RunFacts};
use threadbare_trace::strands::Strands;

/// How much of a stream a finding keeps.
const OUTPUT_KEPT: usize = 16 << 10;
/// How many strands are told of.
const STRANDS_TOLD: usize = 64;

/// The finding of one failing run; its id is set by the collection.
pub fn explain(facts: &RunFacts, program: &str, places: &dyn Places) -> Finding {
    let strands = Strands::from_report(&facts.report);
    let details: Vec<StrandDetail> = facts
        .report
        .strands
        .iter()
        .filter(|strand| strand.state != Some(StrandState::Ended))
        .take(STRANDS_TOLD)
        .map(|strand| detail(strand, facts, &strands, places))
        .collect();
    let mut warnings: Vec<String> =
        facts.report.warnings.iter().map(|warning| warning_text(&warning.text, warning.pc, places)).collect();
    if facts.counters.segments_lost > 0 {
        warnings.push("the run is too long to list: its schedule is the seed of its strategy".to_owned());
    }
    Finding {
        format_version: FORMAT_VERSION,
        id: String::new(),
        kind: facts.verdict.kind.name().to_owned(),
        message: facts.verdict.message.clone(),
        schedule: String::new(),
        run: facts.run,
        count: 1,
        switches: facts.counters.switches,
        points: facts.counters.points,
        locations: locations(facts, &strands, &details, places),
        strands: details,
        warnings,
        program: program.to_owned(),
        stdout: tail(&facts.stdout),
        stderr: tail(&facts.stderr),
    }
}

/// A warning with its place.
pub fn warning_text(text: &str, pc: u64, places: &dyn Places) -> String {
    let frames = if pc == 0 { Vec::new() } else { places.at(pc) };
    match shown(&frames) {
        Some(place) => format!("{text} (at {})", place_text(place)),
        None => text.to_owned(),
    }
}

/// A place in a few words.
pub fn place_text(place: &Place) -> String {
    match (&place.file, place.line, &place.function) {
        (Some(file), Some(line), _) => format!("{file}:{line}"),
        (_, _, Some(function)) => function.clone(),
        _ => place.address.clone(),
    }
}

/// The failing instruction as a return address: a crash names the instruction itself.
fn failing_pc(facts: &RunFacts) -> u64 {
    facts.verdict.pc + u64::from(facts.verdict.kind == VerdictKind::Crash)
}

fn locations(
    facts: &RunFacts,
    strands: &Strands,
    details: &[StrandDetail],
    places: &dyn Places,
) -> Vec<Location> {
    let verdict = &facts.verdict;
    if matches!(verdict.kind, VerdictKind::Deadlock | VerdictKind::Livelock) {
        return details
            .iter()
            .filter_map(|strand| {
                shown(&strand.stack).map(|place| location(place, Some(strand.strand.clone()), places))
            })
            .collect();
    }
    let strand = (verdict.strand != u16::MAX).then(|| strands.name(StrandId(verdict.strand)));
    let stack =
        details.iter().find(|detail| Some(&detail.strand) == strand.as_ref()).map(|detail| &detail.stack[..]);
    if let Some(place) = &verdict.place {
        let in_stack = stack.unwrap_or_default().iter().find(|frame| {
            frame.line == Some(place.line)
                && frame
                    .file
                    .as_deref()
                    .is_some_and(|file| file.ends_with(place.file.trim_start_matches("./")))
        });
        let function = in_stack.and_then(|frame| frame.function.clone());
        let source = places.source(&place.file, place.line);
        return vec![Location {
            file: Some(place.file.clone()),
            line: Some(place.line),
            function,
            strand,
            source,
        }];
    }
    let at_pc = if verdict.pc == 0 { Vec::new() } else { places.at(failing_pc(facts)) };
    let own = |place: &&Place| !place.library && place.file.is_some();
    let place = at_pc.iter().find(own).or_else(|| shown(stack.unwrap_or_default())).or(at_pc.first());
    place.map(|place| location(place, strand, places)).into_iter().collect()
}

fn location(place: &Place, strand: Option<String>, places: &dyn Places) -> Location {
    let source = place.file.as_deref().zip(place.line).and_then(|(file, line)| places.source(file, line));
    Location { file: place.file.clone(), line: place.line, function: place.function.clone(), strand, source }
}

fn detail(strand: &StrandReport, facts: &RunFacts, strands: &Strands, places: &dyn Places) -> StrandDetail {
    // The frames are the callers; the strand itself stands at its operation, or where it failed.
    let failed_here = facts.verdict.strand == strand.index && facts.verdict.pc != 0;
    let own = if failed_here { Some(failing_pc(facts)) } else { strand.pending.map(|pending| pending.pc) };
    let pcs = own.filter(|&pc| pc != 0).into_iter().chain(strand.frames.iter().copied());
    let stack = pcs.flat_map(|pc| places.at(pc)).collect();
    StrandDetail {
        strand: strands.name(StrandId(strand.index)),
        name: strand.name.clone(),
        state: strand.state.map_or("ready", StrandState::name).to_owned(),
        operation: strand.pending.map(|pending| pending.op.name().to_owned()),
        object: strand.pending.and_then(|pending| object(pending.op, pending.addr, strands, places)),
        held_by: strand.holder.map(|holder| strands.name(StrandId(holder))),
        holds: strand
            .held
            .iter()
            .map(|&(addr, pc)| HeldLock {
                object: memory(OpKind::MutexLock, addr, places),
                taken_at: shown(&places.at(pc)).cloned().filter(|_| pc != 0),
            })
            .collect(),
        stack,
    }
}

/// What an operation concerns, in words.
pub fn object(op: OpKind, addr: u64, strands: &Strands, places: &dyn Places) -> Option<String> {
    match op {
        OpKind::Create | OpKind::Join | OpKind::Detach | OpKind::Cancel => {
            Some(format!("strand {}", strands.name(StrandId(addr as u16))))
        }
        OpKind::Io | OpKind::IoWait => Some(format!("fd {}", addr as i64)),
        OpKind::Signal => Some(format!("signal {addr}")),
        op if op.has_memory_address() && addr != 0 => Some(memory(op, addr, places)),
        _ => None,
    }
}

fn memory(op: OpKind, addr: u64, places: &dyn Places) -> String {
    places.variable(addr, object_size(op)).unwrap_or_else(|| format!("{addr:#x}"))
}

/// Bytes of the object an operation concerns, so that its name is the lock's, not the lock's first field's.
fn object_size(op: OpKind) -> u64 {
    match op {
        OpKind::MutexLock | OpKind::MutexTryLock | OpKind::MutexTimedLock | OpKind::MutexUnlock => 40,
        OpKind::CondWait | OpKind::CondTimedWait | OpKind::CondSignal | OpKind::CondBroadcast => 48,
        OpKind::ReadLock
        | OpKind::ReadTryLock
        | OpKind::WriteLock
        | OpKind::WriteTryLock
        | OpKind::RwUnlock => 56,
        OpKind::BarrierWait | OpKind::SemWait | OpKind::SemTryWait | OpKind::SemPost => 32,
        _ => 1,
    }
}

fn tail(output: &Output) -> String {
    let bytes = &output.bytes[output.bytes.len().saturating_sub(OUTPUT_KEPT)..];
    let dropped = output.dropped + (output.bytes.len() - bytes.len()) as u64;
    let text = String::from_utf8_lossy(bytes);
    if dropped == 0 {
        text.into_owned()
    } else {
        format!("[{dropped} bytes before this are left out]\n{text}")
    }
}
