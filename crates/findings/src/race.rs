//! A data race in terms of the source: the two accesses, what they touch, and what would keep them apart.

use crate::explain::location;
use crate::finding::{AccessDetail, Finding};
use crate::memory::{block_notes, function_and_place, object, object_text};
use crate::places::shown;
use crate::stacks::Teller;
use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;
use threadbare_trace::report::{Access, Race};

/// Makes a finding that of the race its facts tell of.
pub(crate) fn explain(finding: &mut Finding, teller: &Teller<'_>) {
    let Some(race) = teller.facts.report.races.first() else { return };
    finding.accesses = race.accesses.iter().map(|access| detail(access, teller)).collect();
    finding.locations = finding
        .accesses
        .iter()
        .filter_map(|access| {
            Some(location(shown(&access.stack)?, Some(access.strand.clone()), teller.places))
        })
        .collect();
    let moments: Vec<_> = race.accesses.iter().map(|access| &access.moment).collect();
    let memory = object(race.addr, race.size, race.block, &moments, teller);
    let accesses: Vec<String> = race
        .accesses
        .iter()
        .zip(&finding.accesses)
        .map(|(access, detail)| in_words(access, detail))
        .collect();
    finding.message =
        format!("data race on {}: {}", object_text(race.addr, &memory, race.block), accesses.join(" and "));
    finding.notes = notes(race, finding, teller);
    finding.notes.extend(block_notes(&memory));
    finding.object = Some(memory);
}

fn detail(access: &Access, teller: &Teller<'_>) -> AccessDetail {
    AccessDetail {
        strand: teller.name(access.moment.strand),
        operation: access.op.name().to_owned(),
        size: access.size.into(),
        stack: teller.stack(&access.moment),
        holds: teller.locks(&access.moment),
    }
}

/// `write in deposit (bank.c:14)`.
fn in_words(access: &Access, detail: &AccessDetail) -> String {
    let operation = match access.op {
        OpKind::ReadWrite => "read and write",
        OpKind::ReadRange => "read",
        OpKind::WriteRange => "write",
        OpKind::AtomicLoad => "atomic load",
        OpKind::AtomicStore => "atomic store",
        OpKind::AtomicRmw => "atomic read-modify-write",
        OpKind::AtomicCas => "atomic compare-and-exchange",
        op => op.name(),
    };
    match shown(&detail.stack) {
        Some(place) => format!("{operation} in {}", function_and_place(place)),
        None => format!("{operation} by strand {}", detail.strand),
    }
}

/// What helps to mend it.
fn notes(race: &Race, finding: &Finding, teller: &Teller<'_>) -> Vec<String> {
    let ([later, earlier], [one, other]) = (&race.accesses[..], &finding.accesses[..]) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    let atomic = |access: &Access| access.op.is_atomic_access();
    if atomic(later) != atomic(earlier) {
        let (atomic, plain) = if atomic(later) { (one, other) } else { (other, one) };
        notes.push(format!(
            "the access of strand {} is atomic, that of strand {} is not: both must be",
            atomic.strand, plain.strand
        ));
    }
    if let Some((freed, used)) = match (later.op, earlier.op) {
        (OpKind::Free, _) => Some((one, other)),
        (_, OpKind::Free) => Some((other, one)),
        _ => None,
    } {
        notes.push(format!(
            "strand {} frees the memory, and nothing orders that with its use by strand {}",
            freed.strand, used.strand
        ));
    }
    // Without a second run the locks of the earlier access are not known.
    if teller.facts.report.details.events.contains_key(&(earlier.moment.strand, earlier.moment.event)) {
        notes.extend(locks(later, earlier, one, other));
    }
    notes
}

/// Which locks were held, where that says something.
fn locks(later: &Access, earlier: &Access, one: &AccessDetail, other: &AccessDetail) -> Option<String> {
    let addresses =
        |access: &Access| access.moment.held.iter().map(|(addr, _)| *addr).collect::<BTreeSet<u64>>();
    let (first, second) = (addresses(later), addresses(earlier));
    let names = |detail: &AccessDetail| {
        let names: BTreeSet<String> = detail.holds.iter().map(|lock| format!("`{}`", lock.object)).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let (strand, another) = (&one.strand, &other.strand);
    // What std's locks and a program's own are is not known to the runtime, so that "no lock" may not be the truth.
    let holds = |strand: &str, names: &str, another: &str, locks: usize| {
        let not = if locks == 1 { "does not hold it" } else { "holds none of them" };
        format!("strand {strand} holds {names}, strand {another} {not}")
    };
    match (first.is_empty(), second.is_empty()) {
        (true, true) => None,
        (false, true) => Some(holds(strand, &names(one), another, first.len())),
        (true, false) => Some(holds(another, &names(other), strand, second.len())),
        (false, false) if first.is_disjoint(&second) => Some(format!(
            "the strands hold different locks: strand {strand} {}, strand {another} {}",
            names(one),
            names(other)
        )),
        (false, false) => Some(format!(
            "both strands hold {}, and it does not keep them apart: a lock for reading lets other readers in",
            names(one)
        )),
    }
}
