//! Each kind of deadlock in its words.

use super::*;
use crate::explain::explain;
use threadbare_abi::event::{Event, EventKind};
use threadbare_trace::report::{Moment, RunReport};
use threadbare_trace::run::{Counters, End, Output, Verdict};

/// Locks are at 0xa0, 0xb0, …; pcs below 100 are lines of `x.c`.
struct Known;

impl Places for Known {
    fn at(&self, pc: u64) -> Vec<Place> {
        let file = (pc < 100).then(|| "x.c".to_owned());
        let line = file.is_some().then_some(pc as u32);
        vec![Place { file, line, library: pc >= 100, ..Place::default() }]
    }

    fn variable(&self, addr: u64, _size: u64) -> Option<String> {
        (0xa0..=0xf0).contains(&addr).then(|| char::from(b'a' + ((addr - 0xa0) >> 4) as u8).to_string())
    }

    fn source(&self, _file: &str, _line: u32) -> Option<String> {
        None
    }
}

fn strand(index: u16, op: OpKind, addr: u64, pc: u64, holders: &[u16]) -> StrandReport {
    StrandReport {
        index,
        parent: 0,
        ordinal: index.into(),
        state: Some(StrandState::Blocked),
        pending: Some(Pending { op, addr, pc, size: 0 }),
        holder: holders.first().copied(),
        holders: holders.to_vec(),
        ..StrandReport::default()
    }
}

fn stuck(index: u16, op: OpKind, addr: u64, holder: u16, held: &[u64]) -> StrandReport {
    let held = held.iter().map(|&addr| (addr, 5)).collect();
    StrandReport { stuck: true, held, ..strand(index, op, addr, 10 + u64::from(index), &[holder]) }
}

fn told(kind: VerdictKind, report: RunReport) -> Finding {
    told_with(kind, report, Vec::new())
}

fn told_with(kind: VerdictKind, report: RunReport, events: Vec<Event>) -> Finding {
    explain(&facts(kind, report, events), "x", &Known)
}

fn facts(kind: VerdictKind, report: RunReport, events: Vec<Event>) -> RunFacts {
    RunFacts {
        run: 0,
        seed: 0,
        end: End::Exited(66),
        verdict: Verdict { kind, message: "raw".into(), ..Verdict::clean() },
        counters: Counters::default(),
        report,
        segments: Vec::new(),
        stdout: Output::default(),
        stderr: Output::default(),
        events,
    }
}

fn deadlock(strands: Vec<StrandReport>) -> Finding {
    told(VerdictKind::Deadlock, RunReport { strands, ..RunReport::default() })
}

#[test]
fn a_cycle_of_locks() {
    let main = strand(0, OpKind::Join, 1, 30, &[1]);
    let one = stuck(1, OpKind::MutexLock, 0xb0, 2, &[0xa0]);
    let two = stuck(2, OpKind::MutexLock, 0xa0, 1, &[0xb0]);
    let finding = deadlock(vec![main, one, two]);
    assert_eq!(
        finding.message,
        "lock cycle of 2 strands: 0.1 holds `a` and waits for `b`, 0.2 holds `b` and waits for `a`"
    );
    // Main waits too, and has no part in it.
    let lines: Vec<_> = finding.locations.iter().map(|location| location.line).collect();
    assert_eq!(lines, [Some(11), Some(12)]);
    assert_eq!(finding.notes, ["take `b` and `a` in the same order everywhere"]);
}

#[test]
fn others_may_go_on() {
    let ready = StrandReport { state: Some(StrandState::Ready), ..strand(0, OpKind::Yield, 0, 30, &[]) };
    let one = stuck(1, OpKind::MutexLock, 0xb0, 2, &[0xa0]);
    let two = stuck(2, OpKind::MutexLock, 0xa0, 1, &[0xb0]);
    assert!(deadlock(vec![ready, one, two]).message.ends_with("; another strand goes on"));
}

#[test]
fn cycles_of_other_waits() {
    let joins = vec![
        strand(0, OpKind::Exit, 0, 1, &[]),
        stuck(1, OpKind::Join, 2, 2, &[]),
        stuck(2, OpKind::Join, 3, 3, &[]),
        stuck(3, OpKind::Join, 1, 1, &[]),
    ];
    let message = deadlock(joins).message;
    assert!(
        message.starts_with("join cycle of 3 strands: 0.1 waits for the end of strand 0.2,"),
        "{message}"
    );
    let mixed = vec![stuck(0, OpKind::Join, 1, 1, &[0xa0]), stuck(1, OpKind::MutexLock, 0xa0, 0, &[])];
    assert_eq!(
        deadlock(mixed).message,
        "cycle of 2 strands: 0 holds `a` and waits for the end of strand 0.1, 0.1 waits for `a`"
    );
}

#[test]
fn one_strand_alone() {
    let own = stuck(0, OpKind::MutexLock, 0xa0, 0, &[0xa0]);
    assert_eq!(deadlock(vec![own]).message, "strand 0 waits for the lock it holds itself: `a`");
    let once = stuck(0, OpKind::Once, 0xa0, 0, &[]);
    assert_eq!(deadlock(vec![once]).message, "strand 0 waits for the initialisation it is in itself: `a`");
    let ended = StrandReport { state: Some(StrandState::Ended), ..strand(1, OpKind::Exit, 0, 0, &[]) };
    assert_eq!(
        deadlock(vec![stuck(0, OpKind::MutexLock, 0xa0, 1, &[]), ended]).message,
        "strand 0 waits for a lock whose holder has ended: strand 0.1 left `a` locked"
    );
}

#[test]
fn a_signal_that_came_too_early() {
    let waiter = strand(0, OpKind::CondWait, 0xc0, 31, &[]);
    let moment = Moment { strand: 1, pc: 200, event: 4, frames: vec![20], ..Moment::default() };
    let other = StrandReport { state: Some(StrandState::Ended), ..strand(1, OpKind::Exit, 0, 0, &[]) };
    let report = RunReport {
        strands: vec![waiter, other],
        lost_wakes: vec![LostWake { addr: 0xc0, moment }],
        ..RunReport::default()
    };
    let finding = told(VerdictKind::Deadlock, report);
    assert_eq!(
        finding.message,
        "lost wake-up: strand 0.1 signalled `c` at x.c:20 before strand 0 began to wait at x.c:31"
    );
}

#[test]
fn a_signal_for_one_of_several() {
    use EventKind::{Blocked, Point, Switch};
    let event = |kind: EventKind, strand, op: OpKind| Event {
        strand,
        kind: kind as u8,
        op: op as u8,
        addr: if kind == Switch { 0 } else { 0xc0 },
        pc: 40 + u64::from(strand),
        ..Event::default()
    };
    let waits = |strand| {
        [event(Switch, strand, OpKind::Start)]
            .into_iter()
            .chain([Point, Blocked].map(|kind| event(kind, strand, OpKind::CondWait)))
    };
    let goes_on = [event(Switch, 2, OpKind::Start), event(Point, 2, OpKind::MutexUnlock)];
    let signals = [
        event(Switch, 1, OpKind::Start),
        event(Point, 1, OpKind::CondSignal),
        event(Point, 1, OpKind::MutexUnlock),
    ];
    let events: Vec<Event> = waits(0).chain(waits(2)).chain(signals).chain(goes_on).collect();
    let ended =
        |index| StrandReport { state: Some(StrandState::Ended), ..strand(index, OpKind::Exit, 0, 0, &[]) };
    let strands = vec![strand(0, OpKind::CondWait, 0xc0, 31, &[]), ended(1), ended(2)];
    let report = RunReport { strands, ..RunReport::default() };
    let left = |kind, events| {
        let facts = facts(kind, report.clone(), events);
        signal_for_one(&facts, &Strands::from_report(&facts.report), &Known)
    };
    assert_eq!(left(VerdictKind::Deadlock, events.clone()), Some(("0.1".to_owned(), None)));
    assert_eq!(left(VerdictKind::Timeout, events.clone()), None, "no strand is known to be left for good");
    assert_eq!(left(VerdictKind::Deadlock, events[..6].to_vec()), None, "nobody has signalled");
    let finding = told_with(VerdictKind::Deadlock, report, events);
    let note = "strand 0.1 signalled `c` at x.c:41 when 2 strands waited, and that woke one of them, strand 0.2: where all have \
                to go on, wake them all";
    assert!(finding.notes.iter().any(|it| it == note), "{:?}", finding.notes);
}

#[test]
fn nobody_is_left() {
    let main = strand(0, OpKind::Join, 1, 30, &[1]);
    let finding = deadlock(vec![main, strand(1, OpKind::SemWait, 0xa0, 12, &[])]);
    assert_eq!(
        finding.message,
        "strand 0.1 waits for a post of `a`, and no strand is left that could post it; another strand waits for it"
    );
    let at_barrier = |index| StrandReport {
        detail: "2 of 3".to_owned(),
        ..strand(index, OpKind::BarrierWait, 0xa0, 12, &[])
    };
    assert_eq!(
        deadlock(vec![at_barrier(0), at_barrier(1)]).message,
        "strands 0, 0.1 wait at the barrier `a` (2 of 3 have come), and no strand is left that could come"
    );
    let other = strand(1, OpKind::SemWait, 0xb0, 12, &[]);
    let message = deadlock(vec![at_barrier(0), other]).message;
    assert!(message.starts_with("all 2 strands wait: 0 waits at the barrier `a`"), "{message}");
}

#[test]
fn a_livelock_says_who_spins() {
    let spins = strand(1, OpKind::SpinWait, 0xa0, 12, &[]);
    let report =
        RunReport { strands: vec![strand(0, OpKind::Join, 1, 9, &[1]), spins], ..RunReport::default() };
    assert_eq!(
        told(VerdictKind::Livelock, report).message,
        "1 strand spins on memory that nobody can change: 0.1 on `a`"
    );
}

#[test]
fn a_timeout_tells_of_a_cycle_besides() {
    let running = StrandReport { state: Some(StrandState::Running), ..strand(0, OpKind::Read, 0, 3, &[]) };
    let one = StrandReport { stuck: false, ..stuck(1, OpKind::MutexLock, 0xb0, 2, &[0xa0]) };
    let two = StrandReport { stuck: false, ..stuck(2, OpKind::MutexLock, 0xa0, 1, &[0xb0]) };
    let report = RunReport { strands: vec![running, one, two], ..RunReport::default() };
    let notes = told(VerdictKind::Timeout, report).notes;
    assert!(
        notes[0].starts_with("strands wait for each other besides: lock cycle of 2 strands"),
        "{notes:?}"
    );
}
