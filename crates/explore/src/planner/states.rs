//! What a strand knows at each of its steps.
//!
//! Whether a value keeps a loop waiting may depend on what its strand has done before: one instruction waits for the first item and, later,
//! for the second. A strand does the same again if it has made the same steps and found the same, so that stands for its state. What an
//! operation has told its strand is known of most: the value that it read. Of others it is taken to be different in every order of the run.

use super::trace::{Event, Trace};
use std::collections::{HashMap, HashSet};
use threadbare_abi::op::OpKind;
use threadbare_abi::step::FENCES;
use threadbare_strategy::rng::mix;

/// The states of a run's strands, by number.
#[derive(Debug, Default)]
pub(crate) struct States {
    /// Of each event's strand, before it.
    before: Vec<u64>,
    /// The same, after it.
    after: Vec<u64>,
}

impl States {
    /// The states in a run; `vain` are steps after which a strand is where it was.
    pub(super) fn of(trace: &Trace, vain: &HashSet<usize>) -> States {
        let mut states = States::default();
        let mut now: HashMap<u16, u64> = HashMap::new();
        let mut order = 0;
        for (at, event) in trace.events.iter().enumerate() {
            let state = now.entry(event.index).or_insert_with(|| first(event));
            states.before.push(*state);
            if !vain.contains(&at) && !gives_way(event) {
                order = mix(order ^ event.path);
                *state = next(*state, event, order);
            }
            states.after.push(*state);
        }
        states
    }

    /// Before the event.
    pub(super) fn before(&self, at: usize) -> u64 {
        self.before[at]
    }

    /// Of a strand that is about to make `event`, the last one it made being `last`.
    pub(super) fn at(&self, event: &Event, last: Option<usize>) -> u64 {
        last.map_or_else(|| first(event), |last| self.after[last])
    }
}

/// Whether it only lets others go on.
pub(super) fn gives_way(event: &Event) -> bool {
    matches!(event.op.kind, OpKind::Yield | OpKind::Sleep | OpKind::Fence)
}

fn first(event: &Event) -> u64 {
    mix(event.path)
}

fn next(state: u64, event: &Event, order: u64) -> u64 {
    let told = told(event).unwrap_or(order);
    let choices = event.choices.iter().enumerate();
    let own = |(at, choice): (usize, &(u32, u32))| {
        // Which of the stores a load saw is told by its value.
        let is_told = event.op.kind.is_atomic_access() && !event.is_fault(at);
        (!is_told).then_some(u64::from(choice.0) << 32 | at as u64)
    };
    let chosen = choices.filter_map(own).fold(0, |sum, choice| mix(sum ^ choice));
    let what = event.op.pc ^ event.op.addr.rotate_left(20) ^ (event.op.kind as u64) << 48;
    mix(mix(state ^ what) ^ mix(told ^ chosen) ^ u64::from(event.by_deadline))
}

/// What the operation told its strand, if that is all in its value.
fn told(event: &Event) -> Option<u64> {
    use OpKind as Kind;
    let alone = event.touches.iter().all(|touch| {
        let is_access = touch.op.kind.is_plain_access() || touch.op.kind.is_atomic_access();
        touch.op.addr == FENCES || touch.op.addr == event.op.addr || !is_access
    });
    match event.op.kind {
        _ if !alone => None,
        Kind::AtomicStore | Kind::Write | Kind::WriteRange => Some(0),
        kind if kind.is_atomic_access() || kind.is_plain_access() => {
            (event.op.size <= 8).then_some(event.before)
        }
        Kind::SpinTryLock | Kind::MutexTryLock | Kind::WriteTryLock | Kind::SemTryWait => Some(event.before),
        Kind::Start
        | Kind::Exit
        | Kind::MutexLock
        | Kind::MutexUnlock
        | Kind::CondWait
        | Kind::CondTimedWait
        | Kind::CondSignal
        | Kind::CondBroadcast
        | Kind::ReadLock
        | Kind::WriteLock
        | Kind::RwUnlock
        | Kind::ReadUnlock
        | Kind::SpinLock
        | Kind::SpinUnlock
        | Kind::SemWait
        | Kind::SemPost
        | Kind::Create
        | Kind::Detach
        | Kind::FutexWake
        | Kind::Annotate
        // Who is told to be the last did not wait.
        | Kind::BarrierWait
        | Kind::Init
        | Kind::Destroy => Some(0),
        _ => None,
    }
}
