//! Atomic loads that did not see the newest store, in words: which store they saw, which they did not see, and what would forbid it.

use crate::done::{Doer, Done};
use crate::explain::place_text;
use crate::places::{chain, shown};
use crate::stacks::Teller;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::Remedy;
use threadbare_trace::report::{Stale, StoreTold};

/// The most that are told.
const MOST: usize = 4;

/// A note for each of them.
pub(crate) fn notes(teller: &Teller<'_>) -> Vec<String> {
    let stale = &teller.facts.report.stale;
    if stale.is_empty() {
        return Vec::new();
    }
    let told = Told { teller, done: Doer::all(&teller.facts.events) };
    let mut notes: Vec<String> = Vec::new();
    for note in stale.iter().map(|stale| told.note(stale)) {
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

/// A value of so many bytes.
fn value(value: u64, size: u64) -> String {
    if value < 1 << 16 {
        format!("{value}")
    } else {
        format!("{value:#0width$x}", width = 2 + size as usize * 2)
    }
}

/// The run, and what was done in it.
struct Told<'a> {
    teller: &'a Teller<'a>,
    done: Vec<Done>,
}

impl Told<'_> {
    fn strand(&self, strand: u16) -> String {
        format!("strand {}", self.teller.name(strand))
    }

    /// Where an atomic operation was made. In code that is not optimised that is a function of the library's: its callers are known of the
    /// operations at the run's end.
    fn place(&self, pc: u64, strand: u16, addr: u64) -> String {
        let same = |done: &&Done| done.pc == pc && done.addr == addr && !done.callers.is_empty();
        let by = |done: &&Done| same(done) && done.strand.0 == strand;
        let found = self.done.iter().rev().find(by).or_else(|| self.done.iter().rev().find(same));
        let frames = chain(self.teller.places, pc, found.map_or(&[], |done| &done.callers));
        shown(&frames).map_or_else(|| format!("{pc:#x}"), place_text)
    }

    fn store(&self, store: &StoreTold, stale: &Stale) -> String {
        let value = value(store.value, stale.size);
        match store.pc {
            0 => format!("{value}, which was there first"),
            pc => format!(
                "{value}, stored at {} by {}",
                self.place(pc, store.strand, stale.addr),
                self.strand(store.strand)
            ),
        }
    }

    fn note(&self, stale: &Stale) -> String {
        let place = self.place(stale.pc, stale.strand, stale.addr);
        let here = format!("at {place} by {}", self.strand(stale.strand));
        let missed = self.store(&stale.missed, stale);
        if stale.op == OpKind::AtomicStore {
            return format!(
                "the atomic store {here} comes before an earlier one in the order of the object's stores ({missed}): nothing orders the two"
            );
        }
        let by = self.strand(stale.missed.strand);
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
        format!("the atomic load {here} saw {}, and not {missed}; {remedy}", self.store(&stale.saw, stale))
    }
}
