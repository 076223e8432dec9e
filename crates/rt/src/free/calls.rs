//! Interposed calls that are concurrent events: noise before and after, who waits, who holds.
//!
//! Each hook says itself which operation it is (`hook!`), and what that does is known of all operations (`abi::does`); an
//! interposed call that says nothing goes straight to libc.

use super::cover::{self, Gap};
use super::held::Lock;
use super::noise::{self, At};
use super::race;
use super::record;
use super::thread::{self, Thread};
use crate::effect::{Effect, Mode, Was, in_free_run};
use crate::sys::errno::EOWNERDEAD;
use core::sync::atomic::Ordering;
use threadbare_abi::does::Hold;
use threadbare_abi::object::{ObjectClass, ObjectId};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;

/// What a call does with its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Does {
    /// Takes it, waiting if need be.
    Lock,
    /// Takes it if it is free.
    Try,
    /// Gives it back.
    Unlock,
    /// Waits on a condition; the mutex is the second argument.
    Wait,
    /// Waits for something that has no holder.
    Block,
    /// Waits for a strand's end.
    Join,
    /// Lets others go on.
    Wake,
}

/// A call that is an event.
#[derive(Clone, Copy, Debug)]
pub struct Sort {
    /// The operation that it is in a controlled run.
    pub op: OpKind,
    /// It has a deadline.
    pub timed: bool,
}

impl Sort {
    fn does(self) -> Does {
        let row = self.op.does();
        match (row.class, row.hold) {
            (Some(class), hold) if class.is_lock() => match hold {
                Hold::Takes | Hold::TakesShared => Does::Lock,
                Hold::Tries | Hold::TriesShared => Does::Try,
                _ => Does::Unlock,
            },
            (Some(ObjectClass::Cond), _) if self.op.acquires() => Does::Wait,
            (Some(ObjectClass::Strand), _) => Does::Join,
            (Some(ObjectClass::Barrier), _) | (Some(_), Hold::Takes) => Does::Block,
            _ => Does::Wake,
        }
    }
}

/// Makes the call with what belongs around it. Safe after fork; in a signal as libc's own function.
#[cold]
#[inline(never)]
pub fn pass<R>(sort: Sort, args: &[usize], pc: u64, call: impl FnOnce() -> R) -> R {
    let Some(mut me) = thread::me() else { return call() };
    let addr = args.first().copied().unwrap_or(0);
    before(&mut me, sort.op, addr, pc);
    let does = sort.does();
    match does {
        Does::Lock | Does::Try => {
            let waits = does == Does::Lock;
            if waits {
                wait(&me, sort.op, addr, pc, sort.timed);
            }
            let result = call();
            if waits {
                wait_over(&mut me);
            }
            if waits || took(&result) {
                recorded(&mut me, pc);
            }
            if took(&result) {
                takes(sort.op, addr, pc);
                if super::word(&result) as u32 as i32 == EOWNERDEAD {
                    // Nobody gave it back: the kernel did, for a strand that has ended.
                    in_free_run(Effect::AfterAll, ObjectId::NEVER, pc);
                }
                hold(&mut me, addr, pc, sort.op.is_shared());
                after(&mut me, sort.op, pc);
            }
            result
        }
        Does::Unlock => {
            // Whether a read-write lock is held together with others is what its holder knows.
            let shared = sort.op.is_shared() || sort.op == OpKind::RwUnlock && holds_shared(&me, addr);
            gives(sort.op, addr, shared, pc);
            give_back(&mut me, addr);
            recorded(&mut me, pc);
            let result = call();
            after(&mut me, sort.op, pc);
            result
        }
        Does::Wait => {
            let mutex = args.get(1).copied().unwrap_or(0);
            gives(OpKind::MutexUnlock, mutex, false, pc);
            give_back(&mut me, mutex);
            wait(&me, sort.op, addr, pc, sort.timed);
            recorded(&mut me, pc);
            let result = call();
            wait_over(&mut me);
            // It is woken, and takes the mutex.
            recorded(&mut me, pc);
            recorded(&mut me, pc);
            takes(OpKind::MutexLock, mutex, pc);
            hold(&mut me, mutex, pc, false);
            after(&mut me, sort.op, pc);
            result
        }
        Does::Block | Does::Join => {
            wait(&me, sort.op, addr, pc, sort.timed);
            if sort.op == OpKind::BarrierWait {
                recorded(&mut me, pc);
                gives(sort.op, addr, false, pc);
            }
            let joined = if does == Does::Join && race::on() { thread::with_handle(addr) } else { None };
            let result = call();
            wait_over(&mut me);
            if let Some(joined) = joined.filter(|_| took(&result)) {
                in_free_run(Effect::Join, ObjectId::strand(StrandId(joined)), pc);
            } else if does == Does::Block && went_on(sort.op, &result) {
                takes(sort.op, addr, pc);
            }
            if sort.op != OpKind::Once {
                recorded(&mut me, pc);
            }
            after(&mut me, sort.op, pc);
            result
        }
        Does::Wake => {
            if sort.op != OpKind::Yield {
                recorded(&mut me, pc);
            }
            if sort.op == OpKind::SemPost {
                gives(sort.op, addr, false, pc);
            }
            let result = call();
            if sort.op == OpKind::SemTryWait && took(&result) {
                takes(sort.op, addr, pc);
            }
            after(&mut me, sort.op, pc);
            result
        }
    }
}

/// A call that may wait for a strand's end, without noise around it.
pub fn join<R>(args: &[usize], pc: u64, call: impl FnOnce() -> R) -> R {
    let joined = args.first().and_then(|handle| thread::with_handle(*handle));
    let result = call();
    if let Some(joined) = joined.filter(|_| took(&result)) {
        in_free_run(Effect::Join, ObjectId::strand(StrandId(joined)), pc);
    }
    result
}

/// The strand has taken the object of an operation.
fn takes(op: OpKind, addr: usize, pc: u64) {
    if let Some(class) = op.does().class {
        let mode = if op.is_shared() { Mode::Shared } else { Mode::Alone };
        in_free_run(Effect::Acquire(mode), ObjectId::new(class, addr as u64), pc);
    }
}

/// The strand is about to give it back.
fn gives(op: OpKind, addr: usize, shared: bool, pc: u64) {
    if let Some(class) = op.does().class {
        let mode = if shared { Mode::Shared } else { Mode::Alone };
        in_free_run(Effect::Release(mode, Was::Shut), ObjectId::new(class, addr as u64), pc);
    }
}

fn holds_shared(me: &Thread, addr: usize) -> bool {
    me.held.known().filter(|held| held.addr == addr).last().is_some_and(|held| held.shared)
}

/// Whether a wait came to its end: a barrier's last one has another result than the others.
fn went_on<R>(op: OpKind, result: &R) -> bool {
    op == OpKind::BarrierWait || super::word(result) as u32 as i32 == 0
}

/// An event is about to be made.
#[inline]
pub fn before(me: &mut Thread, op: OpKind, addr: usize, pc: u64) {
    record::give_back(me);
    let inside = me.count();
    noise::maybe(me, At::before(op, addr as u64, pc, inside));
}

/// An event has been made.
#[inline]
pub fn after(me: &mut Thread, op: OpKind, pc: u64) {
    noise::maybe(me, At::after(op, pc, op == OpKind::MutexLock));
}

#[inline]
fn recorded(me: &mut Thread, pc: u64) {
    if record::on() {
        record::event(me, pc);
    }
}

/// A strand has begun.
pub fn started() {
    if let Some(mut me) = thread::me() {
        noise::maybe(&mut me, At::after(OpKind::Start, first_pc(), false));
    }
}

/// Stands for the beginning of every strand.
fn first_pc() -> u64 {
    started as *const () as u64
}

fn took<R>(result: &R) -> bool {
    let code = super::word(result) as u32 as i32;
    code == 0 || code == EOWNERDEAD
}

/// The strand begins to wait. `open`: it may be woken by time or from outside.
pub fn wait(me: &Thread, op: OpKind, addr: usize, pc: u64, open: bool) {
    let wait = &me.wait;
    wait.op.store(op as u32, Ordering::Relaxed);
    wait.addr.store(addr, Ordering::Relaxed);
    wait.pc.store(pc, Ordering::Relaxed);
    wait.open.store(open, Ordering::Relaxed);
    wait.seq.store((wait.seq.load(Ordering::Relaxed) + 1) | 1, Ordering::Release);
}

/// The strand goes on.
pub fn wait_over(me: &mut Thread) {
    let seq = &me.wait.seq;
    seq.store((seq.load(Ordering::Relaxed) + 1) & !1, Ordering::Release);
    if cover::on() {
        cover::goes_on(me, Gap::Wait);
    }
}

fn hold(me: &mut Thread, addr: usize, pc: u64, shared: bool) {
    me.held.take(Lock { addr, pc, shared });
}

fn give_back(me: &mut Thread, addr: usize) {
    me.held.give_back(addr);
}

const FUTEX_WAIT: usize = 0;
const FUTEX_WAKE: usize = 1;
const FUTEX_REQUEUE: usize = 3;
const FUTEX_CMP_REQUEUE: usize = 4;
const FUTEX_WAKE_OP: usize = 5;
const FUTEX_LOCK_PI: usize = 6;
const FUTEX_UNLOCK_PI: usize = 7;
const FUTEX_WAIT_BITSET: usize = 9;
const FUTEX_WAKE_BITSET: usize = 10;
const FUTEX_PRIVATE: usize = 128;
const FUTEX_COMMAND: usize = 127;

/// A futex call of the program's own, such as those of Rust's locks.
pub fn futex(args: [usize; 6], pc: u64, call: impl FnOnce() -> isize) -> isize {
    let Some(mut me) = thread::me() else { return call() };
    let [addr, command, _, timeout, ..] = args;
    let (op, waits) = match command & FUTEX_COMMAND {
        FUTEX_WAIT | FUTEX_WAIT_BITSET | FUTEX_LOCK_PI => (OpKind::FutexWait, true),
        FUTEX_WAKE | FUTEX_WAKE_BITSET | FUTEX_WAKE_OP | FUTEX_REQUEUE | FUTEX_CMP_REQUEUE
        | FUTEX_UNLOCK_PI => (OpKind::FutexWake, false),
        _ => return call(),
    };
    before(&mut me, op, addr, pc);
    if waits {
        // Another process may wake a futex that is not private.
        wait(&me, op, addr, pc, timeout != 0 || command & FUTEX_PRIVATE == 0);
    }
    let word = ObjectId::new(ObjectClass::Futex, addr as u64);
    in_free_run(if waits { Effect::Wait } else { Effect::Wake }, word, pc);
    recorded(&mut me, pc);
    let result = call();
    if waits {
        in_free_run(Effect::Waited, word, pc);
        wait_over(&mut me);
        if result == 0 {
            recorded(&mut me, pc);
        }
    }
    after(&mut me, op, pc);
    result
}
