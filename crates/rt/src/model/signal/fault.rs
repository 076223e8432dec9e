//! Faults: the program's handler runs as if the kernel had called it, or the run ends with what happened.
//!
//! The kernel calls us on a stack of our own, so a strand that has used up its stack can be told apart. If the program
//! handles the signal, the kernel's frame is copied to the strand's stack (or the stack the strand asked for) and the
//! handler runs there: it may make points, jump away, or return to the instruction, as without us.

use super::action::{self, Handler};
use super::kernel::{
    Native, SA_NODEFER, SA_ONSTACK, SA_RESETHAND, SA_SIGINFO, SigInfo, restorer, set_native,
};
use super::{FAULTS, Running, SIGBUS, SIGSEGV, SIGXCPU, bit, own, prune};
use crate::engine;
use crate::model::kernel::{nr, raw};
use crate::model::single::Single;
use crate::sys::{c_int, c_void};

const STACK_SIZE: usize = 256 << 10;
const RED_ZONE: usize = 128;
const PAGE: usize = 4096;
/// How far from its end a stack may fault for the fault to be an overflow.
const NEAR: usize = 16 << 10;
/// The same for the main stack, whose end is known up to the size of the environment.
const NEAR_MAIN: usize = 512 << 10;
/// A frame's probes may go this far beyond.
const BEYOND: usize = 1 << 20;

const FP_XSTATE_MAGIC1: u32 = 0x4650_5853;
const EFLAGS_DIRECTION: u64 = 0x400;
const EFLAGS_TRAP: u64 = 0x100;

#[repr(C, align(4096))]
struct OwnStack(core::cell::UnsafeCell<[u8; STACK_SIZE]>);

// SAFETY: only the kernel gives it to handlers, on one kernel thread.
unsafe impl Sync for OwnStack {}

static STACK: OwnStack = OwnStack(core::cell::UnsafeCell::new([0; STACK_SIZE]));

/// The kernel's `struct ucontext` on x86-64.
#[repr(C)]
#[derive(Clone, Copy)]
struct Context {
    flags: u64,
    link: u64,
    stack: [u64; 3],
    /// r8 to r15.
    numbered: [u64; 8],
    rdi: u64,
    rsi: u64,
    rbp: u64,
    rbx: u64,
    rdx: u64,
    rax: u64,
    rcx: u64,
    rsp: u64,
    rip: u64,
    eflags: u64,
    segments: u64,
    error: u64,
    trap: u64,
    old_mask: u64,
    cr2: u64,
    fpstate: u64,
    reserved: [u64; 8],
    mask: u64,
}

const _: () = assert!(size_of::<Context>() == 304 && core::mem::offset_of!(Context, fpstate) == 224);

/// What the kernel puts on the stack of a handler, return address first.
#[repr(C)]
struct Frame {
    back: usize,
    context: Context,
    info: SigInfo,
}

/// The driver's process.
static DRIVER: Single<c_int> = Single::new(0);
const SI_USER: c_int = 0;

/// Takes over the program's handlers and installs ours, with a stack for them on the calling kernel thread.
pub fn init() {
    let stack = [STACK.0.get() as usize, 0, STACK_SIZE];
    // SAFETY: our own memory, used for nothing else.
    unsafe { raw(nr::SIGALTSTACK, [&raw const stack as usize, 0]) };
    action::adopt();
    // SAFETY: asks for a number. The fork server's parent is the driver.
    *DRIVER.get() = unsafe { raw(nr::GETPPID, []) } as c_int;
    for signal in 1..=64 {
        if FAULTS & bit(signal) != 0 {
            let flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
            set_native(signal, Native { handler: caught as *const () as usize, flags, restorer: 0, mask: 0 });
        }
    }
}

/// Whether a fault at `addr` with this stack pointer is the running strand's stack come to its end.
fn overflows(addr: usize, sp: usize) -> bool {
    let id = engine::me();
    let (low, high) = engine::strand_stack(id);
    let near = if id == threadbare_abi::strand::StrandId::MAIN { NEAR_MAIN } else { NEAR };
    let at_end = |at: usize| at >= low.saturating_sub(BEYOND) && at < low + near && at < high;
    at_end(addr) && (at_end(sp) || sp.abs_diff(addr) < BEYOND)
}

unsafe extern "C" fn caught(signal: c_int, info: *mut SigInfo, context: *mut c_void) {
    let context = context.cast::<Context>();
    // SAFETY: the kernel's frame.
    let (told, pc, sp) = unsafe { (*info, (*context).rip, (*context).rsp as usize) };
    let by_instruction = told.code > 0;
    if signal == SIGXCPU && told.code == SI_USER && told.sender() == *DRIVER.get() {
        // The driver's word that the run's time is over is not for the program.
        engine::crashed_with(signal, 0, pc, Some(sp), false);
    }
    let addr = if by_instruction { told.address() } else { 0 };
    if by_instruction && (signal == SIGSEGV || signal == SIGBUS) && overflows(addr as usize, sp) {
        engine::crashed(signal, addr, pc, true);
    }
    let action = action::of(signal);
    match action.handler {
        // SAFETY: the kernel's frame, on our stack; the handler is the program's.
        Handler::Function(function) => unsafe { hand_over(signal, &*info, &mut *context, function as usize) },
        Handler::Ignore if !by_instruction => {}
        _ => engine::crashed_with(signal, addr, pc, Some(sp), false),
    }
}

/// Lets the interrupted strand go on in `handler`, from which it returns to where it was.
///
/// # Safety
/// `context` is the kernel's frame of this handler.
unsafe fn hand_over(signal: c_int, info: &SigInfo, context: &mut Context, handler: usize) {
    let action = action::of(signal);
    if action.flags & SA_RESETHAND != 0 {
        action::reset(signal);
    }
    prune();
    let mut me = own(engine::me());
    let sp = context.rsp as usize;
    let top = match me.altstack.top(sp) {
        Some(top) if action.flags & SA_ONSTACK != 0 => top,
        _ => sp - RED_ZONE,
    };
    // SAFETY: the strand's stack below its red zone is free; the floating-point state tells its own size.
    unsafe {
        let size = state_size(context.fpstate as usize);
        let state = (top - size) & !63;
        core::ptr::copy_nonoverlapping(context.fpstate as *const u8, state as *mut u8, size);
        // At a function's entry the stack is 8 beyond a multiple of 16.
        let frame = ((state - size_of::<Frame>()) & !15) - 8;
        let mut saved = *context;
        saved.fpstate = state as u64;
        (frame as *mut Frame).write(Frame {
            back: restorer as *const () as usize,
            context: saved,
            info: *info,
        });
        context.rsp = frame as u64;
        context.rip = handler as u64;
        context.rdi = signal as u64;
        context.rsi = (frame + core::mem::offset_of!(Frame, info)) as u64;
        context.rdx = (frame + core::mem::offset_of!(Frame, context)) as u64;
        context.rax = 0;
        context.eflags &= !(EFLAGS_DIRECTION | EFLAGS_TRAP);
        let mask = me.mask;
        me.running.push(Running { sp: frame, mask });
    }
    me.mask |= action.mask;
    if action.flags & SA_NODEFER == 0 {
        me.mask |= bit(signal);
    }
}

/// # Safety
/// `state` is 0 or the kernel's floating-point state.
unsafe fn state_size(state: usize) -> usize {
    const LEGACY: usize = 512;
    const SOFTWARE: usize = 464;
    if state == 0 {
        return 0;
    }
    // SAFETY: the last bytes of the 512 say whether there is more.
    unsafe {
        let words = (state + SOFTWARE) as *const u32;
        if *words == FP_XSTATE_MAGIC1 { (*words.add(1) as usize).clamp(LEGACY, 16 * PAGE) } else { LEGACY }
    }
}
