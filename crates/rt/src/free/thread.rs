//! A strand that is a kernel thread: what is known of it, how it begins and ends.
//!
//! Its record is found by a thread-local pointer of our own. The record is written by its own thread, but for its number and
//! name; the watchdog and whoever gives a verdict read it, and take what they read for what it was a moment ago.

use super::cover::{self, Cover};
use super::frames::Stack;
use super::heat::Passes;
use super::held::Held;
use super::past::Past;
use super::race::{self, Race};
use super::turns::Turn;
use super::{calls, noise, record};
use crate::engine::{Start, live, memory};
use crate::raw::Raw;
use crate::sys::{c_int, c_void, nr, pthread_t, syscall3};
use core::arch::{asm, global_asm};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use threadbare_abi::noise::NoiseKind;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::{MAX_STRANDS, StrandPath};
use threadbare_strategy::rng::Rng;

// Stable Rust has no thread-local variable without std.
global_asm!(
    ".section .tbss,\"awT\",@nobits",
    ".hidden tb_free_self",
    ".globl tb_free_self",
    ".type tb_free_self, @object",
    ".size tb_free_self, 8",
    ".p2align 3",
    "tb_free_self: .zero 8",
    ".text",
);

/// What a strand waits for. The sequence number is odd while it waits.
#[derive(Debug)]
pub struct Wait {
    pub seq: AtomicU64,
    pub op: AtomicU32,
    /// Whether it has a deadline, or may be ended from outside the process.
    pub open: AtomicBool,
    pub addr: AtomicUsize,
    pub pc: AtomicU64,
}

/// A strand.
#[derive(Debug)]
pub struct Thread {
    pub index: u16,
    pub parent: u16,
    pub ordinal: u32,
    pub children: AtomicU32,
    /// It has waited for another's end.
    pub joins: bool,
    pub path: StrandPath,
    pub tid: AtomicU32,
    pub pthread: AtomicUsize,
    pub ended: AtomicBool,
    pub rng: Rng,
    /// Concurrent events so far.
    pub events: AtomicU64,
    /// The object it has a lease of, with one more, and what its last load was: see `record`.
    pub lease: u16,
    pub looked: (u64, u64, u64),
    pub past: Past,
    pub passes: Passes,
    pub turn: Turn,
    /// What noise took of its time, and since when it lives, in nanoseconds.
    pub noise_ns: u64,
    pub born_ns: u64,
    /// Its priority was lowered by noise.
    pub lowered: AtomicBool,
    /// Accesses until the next one is looked at although its instruction is quiet.
    pub until_look: u32,
    pub wait: Wait,
    pub cover: Cover,
    pub held: Held,
    pub stack: Stack,
    /// Where the stamp of its accesses lies, and what else the race check keeps; null if there is none.
    pub stamp_at: *const AtomicU64,
    pub race: *mut Race,
}

/// Where [`Thread::stamp_at`] lies, for the hooks.
pub const STAMP_AT: usize = core::mem::offset_of!(Thread, stamp_at);

static TABLE: [AtomicPtr<Thread>; MAX_STRANDS] = [const { AtomicPtr::new(null_mut()) }; MAX_STRANDS];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static KEY: AtomicU32 = AtomicU32::new(u32::MAX);

/// The running strand's record; `None` for a thread that was not made by an interposed call, and before the run.
#[inline(always)]
pub fn me() -> Option<Raw<Thread>> {
    let at: *mut Thread;
    // SAFETY: reads this thread's own variable, which lies in the static TLS of a library loaded at start.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + tb_free_self@GOTTPOFF]",
            "mov {at}, qword ptr fs:[{at}]",
            at = out(reg) at,
            options(nostack, readonly, preserves_flags)
        );
        Raw::at(at)
    }
}

fn set_me(thread: *mut Thread) {
    // SAFETY: writes this thread's own variable.
    unsafe {
        asm!(
            "mov {at}, qword ptr [rip + tb_free_self@GOTTPOFF]",
            "mov qword ptr fs:[{at}], {value}",
            at = out(reg) _,
            value = in(reg) thread,
            options(nostack, preserves_flags)
        );
    }
}

impl Thread {
    /// Counts an event; true if the call of the function that makes it has made one before.
    #[inline]
    pub fn count(&mut self) -> bool {
        // Nobody else writes it.
        self.events.store(self.events.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.stack.touch()
    }
}

/// Strands so far, ended ones included.
pub fn count() -> usize {
    COUNT.load(Ordering::Acquire).min(MAX_STRANDS)
}

/// Strands that have not ended.
pub fn alive() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// The strand with this index, if its record is there.
pub fn at(index: usize) -> Option<&'static Thread> {
    // SAFETY: records are never given back while the process lives.
    unsafe { TABLE.get(index)?.load(Ordering::Acquire).as_ref() }
}

/// The strand that a handle of libc's stands for: the last one that had it.
pub fn with_handle(handle: usize) -> Option<u16> {
    (0..count())
        .rev()
        .filter_map(at)
        .find(|this| this.pthread.load(Ordering::Relaxed) == handle)
        .map(|this| this.index)
}

/// All strands.
pub fn all() -> impl Iterator<Item = &'static Thread> {
    (0..count()).filter_map(at)
}

/// A record for a new strand; `None` if there are too many.
fn make(parent: Option<&mut Thread>) -> Option<*mut Thread> {
    let index = COUNT.fetch_add(1, Ordering::AcqRel);
    if index >= MAX_STRANDS {
        COUNT.fetch_sub(1, Ordering::AcqRel);
        return None;
    }
    let made = memory::reserve(size_of::<Thread>().next_multiple_of(4096)) as *mut Thread;
    let (ordinal, path) = match &parent {
        Some(parent) => {
            let ordinal = parent.children.fetch_add(1, Ordering::Relaxed) + 1;
            (ordinal, parent.path.child(ordinal))
        }
        None => (0, StrandPath::MAIN),
    };
    // SAFETY: zeroed memory of the right size; zero is a valid value of every field.
    unsafe {
        (*made).index = index as u16;
        (*made).parent = parent.as_ref().map_or(0, |parent| parent.index);
        (*made).ordinal = ordinal;
        (*made).path = path;
        (*made).rng = Rng::new(noise::seed() ^ path.0);
        (*made).stack.open();
        race::created(parent, &mut *made);
    }
    TABLE[index].store(made, Ordering::Release);
    // SAFETY: just made.
    record::created(unsafe { &*made });
    LIVE.fetch_add(1, Ordering::AcqRel);
    live::live().strands = count() as u64;
    Some(made)
}

/// The record has become this thread's.
fn begin(thread: *mut Thread) {
    const PR_SET_TIMERSLACK: usize = 29;
    set_me(thread);
    // SAFETY: the record is this thread's from now on.
    unsafe {
        let this = &mut *thread;
        this.tid.store(syscall3(nr::GETTID, 0, 0, 0) as u32, Ordering::Relaxed);
        this.pthread.store(crate::arch::thread_pointer(), Ordering::Relaxed);
        this.born_ns = noise::now();
        cover::begins(this);
        race::begins(this);
        if noise::wanted().kind != NoiseKind::None {
            // Naps are short, and the usual slack of the kernel's timers is longer.
            syscall3(nr::PRCTL, PR_SET_TIMERSLACK, 1000, 0);
        }
    }
    let key = KEY.load(Ordering::Relaxed);
    if key != u32::MAX {
        // SAFETY: a key of our own; its destructor runs when the thread ends, by whatever way.
        unsafe {
            crate::real!(pthread_setspecific: fn(c_int, *const c_void) -> c_int)(
                key as c_int,
                thread as *const c_void,
            )
        };
    }
}

/// The main strand, at the beginning of a run.
pub fn begin_main() {
    let mut key = 0u32;
    type Destructor = unsafe extern "C" fn(*mut c_void);
    // SAFETY: libc's own function; the destructor lives as long as the process.
    let made = unsafe { crate::real!(pthread_key_create: fn(*mut u32, Destructor) -> c_int)(&mut key, over) };
    if made == 0 {
        KEY.store(key, Ordering::Relaxed);
    }
    if let Some(main) = make(None) {
        begin(main);
    }
}

/// Rounds of destructors that libc runs; ours counts them down, so that it is among the last.
const ROUNDS: usize = 3;
/// The last bits of the key's value are the round.
const ROUND_MASK: usize = 7;

unsafe extern "C" fn over(value: *mut c_void) {
    let round = value as usize & ROUND_MASK;
    if round < ROUNDS {
        let key = KEY.load(Ordering::Relaxed);
        // SAFETY: our own key; the record lies at a page's beginning, so its address has room for the round.
        unsafe {
            crate::real!(pthread_setspecific: fn(c_int, *const c_void) -> c_int)(
                key as c_int,
                (value as usize + 1) as *const c_void,
            )
        };
        return;
    }
    if let Some(this) = me() {
        end(this);
    }
}

fn end(mut this: Raw<Thread>) {
    if this.ended.swap(true, Ordering::AcqRel) {
        return;
    }
    record::give_back(&mut this);
    race::ends(&mut this);
    this.stack.close();
    LIVE.fetch_sub(1, Ordering::AcqRel);
}

/// What a new thread is to do.
struct Errand {
    start: Start,
    arg: *mut c_void,
    thread: *mut Thread,
}

extern "C" fn first(errand: *mut c_void) -> *mut c_void {
    // SAFETY: made by `create` for this thread alone, in memory of its own record.
    let errand = unsafe { (errand as *const Errand).read() };
    begin(errand.thread);
    calls::started();
    (errand.start)(errand.arg)
}

/// How libc makes a thread: with our function and its argument.
pub type Maker<'a> = &'a mut dyn FnMut(Start, *mut c_void) -> c_int;

/// Makes a strand by libc's own function.
pub fn create(start: Start, arg: *mut c_void, handle: *const pthread_t, pc: u64, make_it: Maker) -> c_int {
    let Some(mut parent) = me() else { return make_it(start, arg) };
    calls::before(&mut parent, OpKind::Create, 0, pc);
    super::watchdog::start();
    let Some(thread) = make(Some(&mut parent)) else { return make_it(start, arg) };
    if record::on() {
        record::event(&mut parent, pc);
    }
    // SAFETY: the record has a page to itself, and the errand lies behind it.
    let errand = unsafe { thread.add(1) as *mut Errand };
    // SAFETY: as above.
    unsafe { errand.write(Errand { start, arg, thread }) };
    let made = make_it(first, errand.cast());
    if made == 0 {
        // SAFETY: libc has written the handle.
        unsafe { (*thread).pthread.store(*handle, Ordering::Relaxed) };
    } else {
        // SAFETY: nobody else has it.
        end(unsafe { Raw::new(thread) });
    }
    calls::after(&mut parent, OpKind::Create, pc);
    made
}

const _: () =
    assert!(size_of::<Thread>() + size_of::<Errand>() <= size_of::<Thread>().next_multiple_of(4096));
