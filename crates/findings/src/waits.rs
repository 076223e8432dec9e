//! Deadlocks, livelocks and timeouts in words: who waits for what, held by whom.
//!
//! The runtime says which strands the verdict is about (`stuck`); here they are put in the order of the cycle and named.
//! Where no cycle is, the strands that wait for something no strand holds are the cause, and the others wait for them.

use crate::done::{Doer, Done};
use crate::explain::{location, object, place_text};
use crate::finding::{Finding, StrandDetail};
use crate::places::{Place, Places, shown};
use crate::std_locks::word;
use crate::steps::placed;
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::{BY_POINTS, VerdictKind};
use threadbare_trace::report::{LostWake, Pending, StrandReport};
use threadbare_trace::run::RunFacts;
use threadbare_trace::strands::Strands;

/// Strands that a message names.
const NAMED: usize = 4;

/// Says in the finding what the strands wait for, where its verdict is about that.
pub fn tell(finding: &mut Finding, facts: &RunFacts, strands: &Strands, places: &dyn Places) {
    let teller = Teller { facts, strands, places, details: finding.strands.clone() };
    match facts.verdict.kind {
        VerdictKind::Deadlock => teller.deadlock(finding),
        VerdictKind::Livelock => teller.livelock(finding),
        VerdictKind::Timeout => finding.notes.extend(teller.cycle_besides()),
        _ => {}
    }
}

/// The strand that signalled while several waited, and the program's function in which it did, where those are left that the signal did not wake: an
/// order of what others do is no reason then.
pub fn signal_for_one(
    facts: &RunFacts,
    strands: &Strands,
    places: &dyn Places,
) -> Option<(String, Option<String>)> {
    let teller = Teller { facts, strands, places, details: Vec::new() };
    let causes = teller.causes();
    let is_told = facts.verdict.kind == VerdictKind::Deadlock
        && teller.of_cycle(&teller.cycle()).is_none()
        && teller.lost_wake(&causes).is_none()
        && teller.of_cause(&causes).is_some();
    let all = Doer::all(&facts.events);
    let missed = teller.missed_signal(&causes, &all).filter(|_| is_told)?;
    let function = shown(&placed(missed.signal, places)).and_then(|place| place.function.clone());
    Some((strands.name(missed.signal.strand), function))
}

/// A signal that came while several waited, and woke another one than a strand that is left.
struct Missed<'a> {
    signal: &'a Done,
    /// Who was woken.
    woken: Option<StrandId>,
    /// How many waited.
    count: usize,
    /// What the strand waits for that is left.
    pending: Pending,
}

struct Teller<'a> {
    facts: &'a RunFacts,
    strands: &'a Strands,
    places: &'a dyn Places,
    details: Vec<StrandDetail>,
}

impl Teller<'_> {
    fn deadlock(&self, finding: &mut Finding) {
        let cycle = self.cycle();
        if let Some(message) = self.of_cycle(&cycle) {
            finding.message = message + &self.bystanders(&cycle);
            finding.locations = cycle.iter().filter_map(|strand| self.location(strand)).collect();
            finding.notes.extend(cycle.iter().filter_map(|strand| self.behind(strand)));
            finding.notes.extend(self.order_hint(&cycle));
            return;
        }
        let causes = self.causes();
        if let Some((wake, waiter)) = self.lost_wake(&causes) {
            finding.message = self.of_lost_wake(wake, waiter);
            finding.notes.push(
                "a wake that nobody waits for is gone: whoever waits has to look first, under the lock that the other \
                 side holds when it makes the condition true, whether there is still something to wait for"
                    .to_owned(),
            );
        } else if let Some(message) = self.of_cause(&causes) {
            finding.message = message;
            finding.notes.extend(self.woken_instead(&causes));
        } else if !causes.is_empty() {
            let list: Vec<String> = causes
                .iter()
                .take(NAMED)
                .map(|strand| format!("{} {}", self.name(strand.index), self.wait(strand)))
                .collect();
            let more = if causes.len() > NAMED { ", …" } else { "" };
            let count = self.waiting().count();
            finding.message = format!("all {count} strands wait: {}{more}", list.join(", "));
        }
    }

    /// The strands that wait for something which no strand holds.
    fn causes(&self) -> Vec<&StrandReport> {
        self.waiting().filter(|strand| strand.holders.is_empty() && strand.pending.is_some()).collect()
    }

    fn livelock(&self, finding: &mut Finding) {
        let spins = |strand: &&StrandReport| {
            let waits = strand.state == Some(StrandState::Blocked);
            let spins = strand.pending.is_some_and(|pending| pending.op == OpKind::SpinWait);
            strand.state != Some(StrandState::Ended) && (!waits || spins)
        };
        let spinners: Vec<&StrandReport> = self.facts.report.strands.iter().filter(spins).collect();
        // Where a bound on the points was reached, the strands did other things, too.
        if self.facts.verdict.code != BY_POINTS && !spinners.is_empty() {
            let on = |strand: &&StrandReport| {
                let pending = strand.pending.as_ref()?;
                Some(format!("{} on {}", self.name(strand.index), self.memory(pending)))
            };
            let list: Vec<String> = spinners.iter().take(NAMED).filter_map(on).collect();
            let more = if spinners.len() > NAMED { ", …" } else { "" };
            let noun = if spinners.len() == 1 { "strand spins" } else { "strands spin" };
            finding.message = format!(
                "{} {noun} on memory that nobody can change: {}{more}",
                spinners.len(),
                list.join(", ")
            );
        }
        finding.notes.extend(self.cycle_besides());
    }

    fn name(&self, index: u16) -> String {
        self.strands.name(StrandId(index))
    }

    fn waiting(&self) -> impl Iterator<Item = &StrandReport> {
        self.facts.report.strands.iter().filter(|strand| strand.state == Some(StrandState::Blocked))
    }

    /// The strands the verdict is about, in the order of their cycle.
    fn cycle(&self) -> Vec<&StrandReport> {
        let stuck: Vec<&StrandReport> = self.waiting().filter(|strand| strand.stuck).collect();
        let mut ordered: Vec<&StrandReport> = stuck.first().copied().into_iter().collect();
        while let Some(last) = ordered.last() {
            let next = stuck.iter().find(|strand| {
                last.holders.contains(&strand.index) && ordered.iter().all(|it| it.index != strand.index)
            });
            match next {
                Some(next) => ordered.push(next),
                None => break,
            }
        }
        // A cycle through readers may leave some out; they are part of it all the same.
        let rest: Vec<_> = stuck
            .iter()
            .filter(|strand| ordered.iter().all(|it| it.index != strand.index))
            .copied()
            .collect();
        ordered.extend(rest);
        ordered
    }

    fn of_cycle(&self, cycle: &[&StrandReport]) -> Option<String> {
        let ops: Vec<OpKind> = cycle.iter().filter_map(|strand| Some(strand.pending?.op)).collect();
        let parts: Vec<String> = cycle.iter().take(NAMED).map(|strand| self.part(strand, cycle)).collect();
        let parts = parts.join(", ") + if cycle.len() > NAMED { ", …" } else { "" };
        let count = cycle.len();
        let [first, ..] = cycle else { return None };
        let what = first.pending.as_ref().map(|pending| self.memory(pending)).unwrap_or_default();
        let name = self.name(first.index);
        let ended = first.holder.filter(|holder| *holder != first.index);
        Some(match (count, ended) {
            (1, Some(holder)) => format!(
                "strand {name} waits for a lock whose holder has ended: strand {} left {what} locked",
                self.name(holder)
            ),
            (1, None) if ops == [OpKind::Once] => {
                format!("strand {name} waits for the initialisation it is in itself: {what}")
            }
            (1, None) => format!("strand {name} waits for the lock it holds itself: {what}"),
            _ if ops.iter().all(|op| *op == OpKind::Join) => {
                format!("join cycle of {count} strands: {parts}")
            }
            _ if ops.iter().all(|&op| is_lock(op)) => format!("lock cycle of {count} strands: {parts}"),
            _ => format!("cycle of {count} strands: {parts}"),
        })
    }

    /// One strand of a cycle, in a message.
    fn part(&self, strand: &StrandReport, cycle: &[&StrandReport]) -> String {
        let name = self.name(strand.index);
        // What it holds that another of the cycle waits for.
        let wanted: Vec<String> = cycle
            .iter()
            .filter(|other| other.holders.contains(&strand.index))
            .filter_map(|other| other.pending.as_ref())
            .filter(|pending| is_lock(pending.op) && holds(strand, pending.addr))
            .map(|pending| self.memory(pending))
            .collect();
        match wanted.first() {
            Some(held) => {
                let held = held.replace(&format!("that {name} took"), "it took");
                format!("{name} holds {held} and {}", self.wait(strand))
            }
            None => format!("{name} {}", self.wait(strand)),
        }
    }

    /// What a strand waits for.
    fn wait(&self, strand: &StrandReport) -> String {
        let Some(pending) = &strand.pending else { return "waits".to_owned() };
        let what = self.memory(pending);
        match pending.op {
            OpKind::Join => {
                let object = object(pending.op, pending.addr, self.strands, self.places);
                format!("waits for the end of {}", object.unwrap_or_default())
            }
            OpKind::ReadLock => format!("waits to read {what}"),
            OpKind::WriteLock => format!("waits to write {what}"),
            OpKind::Once => format!("waits for the initialisation {what}"),
            OpKind::CondWait | OpKind::CondTimedWait => format!("waits for a signal on {what}"),
            OpKind::SemWait => format!("waits for a post of {what}"),
            OpKind::BarrierWait => format!("waits at the barrier {what} ({} have come)", strand.detail),
            OpKind::FutexWait if !strand.holders.is_empty() => format!("waits for {what}"),
            OpKind::FutexWait => self.call(strand).unwrap_or_else(|| format!("waits for a wake of {what}")),
            OpKind::Io | OpKind::IoWait => format!("waits for file descriptor {}", pending.addr as i64),
            OpKind::Signal => "waits for a signal of the system".to_owned(),
            OpKind::Sleep => "sleeps".to_owned(),
            OpKind::SpinWait => format!("spins on {what}"),
            _ if strand.state == Some(StrandState::Blocked) => format!("waits for {what}"),
            _ => "goes on".to_owned(),
        }
    }

    /// A wait of std's by its call, and one of the program's own by its place: the word it waits on has no name.
    fn call(&self, strand: &StrandReport) -> Option<String> {
        let pending = strand.pending.as_ref()?;
        let name = object(pending.op, pending.addr, self.strands, self.places)?;
        if !name.starts_with("0x") {
            return None;
        }
        let stack = &self.detail(strand)?.stack;
        let place = shown(stack).filter(|place| place.file.is_some() && !place.library)?;
        let at = place_text(place);
        Some(match word(pending.op.name(), stack) {
            Some("cond-wait") => format!("waits for a notification at {at}"),
            Some("park") => format!("is parked at {at}"),
            Some("lock" | "read-lock" | "write-lock") => format!("waits for the lock it wants at {at}"),
            _ => format!("waits for a wake at {at}"),
        })
    }

    /// A lock without a name by who holds it, and where that strand took it.
    fn taken(&self, addr: u64) -> Option<String> {
        self.facts.report.strands.iter().find_map(|strand| {
            let at = strand.held.iter().position(|(held, _)| *held == addr)?;
            let place = self.detail(strand)?.holds.get(at)?.taken_at.as_ref()?;
            place.file.as_ref().filter(|_| !place.library)?;
            Some(format!("the lock that {} took at {}", self.name(strand.index), place_text(place)))
        })
    }

    /// The object of an operation, in quotes if it has a name.
    fn memory(&self, pending: &Pending) -> String {
        match object(pending.op, pending.addr, self.strands, self.places) {
            Some(name) if name.starts_with("0x") => match pending.op {
                op if is_lock(op) && self.taken(pending.addr).is_some() => {
                    self.taken(pending.addr).unwrap_or_default()
                }
                OpKind::FutexWait if !self.facts.report.strands.iter().any(|it| holds(it, pending.addr)) => {
                    format!("the word at {name}")
                }
                op if is_lock(op) => format!("the lock at {name}"),
                _ => format!("the memory at {name}"),
            },
            Some(name) => format!("`{name}`"),
            None => "something".to_owned(),
        }
    }

    fn detail(&self, strand: &StrandReport) -> Option<&StrandDetail> {
        let name = self.name(strand.index);
        self.details.iter().find(|detail| detail.strand == name)
    }

    fn location(&self, strand: &StrandReport) -> Option<crate::Location> {
        let detail = self.detail(strand)?;
        Some(location(shown(&detail.stack)?, Some(detail.strand.clone()), self.places))
    }

    /// A reader that no holder keeps out, but a writer that waits.
    fn behind(&self, strand: &StrandReport) -> Option<String> {
        let pending = strand.pending.filter(|pending| pending.op == OpKind::ReadLock)?;
        let report = &self.facts.report;
        let holds = |index: &u16| report.strand(*index).is_some_and(|it| holds(it, pending.addr));
        if strand.holders.iter().any(holds) {
            return None;
        }
        let writers: Vec<String> = strand.holders.iter().take(NAMED).map(|&it| self.name(it)).collect();
        Some(format!(
            "{} prefers writers: strand {} waits to read behind {}, which waits to write",
            self.memory(&pending),
            self.name(strand.index),
            writers.join(", ")
        ))
    }

    /// A cycle of waits beside another verdict.
    fn cycle_besides(&self) -> Option<String> {
        let report = &self.facts.report;
        let waits = |index: u16| report.strand(index).filter(|it| it.state == Some(StrandState::Blocked));
        let from = self.waiting().find_map(|strand| {
            let mut path = vec![strand.index];
            while let Some(next) = waits(*path.last()?).and_then(|it| it.holder) {
                if let Some(at) = path.iter().position(|&index| index == next) {
                    return Some(path.split_off(at));
                }
                path.push(next);
            }
            None
        })?;
        let cycle: Vec<&StrandReport> = from.iter().filter_map(|&index| waits(index)).collect();
        Some(format!("strands wait for each other besides: {}", self.of_cycle(&cycle)?))
    }

    /// How many others go on while the strands of the cycle cannot.
    fn bystanders(&self, cycle: &[&StrandReport]) -> String {
        let goes_on = |strand: &&StrandReport| {
            let timed = |pending: Pending| {
                matches!(pending.op, OpKind::Sleep | OpKind::CondTimedWait | OpKind::MutexTimedLock)
            };
            match strand.state {
                Some(StrandState::Ready | StrandState::Running) => true,
                Some(StrandState::Blocked) => strand.pending.is_some_and(timed),
                _ => false,
            }
        };
        let in_cycle = |strand: &&StrandReport| cycle.iter().any(|it| it.index == strand.index);
        match self.facts.report.strands.iter().filter(goes_on).filter(|strand| !in_cycle(strand)).count() {
            0 => String::new(),
            1 => "; another strand goes on".to_owned(),
            count => format!("; {count} other strands go on"),
        }
    }

    /// The rule that would have kept a cycle of locks from closing.
    fn order_hint(&self, cycle: &[&StrandReport]) -> Option<String> {
        let mut locks: Vec<String> = Vec::new();
        for strand in cycle {
            let pending = strand.pending.as_ref().filter(|pending| is_lock(pending.op))?;
            let name = self.memory(pending);
            if !locks.contains(&name) {
                locks.push(name);
            }
        }
        let named = (2..=NAMED).contains(&locks.len()) && locks.iter().all(|name| name.starts_with('`'));
        named.then(|| format!("take {} in the same order everywhere", locks.join(" and ")))
    }

    fn lost_wake(&self, causes: &[&StrandReport]) -> Option<(&LostWake, &StrandReport)> {
        self.facts.report.lost_wakes.iter().find_map(|wake| {
            let waits = |strand: &&StrandReport| strand.pending.is_some_and(|it| it.addr == wake.addr);
            let waiter = causes.iter().copied().find(waits)?;
            Some((wake, self.facts.report.strand(waiter.index)?))
        })
    }

    fn of_lost_wake(&self, wake: &LostWake, waiter: &StrandReport) -> String {
        let signals = waiter.pending.is_some_and(|pending| pending.op != OpKind::FutexWait);
        let verb = if signals { "signalled" } else { "woke" };
        let what = waiter.pending.as_ref().map(|pending| self.memory(pending)).unwrap_or_default();
        // The word that std waits on says nothing; its calls do.
        let what = if what.starts_with("the word at") { "nobody" } else { &what };
        let moment = &wake.moment;
        let told = self.facts.report.details.events.get(&(moment.strand, moment.event));
        let frames = told.map_or(&moment.frames, |told| &told.frames);
        let stack: Vec<Place> =
            std::iter::once(&moment.pc).chain(frames).flat_map(|&pc| self.places.at(pc)).collect();
        let at =
            |place: Option<&Place>| place.map(|it| format!(" at {}", place_text(it))).unwrap_or_default();
        let waits_at = at(self.detail(waiter).and_then(|detail| shown(&detail.stack)));
        let who = match moment.strand == waiter.index {
            true => "it".to_owned(),
            false => format!("strand {}", self.name(waiter.index)),
        };
        format!(
            "lost wake-up: strand {} {verb} {what}{} before {who} began to wait{waits_at}",
            self.name(moment.strand),
            at(shown(&stack)),
        )
    }

    /// A signal that came while one of these waited, and woke another strand.
    fn missed_signal<'d>(&self, causes: &[&StrandReport], all: &'d [Done]) -> Option<Missed<'d>> {
        let of_cond = |strand: &&StrandReport| {
            let pending = strand.pending.filter(|it| it.op == OpKind::CondWait)?;
            Some((StrandId(strand.index), pending))
        };
        let (left, pending) = causes.iter().find_map(of_cond)?;
        let on_it: Vec<&Done> = all.iter().filter(|done| done.addr == pending.addr).collect();
        let mut waiting: BTreeSet<StrandId> = BTreeSet::new();
        let mut missed = None;
        for (at, done) in on_it.iter().enumerate() {
            match done.op {
                OpKind::CondWait | OpKind::CondTimedWait if done.waits => _ = waiting.insert(done.strand),
                OpKind::CondWait | OpKind::CondTimedWait => _ = waiting.remove(&done.strand),
                OpKind::CondSignal if waiting.len() > 1 && waiting.contains(&left) => {
                    missed = Some((at, waiting.len()));
                }
                _ => {}
            }
        }
        let (at, count) = missed?;
        let woken = on_it[at..].iter().find(|done| done.op == OpKind::CondWait && !done.waits);
        Some(Missed { signal: on_it[at], woken: woken.map(|done| done.strand), count, pending })
    }

    /// The same in words.
    fn woken_instead(&self, causes: &[&StrandReport]) -> Option<String> {
        let all = Doer::all(&self.facts.events);
        let Missed { signal, woken, count, pending } = self.missed_signal(causes, &all)?;
        let stack: Vec<Place> = placed(signal, self.places);
        let at = shown(&stack).map(|place| format!(" at {}", place_text(place))).unwrap_or_default();
        let who = woken.map(|strand| format!(", strand {}", self.name(strand.0))).unwrap_or_default();
        Some(format!(
            "strand {} signalled {}{at} when {count} strands waited, and that woke one of them{who}: where all have to go on, wake them \
             all",
            self.name(signal.strand.0),
            self.memory(&pending),
        ))
    }

    /// Strands that all wait for the same, which no strand holds.
    fn of_cause(&self, causes: &[&StrandReport]) -> Option<String> {
        let [cause, rest @ ..] = causes else { return None };
        let same = |other: &&StrandReport| {
            let what = |strand: &StrandReport| strand.pending.map(|pending| (pending.op, pending.addr));
            what(other) == what(cause)
        };
        if !rest.iter().all(same) {
            return None;
        }
        let mut wait = self.wait(cause);
        let names: Vec<String> = causes.iter().take(NAMED).map(|strand| self.name(strand.index)).collect();
        let mut who = format!("strand {}", names.join(" and "));
        if causes.len() > 1 {
            let more = if causes.len() > NAMED { ", …" } else { "" };
            who = format!("strands {}{more}", names.join(", "));
            wait = wait.replacen("waits", "wait", 1).replacen("is parked", "are parked", 1);
        }
        let rest = match cause.pending.map(|pending| pending.op) {
            Some(OpKind::CondWait) => ", and no strand is left that could give it",
            Some(OpKind::SemWait) => ", and no strand is left that could post it",
            Some(OpKind::FutexWait) => ", and no strand is left that could wake it",
            Some(OpKind::BarrierWait) => ", and no strand is left that could come",
            _ => ", for ever",
        };
        let others = self.waiting().count() - causes.len();
        let waiting = match others {
            0 => String::new(),
            1 => "; another strand waits for it".to_owned(),
            count => format!("; {count} other strands wait for it"),
        };
        Some(format!("{who} {wait}{rest}{waiting}"))
    }
}

/// Whether the strand holds the lock at an address.
fn holds(strand: &StrandReport, addr: u64) -> bool {
    strand.held.iter().any(|(held, _)| *held == addr)
}

/// Whether the operation takes a lock.
fn is_lock(op: OpKind) -> bool {
    op.takes_lock() || op == OpKind::FutexWait
}

#[cfg(test)]
mod tests;
