//! What makes two failures the same one.
//!
//! Whoever asks whether a failure has come again asks here: a run that is made again for its details, a replay, a smaller run, a free
//! run that is followed under control. A failure is its kind, its code, and where it is in the build: the place that the program
//! named, the instruction, where strands wait, or the two places of a data race. What is chance is left out when an identity is
//! made, so that two of them are compared whole:
//!
//! 1. Who noticed that strands wait for each other, and where the time or the memory was over, says nothing.
//! 2. Where a cycle of waits is, strands outside it may stand anywhere.
//! 3. A wait for a strand's end follows from what that strand waits for, and counts only where there is no other.
//!
//! Strands, addresses of data and the message do not count: the same bug has others in other runs. A message is for people, and
//! no code decides by its words (`tests/tests/words.rs`).
//!
//! Two things are finer than an identity. A [`key`] tells apart what need not be two bugs: it is there to look at each once, and those who
//! can read the source join what belongs together (`findings::identity`).

use crate::hash::Fnv;
use crate::race::{RacePair, RacePlace};
use crate::report::{Race, RunReport};
use crate::run::{RunFacts, SourcePlace, Verdict};
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::verdict::VerdictKind;

/// A failure, so that it is known again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The kind; `None` for a run without failure.
    pub kind: VerdictKind,
    /// The signal or exit code; of a livelock, [`threadbare_abi::verdict::BY_POINTS`] where it is one by the number of points.
    pub code: i32,
    /// The place the program itself named.
    pub place: Option<SourcePlace>,
    /// The instruction, as module and offset ([`RunReport::stop_of`]).
    pub at: Option<u64>,
    /// Who waits where, of a deadlock or livelock.
    pub waits: BTreeSet<RacePlace>,
    /// The two places of a data race.
    pub race: Option<RacePair>,
}

impl Identity {
    /// A run that did not fail.
    pub fn clean() -> Identity {
        Identity {
            kind: VerdictKind::None,
            code: 0,
            place: None,
            at: None,
            waits: BTreeSet::new(),
            race: None,
        }
    }

    /// The race between these places.
    pub fn of_race(pair: RacePair) -> Identity {
        Identity { kind: VerdictKind::Race, race: Some(pair), ..Identity::clean() }
    }

    /// What a run came to; `race` is the pair, where it is looked at for that.
    pub fn of(facts: &RunFacts, race: Option<RacePair>) -> Identity {
        match race {
            Some(pair) => Identity::of_race(pair),
            None if facts.end.was_cut() => {
                Identity { at: None, ..Identity::of_verdict(&facts.verdict, &facts.report) }
            }
            None => Identity::of_verdict(&facts.verdict, &facts.report),
        }
    }

    /// What a verdict says, with the report of its run, or of one that had the same modules and stood the same way.
    pub fn of_verdict(verdict: &Verdict, report: &RunReport) -> Identity {
        let waits = matches!(verdict.kind, VerdictKind::Deadlock | VerdictKind::Livelock);
        let chance = waits || verdict.kind == VerdictKind::Timeout;
        Identity {
            kind: verdict.kind,
            code: verdict.code,
            place: verdict.place.clone(),
            at: (verdict.pc != 0 && !chance).then(|| report.stop_of(verdict.pc)),
            waits: if waits { waiting(report) } else { BTreeSet::new() },
            race: None,
        }
    }

    /// Whether only runs with races can show it.
    pub fn is_race(&self) -> bool {
        self.race.is_some()
    }

    /// Whether a run shows it.
    pub fn is_shown_by(&self, facts: &RunFacts) -> bool {
        match self.race {
            Some(pair) => !facts.verdict.is_internal() && facts.report.race_of(pair).is_some(),
            None => facts.verdict.is_failure() && Identity::of(facts, None) == *self,
        }
    }

    /// Whether a strict repetition of its run came to the same. That ends strands which spin where the recorded run ended, in the midst of
    /// their loops, so of a livelock it is not compared where they stand.
    pub fn is_repeated_by(&self, again: &Identity) -> bool {
        let spins = self.kind == VerdictKind::Livelock;
        let told = |it: &Identity| Identity { waits: BTreeSet::new(), ..it.clone() };
        self == again || spins && told(self) == told(again)
    }

    /// Whether a run under control came to the same as this free one, whose order it followed. Under control the heap is watched, and it
    /// is known who waits where; so a crash may have another name there, and of waits only the kind is compared.
    pub fn is_under_control(&self, controlled: &Identity) -> bool {
        use VerdictKind::{
            Assertion, Crash, DoubleFree, Exit, HeapOverflow, InvalidFree, Panic, StackUseAfterEnd,
            UseAfterFree,
        };
        match (self.kind, controlled.kind) {
            (Crash, UseAfterFree | DoubleFree | HeapOverflow | InvalidFree | StackUseAfterEnd) => true,
            (one, other) if one != other => false,
            (Exit | Crash, _) => self.code == controlled.code,
            (Assertion | Panic, _) => {
                self.place == controlled.place && (self.place.is_some() || self.at == controlled.at)
            }
            (kind, _) => kind != VerdictKind::None,
        }
    }
}

/// The waits of a run's strands.
fn waiting(report: &RunReport) -> BTreeSet<RacePlace> {
    let cycle = report.strands.iter().any(|strand| strand.stuck);
    let of = |joins: bool| {
        report
            .strands
            .iter()
            .filter(|strand| if cycle { strand.stuck } else { strand.state != Some(StrandState::Ended) })
            .filter_map(|strand| strand.pending)
            .filter(|pending| (pending.op == OpKind::Join) == joins)
            .map(|pending| (report.stop_of(pending.pc), pending.op))
            .collect::<BTreeSet<_>>()
    };
    let others = of(false);
    if others.is_empty() { of(true) } else { others }
}

/// A number that is the same for failures that are surely the same: kind, code, and everything that is known of where they are. Places in
/// the source are compared later, once for each key. An exact key also tells the callers apart, for those who look at them.
pub fn key(facts: &RunFacts, exact: bool) -> u64 {
    let mut hash = Fnv::new();
    let verdict = &facts.verdict;
    hash.write(&[verdict.kind as u8]);
    if let Some(place) = &verdict.place {
        hash.write(place.file.as_bytes());
        hash.write(&place.line.to_le_bytes());
    }
    hash.write(&verdict.code.to_le_bytes());
    if verdict.kind == VerdictKind::Timeout {
        // Where it was when its time was over is chance.
        return hash.finish();
    }
    hash.write(&relative(&facts.report, verdict.pc));
    if verdict.kind == VerdictKind::Leak {
        // Who called exit says nothing.
        let frames = facts.report.leaks.first().map(|leak| &leak.moment.frames[..]).unwrap_or_default();
        write_frames(&mut hash, &facts.report, frames, usize::MAX);
        return hash.finish();
    }
    let waits = matches!(verdict.kind, VerdictKind::Deadlock | VerdictKind::Livelock);
    // Where a cycle is, the strands outside it may stand anywhere.
    let cycle = facts.report.strands.iter().any(|strand| strand.stuck);
    let mut places: Vec<_> = facts
        .report
        .strands
        .iter()
        .filter(|strand| if cycle { strand.stuck } else { strand.state != Some(StrandState::Ended) })
        .filter_map(|strand| strand.pending.map(|pending| (pending.op, relative(&facts.report, pending.pc))))
        .filter(|_| waits)
        .collect();
    places.sort_unstable();
    places.dedup();
    for (op, place) in places {
        hash.write(&[op as u8]);
        hash.write(&place);
    }
    let told = match (exact, verdict.pc) {
        (true, _) => usize::MAX,
        (false, 0) => 4,
        (false, _) => 0,
    };
    for strand in &facts.report.strands {
        let matters = waits && (strand.stuck || !cycle);
        if strand.index == verdict.strand && !cycle || exact && matters {
            write_frames(&mut hash, &facts.report, &strand.frames, told);
        }
    }
    hash.finish()
}

/// The same for a race.
pub fn race_key(race: &Race, pair: RacePair, report: &RunReport, exact: bool) -> u64 {
    let mut hash = Fnv::new();
    hash.write(&[VerdictKind::Race as u8]);
    for (stop, op) in pair.places() {
        hash.write(&stop.to_le_bytes());
        hash.write(&[op as u8]);
    }
    for access in race.accesses.iter().filter(|_| exact) {
        write_frames(&mut hash, report, &access.moment.frames, usize::MAX);
    }
    hash.finish()
}

fn write_frames(hash: &mut Fnv, report: &RunReport, frames: &[u64], most: usize) {
    for &pc in frames.iter().take(most) {
        hash.write(&relative(report, pc));
    }
}

/// A pc as module and offset, so that it is the same where addresses are not.
fn relative(report: &RunReport, pc: u64) -> [u8; 10] {
    let (module, offset) = match report.module_of(pc) {
        Some((index, module)) => (index as u16, pc - module.base),
        None => (u16::MAX, pc),
    };
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&module.to_le_bytes());
    bytes[2..].copy_from_slice(&offset.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests;
