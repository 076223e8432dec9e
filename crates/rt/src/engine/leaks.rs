//! Memory that is left when the process ends, told on request.
//!
//! After LeakSanitizer: a block is lost if no pointer leads to it from the modules' variables or from the stacks and thread-local variables of strands that have not
//! ended, over any number of blocks. Whatever looks like a pointer into a block is one, so that none is told that the program could still free. Blocks
//! that only a lost block leads to go with it. Only blocks of the run's own are told, and none of the loader's: it has thread-local variables of
//! strands that have ended.
//!
//! Deviation: memory that the program has mapped itself is not looked through.

use super::live::live;
use super::sched::{ATTENTION, Phase, attention, engine};
use super::strand::State;
use super::{StrandId, frames, me, modules, report, strand, verdict};
use crate::heap;
use crate::model::single::Single;
use crate::raw::Raw;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::Ordering;
use threadbare_abi::layout::{Plan, flags};
use threadbare_abi::report::RecordTag;
use threadbare_abi::verdict::VerdictKind;

/// Callers of an allocation that are kept.
const CALLERS: usize = 12;
/// Places that one run tells.
const PLACES: usize = 16;
/// Bytes of libc's thread descriptor that may hold pointers.
const DESCRIPTOR: usize = 0x900;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    /// Innermost first; 0 behind the last one.
    callers: [u64; CALLERS],
}

#[derive(Clone, Copy)]
struct Allocation {
    place: Place,
    strand: StrandId,
    /// Allocations of the run before it.
    number: u64,
}

#[derive(Default)]
struct Book {
    /// By address.
    blocks: BTreeMap<usize, Allocation>,
    made: u64,
    /// Where the stack of the strand that ends the process is still in use, and its registers.
    end: Option<(StrandId, usize, [usize; 6])>,
    code: i32,
}

static STATE: Single<Option<Book>> = Single::new(None);

fn state() -> Raw<Book> {
    STATE.get().part(|book| book.get_or_insert_default())
}

/// A run begins.
pub fn begin(plan: &Plan) {
    if plan.flags & flags::LEAKS != 0 {
        ATTENTION.fetch_or(attention::LEAKS, Ordering::Relaxed);
    }
}

/// The run ends in the midst of what it does.
pub fn stop() {
    ATTENTION.fetch_and(!attention::LEAKS, Ordering::Relaxed);
}

/// Whether anybody wants to know.
#[inline(always)]
pub fn is_on() -> bool {
    ATTENTION.load(Ordering::Relaxed) & attention::LEAKS != 0
}

/// A block was allocated.
#[cold]
#[inline(never)]
pub fn allocated(addr: u64, pc: u64) {
    if engine().phase != Phase::Running {
        return;
    }
    let mut state = state();
    let mut callers = [0; CALLERS];
    callers[0] = pc;
    // The function that the program has called may be precompiled, and have called the allocator in turn.
    let site = frames::call_site().filter(|&site| site != pc);
    let all = site.into_iter().chain(frames::innermost::<CALLERS>());
    callers[1..].iter_mut().zip(all).for_each(|(to, pc)| *to = pc);
    let place = Place { callers };
    let number = state.made;
    state.blocks.insert(addr as usize, Allocation { place, strand: me(), number });
    state.made += 1;
}

/// A block is freed.
#[cold]
#[inline(never)]
pub fn freed(addr: u64) {
    state().blocks.remove(&(addr as usize));
}

/// The running strand ends the process with this code: what lies below on its stack is of no use any more.
#[inline(never)]
pub fn process_ends(code: i32) {
    if is_on() && engine().phase == Phase::Running {
        let mut state = state();
        state.code = code;
        state.end = Some((me(), crate::arch::stack_pointer(), crate::arch::kept_registers()));
    }
}

/// The run has come to its end: true if something is left and told as its verdict.
pub fn tell() -> bool {
    if !is_on() {
        return false;
    }
    let state = state();
    // A run that has failed has not come to where it frees what it has.
    if state.code != 0 || live().verdict != VerdictKind::None as u32 {
        return false;
    }
    modules::refresh();
    let lost = lost(&state);
    let mut groups: Vec<(Allocation, usize, usize, usize)> = Vec::new();
    for (user, allocation) in lost {
        let size = heap::find(user).map_or(0, |block| block.size);
        match groups.iter_mut().find(|(first, ..)| first.place == allocation.place) {
            Some((.., blocks, bytes)) => (*blocks, *bytes) = (*blocks + 1, *bytes + size),
            None => groups.push((allocation, user, 1, size)),
        }
    }
    let Some(&(first, user, blocks, bytes)) = groups.first() else { return false };
    for (group, user, blocks, bytes) in groups.iter().take(PLACES) {
        let values = [*user as u64, *bytes as u64, group.place.callers[0]];
        let callers = super::locks::Pcs(&group.place.callers[1..]);
        report::add(RecordTag::Leak, group.strand.0, values, format_args!("{blocks}{callers}"));
    }
    super::addressable::tell_block(heap::find(user));
    let bytes = super::addressable::Bytes(bytes);
    let note = |what: core::fmt::Arguments| {
        verdict::note_verdict(VerdictKind::Leak, 0, 0, first.place.callers[0], what);
    };
    let others = Others(groups.len() - 1);
    match blocks {
        1 => note(format_args!("a block of {bytes} is left, and nothing points to it{others}")),
        _ => note(format_args!(
            "{blocks} blocks, {bytes} in all, are left, and nothing points to them{others}"
        )),
    }
    true
}

/// How many other places there are.
struct Others(usize);

impl fmt::Display for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => f.write_str("; so is memory of another place"),
            others => write!(f, "; so is memory of {others} other places"),
        }
    }
}

/// The blocks that nothing leads to, not even another one of them, in the order of their allocation.
fn lost(state: &Book) -> Vec<(usize, Allocation)> {
    let mut kept = BTreeSet::new();
    roots(state, |start, end| reach(start, end, &mut |user| kept.insert(user)));
    let mut lost: Vec<(usize, Allocation)> = state
        .blocks
        .iter()
        .filter(|(user, made)| !kept.contains(*user) && !modules::is_loader(made.place.callers[0]))
        .map(|(user, made)| (*user, *made))
        .collect();
    lost.sort_unstable_by_key(|(_, made)| made.number);
    let mut led_to = BTreeSet::new();
    for &(user, _) in &lost {
        let Some(block) = heap::find(user).filter(|_| !led_to.contains(&user)) else { continue };
        reach(block.user, block.user + block.size, &mut |other| {
            other != user && !kept.contains(&other) && led_to.insert(other)
        });
    }
    lost.retain(|(user, _)| !led_to.contains(user));
    lost
}

/// Calls `visit` with each piece of memory whose pointers count.
fn roots(state: &Book, mut visit: impl FnMut(usize, usize)) {
    for &(start, size) in modules::variables() {
        if !modules::is_runtime(start) {
            visit(start as usize, (start + size) as usize);
        }
    }
    let tls = modules::static_tls_size();
    for index in 0..engine().strands.len() {
        let other = strand(StrandId(index as u16));
        if other.state() == State::Ended {
            continue;
        }
        let from = match &state.end {
            Some((id, sp, registers)) if *id == other.id => {
                let range = registers.as_ptr_range();
                visit(range.start as usize, range.end as usize);
                *sp
            }
            _ if other.id == me() => crate::arch::stack_pointer(),
            _ => other.sp,
        };
        if (other.stack.0..other.stack.1).contains(&from) {
            visit(from, other.stack.1);
        }
        visit(other.fs - tls, other.fs + DESCRIPTOR);
    }
}

/// Tells `add` the blocks that pointers in this memory lead to; where it says that one is new, what that has in it leads on.
fn reach(start: usize, end: usize, add: &mut impl FnMut(usize) -> bool) {
    let mut left = Vec::new();
    left.push((start, end));
    while let Some((start, end)) = left.pop() {
        let mut at = start.next_multiple_of(size_of::<usize>());
        while at + size_of::<usize>() <= end {
            // SAFETY: mapped memory: a module's variables, a stack that is in use, a block.
            let word = unsafe { (at as *const usize).read_volatile() };
            at += size_of::<usize>();
            if !heap::contains(word) {
                continue;
            }
            // A pointer right behind the last byte is one to the block, too: loops leave such.
            let holds = |block: &heap::arena::Block| {
                !block.freed && (block.user..=block.user + block.size).contains(&word)
            };
            for block in [heap::find(word), heap::find(word - 1)].into_iter().flatten().filter(holds) {
                if add(block.user) {
                    left.push((block.user, block.user + block.size));
                }
            }
        }
    }
}
