//! A failing run in terms of the source: where it failed, what each strand was doing.

use crate::finding::{FORMAT_VERSION, Finding, HeldLock, Location, Severity, StrandDetail};
use crate::framed::Framed;
use crate::places::{Place, Places, shown};
use crate::sources::sources;
use crate::stacks::{Teller, held_lock, is_runtime};
use crate::steps::{Focus, steps_about};
use crate::{early, faults, leaks, memory, race, stale, waits};
use threadbare_abi::op::{OpKind, state};
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::report::StrandReport;
use threadbare_trace::run::{Output, RunFacts};
use threadbare_trace::shape::Shape;
use threadbare_trace::strands::Strands;

/// How much of a stream a finding keeps.
const OUTPUT_KEPT: usize = 16 << 10;
/// How many strands are told of.
const STRANDS_TOLD: usize = 64;

/// The finding of one failing run; its id is set by the collection.
pub fn explain(facts: &RunFacts, program: &str, places: &dyn Places) -> Finding {
    let places = &Framed::new(places, &facts.report);
    let strands = Strands::from_report(&facts.report);
    // A race is not the end of its run: where the strands stood then says nothing of it.
    let told = |strand: &&StrandReport| {
        strand.state != Some(StrandState::Ended) && facts.verdict.kind != VerdictKind::Race
    };
    let teller = Teller { facts, strands: &strands, places };
    let mut details: Vec<StrandDetail> = facts
        .report
        .strands
        .iter()
        .filter(told)
        .take(STRANDS_TOLD)
        .map(|strand| detail(strand, facts, &strands, places))
        .collect();
    if let Some(panicked) = teller.panicked() {
        details.retain(|detail| detail.strand != panicked.strand);
        details.push(panicked);
    }
    let warned = facts.report.warnings.iter().filter(|warning| !warning.reached);
    let mut warnings: Vec<String> =
        warned.map(|warning| warning_text(&warning.text, warning.pc, places)).collect();
    if facts.counters.segments_lost > 0 {
        warnings.push("the run is too long to list: its schedule is the seed of its strategy".to_owned());
    }
    let mut finding = Finding {
        format_version: FORMAT_VERSION,
        id: String::new(),
        kind: facts.verdict.kind.name().to_owned(),
        severity: Severity::Failure,
        code: facts.verdict.code,
        fault: facts.verdict.addr,
        message: facts.verdict.message.clone(),
        schedule: String::new(),
        run: facts.run,
        strategy: String::new(),
        count: 1,
        switches: facts.counters.switches,
        preemptions: (!facts.segments.is_empty()).then(|| Shape::of(&facts.segments).preemptions),
        shrunk: None,
        explanation: None,
        invariant: None,
        points: facts.counters.points,
        locations: locations(facts, &strands, &details, places),
        strands: details,
        accesses: Vec::new(),
        object: None,
        created: teller.creations(),
        steps: Vec::new(),
        sources: Vec::new(),
        notes: Vec::new(),
        regress: None,
        warnings,
        program: program.to_owned(),
        stdout: tail(&facts.stdout),
        stderr: tail(&facts.stderr),
    };
    match facts.verdict.kind {
        VerdictKind::Race => race::explain(&mut finding, &teller),
        VerdictKind::UseAfterDestroy => memory::explain_destroyed(&mut finding, &teller),
        VerdictKind::Leak => leaks::explain(&mut finding, &teller),
        kind if memory::is_memory_error(kind) => memory::explain(&mut finding, &teller),
        _ => waits::tell(&mut finding, facts, &strands, places),
    }
    finding.notes.extend(stale::notes(&teller));
    finding.notes.splice(0..0, faults::words(facts, &strands, places));
    finding.notes.extend(early::notes(facts, &strands, places));
    let name = finding.object.as_ref().and_then(|object| object.name.clone());
    finding.steps = steps_about(&Focus { name, ..Focus::of(facts) }, facts, &strands, places);
    finding.sources = sources(&finding, places);
    finding
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
    if matches!(verdict.kind, VerdictKind::Deadlock | VerdictKind::Livelock | VerdictKind::Timeout) {
        // The strand that ran last first: in a timeout it is the one that does not come to an end. A place in a
        // library says nothing there: it is wherever the time happened to be over.
        let last = strands.name(StrandId(verdict.strand));
        let (ran, others): (Vec<_>, Vec<_>) = details
            .iter()
            .filter_map(|strand| Some((strand, shown(&strand.stack)?)))
            .filter(|(_, place)| verdict.kind != VerdictKind::Timeout || !place.library)
            .partition(|(strand, _)| verdict.kind == VerdictKind::Timeout && strand.strand == last);
        let all = ran.into_iter().chain(others);
        return all.map(|(strand, place)| location(place, Some(strand.strand.clone()), places)).collect();
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
        let found = || places.function_at(&place.file, place.line);
        let function = in_stack.cloned().or_else(found).and_then(|frame| frame.function);
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

/// A place of a finding, with its line.
pub(crate) fn location(place: &Place, strand: Option<String>, places: &dyn Places) -> Location {
    let source = place.file.as_deref().zip(place.line).and_then(|(file, line)| places.source(file, line));
    Location { file: place.file.clone(), line: place.line, function: place.function.clone(), strand, source }
}

fn detail(strand: &StrandReport, facts: &RunFacts, strands: &Strands, places: &dyn Places) -> StrandDetail {
    // The frames are the callers; the strand itself stands where it failed, and at its operation. A failure in the
    // program's own code says where; one in a library (abort) leaves the last operation as the nearest own place.
    let mut stack = Vec::new();
    let failed = facts.verdict.strand == strand.index && facts.verdict.pc != 0;
    if failed {
        stack = places.at(failing_pc(facts));
    }
    if stack.iter().all(|place| place.library)
        && let Some(pending) =
            strand.pending.filter(|pending| pending.pc != 0 && !(failed && pending.pc == facts.verdict.pc))
    {
        stack.extend(places.at(pending.pc));
    }
    stack.extend(strand.frames.iter().flat_map(|&pc| places.at(pc)));
    stack.retain(|place| !is_runtime(place));
    // What runs stands before nothing: the last operation is behind it.
    let pending = strand.pending.filter(|_| strand.state != Some(StrandState::Running));
    StrandDetail {
        strand: strands.name(StrandId(strand.index)),
        name: strand.name.clone(),
        state: strand.state.map_or("ready", StrandState::name).to_owned(),
        operation: pending.map(|pending| pending.op.name().to_owned()),
        object: pending.and_then(|pending| object(pending.op, pending.addr, strands, places)),
        held_by: strand.holder.map(|holder| strands.name(StrandId(holder))),
        holds: held_locks(strand, places),
        stack,
    }
}

/// The locks a strand holds, each with the program's own place where it was taken.
fn held_locks(strand: &StrandReport, places: &dyn Places) -> Vec<HeldLock> {
    let stacks = strand.held_stacks.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
    let lock = |(&(addr, pc), stack): (&(u64, u64), &[u64])| {
        let mut lock = held_lock(addr, pc, places);
        if stack.len() > 1 && lock.taken_at.as_ref().is_none_or(|place| place.library) {
            let frames: Vec<Place> = stack.iter().flat_map(|&pc| places.at(pc)).collect();
            lock.taken_at = shown(&frames).cloned();
        }
        lock
    };
    strand.held.iter().zip(stacks).map(lock).collect()
}

/// What an operation concerns, in words.
pub fn object(op: OpKind, addr: u64, strands: &Strands, places: &dyn Places) -> Option<String> {
    match op {
        OpKind::Create
        | OpKind::Join
        | OpKind::TryJoin
        | OpKind::TimedJoin
        | OpKind::Detach
        | OpKind::Cancel => Some(format!("strand {}", strands.name(StrandId(addr as u16)))),
        OpKind::Io | OpKind::IoWait => Some(format!("fd {}", addr as i64)),
        OpKind::Signal => Some(format!("signal {addr}")),
        op if op.has_memory_address() && addr != 0 => match state::name(addr) {
            Some(name) => Some(name.to_owned()),
            None => Some(variable(op, addr, places)),
        },
        _ => None,
    }
}

/// Memory by the name of its variable, or its address.
pub(crate) fn variable(op: OpKind, addr: u64, places: &dyn Places) -> String {
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
        | OpKind::RwUnlock
        | OpKind::ReadUnlock => 56,
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

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_trace::report::{Pending, RunReport};
    use threadbare_trace::run::{Counters, End, SourcePlace, Verdict};

    struct Known;

    impl Places for Known {
        fn at(&self, pc: u64) -> Vec<Place> {
            let line = (pc < 100).then_some(pc as u32);
            let file = line.map(|_| "bank.c".to_owned());
            vec![Place {
                function: Some(format!("f{pc}")),
                file,
                line,
                library: pc >= 100,
                ..Place::default()
            }]
        }

        fn variable(&self, addr: u64, size: u64) -> Option<String> {
            (addr == 0x1000).then(|| format!("lock{size}"))
        }

        fn source(&self, _file: &str, line: u32) -> Option<String> {
            Some(format!("source of {line}"))
        }
    }

    fn facts(kind: VerdictKind, strand: u16, pc: u64, strands: Vec<StrandReport>) -> RunFacts {
        RunFacts {
            run: 7,
            seed: 0,
            end: End::Exited(66),
            verdict: Verdict { kind, strand, pc, message: "bad".into(), ..Verdict::clean() },
            counters: Counters { switches: 3, ..Counters::default() },
            report: RunReport { strands, ..RunReport::default() },
            segments: Vec::new(),
            stdout: Output { bytes: b"end".to_vec(), dropped: 9 },
            stderr: Output::default(),
            events: Vec::new(),
        }
    }

    fn strand(index: u16, state: StrandState, op: OpKind, addr: u64, pc: u64) -> StrandReport {
        let pending = Some(Pending { op, addr, pc, size: 0 });
        let (parent, ordinal) = (0, u32::from(index));
        StrandReport {
            index,
            parent,
            ordinal,
            state: Some(state),
            pending,
            frames: vec![5],
            ..StrandReport::default()
        }
    }

    #[test]
    fn a_deadlock_tells_who_waits_for_whom() {
        let mut waiter = strand(1, StrandState::Blocked, OpKind::MutexLock, 0x1000, 20);
        waiter.holder = Some(2);
        waiter.held = vec![(0x2000, 21)];
        let strands = vec![
            strand(0, StrandState::Blocked, OpKind::Join, 1, 10),
            waiter,
            strand(2, StrandState::Ended, OpKind::Exit, 0, 0),
        ];
        let finding = explain(&facts(VerdictKind::Deadlock, 0, 10, strands), "bank", &Known);
        assert_eq!(finding.strands.len(), 2, "what has ended does not wait");
        let [main, waiter] = &finding.strands[..] else { panic!() };
        assert_eq!(main.object.as_deref(), Some("strand 0.1"));
        assert_eq!((waiter.strand.as_str(), waiter.object.as_deref()), ("0.1", Some("lock40")));
        assert_eq!(waiter.held_by.as_deref(), Some("0.2"));
        assert_eq!(
            (waiter.holds[0].object.as_str(), waiter.holds[0].taken_at.as_ref().unwrap().line),
            ("0x2000", Some(21))
        );
        let places: Vec<_> =
            finding.locations.iter().map(|place| (place.line, place.strand.as_deref())).collect();
        assert_eq!(places, [(Some(10), Some("0")), (Some(20), Some("0.1"))]);
        assert_eq!(finding.stdout, "[9 bytes before this are left out]\nend");
    }

    #[test]
    fn two_strands_at_one_place_are_both_there() {
        let waiting = |index| strand(index, StrandState::Blocked, OpKind::MutexLock, 0x1000, 20);
        let finding =
            explain(&facts(VerdictKind::Deadlock, 1, 20, vec![waiting(1), waiting(2)]), "bank", &Known);
        let lines: Vec<_> = finding.locations.iter().map(|place| place.line).collect();
        assert_eq!(lines, [Some(20), Some(20)]);
        assert!(finding.strands.iter().all(|strand| strand.stack.len() == 2), "the place and one caller");
    }

    #[test]
    fn the_place_is_the_programs_own() {
        let running = || vec![strand(0, StrandState::Running, OpKind::Read, 0x9, 30)];
        let line = |facts: &RunFacts| explain(facts, "bank", &Known).locations[0].line;
        // A crash names the instruction itself, one before what a return address would be.
        assert_eq!(line(&facts(VerdictKind::Crash, 0, 41, running())), Some(42));
        assert_eq!(line(&facts(VerdictKind::Assertion, 0, 41, running())), Some(41));
        // An abort in a library: the last operation before it.
        assert_eq!(line(&facts(VerdictKind::Crash, 0, 500, running())), Some(30));
        let mut panic = facts(VerdictKind::Panic, u16::MAX, 0, running());
        panic.verdict.place = Some(SourcePlace { file: "src/a.rs".into(), line: 8 });
        let location = &explain(&panic, "bank", &Known).locations[0];
        assert_eq!(
            (location.file.as_deref(), location.source.as_deref()),
            (Some("src/a.rs"), Some("source of 8"))
        );
    }
}
