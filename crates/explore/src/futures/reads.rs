//! What each read of a run saw, from its steps: the write before it, by the byte.
//!
//! Steps are told from the second strand on: what was written before that is the *initial* value. Where memory has another value than
//! the last write left there, code without instrumentation has written in between. Memory that is given back, or that belonged to a function that
//! has returned, forgets what was written there: whoever has it next finds the *initial* value.

use crate::planner::trace::{Event, Trace};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use threadbare_abi::op::OpKind;
use threadbare_strategy::rng::mix;

/// A number for an instruction with its callers.
pub(crate) fn site(pc: u64, context: u64) -> u64 {
    if context == 0 { pc } else { mix(pc ^ context) }
}

/// Where the value that a read saw comes from: writes are sites ([`super::Found::sites`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// A write of the reading strand.
    Own(u64),
    /// A write of another strand.
    Other(u64),
    /// What was there when the second strand began.
    Initial,
    /// A write of code that is not instrumented.
    Unseen,
}

/// A step of a strand, named so that it means the same in another run: the how-manieth time the strand comes to the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Mark {
    pub(crate) path: u64,
    pub(crate) pc: u64,
    pub(crate) number: u64,
}

/// An access to memory that strands share.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The event that it belongs to.
    pub(crate) event: usize,
    pub(crate) pc: u64,
    /// The instruction with its callers: a library's function makes the accesses of many.
    pub(crate) site: u64,
    /// The how-manieth time the strand makes it.
    pub(crate) number: u64,
    pub(crate) addr: u64,
    pub(crate) size: u64,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// What it saw: the writes by their place in the list, `None` for what was there; whether memory agrees.
    pub(crate) from: Vec<Option<usize>>,
    pub(crate) unseen: bool,
    /// It saw an older store than the newest.
    pub(crate) stale: bool,
    /// It is an atomic operation.
    pub(crate) atomic: bool,
}

impl Access {
    /// Whether two accesses have a byte in common.
    pub(crate) fn meets(&self, other: &Access) -> bool {
        self.addr < other.addr + other.size && other.addr < self.addr + self.size
    }
}

/// The accesses of a run.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    pub(crate) accesses: Vec<Access>,
    by_site: HashMap<u64, Vec<usize>>,
    marks: Vec<Mark>,
}

/// What was written last.
#[derive(Default)]
struct Last {
    /// The last write of each byte; none where it was out of sight.
    bytes: BTreeMap<u64, Option<usize>>,
    /// The writes of each object as the memory model orders them.
    order: BTreeMap<(u64, u64), Vec<usize>>,
}

impl Last {
    /// The memory is another's from now on.
    fn forget(&mut self, memory: Range<u64>) {
        if memory.is_empty() {
            return;
        }
        let bytes: Vec<u64> = self.bytes.range(memory.clone()).map(|(&at, _)| at).collect();
        let objects = self.order.range((memory.start, 0)..(memory.end, 0)).map(|(&object, _)| object);
        let objects: Vec<(u64, u64)> = objects.collect();
        for at in bytes {
            self.bytes.remove(&at);
        }
        for object in objects {
            self.order.remove(&object);
        }
    }
}

/// Larger accesses count for so many of their bytes.
const LONGEST: u64 = 4096;

impl Reads {
    pub(crate) fn of(trace: &Trace) -> Reads {
        let mut reads = Reads::default();
        // A lock is no data, be it a word of the program's own.
        let locks = super::sections::lock_words(trace);
        let mut steps: HashMap<(u64, u64), u64> = HashMap::new();
        let mut numbers: HashMap<(u64, u64), u64> = HashMap::new();
        let mut last = Last::default();
        let mut renewed = trace.renewed.iter().peekable();
        for (at, event) in trace.events.iter().enumerate() {
            let number = steps.entry((event.path, event.op.pc)).or_default();
            *number += 1;
            reads.marks.push(Mark { path: event.path, pc: event.op.pc, number: *number });
            // What a step reads it reads before it writes.
            let mut written = Vec::new();
            for (number, touch) in event.touches.iter().enumerate() {
                let op = touch.op;
                while let Some(it) = renewed.next_if(|it| (it.event, it.touch) <= (at, number)) {
                    last.forget(it.memory.clone());
                }
                if op.kind == OpKind::Free {
                    last.forget(op.addr..op.addr.saturating_add(u64::from(op.size)));
                }
                let accesses = op.kind.is_plain_access() || op.kind.is_atomic_access();
                if !accesses || op.pc == 0 || op.size == 0 || locks.contains(&op.addr) {
                    continue;
                }
                if event.op.kind.looks() && op.kind == OpKind::AtomicRmw && op.pc == event.op.pc {
                    // The step only looked: what has changed meanwhile was changed out of sight.
                    last.bytes.extend((op.addr..op.addr + u64::from(op.size)).map(|byte| (byte, None)));
                    continue;
                }
                let site = site(op.pc, event.context);
                let number = numbers.entry((event.path, site)).or_default();
                *number += 1;
                let size = u64::from(op.size).min(LONGEST);
                let mut access = Access {
                    event: at,
                    pc: op.pc,
                    site,
                    number: *number,
                    addr: op.addr,
                    size,
                    reads: op.kind.reads_memory(),
                    writes: op.kind.writes_memory(),
                    from: Vec::new(),
                    unseen: false,
                    stale: false,
                    atomic: op.kind.is_atomic_access(),
                };
                let own = (op.pc, op.addr) == (event.op.pc, event.op.addr);
                let back = if own { usize::try_from(event.back).unwrap_or(usize::MAX) } else { 0 };
                if access.reads && event.is_stale() && own {
                    let writes = last.order.get(&(op.addr, size)).map(Vec::as_slice).unwrap_or_default();
                    let seen = writes.len().checked_sub(back.saturating_add(1)).map(|at| writes[at]);
                    access.from.push(seen);
                    access.stale = true;
                } else if access.reads {
                    let sources = (op.addr..op.addr + size).map(|byte| last.bytes.get(&byte).copied());
                    for source in sources {
                        let (source, unseen) = match source {
                            None => (None, false),
                            Some(write) => (write, write.is_none()),
                        };
                        access.unseen |= unseen;
                        if !unseen && !access.from.contains(&source) {
                            access.from.push(source);
                        }
                    }
                }
                access.unseen |= access.reads && reads.is_unseen(trace, event, &access);
                let index = reads.accesses.len();
                if access.writes {
                    let writes = last.order.entry((op.addr, size)).or_default();
                    // One that comes before newer ones leaves memory as it is.
                    let late = op.kind == OpKind::AtomicStore && back > 0;
                    writes.insert(writes.len().saturating_sub(if late { back } else { 0 }), index);
                    if !late {
                        written.push((op.addr, size, index));
                    }
                }
                reads.by_site.entry(site).or_default().push(index);
                reads.accesses.push(access);
            }
            for (addr, size, index) in written {
                for byte in addr..addr + size {
                    last.bytes.insert(byte, Some(index));
                }
            }
        }
        reads
    }

    /// Whether memory has another value than the one write that was seen left there.
    fn is_unseen(&self, trace: &Trace, event: &Event, access: &Access) -> bool {
        let [Some(source)] = access.from[..] else { return false };
        let write = &self.accesses[source];
        let wrote = &trace.events[write.event];
        let same = (write.addr, write.size) == (access.addr, access.size) && access.size <= 8;
        let told = |event: &Event, access: &Access| {
            event.op.pc == access.pc
                && event.op.addr == access.addr
                && u64::from(event.op.size) == access.size
        };
        same && told(event, access) && told(wrote, write) && wrote.after != event.before
    }

    /// The accesses at a site.
    pub(crate) fn at(&self, site: u64) -> &[usize] {
        self.by_site.get(&site).map(Vec::as_slice).unwrap_or_default()
    }

    /// The name of an event.
    pub(crate) fn mark(&self, event: usize) -> Mark {
        self.marks[event]
    }

    /// What a read saw.
    pub(crate) fn origins<'a>(
        &'a self,
        trace: &'a Trace,
        read: &'a Access,
    ) -> impl Iterator<Item = Origin> + 'a {
        let strand = trace.events[read.event].path;
        let unseen = read.unseen.then_some(Origin::Unseen);
        let seen = read.from.iter().filter_map(move |source| match source {
            None => Some(Origin::Initial),
            Some(_) if read.unseen => None,
            Some(at) => {
                let write = &self.accesses[*at];
                Some(match trace.events[write.event].path == strand {
                    true => Origin::Own(write.site),
                    false => Origin::Other(write.site),
                })
            }
        });
        unseen.into_iter().chain(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_abi::step::{Step, StepKind};

    #[test]
    fn memory_that_is_another_s_forgets_all_of_what_was_written_there() {
        let mut last = Last::default();
        for at in [4096, 4100, 8192, 12_287, 12_288] {
            last.bytes.insert(at, Some(1));
            last.order.insert((at, 1), vec![1]);
        }
        // A block of two pages, of which the second one is as much its part as the first.
        last.forget(4100..12_288);
        assert_eq!(last.bytes.into_keys().collect::<Vec<_>>(), [4096, 12_288]);
        assert_eq!(last.order.into_keys().collect::<Vec<_>>(), [(4096, 1), (12_288, 1)]);
    }

    #[test]
    fn a_block_that_is_freed_is_forgotten_beyond_its_first_bytes() {
        let step = |kind: OpKind, addr: u64, size: u32, strand: u16| Step {
            op: kind as u8,
            kind: StepKind::Step as u8,
            pc: 0x1000 + addr,
            addr,
            size,
            strand,
            ..Step::default()
        };
        let block = 0x10_0000;
        let far = block + 6000;
        let saw = |middle: Option<Step>| {
            let first = step(OpKind::Write, far, 4, 1);
            let read = step(OpKind::Read, far, 4, 2);
            let steps: Vec<Step> = [Some(first), middle, Some(read)].into_iter().flatten().collect();
            let trace = Trace::read(&steps);
            let reads = Reads::of(&trace);
            let read = reads.accesses.iter().find(|access| access.reads).expect("a read");
            reads.origins(&trace, read).collect::<Vec<_>>()
        };
        assert!(matches!(saw(None)[..], [Origin::Own(site) | Origin::Other(site)] if site == 0x1000 + far));
        assert_eq!(saw(Some(step(OpKind::Free, block, 8192, 1))), [Origin::Initial]);
    }
}
