//! Atomic loads that did not see the newest store, in words: which store they saw, which they did not see, and what would forbid it.

use crate::explain::place_text;
use crate::places::shown;
use crate::stacks::Teller;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::Remedy;
use threadbare_trace::report::{Stale, StoreTold};

/// The most that are told.
const MOST: usize = 4;

/// A note for each of them.
pub(crate) fn notes(teller: &Teller<'_>) -> Vec<String> {
    let stale = &teller.facts.report.stale;
    let mut notes: Vec<String> = Vec::new();
    for note in stale.iter().map(|stale| note(stale, teller)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let more = notes.len().saturating_sub(MOST);
    notes.truncate(MOST);
    if more > 0 {
        notes.push(format!("{more} more atomic operations did not see the newest store"));
    }
    notes
}

fn strand(strand: u16, teller: &Teller<'_>) -> String {
    format!("strand {}", teller.name(strand))
}

fn place(pc: u64, teller: &Teller<'_>) -> String {
    let frames = teller.places.at(pc);
    shown(&frames).map_or_else(|| format!("{pc:#x}"), place_text)
}

/// A value of so many bytes.
fn value(value: u64, size: u64) -> String {
    if value < 1 << 16 {
        format!("{value}")
    } else {
        format!("{value:#0width$x}", width = 2 + size as usize * 2)
    }
}

fn store(store: &StoreTold, size: u64, teller: &Teller<'_>) -> String {
    let value = value(store.value, size);
    match store.pc {
        0 => format!("{value}, which was there first"),
        pc => format!("{value}, stored at {} by {}", place(pc, teller), strand(store.strand, teller)),
    }
}

fn note(stale: &Stale, teller: &Teller<'_>) -> String {
    let here = format!("at {} by {}", place(stale.pc, teller), strand(stale.strand, teller));
    let missed = store(&stale.missed, stale.size, teller);
    if stale.op == OpKind::AtomicStore {
        return format!(
            "the atomic store {here} comes before an earlier one in the order of the object's stores ({missed}): nothing orders the two"
        );
    }
    let by = strand(stale.missed.strand, teller);
    let remedy = match stale.remedy {
        Remedy::Acquire => {
            format!("`Acquire` on the load by which the strand heard of {by} before, or an acquire fence, forbids it")
        }
        Remedy::Release => format!(
            "`Release` on the later store of {by} that the strand saw, and `Acquire` on its load, or fences, forbid it"
        ),
        Remedy::SeqCst => "nothing that the strand saw before tells of that store: `SeqCst` on the stores and loads of both \
                           strands, or a `SeqCst` fence between them in each, forbids it"
            .to_owned(),
    };
    format!(
        "the atomic load {here} saw {}, and not {missed}; {remedy}",
        store(&stale.saw, stale.size, teller)
    )
}
