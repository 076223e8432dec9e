//! What memory had before and after each access, for the driver to infer invariants from.
//!
//! The hook of an access comes before it, and a strand may be stopped in between. So what was there before is read when the strand
//! goes on, and what is there after it when the strand comes to its next event, before anyone else goes on. A run that nobody
//! wants values of pays nothing: the only tests are those for other things that are seldom wanted.
//!
//! Parameters and locals are read by a plan of the driver's (`threadbare_abi::local`): in registers, which the stubs of plain accesses keep on a way that only
//! such runs take, and on the strand's own stack.

use super::holders::holder;
use super::sched::{ATTENTION, Phase, attention, engine, this};
use super::strand::Strand;
use super::{frames, record, shared, spin};
use crate::arch::registers::{KEPT, KEPT_NUMBERS};
use core::sync::atomic::Ordering;
use threadbare_abi::event::EventKind;
use threadbare_abi::layout::{self, flags};
use threadbare_abi::local::{self, Entry, Operand};
use threadbare_abi::op::{Op, OpKind};

/// Nothing is mapped below.
const LOWEST: u64 = 1 << 16;

/// Accesses to more bytes are not told: they are structures that are copied as a whole.
const MOST: u32 = 64;

/// An access whose outcome was not read yet; of 0 bytes if there is none.
struct Open {
    addr: u64,
    size: u32,
    /// The frame that it is in, on the strand's own stack.
    frame: Option<usize>,
}

static mut OPEN: Open = Open { addr: 0, size: 0, frame: None };

/// What the driver's plan has for an instruction.
fn plan(pc: u64) -> Option<Plan> {
    let table = shared::area(layout::PLACES)?;
    // SAFETY: indices are masked; nobody writes the table during a run.
    let word = |at: usize| unsafe { table.add(at).read() };
    let mut slot = local::slot(pc);
    while word(2 * slot) != pc {
        if word(2 * slot) == 0 {
            return None;
        }
        slot = (slot + 1) & (local::SLOTS - 1);
    }
    Some(Plan { table, entry: Entry::decode(word(2 * slot + 1)) })
}

struct Plan {
    table: *const u64,
    entry: Entry,
}

impl Plan {
    /// Tells what is at the instruction's places: in registers, or in the strand's own frames.
    fn tell(&self, kind: EventKind, size: u32, register: impl Fn(u8) -> Option<u64>) {
        let this = this();
        let first = self.entry.first as usize;
        let Some(stack_pointer) = register(STACK_POINTER) else { return };
        for number in first..(first + self.entry.count as usize).min(local::PLACES) {
            // SAFETY: the number is compared with the table's size; nobody writes it during a run.
            let word = unsafe { self.table.add(2 * local::SLOTS + number).read() };
            let Some(Operand { register: base, offset, size: bytes }) = Operand::decode(word) else {
                continue;
            };
            let Some(base) = register(base) else { continue };
            let value = match offset {
                None => base & (u64::MAX >> (64 - 8 * bytes as u32)),
                Some(offset) => {
                    let at = base.wrapping_add_signed(offset as i64) as usize;
                    let frame = stack_pointer as usize..this.stack.1.saturating_sub(7);
                    if !frame.contains(&at) {
                        continue;
                    }
                    spin::load(at as u64, bytes)
                }
            };
            let place = Op { size, ..Op::new(OpKind::Start, number as u64, 0) };
            record::push(kind, this.id, place, value);
        }
    }
}

/// The DWARF number of the stack pointer.
const STACK_POINTER: u8 = 7;

/// Tells the parameters and locals of the access that the running strand makes.
fn tell_locals(op: Op, plan: &Plan) {
    // SAFETY: null, or in a frame of the strand's that is there until the access is made; after a jump out of it, in what was one on the same stack.
    if let Some(captured) = unsafe { this().captured.as_ref() }.filter(|captured| captured.pc == op.pc) {
        plan.tell(EventKind::Local, 0, |number| captured.registers.get(number as usize).copied());
    }
}

/// The running strand leaves a function that was told: what it has where the function's return value comes from.
#[cold]
#[inline(never)]
pub fn returns(pc: u64, stack_pointer: usize, kept: &[u64; KEPT], depth: u64) {
    if !is_on() {
        return;
    }
    if let Some(plan) = plan(pc) {
        let depth = depth.min(0xFF_FFFF) as u32;
        plan.tell(EventKind::Returned, depth, |number| match number {
            STACK_POINTER => Some(stack_pointer as u64),
            _ => KEPT_NUMBERS.iter().position(|it| *it == number).map(|at| kept[at]),
        });
    }
}

/// Words beside accesses that were told last, each at its place: its address and what it had.
const WORDS: usize = 1024;
static mut TOLD: [(u64, u64); WORDS] = [(0, 0); WORDS];

/// Tells what there is within so many bytes of an access, as far as that is new: of the heap block that it is in, or of the page.
fn tell_beside(op: Op, around: u64, block: Option<(u64, u64)>) {
    const PAGE: u64 = 4096;
    let end = op.addr + u64::from(op.size);
    let (first, last) = block.unwrap_or((op.addr & !(PAGE - 1), end.next_multiple_of(PAGE)));
    let first = first.max(op.addr.saturating_sub(around)) & !7;
    let last = last.min(end + around).next_multiple_of(8);
    record::push(EventKind::Beside, this().id, Op::new(OpKind::Start, first, op.pc), last);
    for at in (first..last).step_by(8) {
        let value = spin::load(at, 8);
        // SAFETY: single kernel thread; the index is below the table's size.
        let told = unsafe { &mut *(&raw mut TOLD[at as usize / 8 % WORDS]) };
        if *told != (at, value) {
            *told = (at, value);
            record::push(EventKind::Beside, this().id, Op::new(OpKind::Start, at, 0), value);
        }
    }
}

/// Whether values are told.
#[inline(always)]
pub fn is_on() -> bool {
    ATTENTION.load(Ordering::Relaxed) & attention::VALUES != 0
}

/// Blocks whose allocation is told in a run: of a program that has more, which one a pointer leads to says little.
const ALLOCATIONS: u32 = 4096;
static mut ALLOCATED: u32 = 0;

/// The running strand has got a heap block. Whoever called the allocator may be precompiled: told is where the program's own code called that.
#[cold]
#[inline(never)]
pub fn allocated(addr: u64, size: u64, pc: u64) {
    // SAFETY: single kernel thread.
    let told = unsafe { &mut *(&raw mut ALLOCATED) };
    // Steps that tell their functions would find them told already.
    let by_steps = super::plan_flags() & flags::FUNCTIONS != 0;
    if engine().phase != Phase::Running || *told == ALLOCATIONS || by_steps {
        return;
    }
    *told += 1;
    let this = this();
    let depth = tell_functions(&this).min(0xFF_FFFF) as u32;
    let site = frames::call_site().unwrap_or(pc);
    record::push(
        EventKind::Allocated,
        this.id,
        Op { size: depth, ..Op::new(OpKind::Start, addr, site) },
        size,
    );
}

/// Tells the functions that the running strand is in, as far as they are new. How many it is in.
fn tell_functions(this: &Strand) -> u64 {
    let depth = frames::untold(this, true, |pc, depth| {
        record::push(EventKind::Entered, this.id, Op::new(OpKind::Start, 0, pc), depth);
    });
    frames::watch();
    depth
}

/// The running strand goes on and makes the operation it stood before.
#[cold]
#[inline(never)]
pub fn made() {
    let this = this();
    let op = this.op;
    let is_access = op.kind.is_plain_access() || op.kind.is_atomic_access();
    if !is_access || !(1..=MOST).contains(&op.size) || op.addr < LOWEST {
        return;
    }
    let depth = tell_functions(&this);
    let (mut frame, mut within) = (None, None);
    if crate::heap::contains(op.addr as usize)
        && let Some(block) = crate::heap::find(op.addr as usize).filter(|block| !block.freed)
    {
        let start = Op::new(OpKind::Start, block.user as u64, 0);
        record::push(EventKind::Block, this.id, start, block.size as u64);
        within = Some((block.user as u64, (block.user + block.size) as u64));
    } else if let Some((owner, holder)) = holder(op.addr as usize) {
        let op = Op::new(OpKind::Start, holder.frame as u64, holder.pc);
        record::push(EventKind::Block, this.id, op, holder.calls as u64);
        frame = (owner == this.id).then_some(holder.frame);
    }
    if let Some(plan) = plan(op.pc) {
        tell_locals(op, &plan);
        if plan.entry.around > 0 {
            tell_beside(op, plan.entry.around.into(), within);
        }
    }
    for (at, size) in pieces(op.size) {
        let piece = Op { addr: op.addr + u64::from(at), size, ..op };
        record::push_made(this.id, piece, spin::load(piece.addr, size as u8), depth, at > 0);
    }
    // SAFETY: single kernel thread.
    unsafe { OPEN = Open { addr: op.addr, size: op.size, frame } }
}

/// So many bytes as words and what is left over, each with its place.
fn pieces(size: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let piece = [8, 4, 2, 1].into_iter().find(|piece| size - at >= *piece)?;
        at += piece;
        Some((at - piece, piece))
    })
}

/// The running strand has come to its next event: what it did last is done.
#[cold]
#[inline(never)]
pub fn settle() {
    // SAFETY: single kernel thread.
    let open = unsafe { &mut *(&raw mut OPEN) };
    let size = core::mem::take(&mut open.size);
    if size == 0 {
        return;
    }
    // The function may have returned since, and others have been where its frame was.
    let lives = |frame| holder(open.addr as usize).is_some_and(|(_, now)| now.frame == frame && !now.untold);
    if !open.frame.is_none_or(lives) {
        return;
    }
    for (at, size) in pieces(size) {
        let op = Op { size, ..Op::new(OpKind::Read, open.addr + u64::from(at), 0) };
        record::push(EventKind::Left, this().id, op, spin::load(op.addr, size as u8));
    }
}
