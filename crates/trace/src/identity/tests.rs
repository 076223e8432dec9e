use super::*;
use crate::report::{Access, Module, Moment, Pending, StrandReport};
use crate::run::{Counters, End, Output};
use threadbare_abi::verdict::BY_POINTS;

fn report(base: u64, strands: Vec<StrandReport>) -> RunReport {
    let modules = vec![Module { base, size: 0x1000, path: String::new() }];
    RunReport { modules, strands, ..RunReport::default() }
}

fn facts(verdict: Verdict, report: RunReport) -> RunFacts {
    RunFacts {
        run: 0,
        seed: 0,
        end: End::Exited(0),
        verdict,
        counters: Counters::default(),
        report,
        segments: Vec::new(),
        stdout: Output::default(),
        stderr: Output::default(),
        events: Vec::new(),
    }
}

fn verdict(kind: VerdictKind, code: i32, pc: u64) -> Verdict {
    Verdict { kind, code, pc, ..Verdict::clean() }
}

fn waits(index: u16, op: OpKind, pc: u64, stuck: bool) -> StrandReport {
    let pending = Some(Pending { op, addr: 0, pc, size: 0 });
    let state = Some(StrandState::Blocked);
    StrandReport { index, state, pending, stuck, ..StrandReport::default() }
}

fn identity(verdict: Verdict, report: RunReport) -> Identity {
    Identity::of(&facts(verdict, report), None)
}

#[test]
fn words_strands_and_addresses_do_not_count() {
    let one = Verdict { message: "a".into(), strand: 1, addr: 8, ..verdict(VerdictKind::Crash, 11, 0x5010) };
    let other =
        Verdict { message: "b".into(), strand: 2, addr: 9, ..verdict(VerdictKind::Crash, 11, 0x9010) };
    let id = identity(one, report(0x5000, Vec::new()));
    assert_eq!(id, identity(other, report(0x9000, Vec::new())));
    for (kind, code, pc) in [
        (VerdictKind::Crash, 7, 0x5010),
        (VerdictKind::Exit, 11, 0x5010),
        (VerdictKind::Crash, 11, 0x5011),
        (VerdictKind::Crash, 11, 0x15010),
    ] {
        assert_ne!(
            id,
            identity(verdict(kind, code, pc), report(0x5000, Vec::new())),
            "{kind:?} {code} {pc:x}"
        );
    }
    let place = |line| Some(SourcePlace { file: "x.rs".into(), line });
    let panic = |line| Verdict { place: place(line), ..verdict(VerdictKind::Panic, 101, 0) };
    assert_eq!(identity(panic(3), report(0, Vec::new())), identity(panic(3), report(0, Vec::new())));
    assert_ne!(identity(panic(3), report(0, Vec::new())), identity(panic(4), report(0, Vec::new())));
}

#[test]
fn waits_count_and_bystanders_do_not() {
    use OpKind::{Join, MutexLock};
    let deadlock = |pc, strands| identity(verdict(VerdictKind::Deadlock, 0, pc), report(0x5000, strands));
    let cycle = || vec![waits(1, MutexLock, 0x5010, true), waits(2, MutexLock, 0x5020, true)];
    let id = deadlock(0x5010, cycle());
    assert_eq!(id.waits.len(), 2);
    // Who noticed it, in which order they stand, and who else waits.
    let mut other = cycle();
    other.reverse();
    other.push(waits(3, MutexLock, 0x5900, false));
    assert_eq!(id, deadlock(0x5020, other));
    assert_ne!(
        id,
        deadlock(0x5010, vec![waits(1, MutexLock, 0x5010, true), waits(2, MutexLock, 0x5024, true)])
    );
    assert_ne!(id, deadlock(0x5010, vec![waits(1, MutexLock, 0x5010, true), waits(2, Join, 0x5020, true)]));
    // Joins count where nothing else does.
    let lost = |join| deadlock(0, vec![waits(0, Join, join, false), waits(1, MutexLock, 0x5010, false)]);
    assert_eq!(lost(0x5100), lost(0x5200));
    let joins = |pc| deadlock(0, vec![waits(0, Join, pc, false)]);
    assert_ne!(joins(0x5100), joins(0x5200));
}

#[test]
fn a_livelock_by_its_points_is_another_one() {
    let livelock = |code| identity(verdict(VerdictKind::Livelock, code, 0x5010), report(0x5000, Vec::new()));
    assert_ne!(livelock(0), livelock(BY_POINTS));
    assert!(!livelock(0).is_repeated_by(&livelock(BY_POINTS)));
}

#[test]
fn a_repetition_ends_spinning_strands_anywhere() {
    let of = |kind, op| identity(verdict(kind, 0, 0), report(0x5000, vec![waits(1, op, 0x5010, false)]));
    let (spins, loads) = (OpKind::SpinWait, OpKind::AtomicLoad);
    let livelock = of(VerdictKind::Livelock, spins);
    assert!(livelock.is_repeated_by(&of(VerdictKind::Livelock, loads)));
    assert_ne!(livelock, of(VerdictKind::Livelock, loads));
    assert!(!livelock.is_repeated_by(&of(VerdictKind::Deadlock, spins)));
    assert!(!of(VerdictKind::Deadlock, spins).is_repeated_by(&of(VerdictKind::Deadlock, loads)));
}

#[test]
fn where_a_run_was_cut_is_chance() {
    let cut = |kind, end, pc| {
        let facts = RunFacts { end, ..facts(verdict(kind, 0, pc), report(0x5000, Vec::new())) };
        Identity::of(&facts, None)
    };
    assert_eq!(
        cut(VerdictKind::Timeout, End::TimedOut, 0x5010),
        cut(VerdictKind::Timeout, End::TimedOut, 0x5020)
    );
    let memory = VerdictKind::OutOfMemory;
    assert_eq!(cut(memory, End::OutOfMemory, 0x5010), cut(memory, End::OutOfMemory, 0x5020));
    // An allocation that goes too far is at its place.
    assert_ne!(cut(memory, End::Exited(1), 0x5010), cut(memory, End::Exited(1), 0x5020));
}

#[test]
fn a_race_is_shown_whatever_else_the_run_does() {
    let access = |pc, op| Access { op, size: 4, moment: Moment { pc, ..Moment::default() } };
    let race = |one, other| Race {
        accesses: vec![access(one, OpKind::Write), access(other, OpKind::Read)],
        ..Race::default()
    };
    let seen = RunReport { races: vec![race(0x5010, 0x5020)], ..report(0x5000, Vec::new()) };
    let pair = RacePair::of(&seen.races[0], &seen).unwrap();
    let id = Identity::of_race(pair);
    assert!(id.is_race() && id.is_shown_by(&facts(Verdict::clean(), seen.clone())));
    assert!(id.is_shown_by(&facts(verdict(VerdictKind::Exit, 1, 0), seen.clone())));
    assert!(!id.is_shown_by(&facts(verdict(VerdictKind::Divergence, 0, 0), seen)));
    let other = RunReport { races: vec![race(0x5010, 0x5024)], ..report(0x5000, Vec::new()) };
    assert!(!id.is_shown_by(&facts(Verdict::clean(), other)));
    // And no clean run shows a verdict.
    let crash = identity(verdict(VerdictKind::Crash, 11, 0x5010), report(0x5000, Vec::new()));
    assert!(!crash.is_shown_by(&facts(Verdict::clean(), report(0x5000, Vec::new()))));
    assert!(!Identity::clean().is_shown_by(&facts(Verdict::clean(), report(0x5000, Vec::new()))));
}

#[test]
fn a_free_run_has_less_to_tell() {
    let of = |kind, code, pc| identity(verdict(kind, code, pc), report(0x5000, Vec::new()));
    use VerdictKind::{Assertion, Crash, Deadlock, Exit, None as Clean, UseAfterFree};
    let same = |free: Identity, controlled: Identity| free.is_under_control(&controlled);
    assert!(same(of(Crash, 11, 0x5010), of(UseAfterFree, 0, 0x5020)));
    assert!(!same(of(UseAfterFree, 0, 0x5020), of(Crash, 11, 0x5010)));
    assert!(same(of(Crash, 11, 0x5010), of(Crash, 11, 0x5020)) && !same(of(Crash, 11, 0), of(Crash, 6, 0)));
    assert!(same(of(Exit, 3, 0), of(Exit, 3, 0)) && !same(of(Exit, 3, 0), of(Exit, 4, 0)));
    assert!(same(of(Assertion, 6, 0x5010), of(Assertion, 6, 0x5010)));
    assert!(!same(of(Assertion, 6, 0x5010), of(Assertion, 6, 0x5020)));
    assert!(
        same(of(Deadlock, 0, 0x5010), of(Deadlock, 0, 0x5020)) && !same(of(Clean, 0, 0), of(Clean, 0, 0))
    );
}
