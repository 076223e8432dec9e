//! The steps of a run as the pairs' crate takes them.

use crate::futures::sections::{Does as Section, Sections, lock_words};
use crate::idioms::view::clocks;
use crate::planner::trace::Trace;
use std::collections::HashMap;
use std::sync::Arc;
use threadbare_abi::op::OpKind;
use threadbare_pairs::{Activation, Does, RunSteps, StrandStep, Touch};

/// What the strands of a run did.
pub(super) fn of(number: u64, trace: &Trace) -> RunSteps {
    let (clocks, sections, words) = (clocks(trace), Sections::of(trace), lock_words(trace));
    let mut ordinals: HashMap<u16, u32> = HashMap::new();
    let mut numbers: HashMap<(u64, u64), u64> = HashMap::new();
    let kept = trace.events.len().min(RunSteps::LONGEST);
    let mut run = RunSteps { number, dropped: trace.events.len() - kept, ..RunSteps::default() };
    for (at, event) in trace.events[..kept].iter().enumerate() {
        let ordinal = ordinals.entry(event.index).or_default();
        *ordinal += 1;
        let number = numbers.entry((event.path, event.op.pc)).or_default();
        *number += 1;
        let takes = match sections.does[at] {
            Section::Takes(lock, _) => Some(lock),
            Section::Gives(_) | Section::Nothing => None,
        };
        let touches = event.touches.iter().filter_map(|touch| {
            let op = touch.op;
            let data = (op.kind.is_plain_access() || op.kind.is_atomic_access()) && !words.contains(&op.addr);
            let does = match (op.kind.reads_memory(), op.kind.writes_memory()) {
                _ if takes == Some(op.addr) => Does::Lock,
                _ if !data => Does::Sync,
                (true, true) => Does::Update,
                (_, true) => Does::Write,
                _ => Does::Read,
            };
            let matters = op.addr != 0 && !matches!(op.kind, OpKind::Start | OpKind::Yield | OpKind::Sleep);
            // Blocks that are freed are data: whoever uses them meets whoever frees them.
            let does = if op.kind == OpKind::Free { Does::Write } else { does };
            let size = if does.is_data() { u64::from(op.size).max(1) } else { 1 };
            matters.then_some(Touch { does, start: op.addr, end: op.addr + size })
        });
        run.events.push(StrandStep {
            strand: u32::from(event.index),
            path: event.path,
            ordinal: *ordinal,
            pc: event.op.pc,
            number: *number,
            activation: trace.functions.of[at],
            clock: Arc::clone(&clocks[at]),
            touches: touches.collect(),
            held: sections.held[at]
                .iter()
                .filter(|(lock, _, shared)| !shared && takes != Some(*lock))
                .map(|(lock, ..)| *lock)
                .collect(),
        });
    }
    let activation = |&(parent, call): &(Option<u32>, u64)| Activation { parent, call };
    run.activations = trace.functions.all.iter().map(activation).collect();
    run
}
