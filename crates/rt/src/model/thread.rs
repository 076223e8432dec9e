//! Strands as the program sees them: create, join, detach, and how they end.
//!
//! A strand's end runs what libc's would: thread-local destructors, key destructors, the death of robust mutexes'
//! owners; then joiners may go on. When the last strand ends the process exits with 0, as POSIX says.

use super::timeout::{CLOCK_REALTIME, Limit, clock_error};
use super::{cancel, exit, hook, identity, keys, mutex, signal, tls};
use crate::effect::{Effect, effect, here};
use crate::engine::{self, ObjectId, Ready, StackWish, Start, Wake, faults};
use crate::free;
use crate::raw::Raw;
use crate::sys::errno::*;
use crate::sys::{c_int, c_void, pthread_t, timespec};
use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::StrandId;

/// What concerns a strand's end.
pub struct PerStrand {
    detached: bool,
    joined: bool,
    joiner: StrandId,
    /// `pthread_exit` or cancellation has begun to unwind it; `result` is what it gave.
    leaving: bool,
    /// Its scope (of Rust's) waits for it no longer: what it still does is std's tidying up.
    left_scope: bool,
    /// Its destructors run.
    ending: bool,
    done: bool,
    result: usize,
}

impl Default for PerStrand {
    fn default() -> Self {
        PerStrand {
            detached: false,
            joined: false,
            joiner: StrandId::NONE,
            leaving: false,
            left_scope: false,
            ending: false,
            done: false,
            result: 0,
        }
    }
}

fn of(strand: StrandId) -> Raw<PerStrand> {
    engine::strand(strand).part(|strand| &mut strand.model.thread)
}

fn key(strand: StrandId) -> ObjectId {
    ObjectId::strand(strand)
}

/// The strand a handle names, unless it has been joined or has ended detached.
pub fn find(thread: pthread_t) -> Option<StrandId> {
    let id = engine::by_pthread(thread)?;
    let state = of(id);
    let gone = state.joined || state.detached && state.done;
    (!gone).then_some(id)
}

/// Whether there is another strand that nobody has waited for: it may have something left to do, or had until now.
pub fn any_unjoined() -> bool {
    let me = engine::me();
    let waited_for = |id: StrandId| of(id).joined || of(id).left_scope;
    (0..engine::strand_count() as u16).map(StrandId).any(|id| id != me && !waited_for(id))
}

/// The running strand has done what its scope waits for.
pub fn leaves_scope() {
    of(engine::me()).left_scope = true;
}

/// Runs the strand's function, on the strand's own stack.
pub fn strand_body(start: Start, arg: *mut c_void) -> *mut c_void {
    start(arg)
}

/// Ends the strand by unwinding it, cleanup handlers and C++ destructors included.
pub(crate) fn leave(value: *mut c_void) -> ! {
    let me = engine::me();
    let mut state = of(me);
    state.leaving = true;
    state.result = value as usize;
    engine::strand(me).model.cancel.shut();
    if state.ending {
        // A destructor of the ending strand: nothing is left to unwind, the other destructors follow.
        strand_end(value);
    }
    // SAFETY: libc's own function unwinds to the strand's base frame.
    unsafe { crate::real!(pthread_exit: fn(*mut c_void) -> !)(value) }
}

/// The strand's function has returned `result`, or the strand has been unwound and what it left is its result.
pub fn strand_end(result: *mut c_void) -> ! {
    let me = engine::me();
    let mut state = of(me);
    if !state.leaving {
        state.result = result as usize;
    }
    state.ending = true;
    engine::strand(me).model.cancel.shut();
    tls::run_destructors();
    keys::run_destructors();
    engine::point(Op::new(OpKind::Exit, me.0 as u64, 0));
    if engine::live_strands() == 1 {
        engine::ending::comes_by_itself();
        exit::process(0);
    }
    mutex::owner_ended(me);
    effect(Effect::End, key(me), 0);
    of(me).done = true;
    engine::notify(key(me));
    if of(me).detached {
        engine::release(me);
    }
    engine::finish()
}

/// `main` has returned `code`.
pub fn main_end(code: c_int) -> ! {
    exit::request(code, 0)
}

/// What the program wishes of a new strand: its stack, and whether it is detached.
fn read_attributes(attr: *const c_void) -> (StackWish, bool) {
    const DETACHED: c_int = 1;
    let mut wish = StackWish { size: 0, base: 0, guard: 0 };
    if attr.is_null() {
        return (wish, false);
    }
    let (mut state, mut top) = (0 as c_int, 0usize);
    // SAFETY: libc only reads the attribute the program passed and writes to the locals.
    unsafe {
        crate::real!(pthread_attr_getdetachstate: fn(*const c_void, *mut c_int) -> c_int)(attr, &mut state);
        crate::real!(pthread_attr_getstacksize: fn(*const c_void, *mut usize) -> c_int)(attr, &mut wish.size);
        crate::real!(pthread_attr_getguardsize: fn(*const c_void, *mut usize) -> c_int)(
            attr,
            &mut wish.guard,
        );
        crate::real!(pthread_attr_getstackaddr: fn(*const c_void, *mut usize) -> c_int)(attr, &mut top);
    }
    if top != 0 {
        wish.base = top - wish.size;
    }
    (wish, state == DETACHED)
}

/// Creates a strand.
pub(crate) fn create(
    thread: *mut pthread_t,
    attr: *const c_void,
    start: Start,
    arg: *mut c_void,
    pc: u64,
) -> c_int {
    engine::point(Op::new(OpKind::Create, engine::strand_count() as u64, pc));
    if faults::happens(Fault::Thread, pc) {
        return EAGAIN;
    }
    engine::unseen::no_spare_stacks();
    let (wish, detached) = read_attributes(attr);
    let id = match engine::spawn(start, arg, wish) {
        Ok(id) => id,
        Err(error) => return error,
    };
    effect(Effect::Create, key(id), pc);
    of(id).detached = detached;
    signal::inherit(engine::me(), id);
    identity::inherit(engine::me(), id);
    // SAFETY: the program passes a place for the handle.
    unsafe { thread.write(engine::pthread_of(id)) };
    0
}

fn ready(id: StrandId) -> Ready {
    if of(id).done { Ready::Yes } else { Ready::No(id) }
}

/// The strand is joined by whoever called.
fn collect(id: StrandId, out: *mut *mut c_void) -> c_int {
    effect(Effect::Join, key(id), here());
    let mut state = of(id);
    state.joined = true;
    state.joiner = StrandId::NONE;
    if !out.is_null() {
        // SAFETY: the program passes a place for the result.
        unsafe { out.write(state.result as *mut c_void) };
    }
    engine::release(id);
    0
}

/// Waits for a strand's end.
pub(crate) fn join(thread: pthread_t, out: *mut *mut c_void, limit: Limit, pc: u64) -> c_int {
    cancel::check();
    let me = engine::me();
    let Some(id) = find(thread) else {
        engine::event();
        return ESRCH;
    };
    if let Limit::Malformed(error) = limit
        && !of(id).done
    {
        return error;
    }
    if id == me || of(me).joiner == id && !of(id).leaving {
        return EDEADLK;
    }
    if of(id).detached || of(id).joiner != StrandId::NONE {
        return EINVAL;
    }
    of(id).joiner = me;
    let kind = if limit == Limit::Never { OpKind::Join } else { OpKind::TimedJoin };
    let op = Op::new(kind, id.0 as u64, pc);
    loop {
        let wake = engine::acquire(op, key(id), limit.deadline(), &mut || ready(id));
        if cancel::due() {
            of(id).joiner = StrandId::NONE;
            cancel::check();
        }
        match wake {
            Wake::Go => return collect(id, out),
            Wake::TimedOut => {
                of(id).joiner = StrandId::NONE;
                return ETIMEDOUT;
            }
            Wake::Interrupted => {}
        }
    }
}

/// Detaches a strand.
pub fn detach(thread: pthread_t, pc: u64) -> c_int {
    let id = find(thread);
    engine::point(Op::new(OpKind::Detach, id.map_or(u64::MAX, |id| id.0 as u64), pc));
    match find(thread) {
        None => ESRCH,
        Some(id) if of(id).detached => EINVAL,
        Some(id) => {
            of(id).detached = true;
            0
        }
    }
}

/// `pthread_create`. Safe before init and after fork (libc's); not in a signal handler.
pub unsafe extern "C" fn on_create(
    thread: *mut pthread_t,
    attr: *const c_void,
    start: Start,
    arg: *mut c_void,
    pc: u64,
) -> c_int {
    if engine::controlled() {
        return create(thread, attr, start, arg, pc);
    }
    let mut make = |start, arg| {
        // SAFETY: libc's own function with what the program gave.
        unsafe {
            crate::real!(pthread_create: fn(*mut pthread_t, *const c_void, Start, *mut c_void) -> c_int)(
                thread, attr, start, arg,
            )
        }
    };
    free::server::before_create();
    if free::on() { free::thread::create(start, arg, thread, pc, &mut make) } else { make(start, arg) }
}

crate::interpose!(pthread_create, 4, on_create);

hook! {
    /// Safe before init and after fork (libc's); not in a signal handler.
    pthread_join / 2 is Join => on_join(thread: pthread_t, out: *mut *mut c_void; pc) -> c_int {
        join(thread, out, Limit::Never, pc)
    }
}

hook! {
    /// As `pthread_join`.
    pthread_tryjoin_np / 2 around free::calls::join => on_tryjoin(thread: pthread_t, out: *mut *mut c_void; pc) -> c_int {
        let id = find(thread);
        engine::point(Op::new(OpKind::TryJoin, id.map_or(u64::MAX, |id| id.0 as u64), pc));
        match find(thread) {
            None => ESRCH,
            Some(id) if !of(id).done => {
                effect(Effect::Look, key(id), pc);
                EBUSY
            }
            Some(id) if of(id).detached || of(id).joiner != StrandId::NONE => EINVAL,
            Some(id) => collect(id, out),
        }
    }
}

hook! {
    /// As `pthread_join`.
    pthread_timedjoin_np / 3 is Join timed => on_timedjoin(thread: pthread_t, out: *mut *mut c_void, time: *const timespec; pc) -> c_int {
        let limit = if time.is_null() { Limit::Never } else { Limit::absolute(CLOCK_REALTIME, time) };
        join(thread, out, limit, pc)
    }
}

hook! {
    /// As `pthread_join`.
    pthread_clockjoin_np / 4 is Join timed => on_clockjoin(thread: pthread_t, out: *mut *mut c_void, clock: c_int, time: *const timespec; pc) -> c_int {
        if let Some(error) = clock_error(clock) {
            return error;
        }
        let limit = if time.is_null() { Limit::Never } else { Limit::absolute(clock, time) };
        join(thread, out, limit, pc)
    }
}

hook! {
    /// As `pthread_join`.
    pthread_detach / 1 => on_detach(thread: pthread_t; pc) -> c_int {
        detach(thread, pc)
    }
}

/// `pthread_exit`. Safe before init and after fork (libc's); not in a signal handler.
pub unsafe extern "C" fn on_exit(value: *mut c_void, _pc: u64) -> ! {
    if engine::controlled() {
        engine::event();
        leave(value);
    }
    // SAFETY: libc's own function.
    unsafe { crate::real!(pthread_exit: fn(*mut c_void) -> !)(value) }
}

crate::interpose!(pthread_exit, 1, on_exit);
