//! Who a strand is: its thread id, its name, where and how urgently it wants to run.
//!
//! There is one kernel thread, so what concerns "this thread" is remembered for the strand and not told to the kernel.

use super::state::{self, uses, uses_seen};
use super::{hook, thread};
use crate::engine::{self, StrandId};
use crate::raw::Raw;
use crate::sys::errno::*;
use crate::sys::{c_char, c_int, c_ulong, c_void, fail, nr, pthread_t, syscall3, syscall6};
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::FIRST_TID;

const NAME: usize = 16;
const MASK: usize = 128;

/// What a strand asked for.
pub struct PerStrand {
    name: [u8; NAME],
    affinity: [u8; MASK],
    affinity_set: bool,
}

impl Default for PerStrand {
    fn default() -> Self {
        PerStrand { name: [0; NAME], affinity: [0; MASK], affinity_set: false }
    }
}

fn of(id: StrandId) -> Raw<PerStrand> {
    engine::strand(id).part(|strand| &mut strand.model.identity)
}

fn pid() -> i32 {
    // SAFETY: no arguments.
    unsafe { syscall3(nr::GETPID, 0, 0, 0) as i32 }
}

/// The thread id a strand sees: the process id for the main strand, for the others a number that is the same in every
/// run.
pub fn tid_of(id: StrandId) -> i32 {
    if id == StrandId::MAIN { pid() } else { FIRST_TID + id.0 as i32 }
}

/// The strand with this thread id.
pub fn strand_of(tid: i32) -> Option<StrandId> {
    if tid == pid() {
        return Some(StrandId::MAIN);
    }
    let index = usize::try_from(tid - FIRST_TID).ok()?;
    (1..engine::strand_count()).contains(&index).then_some(StrandId(index as u16))
}

/// A new strand begins with its creator's wishes; its name is its own.
pub fn inherit(parent: StrandId, child: StrandId) {
    let (affinity, affinity_set) = (of(parent).affinity, of(parent).affinity_set);
    let mut to = of(child);
    to.affinity = affinity;
    to.affinity_set = affinity_set;
}

/// Does something with the name the program gave a strand; it may be empty.
pub fn with_name<R>(id: StrandId, with: impl FnOnce(&str) -> R) -> R {
    let name = of(id).name;
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(NAME);
    with(core::str::from_utf8(&name[..len]).unwrap_or(""))
}

/// Sets a name of at most 15 bytes.
///
/// # Safety
/// `name` is a C string.
unsafe fn set_name(id: StrandId, name: *const c_char, cut: bool) -> c_int {
    // SAFETY: as the caller says.
    let text = unsafe { core::ffi::CStr::from_ptr(name) }.to_bytes();
    if text.len() >= NAME && !cut {
        return ERANGE;
    }
    let to = &mut of(id).name;
    *to = [0; NAME];
    let n = text.len().min(NAME - 1);
    to[..n].copy_from_slice(&text[..n]);
    0
}

const ERANGE: c_int = 34;

hook! {
    /// Safe before init (libc's), in a signal, after fork.
    gettid / 0 => on_gettid(; _pc) -> c_int {
        engine::event();
        tid_of(engine::me())
    }
}

/// Safe before init (libc's), after fork.
unsafe extern "C" fn on_setname(target: pthread_t, name: *const c_char, slot: *const u64) -> c_int {
    if !engine::controlled() {
        // SAFETY: the caller's request, unchanged.
        return unsafe {
            crate::real!(pthread_setname_np: fn(pthread_t, *const c_char) -> c_int)(target, name)
        };
    }
    engine::event();
    uses_seen(state::of(target as u64), slot);
    match thread::find(target) {
        // SAFETY: the program's own C string.
        Some(id) => unsafe { set_name(id, name, false) },
        None => ESRCH,
    }
}

crate::interpose_slot!(pthread_setname_np, 2, on_setname);

hook! {
    /// Safe before init (libc's), after fork.
    pthread_getname_np / 3 => on_getname(target: pthread_t, out: *mut c_char, size: usize; pc) -> c_int {
        engine::event();
        uses(OpKind::StateRead, state::of(target as u64), pc);
        let Some(id) = thread::find(target) else { return ESRCH };
        if size < NAME {
            return ERANGE;
        }
        let mut name = of(id).name;
        if name[0] == 0 {
            name = process_name();
        }
        // SAFETY: the program's buffer has `size` bytes.
        unsafe { core::ptr::copy_nonoverlapping(name.as_ptr(), out.cast(), NAME) };
        0
    }
}

const PR_SET_NAME: c_int = 15;
const PR_GET_NAME: c_int = 16;

/// What strands without a name of their own are called.
fn process_name() -> [u8; NAME] {
    let mut name = [0u8; NAME];
    // SAFETY: the kernel writes 16 bytes.
    unsafe { syscall3(nr::PRCTL, PR_GET_NAME as usize, name.as_mut_ptr() as usize, 0) };
    name
}

/// `prctl` under control; the kernel's result.
pub fn prctl(option: c_int, args: [usize; 4]) -> isize {
    engine::event();
    let me = engine::me();
    match option {
        PR_SET_NAME => {
            // SAFETY: the program's own C string.
            unsafe { set_name(me, args[0] as *const c_char, true) };
            0
        }
        PR_GET_NAME => {
            let name = if of(me).name[0] == 0 { process_name() } else { of(me).name };
            // SAFETY: the program's buffer has 16 bytes, as the call demands.
            unsafe { core::ptr::copy_nonoverlapping(name.as_ptr(), args[0] as *mut u8, NAME) };
            0
        }
        // SAFETY: the system call with the program's arguments.
        _ => unsafe { syscall6(nr::PRCTL, option as usize, args[0], args[1], args[2], args[3], 0) },
    }
}

hook! {
    /// Safe before init (libc's), in a signal, after fork.
    prctl / 5 => on_prctl(option: c_int, a: c_ulong, b: c_ulong, c: c_ulong, d: c_ulong; _pc) -> c_int {
        answer(prctl(option, [a as usize, b as usize, c as usize, d as usize]))
    }
}

fn answer(result: isize) -> c_int {
    if result < 0 { fail(-result as i32) } else { result as c_int }
}

hook! {
    /// Safe before init (libc's), in a signal, after fork.
    sched_yield / 0 is Yield => on_yield(; pc) -> c_int {
        engine::yield_point(pc);
        0
    }
}

unsafe extern "C" fn on_old_yield(pc: u64) -> c_int {
    // SAFETY: the same function under its old name.
    unsafe { on_yield(pc) }
}

unsafe extern "C" fn on_c11_yield(pc: u64) {
    // SAFETY: the same function under C11's name.
    unsafe { on_yield(pc) };
}

interpose!(pthread_yield, 0, on_old_yield);
interpose!(thrd_yield, 0, on_c11_yield);

fn set_affinity(id: StrandId, size: usize, mask: *const u8) -> c_int {
    if mask.is_null() {
        return EFAULT;
    }
    let mut to = of(id);
    let n = size.min(MASK);
    to.affinity = [0; MASK];
    // SAFETY: the program's mask has `size` bytes.
    unsafe { core::ptr::copy_nonoverlapping(mask, to.affinity.as_mut_ptr(), n) };
    if to.affinity.iter().all(|&byte| byte == 0) {
        return EINVAL;
    }
    to.affinity_set = true;
    0
}

fn get_affinity(id: StrandId, size: usize, mask: *mut u8) -> Result<usize, c_int> {
    let from = of(id);
    if from.affinity_set {
        let n = size.min(MASK);
        // SAFETY: the program's mask has `size` bytes.
        unsafe { core::ptr::copy_nonoverlapping(from.affinity.as_ptr(), mask, n) };
        return Ok(n);
    }
    let bound = engine::cpus();
    if !bound.is_empty() {
        if size < bound.len() {
            return Err(EINVAL);
        }
        // SAFETY: the program's mask has `size` bytes.
        unsafe { core::ptr::copy_nonoverlapping(bound.as_ptr(), mask, bound.len()) };
        return Ok(bound.len());
    }
    // SAFETY: the kernel writes at most `size` bytes.
    let got = unsafe { syscall3(nr::SCHED_GETAFFINITY, 0, size, mask as usize) };
    if got < 0 { Err(-got as c_int) } else { Ok(got as usize) }
}

/// Clears what the kernel or we did not write, as libc does.
unsafe fn clear_rest(mask: *mut u8, from: usize, size: usize) {
    if from < size {
        // SAFETY: the program's mask has `size` bytes.
        unsafe { core::ptr::write_bytes(mask.add(from), 0, size - from) };
    }
}

fn target(pid: c_int) -> Option<StrandId> {
    if pid == 0 { Some(engine::me()) } else { strand_of(pid) }
}

/// `sched_setaffinity` under control; 0 or an errno.
pub fn set_affinity_of(who: c_int, size: usize, mask: *const u8) -> c_int {
    engine::event();
    target(who).map_or(ESRCH, |id| set_affinity(id, size, mask))
}

/// `sched_getaffinity` under control; the kernel's result, which is a number of bytes.
pub fn get_affinity_of(who: c_int, size: usize, mask: *mut u8) -> isize {
    engine::event();
    match target(who).ok_or(ESRCH).and_then(|id| get_affinity(id, size, mask)) {
        Ok(bytes) => bytes as isize,
        Err(error) => -(error as isize),
    }
}

hook! {
    /// Safe before init (libc's), after fork.
    sched_setaffinity / 3 => on_setaffinity(who: c_int, size: usize, mask: *const u8; _pc) -> c_int {
        match set_affinity_of(who, size, mask) {
            0 => 0,
            error => fail(error),
        }
    }
}

hook! {
    /// Safe before init (libc's), after fork.
    sched_getaffinity / 3 => on_getaffinity(who: c_int, size: usize, mask: *mut u8; _pc) -> c_int {
        match get_affinity_of(who, size, mask) {
            bytes @ 0.. => {
                // SAFETY: the program's mask has `size` bytes.
                unsafe { clear_rest(mask, bytes as usize, size) };
                0
            }
            error => fail(-error as c_int),
        }
    }
}

hook! {
    /// Safe before init (libc's), after fork.
    pthread_setaffinity_np / 3 => on_pthread_setaffinity(who: pthread_t, size: usize, mask: *const u8; _pc) -> c_int {
        engine::event();
        match thread::find(who) {
            Some(id) => set_affinity(id, size, mask),
            None => ESRCH,
        }
    }
}

hook! {
    /// Safe before init (libc's), after fork.
    pthread_getaffinity_np / 3 => on_pthread_getaffinity(who: pthread_t, size: usize, mask: *mut u8; _pc) -> c_int {
        engine::event();
        let Some(id) = thread::find(who) else { return ESRCH };
        match get_affinity(id, size, mask) {
            Ok(n) => {
                // SAFETY: the program's mask has `size` bytes.
                unsafe { clear_rest(mask, n, size) };
                0
            }
            Err(error) => error,
        }
    }
}

hook! {
    /// Safe before init (libc's), after fork. Accepted without effect.
    sched_setscheduler / 3 => on_setscheduler(who: c_int, _policy: c_int, _param: *const c_void; _pc) -> c_int {
        engine::event();
        if target(who).is_some() { 0 } else { fail(ESRCH) }
    }
}

hook! {
    /// As above.
    sched_setparam / 2 => on_setparam(who: c_int, _param: *const c_void; _pc) -> c_int {
        engine::event();
        if target(who).is_some() { 0 } else { fail(ESRCH) }
    }
}

hook! {
    /// As above: a strand's niceness stays 0.
    nice / 1 => on_nice(_by: c_int; _pc) -> c_int {
        engine::event();
        0
    }
}

hook! {
    /// As above.
    setpriority / 3 => on_setpriority(_which: c_int, _who: c_int, _priority: c_int; _pc) -> c_int {
        engine::event();
        0
    }
}

hook! {
    /// Every strand runs on processor 0. Safe before init (libc's), in a signal, after fork.
    sched_getcpu / 0 => on_getcpu(; _pc) -> c_int {
        engine::event();
        0
    }
}
