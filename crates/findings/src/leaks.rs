//! Memory that is left at the end: which, and where it was allocated.

use crate::explain::location;
use crate::finding::{BlockDetail, Finding, ObjectDetail};
use crate::memory::function_and_place;
use crate::places::shown;
use crate::stacks::Teller;

/// Adds to the finding of a leak where it came from. Where the strands stood at the end says nothing of it.
pub(crate) fn explain(finding: &mut Finding, teller: &Teller<'_>) {
    let report = &teller.facts.report;
    let Some((first, others)) = report.leaks.split_first() else { return };
    let allocated = teller.happening(&first.moment);
    finding.strands.clear();
    finding.locations = shown(&allocated.stack)
        .map(|place| location(place, Some(allocated.strand.clone()), teller.places))
        .into_iter()
        .collect();
    finding.object = Some(ObjectDetail {
        name: None,
        address: format!("{:#x}", first.addr),
        size: first.bytes,
        block: report.block.map(|block| BlockDetail {
            address: format!("{:#x}", block.addr),
            size: block.size,
            allocated: Some(allocated),
            freed: None,
        }),
    });
    finding.notes.extend(others.iter().map(|leak| {
        let stack = teller.stack(&leak.moment);
        let place = shown(&stack).map_or_else(|| format!("{:#x}", leak.moment.pc), function_and_place);
        let (bytes, blocks) = (counted(leak.bytes, "byte"), counted(leak.blocks, "block"));
        format!("left, too: {bytes} in {blocks}, allocated in {place}")
    }));
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
