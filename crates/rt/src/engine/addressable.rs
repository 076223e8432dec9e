//! Whether what the program is about to touch is memory it has: its heap blocks, and the stacks of strands that live.
//!
//! [`check`] is asked before every access the compiler's pass announces and again after every point, because others may
//! have freed the memory meanwhile; atomics, locks and their kind are asked about as well, also while there is only one
//! strand. It looks at one byte of the heap's shadow. Memory errors end the run.
//!
//! Not seen: accesses of code that was not instrumented, overflows that land in another block, the program's own
//! subdivisions of a block, and the stack of the main strand, which outlives it.

use super::sched::{self, Phase, engine};
use super::strand::Strand;
use super::{destroyed, modules, race, report, strand};
use crate::heap;
use crate::heap::arena::{Block, HEADER};
use crate::heap::shadow::{self, Shadow};
use crate::raw::Raw;
use alloc::collections::BTreeMap;
use core::fmt;
use threadbare_abi::op::{Op, OpKind, Order};
use threadbare_abi::report::RecordTag;
use threadbare_abi::strand::StrandId;
use threadbare_abi::verdict::VerdictKind;

/// What the fast path reads, in one place; `heap.length` and `stacks_length` are 0 while nothing is checked.
#[repr(C, align(64))]
pub struct View {
    heap: Shadow,
    /// All ended strands' stacks lie between these.
    stacks: usize,
    stacks_length: usize,
}

/// What is checked.
pub static mut VIEW: View = View { heap: Shadow::EMPTY, stacks: 0, stacks_length: 0 };

/// Offsets in [`VIEW`], for the stubs.
pub mod offset {
    use super::View;
    use core::mem::offset_of;

    /// Where the heap begins.
    pub const HEAP: usize = offset_of!(View, heap.base);
    /// Its bytes.
    pub const HEAP_LENGTH: usize = offset_of!(View, heap.length);
    /// Where the ended strands' stacks begin.
    pub const STACKS: usize = offset_of!(View, stacks);
    /// The bytes up to the end of the last.
    pub const STACKS_LENGTH: usize = offset_of!(View, stacks_length);
}

/// 1 while anything is checked: the run has begun, and this is its process.
pub static mut CHECKING: u8 = 0;

/// A run begins.
pub fn begin() {
    // SAFETY: single kernel thread.
    unsafe {
        VIEW.heap = heap::open();
        CHECKING = 1;
    }
}

/// Nothing is checked any more: this is the child of the program's own fork.
pub fn stop() {
    // SAFETY: single kernel thread.
    unsafe {
        VIEW.heap = Shadow::EMPTY;
        VIEW.stacks_length = 0;
        CHECKING = 0;
    }
}

/// The program is about to touch memory: ends the run if it has no such memory. `size` is not 0.
#[inline(always)]
pub fn check(kind: OpKind, addr: u64, size: u32, pc: u64) {
    check_at(kind, addr, size, pc, look_closer::<false>, look_at_stacks::<false>);
}

/// [`check`] of an operation that has been told as a step.
#[inline(always)]
fn check_made(kind: OpKind, addr: u64, size: u32, pc: u64) {
    check_at(kind, addr, size, pc, look_closer::<true>, look_at_stacks::<true>);
}

type Look = fn(OpKind, u64, u32, u64);

#[inline(always)]
fn check_at(kind: OpKind, addr: u64, size: u32, pc: u64, closer: Look, at_stacks: Look) {
    // SAFETY: single kernel thread.
    let view = unsafe { &*(&raw const VIEW) };
    let at = (addr as usize).wrapping_sub(view.heap.base);
    if at < view.heap.length {
        if size > 16 || !view.heap.usable(at, size as usize) {
            closer(kind, addr, size, pc);
        }
    } else if (addr as usize).wrapping_sub(view.stacks) < view.stacks_length {
        at_stacks(kind, addr, size, pc);
    }
}

/// Whether [`check`] need not be asked: one look tells that there is such memory.
#[inline(always)]
pub fn is_plain(addr: u64, size: u32) -> bool {
    // SAFETY: single kernel thread.
    let view = unsafe { &*(&raw const VIEW) };
    let at = (addr as usize).wrapping_sub(view.heap.base);
    if at < view.heap.length {
        view.heap.usable(at, size as usize)
    } else {
        (addr as usize).wrapping_sub(view.stacks) >= view.stacks_length
    }
}

/// Bytes that are looked at of an object such as a mutex.
const OBJECT: u32 = 4;

/// Whether the operation concerns an object in memory that it looks at. A futex word may be gone when it is woken.
#[inline(always)]
const fn is_object(kind: OpKind) -> bool {
    kind as u8 >= OpKind::MutexLock as u8 && kind as u8 <= OpKind::Once as u8
}

/// [`check`] before a lock and its kind.
#[inline(always)]
pub fn check_object(op: Op) {
    if is_object(op.kind) {
        check(op.kind, op.addr, OBJECT, op.pc);
        destroyed::check(op, false);
    }
}

/// [`check`] after a point, right before the operation.
#[inline(always)]
pub fn check_again(op: Op) {
    if is_object(op.kind) {
        check_made(op.kind, op.addr, OBJECT, op.pc);
        destroyed::check(op, true);
    } else if (op.kind.is_plain_access() || op.kind.is_atomic_access()) && op.size != 0 {
        check_made(op.kind, op.addr, op.size, op.pc);
    }
}

/// [`check`] at the end of a wait, before the object is taken. Barriers and condition variables may be gone then.
#[inline]
pub fn check_taken(op: Op) {
    if matches!(
        op.kind,
        OpKind::MutexLock
            | OpKind::MutexTimedLock
            | OpKind::ReadLock
            | OpKind::WriteLock
            | OpKind::SpinLock
            | OpKind::SemWait
    ) {
        check_made(op.kind, op.addr, OBJECT, op.pc);
        destroyed::check(op, true);
    }
}

#[inline(never)]
fn look_closer<const MADE: bool>(kind: OpKind, addr: u64, size: u32, pc: u64) {
    // SAFETY: single kernel thread.
    let heap = unsafe { VIEW.heap };
    if let Some(bad) = heap.first_unusable(addr as usize - heap.base, size as usize) {
        fail::<MADE>(kind, addr, size, pc, heap.base + bad, heap.state(heap.base + bad));
    }
}

/// The farthest a wild access may be from a block to be told as that block's.
const NEAR: usize = 4096;

/// The block whose bounds an access leaves at `bad`: the one before it, or the one behind if that is nearer.
fn left(addr: usize, size: usize, bad: usize) -> Option<Block> {
    let found = heap::find(bad).or_else(|| heap::last_before(bad))?;
    if found.user <= bad {
        return Some(found).filter(|block| bad - (block.user + block.size) < NEAR);
    }
    let Some(before) = heap::find(found.user - HEADER - 1) else { return Some(found) };
    let beyond = bad.saturating_sub(before.user + before.size);
    let short = found.user.saturating_sub(addr + size);
    Some(if addr == bad && short < beyond { found } else { before })
}

#[cold]
fn fail<const MADE: bool>(kind: OpKind, addr: u64, size: u32, pc: u64, bad: usize, state: u8) {
    if engine().phase != Phase::Running || !MADE && is_object(kind) && is_left_to_the_point() {
        return;
    }
    let (start, length) = (addr as usize, size as usize);
    // In the header of a freed block nothing was freed: who comes there has left the block before it.
    let freed = heap::find(bad).filter(|block| state == shadow::FREED && block.user <= bad);
    let block = freed.or_else(|| left(start, length, bad));
    let what = Access { kind, size };
    ends_by(access(kind, addr, size, pc), MADE);
    tell_block(block);
    let fail = |verdict: VerdictKind, message: fmt::Arguments| super::fail_run(verdict, 0, addr, pc, message);
    let Some(block) = block else {
        fail(VerdictKind::HeapOverflow, format_args!("{what} in heap memory that was never allocated"))
    };
    let end = block.user + block.size;
    if block.freed {
        super::learn::freed_early(block.free_pc);
        fail(VerdictKind::UseAfterFree, format_args!("{what}, {} that was freed", Place { at: start, block }))
    } else if start < block.user || start >= end {
        fail(VerdictKind::HeapOverflow, format_args!("{what}, {}", Place { at: start, block }))
    } else {
        let over = start + length - end;
        fail(
            VerdictKind::HeapOverflow,
            format_args!("{what}, the last {} of it behind a block of {}", over, Bytes(block.size)),
        )
    }
}

fn access(kind: OpKind, addr: u64, size: u32, pc: u64) -> Op {
    Op { kind, order: Order::Relaxed, size, addr, pc }
}

/// Whether the use of an object is checked after its point only, and not before: planners decide who comes first, and so does a schedule of
/// such a run.
#[inline]
pub fn is_left_to_the_point() -> bool {
    engine().live > 1 && (super::steps::is_on() || super::follow::goes_on())
}

/// The run is about to end by this operation of the running strand, whatever it published last. Unless it is `made`, that is
/// told as a step: the order of it and of what others did makes a difference.
pub fn ends_by(op: Op, made: bool) {
    sched::this().op = op;
    if !made {
        super::steps::ends_run();
    }
}

/// The same by a call that may free a block.
pub fn ends_by_free(addr: u64, size: usize, pc: u64) {
    ends_by(access(OpKind::Free, addr, size.min(u32::MAX as usize) as u32, pc), false);
}

/// Tells the driver which block the verdict concerns.
pub fn tell_block(block: Option<Block>) {
    if let Some(block) = block {
        let values = [block.user as u64, block.size as u64, block.freed as u64];
        report::add(RecordTag::Block, super::me().0, values, format_args!(""));
    }
}

/// A block has become smaller where it is.
pub fn shrinks() {
    race::again::lapses_for_all();
}

/// The stack of a strand that has ended, with its thread-local storage on top.
struct Ended {
    thread_local: usize,
    high: usize,
    strand: StrandId,
}

/// By their lowest addresses.
static mut ENDED: BTreeMap<usize, Ended> = BTreeMap::new();

fn ended() -> Raw<BTreeMap<usize, Ended>> {
    // SAFETY: single kernel thread.
    unsafe { Raw::new(&raw mut ENDED) }
}

fn set_bounds() {
    let list = ended();
    // SAFETY: single kernel thread.
    unsafe {
        VIEW.stacks = list.first_key_value().map_or(0, |(low, _)| *low);
        VIEW.stacks_length = list.last_key_value().map_or(0, |(_, stack)| stack.high - VIEW.stacks);
    }
    race::again::lapses_for_all();
}

/// A strand has ended: its stack is nobody's until another strand gets it. A stack that the program made, and the main
/// one, stay what they are.
pub fn strand_ended(this: &Strand) {
    // SAFETY: single kernel thread.
    let checking = unsafe { CHECKING } != 0;
    if let Some(carrier) = this.carrier.as_ref().filter(|carrier| checking && carrier.is_libcs()) {
        let (low, high) = (this.stack.0, carrier.fs);
        let thread_local = high - modules::static_tls_size();
        ended().insert(low, Ended { thread_local, high, strand: this.id });
        set_bounds();
    }
}

/// A strand begins on this stack.
pub fn strand_begins(stack: (usize, usize)) {
    if ended().remove(&stack.0).is_some() {
        set_bounds();
    }
}

#[inline(never)]
fn look_at_stacks<const MADE: bool>(kind: OpKind, addr: u64, size: u32, pc: u64) {
    let (this, at) = (sched::this(), addr as usize);
    if at >= this.stack.0 && at < this.stack.1 || engine().phase != Phase::Running {
        return;
    }
    let all = ended();
    let Some((_, stack)) = all.range(..=at).next_back() else { return };
    if at < stack.high {
        let part = if at < stack.thread_local { "stack" } else { "thread-local storage" };
        ends_by(access(kind, addr, size, pc), MADE);
        super::fail_run(
            VerdictKind::StackUseAfterEnd,
            0,
            addr,
            pc,
            format_args!(
                "{} in the {part} of strand {}, which has ended",
                Access { kind, size },
                Name(stack.strand)
            ),
        );
    }
}

/// A number of bytes.
pub struct Bytes(pub usize);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} byte{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

struct Access {
    kind: OpKind,
    size: u32,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.kind {
            OpKind::Read | OpKind::ReadRange => "read",
            OpKind::Write | OpKind::WriteRange => "write",
            OpKind::ReadWrite => "read and write",
            OpKind::AtomicLoad => "atomic read",
            OpKind::AtomicStore => "atomic write",
            OpKind::AtomicRmw => "atomic update",
            OpKind::AtomicCas => "atomic compare and exchange",
            other => return f.write_str(other.name()),
        };
        write!(f, "{verb} of {}", Bytes(self.size as usize))
    }
}

/// An address relative to a block.
struct Place {
    at: usize,
    block: Block,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.block.user, self.block.user + self.block.size);
        let whole = Bytes(self.block.size);
        if self.at < start {
            write!(f, "{} before a block of {whole}", Bytes(start - self.at))
        } else if self.at > end {
            write!(f, "{} behind a block of {whole}", Bytes(self.at - end))
        } else if self.at == end && self.block.size > 0 {
            write!(f, "right behind a block of {whole}")
        } else {
            write!(f, "{} into a block of {whole}", Bytes(self.at - start))
        }
    }
}

/// A strand's name, such as `0.1`.
pub struct Name(pub StrandId);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let this = strand(self.0);
        if this.parent == StrandId::NONE {
            return f.write_str("0");
        }
        write!(f, "{}.{}", Name(this.parent), this.ordinal)
    }
}
