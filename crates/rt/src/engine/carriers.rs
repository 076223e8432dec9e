//! Carriers: real threads of libc, made once and parked, whose stack and thread-local storage a strand uses.
//!
//! A carrier parks on a few bytes of its own, so that the strand can run on the carrier's real stack. Carriers made
//! before a fork are memory like any other in the child; only their kernel threads are not there, and nobody needs
//! those. A carrier is used once in a run, because its thread-local storage is then not fresh any more; only in a run
//! with very many strands those that have been joined give theirs back, and it is made fresh from a copy (thread-local
//! variables of libraries loaded later are not).

use super::{ObjectId, memory};
use crate::arch;
use crate::effect::{Effect, effect};
use crate::sys::{c_int, c_void, nr, pthread_t, syscall6};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

/// What stack the program asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct StackWish {
    /// Bytes; 0: the default.
    pub size: usize,
    /// The program's own memory, lowest address; 0: none.
    pub base: usize,
    /// Guard size asked for.
    pub guard: usize,
}

/// A parked carrier.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    /// libc's handle.
    pub pthread: pthread_t,
    /// Thread pointer.
    pub fs: usize,
    /// Where a strand's stack begins.
    pub sp: usize,
    /// Lowest and highest address of the stack.
    pub stack: (usize, usize),
    /// Whether the stack is the program's own memory.
    own: bool,
    /// A copy of its thread-local storage before any strand used it; null if none was made.
    fresh: *const u8,
}

impl Carrier {
    /// Whether libc made the stack.
    pub fn is_libcs(&self) -> bool {
        !self.own
    }
}

struct Boot {
    fs: usize,
    sp: usize,
    park: usize,
    ready: AtomicU32,
}

#[repr(C, align(16))]
struct Attr([u8; 64]);

type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// Bytes of a parking stack: the park loop makes no calls, and carriers take no signals.
const PARK_SIZE: usize = 256;
/// Left free between the carrier's own frames and the strand's.
const GAP: usize = 512;
/// The most carriers kept for later runs.
const POOL_MOST: usize = 4096;

static mut POOL: Vec<Carrier> = Vec::new();
static mut DEFAULT_SIZE: usize = 0;
static mut PARKS: (usize, usize) = (0, 0);

/// A word that never changes: parked carriers sleep on it.
static NEVER: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn carrier_main(boot: *mut c_void) -> *mut c_void {
    // SAFETY: `boot` lives until the carrier is ready; its maker waits for that.
    unsafe {
        let boot = boot as *mut Boot;
        (*boot).fs = arch::thread_pointer();
        (*boot).sp = arch::stack_pointer() - GAP;
        arch::tb_park((*boot).park, (*boot).ready.as_ptr(), NEVER.as_ptr())
    }
}

fn park_stack() -> usize {
    // SAFETY: single kernel thread.
    unsafe {
        if PARKS.1 < PARK_SIZE {
            let size = 256 * PARK_SIZE;
            PARKS = (memory::reserve(size), size);
        }
        PARKS.1 -= PARK_SIZE;
        let top = PARKS.0 + PARK_SIZE;
        PARKS.0 = top;
        top
    }
}

const SIG_SETMASK: usize = 2;

fn set_mask(mask: u64) -> u64 {
    let mut old = 0u64;
    // SAFETY: both point to 8 bytes.
    unsafe {
        syscall6(nr::RT_SIGPROCMASK, SIG_SETMASK, &raw const mask as usize, &raw mut old as usize, 8, 0, 0)
    };
    old
}

fn make(wish: StackWish) -> Result<Carrier, i32> {
    super::with_heap_aside(|| make_with_libc(wish))
}

fn make_with_libc(wish: StackWish) -> Result<Carrier, i32> {
    let boot = Box::into_raw(Box::new(Boot { fs: 0, sp: 0, park: park_stack(), ready: AtomicU32::new(0) }));
    let mut attr = Attr([0; 64]);
    let attr = (&raw mut attr).cast::<c_void>();
    // SAFETY: libc's own functions on an attribute object of at least its size (56 bytes); `boot` is alive until the
    // carrier says it is ready.
    unsafe {
        real!(pthread_attr_init: fn(*mut c_void) -> c_int)(attr);
        if wish.base != 0 {
            real!(pthread_attr_setstack: fn(*mut c_void, *mut c_void, usize) -> c_int)(
                attr,
                wish.base as *mut c_void,
                wish.size,
            );
        } else if wish.size != 0 {
            real!(pthread_attr_setstacksize: fn(*mut c_void, usize) -> c_int)(attr, wish.size);
        }
        let mut pthread: pthread_t = 0;
        let mask = set_mask(u64::MAX);
        let create = real!(pthread_create: fn(*mut pthread_t, *const c_void, Start, *mut c_void) -> c_int);
        let error = create(&mut pthread, attr, carrier_main, boot.cast());
        set_mask(mask);
        real!(pthread_attr_destroy: fn(*mut c_void) -> c_int)(attr);
        if error != 0 {
            drop(Box::from_raw(boot));
            return Err(error);
        }
        while (*boot).ready.load(Ordering::Acquire) == 0 {
            syscall6(nr::FUTEX, (*boot).ready.as_ptr() as usize, 0, 0, 0, 0, 0);
        }
        let (fs, sp) = ((*boot).fs, (*boot).sp);
        drop(Box::from_raw(boot));
        Ok(Carrier {
            pthread,
            fs,
            sp,
            stack: stack_of(pthread, sp),
            own: wish.base != 0,
            fresh: core::ptr::null(),
        })
    }
}

/// The bounds of a thread's stack, as libc knows them.
pub fn stack_of(pthread: pthread_t, fallback_top: usize) -> (usize, usize) {
    let mut attr = Attr([0; 64]);
    let attr = (&raw mut attr).cast::<c_void>();
    let (mut low, mut size) = (0usize, 0usize);
    // SAFETY: libc's own functions; the attribute object has room.
    unsafe {
        if real!(pthread_getattr_np: fn(pthread_t, *mut c_void) -> c_int)(pthread, attr) != 0 {
            return (fallback_top.saturating_sub(8 << 20), fallback_top);
        }
        real!(pthread_attr_getstack: fn(*const c_void, *mut usize, *mut usize) -> c_int)(
            attr, &mut low, &mut size,
        );
        real!(pthread_attr_destroy: fn(*mut c_void) -> c_int)(attr);
    }
    (low, low + size)
}

/// A carrier for a new strand.
pub fn take(wish: StackWish) -> Result<Carrier, i32> {
    // SAFETY: single kernel thread.
    let pool = unsafe { &mut *(&raw mut POOL) };
    if wish.base != 0 || wish.size > default_size() {
        return make(wish);
    }
    let many = super::strand_count() >= MANY;
    // SAFETY: single kernel thread.
    if many && let Some(carrier) = unsafe { (*(&raw mut RETIRED)).pop() } {
        refresh(&carrier);
        return Ok(carrier);
    }
    super::live::live().carriers += 1;
    let mut carrier = match pool.pop() {
        Some(carrier) => carrier,
        None => make(StackWish::default())?,
    };
    if many {
        carrier.fresh = copy_of(&carrier);
    }
    Ok(carrier)
}

/// Strands in a run from which on carriers are used again.
const MANY: usize = 256;

/// Carriers that strands of this run have given back.
static mut RETIRED: Vec<Carrier> = Vec::new();

/// A strand that was joined, or has ended detached, gives its carrier back.
pub fn retire(carrier: Carrier) {
    if !carrier.fresh.is_null() {
        // SAFETY: single kernel thread.
        unsafe { (*(&raw mut RETIRED)).push(carrier) }
    }
}

/// The part of libc's thread descriptor that is about what runs on it: keys' values, cleanup, cancellation. What is
/// before it (the lists it is in, its kernel thread) stays.
const DESCRIPTOR: core::ops::Range<usize> = 0x2f8..0x700;

/// The pieces of memory that make a carrier fresh: static thread-local storage, and that part of the descriptor.
fn pieces(fs: usize) -> [(usize, usize); 2] {
    let size = super::modules::static_tls_size();
    [(fs - size, size), (fs + DESCRIPTOR.start, DESCRIPTOR.len())]
}

fn copy_of(carrier: &Carrier) -> *const u8 {
    let mut copy = Vec::new();
    for (start, size) in pieces(carrier.fs) {
        // SAFETY: libc's memory of a parked carrier; it lives as long as the process.
        copy.extend_from_slice(unsafe { core::slice::from_raw_parts(start as *const u8, size) });
    }
    copy.leak().as_ptr()
}

fn refresh(carrier: &Carrier) {
    // What other strands did on this stack and to these thread-local variables is over.
    let size = (carrier.stack.1 - carrier.stack.0) as u64;
    effect(Effect::Fresh(size), ObjectId::memory(carrier.stack.0 as u64), 0);
    let mut from = carrier.fresh;
    for (start, size) in pieces(carrier.fs) {
        // SAFETY: the copy was made of these pieces, and nobody runs on the carrier.
        unsafe {
            core::ptr::copy_nonoverlapping(from, start as *mut u8, size);
            from = from.add(size);
        }
    }
}

/// Bytes of a pooled carrier's stack.
fn default_size() -> usize {
    // SAFETY: single kernel thread.
    unsafe { DEFAULT_SIZE }
}

/// Carriers in the pool.
pub fn pooled() -> usize {
    // SAFETY: single kernel thread.
    unsafe { (*(&raw const POOL)).len() }
}

/// Whether the pool may hold more.
pub fn can_grow() -> bool {
    pooled() < POOL_MOST
}

/// Makes carriers until the pool holds `count` (in the fork server, between runs).
pub fn grow(count: usize) {
    // SAFETY: single kernel thread.
    let pool = unsafe { &mut *(&raw mut POOL) };
    while pool.len() < count.min(POOL_MOST) {
        match make(StackWish::default()) {
            // The first made is the first used, so that addresses do not depend on the pool's size.
            Ok(carrier) => {
                // SAFETY: single kernel thread.
                unsafe { DEFAULT_SIZE = carrier.stack.1 - carrier.stack.0 }
                pool.insert(0, carrier);
            }
            Err(_) => return,
        }
    }
}
