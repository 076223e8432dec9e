//! What the program wants done with each signal. Safe before init and after fork.

use super::kernel::{self, Native, SA_NODEFER, SA_RESETHAND, SA_RESTART, SigInfo, native};
use super::{FAULTS, Set, UNBLOCKABLE, bit, queue, valid};
use crate::engine;
use crate::free::race::signals;
use crate::model::single::Single;
use crate::sys::errno::EINVAL;
use crate::sys::{c_int, c_void, fail};

/// A handler of the program.
pub type Function = unsafe extern "C" fn(c_int, *mut SigInfo, *mut c_void);

/// What is done when a signal comes.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// `SIG_DFL`.
    Default,
    /// `SIG_IGN`.
    Ignore,
    /// The program's own.
    Function(Function),
}

impl Handler {
    /// The handler a C value stands for.
    pub fn from_value(value: usize) -> Handler {
        match value {
            0 => Handler::Default,
            1 => Handler::Ignore,
            // SAFETY: the program says that this is a handler.
            _ => Handler::Function(unsafe { core::mem::transmute::<usize, Function>(value) }),
        }
    }

    fn value(self) -> usize {
        match self {
            Handler::Default => 0,
            Handler::Ignore => 1,
            Handler::Function(function) => function as usize,
        }
    }
}

/// An action of the program.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// What is done.
    pub handler: Handler,
    /// `SA_*`.
    pub flags: u64,
    /// What is blocked meanwhile.
    pub mask: Set,
}

const SIG_ERR: usize = usize::MAX;
const SIG_HOLD: usize = 2;
const DEFAULT: Action = Action { handler: Handler::Default, flags: 0, mask: 0 };
static ACTIONS: Single<[Action; 64]> = Single::new([DEFAULT; 64]);

/// glibc's `struct sigaction`.
#[repr(C)]
struct CAction {
    handler: usize,
    mask: [Set; 16],
    flags: c_int,
    restorer: usize,
}

interpose!(sigaction, 3, sigaction_hook);
interpose!(__sigaction, 3, sigaction_hook);
interpose!(signal, 2, signal_hook);
interpose!(bsd_signal, 2, signal_hook);
interpose!(ssignal, 2, signal_hook);
interpose!(sysv_signal, 2, sysv_signal_hook);
interpose!(__sysv_signal, 2, sysv_signal_hook);
interpose!(sigset, 2, sigset_hook);
interpose!(sigignore, 1, sigignore_hook);
interpose!(siginterrupt, 2, siginterrupt_hook);

/// The program's action for a signal.
pub fn of(signal: c_int) -> Action {
    ACTIONS.get()[signal as usize - 1]
}

/// Whether the program has a handler for any signal that is no fault of its own.
pub fn any_handler() -> bool {
    // 32 and 33 are libc's own.
    let others = FAULTS | bit(32) | bit(33);
    (1..=64).any(|signal| others & bit(signal) == 0 && matches!(of(signal).handler, Handler::Function(_)))
}

/// Takes over what the kernel was told before there was control.
pub fn adopt() {
    for signal in 1..=64 {
        let old = native(signal);
        // A constructor of the program may have been here already: then the kernel's is ours, and the program's is known.
        if old.handler == 0 && old.flags == 0 || kernel::is_caught(signal) {
            continue;
        }
        set(signal, Action { handler: Handler::from_value(old.handler), flags: old.flags, mask: old.mask });
    }
}

/// `SA_RESETHAND`: the handler was good for once.
pub fn reset(signal: c_int) {
    set(signal, DEFAULT);
}

/// Sets an action.
pub fn set(signal: c_int, action: Action) {
    let action = Action { mask: action.mask & !UNBLOCKABLE, ..action };
    ACTIONS.get()[signal as usize - 1] = action;
    if FAULTS & bit(signal) != 0 {
        return;
    }
    match action.handler {
        Handler::Function(_) => kernel::catch(signal, action.flags),
        Handler::Ignore => {
            kernel::release(signal, 1, action.flags);
            queue::forget(signal);
        }
        Handler::Default => {
            // A strand that blocks it wants it to stay pending, which only a caught signal does.
            let blocked = (0..engine::strand_count() as u16)
                .any(|index| super::own(threadbare_abi::strand::StrandId(index)).mask & bit(signal) != 0);
            if blocked {
                kernel::catch(signal, action.flags);
            } else {
                kernel::release(signal, 0, action.flags);
            }
        }
    }
}

unsafe extern "C" fn sigaction_hook(
    signal: c_int,
    new: *const CAction,
    old: *mut CAction,
    _pc: u64,
) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { free_action(signal, new, old) };
    }
    engine::event();
    // SAFETY: the caller's pointers.
    unsafe { sigaction(signal, new, old) }
}

/// `sigaction` of a run that is not controlled: of a free one that looks for races the kernel gets a handler of ours.
unsafe fn free_action(signal: c_int, new: *const CAction, old: *mut CAction) -> c_int {
    // SAFETY: the caller's pointers.
    unsafe {
        let mut action = new.as_ref().map(|new| CAction { ..*new });
        let before = signals::handler_of(signal);
        if let Some(action) = &mut action {
            action.handler = signals::in_place_of(signal, action.handler);
        }
        let new = action.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
        let done = real!(sigaction: fn(c_int, *const CAction, *mut CAction) -> c_int)(signal, new, old);
        if let Some(old) = old.as_mut() {
            old.handler = signals::program_has(old.handler, before);
        }
        done
    }
}

unsafe fn sigaction(signal: c_int, new: *const CAction, old: *mut CAction) -> c_int {
    if !valid(signal) || !new.is_null() && UNBLOCKABLE & bit(signal) != 0 {
        return fail(EINVAL);
    }
    let before = of(signal);
    if !new.is_null() {
        // SAFETY: the caller's pointer.
        let new = unsafe { &*new };
        let flags = new.flags as u32 as u64;
        set(signal, Action { handler: Handler::from_value(new.handler), flags, mask: new.mask[0] });
    }
    if !old.is_null() {
        let mut mask = [0; 16];
        mask[0] = before.mask;
        let told =
            CAction { handler: before.handler.value(), mask, flags: before.flags as c_int, restorer: 0 };
        // SAFETY: the caller's out pointer.
        unsafe { old.write(told) };
    }
    0
}

/// `rt_sigaction` in the kernel's layout; the kernel's result.
///
/// # Safety
/// The pointers are null or point to the kernel's struct.
pub unsafe fn native_action(signal: c_int, new: *const Native, old: *mut Native) -> isize {
    if !valid(signal) || !new.is_null() && UNBLOCKABLE & bit(signal) != 0 {
        return -(EINVAL as isize);
    }
    engine::event();
    let before = of(signal);
    // SAFETY: the caller's pointers.
    unsafe {
        if !new.is_null() {
            let handler = Handler::from_value((*new).handler);
            set(signal, Action { handler, flags: (*new).flags, mask: (*new).mask });
        }
        if !old.is_null() {
            let (handler, flags, mask) = (before.handler.value(), before.flags, before.mask);
            old.write(Native { handler, flags, restorer: 0, mask });
        }
    }
    0
}

fn install(signal: c_int, handler: usize, flags: u64, mask: Set) -> usize {
    if !valid(signal) || UNBLOCKABLE & bit(signal) != 0 || handler == SIG_ERR {
        fail(EINVAL);
        return SIG_ERR;
    }
    engine::event();
    let before = of(signal).handler.value();
    set(signal, Action { handler: Handler::from_value(handler), flags, mask });
    before
}

/// The same for calls that take a handler and tell the one before.
fn free_handler(signal: c_int, handler: usize, call: impl FnOnce(usize) -> usize) -> usize {
    let before = signals::handler_of(signal);
    signals::program_has(call(signals::in_place_of(signal, handler)), before)
}

unsafe extern "C" fn signal_hook(signal: c_int, handler: usize, _pc: u64) -> usize {
    if !engine::controlled() {
        return free_handler(signal, handler, |handler| {
            // SAFETY: the caller's request, with a handler that calls its own.
            unsafe { real!(signal: fn(c_int, usize) -> usize)(signal, handler) }
        });
    }
    let restart = if *INTERRUPTS.get() & bit(signal.clamp(1, 64)) != 0 { 0 } else { SA_RESTART };
    install(signal, handler, restart, 0)
}

unsafe extern "C" fn sysv_signal_hook(signal: c_int, handler: usize, _pc: u64) -> usize {
    if !engine::controlled() {
        return free_handler(signal, handler, |handler| {
            // SAFETY: the caller's request, with a handler that calls its own.
            unsafe { real!(__sysv_signal: fn(c_int, usize) -> usize)(signal, handler) }
        });
    }
    install(signal, handler, SA_RESETHAND | SA_NODEFER, 0)
}

unsafe extern "C" fn sigset_hook(signal: c_int, handler: usize, _pc: u64) -> usize {
    if !engine::controlled() {
        return free_handler(signal, handler, |handler| {
            // SAFETY: the caller's request, with a handler that calls its own.
            unsafe { real!(sigset: fn(c_int, usize) -> usize)(signal, handler) }
        });
    }
    if !valid(signal) {
        fail(EINVAL);
        return SIG_ERR;
    }
    let held = super::own(engine::me()).mask & bit(signal) != 0;
    let hold = handler == SIG_HOLD;
    let before = if hold { of(signal).handler.value() } else { install(signal, handler, 0, 0) };
    super::mask::change(if hold { super::mask::BLOCK } else { super::mask::UNBLOCK }, bit(signal));
    if held { SIG_HOLD } else { before }
}

unsafe extern "C" fn sigignore_hook(signal: c_int, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(sigignore: fn(c_int) -> c_int)(signal) };
    }
    if install(signal, 1, 0, 0) == SIG_ERR { -1 } else { 0 }
}

/// Signals whose later handlers do not restart calls.
static INTERRUPTS: Single<Set> = Single::new(0);

unsafe extern "C" fn siginterrupt_hook(signal: c_int, interrupts: c_int, _pc: u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe { real!(siginterrupt: fn(c_int, c_int) -> c_int)(signal, interrupts) };
    }
    if !valid(signal) {
        return fail(EINVAL);
    }
    let action = &mut ACTIONS.get()[signal as usize - 1];
    if interrupts != 0 {
        *INTERRUPTS.get() |= bit(signal);
        action.flags &= !SA_RESTART;
    } else {
        *INTERRUPTS.get() &= !bit(signal);
        action.flags |= SA_RESTART;
    }
    0
}
