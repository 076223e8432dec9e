//! Waits that ended by their deadline while others could go on, in words: a failure that needs one is no failure of a quick machine.

use crate::explain::place_text;
use crate::places::{Places, chain, shown};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::report::Early;
use threadbare_trace::run::RunFacts;
use threadbare_trace::strands::Strands;

/// The most that are told.
const MOST: usize = 2;

/// A note for each of the first ones, with what leaves such runs out.
pub(crate) fn notes(facts: &RunFacts, strands: &Strands, places: &dyn Places) -> Vec<String> {
    // Two accesses race whatever the time is.
    if facts.verdict.kind == VerdictKind::Race {
        return Vec::new();
    }
    let told = |early: &Early| {
        let what = if early.op == OpKind::Sleep { "sleep" } else { "timed wait" };
        let frames = chain(places, early.pc, &[early.site]);
        let at = shown(&frames).map(|place| format!(" at {}", place_text(place))).unwrap_or_default();
        let (who, other) = (strands.name(StrandId(early.strand)), strands.name(StrandId(early.other)));
        format!(
            "the {what} of strand {who}{at} ended by its deadline while strand {other} could go on, as on a slow machine"
        )
    };
    let mut notes: Vec<String> = Vec::new();
    for note in facts.report.early.iter().map(told) {
        if !notes.contains(&note) && notes.len() < MOST {
            notes.push(note);
        }
    }
    if let Some(last) = notes.last_mut() {
        last.push_str("; `--deadlines in-order` leaves such runs out");
    }
    notes
}
