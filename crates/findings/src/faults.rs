//! What the environment did in a run, in words: a failure that needs it is not understood without.

use crate::explain::place_text;
use crate::places::{Place, Places, shown};
use std::collections::HashMap;
use threadbare_abi::event::{EventKind, Segment};
use threadbare_abi::fault::Fault;
use threadbare_abi::strand::StrandId;
use threadbare_trace::run::RunFacts;
use threadbare_trace::strands::Strands;

/// A line for each fault of the run.
pub(crate) fn words(facts: &RunFacts, strands: &Strands, places: &dyn Places) -> Vec<String> {
    let callers = callers(facts);
    let told = |segment: &Segment| {
        let fault = Fault::of(segment)?;
        let (what, happened) = fault.words();
        let who = strands.name(StrandId(segment.strand));
        let own = facts.report.address_of(segment.stop);
        let from = callers.get(&(segment.strand, fault as u64, segment.path));
        // A library may have made the call.
        let frames: Vec<Place> =
            own.iter().chain(from.into_iter().flatten()).flat_map(|&pc| places.at(pc)).collect();
        let at = shown(&frames).map(|place| format!(" at {}", place_text(place))).unwrap_or_default();
        Some(format!("the {what} of strand {who}{at} {happened}"))
    };
    facts.segments.iter().filter_map(told).collect()
}

/// The callers of each fault, as far as the run was streamed: by strand, sort and chance.
fn callers(facts: &RunFacts) -> HashMap<(u16, u64, u64), Vec<u64>> {
    let mut list: HashMap<u16, Vec<u64>> = HashMap::new();
    let mut fresh: HashMap<u16, bool> = HashMap::new();
    let mut found = HashMap::new();
    for event in &facts.events {
        match EventKind::from_code(event.kind) {
            Some(EventKind::Caller) => {
                let callers = list.entry(event.strand).or_default();
                // Callers come before their point.
                if fresh.insert(event.strand, false) != Some(false) {
                    callers.clear();
                }
                callers.push(event.pc);
            }
            Some(EventKind::Point) => {
                if fresh.insert(event.strand, true) == Some(true) {
                    list.remove(&event.strand);
                }
            }
            Some(EventKind::Choice) => {
                let key = (event.strand, event.addr, event.value);
                found.entry(key).or_insert_with(|| list.get(&event.strand).cloned().unwrap_or_default());
            }
            _ => {}
        }
    }
    found
}
