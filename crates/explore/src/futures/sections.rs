//! Where a strand was under locks: a step inside a critical section cannot wait for who needs the lock, so strands are held
//! before the outermost one.
//!
//! Locks that are one word of the program's own, such as Rust's, are known by what is done to the word: an exchange that puts something
//! in the place of 0, and by the same strand later a write of 0.

use crate::planner::trace::{Event, Trace};
use std::collections::{HashMap, HashSet};
use threadbare_abi::op::OpKind;

/// What a step does to a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    Nothing,
    /// It takes the lock at this address; whether others may have it at the same time.
    Takes(u64, bool),
    /// It gives it back.
    Gives(u64),
}

/// The critical sections of a run.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub(crate) does: Vec<Does>,
    /// For each event the locks held when it is made, the outermost first: address, the event that took it, whether shared.
    pub(crate) held: Vec<Vec<(u64, usize, bool)>>,
}

impl Sections {
    pub(crate) fn of(trace: &Trace) -> Sections {
        let words = lock_words(trace);
        let recursive = recursive(trace, &words);
        let mut sections = Sections::default();
        let mut held: HashMap<u64, Vec<(u64, usize, bool)>> = HashMap::new();
        for (at, event) in trace.events.iter().enumerate() {
            let locks = held.entry(event.path).or_default();
            let does = does(event, &words, locks);
            match does {
                Does::Nothing => {}
                Does::Takes(lock, shared) => {
                    let again = locks.iter().find(|(other, ..)| *other == lock).map(|(_, taken, _)| *taken);
                    match again {
                        None => locks.push((lock, at, shared)),
                        Some(taken) if recursive.contains(&(event.path, lock)) => {
                            locks.push((lock, taken, shared));
                        }
                        Some(_) => {}
                    }
                }
                Does::Gives(lock) if recursive.contains(&(event.path, lock)) => {
                    if let Some(last) = locks.iter().rposition(|(other, ..)| *other == lock) {
                        locks.remove(last);
                    }
                }
                Does::Gives(lock) => locks.retain(|(other, ..)| *other != lock),
            }
            sections.does.push(does);
            sections.held.push(locks.clone());
        }
        sections
    }

    /// The event before which the strand of an event has to be stopped, so that it holds no lock then.
    pub(crate) fn entry(&self, event: usize) -> usize {
        self.held[event].first().map_or(event, |(_, taken, _)| *taken)
    }
}

/// Locks that a strand takes as often as it gives them back, some while it has them: others refuse the second time.
fn recursive(trace: &Trace, words: &HashSet<u64>) -> HashSet<(u64, u64)> {
    // How often it has it, and the most.
    let mut depths: HashMap<(u64, u64), (i64, i64)> = HashMap::new();
    for event in &trace.events {
        let (lock, by) = match does(event, words, &[]) {
            Does::Takes(lock, _) => (lock, 1),
            Does::Gives(lock) => (lock, -1),
            Does::Nothing => continue,
        };
        let (depth, most) = depths.entry((event.path, lock)).or_default();
        *depth += by;
        *most = (*most).max(*depth);
    }
    depths.into_iter().filter(|(_, (depth, most))| *depth == 0 && *most > 1).map(|(key, _)| key).collect()
}

/// Words that are used as locks: an exchange from 0, and a write of 0 by the strand that made it.
pub(crate) fn lock_words(trace: &Trace) -> HashSet<u64> {
    let mut taken: HashMap<u64, u64> = HashMap::new();
    let mut words = HashSet::new();
    for event in &trace.events {
        if takes_word(event) {
            taken.insert(event.op.addr, event.path);
        } else if event.op.kind.is_atomic_access()
            && event.op.kind.writes_memory()
            && event.op.size == 4
            && event.after == 0
            && taken.get(&event.op.addr) == Some(&event.path)
        {
            words.insert(event.op.addr);
        }
    }
    words
}

fn takes_word(event: &Event) -> bool {
    event.op.kind == OpKind::AtomicCas
        && event.op.size == 4
        && event.before == 0
        && event.wants == Some((0, 1))
}

fn does(event: &Event, words: &HashSet<u64>, held: &[(u64, usize, bool)]) -> Does {
    let op = event.op;
    // Who was woken or came too late has taken nothing by this step.
    if event.by_deadline {
        return Does::Nothing;
    }
    let takes = op.kind.takes_lock() || matches!(op.kind, OpKind::MutexTimedLock);
    match op.kind {
        // A wait gives the lock back; taking it again is an operation of its own.
        OpKind::CondWait | OpKind::CondTimedWait if !event.resumed => {
            held.last().map_or(Does::Nothing, |(lock, ..)| Does::Gives(*lock))
        }
        OpKind::CondWait | OpKind::CondTimedWait => Does::Nothing,
        _ if takes => Does::Takes(op.addr, op.kind.is_shared()),
        _ if op.kind.gives_lock_back() => Does::Gives(op.addr),
        _ if words.contains(&op.addr) && takes_word(event) => Does::Takes(op.addr, false),
        _ if words.contains(&op.addr) && op.kind.writes_memory() && event.after == 0 => Does::Gives(op.addr),
        _ => Does::Nothing,
    }
}
