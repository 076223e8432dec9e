//! Memory that a race or a memory error concerns: variable, heap block, who allocated and freed it.

use crate::explain::place_text;
use crate::finding::{AccessDetail, BlockDetail, Finding, ObjectDetail};
use crate::places::Place;
use crate::stacks::Teller;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::report::{Block, Moment, Pending};

/// Whether a verdict is about the use of memory.
pub(crate) fn is_memory_error(kind: VerdictKind) -> bool {
    matches!(
        kind,
        VerdictKind::UseAfterFree
            | VerdictKind::DoubleFree
            | VerdictKind::InvalidFree
            | VerdictKind::HeapOverflow
            | VerdictKind::StackUseAfterEnd
    )
}

/// Adds to the finding of a memory error what was accessed, and where it came from.
pub(crate) fn explain(finding: &mut Finding, teller: &Teller<'_>) {
    let facts = teller.facts;
    let verdict = &facts.verdict;
    let frees = matches!(verdict.kind, VerdictKind::DoubleFree | VerdictKind::InvalidFree);
    let pending = facts.report.strand(verdict.strand).and_then(|strand| strand.pending);
    let is_access = |pending: &Pending| {
        pending.pc == verdict.pc && (pending.op.is_plain_access() || pending.op.is_atomic_access())
    };
    let access = pending.filter(is_access);
    let operation = match access {
        _ if frees => "free",
        Some(access) => access.op.name(),
        None => "access",
    };
    let size = access.map_or(0, |access| u64::from(access.size));
    let strand = teller.name(verdict.strand);
    if let Some(detail) = finding.strands.iter().find(|detail| detail.strand == strand) {
        finding.accesses = vec![AccessDetail {
            strand,
            operation: operation.to_owned(),
            size,
            stack: detail.stack.clone(),
            holds: detail.holds.clone(),
        }];
    }
    let block = facts.report.block;
    if block.is_none() && verdict.addr == 0 {
        return;
    }
    let frames = facts.report.strand(verdict.strand).map(|strand| strand.frames.clone()).unwrap_or_default();
    let moment = Moment { strand: verdict.strand, pc: verdict.pc, frames, ..Moment::default() };
    finding.object = Some(object(verdict.addr, size, block, &[&moment], teller));
}

/// Adds to the finding of a destroyed object who used it, and who had destroyed it.
pub(crate) fn explain_destroyed(finding: &mut Finding, teller: &Teller<'_>) {
    let (report, verdict) = (&teller.facts.report, &teller.facts.verdict);
    let strand = report.strand(verdict.strand);
    let operation = strand.and_then(|strand| strand.pending).map_or("use", |pending| pending.op.name());
    let frames = strand.map(|strand| strand.frames.clone()).unwrap_or_default();
    let used = Moment { strand: verdict.strand, pc: verdict.pc, frames, ..Moment::default() };
    let detail = |moment: &Moment, operation: &str| AccessDetail {
        strand: teller.name(moment.strand),
        operation: operation.to_owned(),
        size: 0,
        stack: teller.stack(moment),
        holds: teller.locks(moment),
    };
    finding.accesses = vec![detail(&used, operation)];
    finding.accesses.extend(report.destroyed.as_ref().map(|moment| detail(moment, "destroy")));
    finding.object = Some(object(verdict.addr, 1, None, &[&used], teller));
}

/// A piece of memory that was accessed at these moments.
pub(crate) fn object(
    addr: u64,
    size: u64,
    block: Option<Block>,
    moments: &[&Moment],
    teller: &Teller<'_>,
) -> ObjectDetail {
    let details = &teller.facts.report.details;
    let field = || {
        let block = block.filter(|block| addr.wrapping_sub(block.addr) < block.size)?;
        moments.iter().find_map(|moment| {
            let stack: Vec<u64> = [moment.pc].into_iter().chain(moment.frames.iter().copied()).collect();
            teller.places.field(&stack, block.size, addr - block.addr, size.max(1))
        })
    };
    ObjectDetail {
        name: teller.places.variable(addr, size.max(1)).or_else(field),
        address: format!("{addr:#x}"),
        size,
        block: block.map(|block| BlockDetail {
            address: format!("{:#x}", block.addr),
            size: block.size,
            allocated: details.allocations.get(&block.addr).map(|moment| teller.happening(moment)),
            freed: details
                .releases
                .get(&block.addr)
                .filter(|_| block.freed)
                .map(|moment| teller.happening(moment)),
        }),
    }
}

/// A piece of memory in a few words: its name, or where in which block it lies.
pub(crate) fn object_text(addr: u64, object: &ObjectDetail, block: Option<Block>) -> String {
    if let Some(name) = &object.name {
        return format!("`{name}`");
    }
    let bytes = |count: u64| if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
    match block {
        Some(block) if addr >= block.addr => format!(
            "{} at offset {} of a block of {}",
            bytes(object.size),
            addr - block.addr,
            bytes(block.size)
        ),
        _ => format!("{} at {}", bytes(object.size), object.address),
    }
}

/// `deposit (bank.c:14)`.
pub(crate) fn function_and_place(place: &Place) -> String {
    match &place.function {
        Some(function) if place.file.is_some() => format!("{function} ({})", place_text(place)),
        _ => place_text(place),
    }
}
