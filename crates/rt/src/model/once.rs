//! `pthread_once` and C11's `call_once`.
//!
//! The control word has glibc's values: 0 new, 2 done, 1 in progress with the strand's index plus one above it (where
//! glibc keeps its fork generation, so a child forked meanwhile begins anew).
//!
//! A routine left by a C++ exception, by cancellation or by `pthread_exit` has not happened: the next caller runs it.
//! Rust code without unwinding has no landing pads, so the routine is called through a frame whose personality
//! function does the undoing while the unwinder passes.

use super::cancel;
use super::word::Word;
use crate::effect::{Effect, Mode, Was, effect, here};
use crate::engine::{self, ObjectClass, ObjectId, Ready, Wake};
use crate::free;
use crate::sys::{c_int, c_void};
use alloc::vec::Vec;
use core::arch::global_asm;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

const NEW: u32 = 0;
const DONE: u32 = 2;
const STATE_MASK: u32 = 3;
const IN_PROGRESS: u32 = 1;

/// Initialisations a strand is in.
#[derive(Default)]
pub struct PerStrand {
    running: Vec<Running>,
}

struct Running {
    control: usize,
    /// A stack address of the call: an entry not above a newer call's was left by `longjmp`.
    frame: usize,
}

/// Calls a routine of the program's; an exception may pass.
///
/// # Safety
/// It may be called now.
pub unsafe fn call(routine: unsafe extern "C" fn()) {
    // SAFETY: the caller's promise.
    unsafe { tb_once_call(routine) }
}

unsafe extern "C" {
    /// Calls the routine; the frame's personality is [`tb_once_personality`].
    fn tb_once_call(routine: unsafe extern "C" fn());
}

global_asm!(
    ".text",
    ".hidden tb_once_personality",
    ".hidden tb_once_call",
    ".globl tb_once_call",
    ".type tb_once_call,@function",
    "tb_once_call:",
    ".cfi_startproc",
    // A pc-relative signed 32-bit reference.
    ".cfi_personality 0x1b, tb_once_personality",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "call rdi",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size tb_once_call, . - tb_once_call",
);

const CLEANUP_PHASE: c_int = 2;
const CONTINUE_UNWIND: c_int = 8;

/// The unwinder passes [`tb_once_call`]: the initialisation has not happened.
#[unsafe(no_mangle)]
unsafe extern "C" fn tb_once_personality(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut c_void,
    _context: *mut c_void,
) -> c_int {
    if actions & CLEANUP_PHASE != 0
        && engine::controlled()
        && let Some(entry) = engine::strand(engine::me()).model.once.running.pop()
    {
        // SAFETY: the control word outlives the calls on it.
        unsafe { Word::at(entry.control) }.set(NEW);
        effect(Effect::Release(Mode::Alone, Was::Shut), key(entry.control), here());
        engine::notify(key(entry.control));
    }
    if actions & CLEANUP_PHASE != 0 && !engine::controlled() {
        free::race::left_once();
    }
    CONTINUE_UNWIND
}

fn key(control: usize) -> ObjectId {
    ObjectId::new(ObjectClass::Once, control as u64)
}

/// Who is in the initialisation at an address that a strand waits for; `NONE` if nobody is.
pub fn runner_of(control: usize) -> StrandId {
    // SAFETY: a strand waits for it, so it is there.
    let value = unsafe { Word::at(control) }.get();
    let id = value >> 2;
    if value & STATE_MASK != IN_PROGRESS || id == 0 { StrandId::NONE } else { StrandId((id - 1) as u16) }
}

/// `pthread_once`. Safe before init and after fork (libc's); not in a signal handler.
pub unsafe extern "C" fn on_once(control: *mut c_void, routine: unsafe extern "C" fn(), pc: u64) -> c_int {
    if engine::controlled() {
        return once(control, routine, pc);
    }
    type Routine = unsafe extern "C" fn();
    let call = |routine| {
        // SAFETY: libc's own function with what the program gave, or a routine that calls it.
        unsafe { crate::real!(pthread_once: fn(*mut c_void, Routine) -> c_int)(control, routine) }
    };
    if !free::on() {
        return call(routine);
    }
    let sort = free::calls::Sort { op: OpKind::Once, timed: false };
    free::calls::pass(sort, &[control as usize], pc, || {
        let mut result = 0;
        free::race::once(control as usize, routine, |routine| result = call(routine));
        result
    })
}

crate::interpose!(pthread_once, 2, on_once);
crate::interpose!(__pthread_once, 2, on_once);

/// `pthread_once` under control.
fn once(control: *mut c_void, routine: unsafe extern "C" fn(), pc: u64) -> c_int {
    let addr = control as usize;
    // SAFETY: the program passes a control word.
    let word = unsafe { Word::at(addr) };
    let op = Op::new(OpKind::Once, addr as u64, pc);
    let mut ready = || {
        let value = word.get();
        if value & STATE_MASK != IN_PROGRESS {
            return Ready::Yes;
        }
        let id = value >> 2;
        Ready::No(if id == 0 { StrandId::NONE } else { StrandId((id - 1) as u16) })
    };
    while !matches!(engine::acquire(op, key(addr), None, &mut ready), Wake::Go) {
        cancel::check_asynchronous();
    }
    if word.get() & STATE_MASK == DONE {
        effect(Effect::Acquire(Mode::Shared), key(addr), pc);
        return 0;
    }
    effect(Effect::Acquire(Mode::Alone), key(addr), pc);
    let me = engine::me();
    word.set(IN_PROGRESS | ((me.0 as u32 + 1) << 2));
    engine::retract(key(addr));
    let here = 0u8;
    let frame = &raw const here as usize;
    let running = &mut engine::strand(me).model.once.running;
    while running.last().is_some_and(|entry| entry.frame <= frame) {
        running.pop();
    }
    running.push(Running { control: addr, frame });
    // SAFETY: the program's own routine.
    unsafe { tb_once_call(routine) };
    engine::strand(me).model.once.running.retain(|entry| entry.control != addr);
    effect(Effect::Release(Mode::Alone, Was::Shut), key(addr), pc);
    word.set(DONE);
    engine::notify(key(addr));
    0
}
