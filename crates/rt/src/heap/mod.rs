//! The malloc family on a deterministic arena.
//!
//! With the driver, every block of the program comes from [`arena`], so addresses repeat from run to run and a double
//! or invalid free is a verdict. Without it the calls go to glibc's own allocator under its internal names, which
//! needs no symbol lookup and is safe at any time.

pub mod arena;
mod calls;
pub mod lock;
mod map;
pub mod own;
pub mod shadow;

use core::cell::UnsafeCell;

use arena::{Arena, Block};
pub use calls::realloc_hook as reallocate;
use shadow::Shadow;

struct Shared(UnsafeCell<Arena>);

// SAFETY: touched by one kernel thread under control, else under `LOCK`.
unsafe impl Sync for Shared {}

static HEAP: Shared = Shared(UnsafeCell::new(Arena::new()));
static LOCK: lock::SpinLock = lock::SpinLock::new();

/// The heap, exclusively for the length of `work`, which makes no point.
fn with<R>(work: impl FnOnce(&mut Arena) -> R) -> R {
    let _held = (!crate::engine::controlled()).then(|| LOCK.hold());
    // SAFETY: under control there is one kernel thread and `work` does not switch; otherwise the lock is held.
    work(unsafe { &mut *HEAP.0.get() })
}

/// Whether an address lies in the program's heap.
#[inline]
pub fn contains(addr: usize) -> bool {
    // SAFETY: reads two words that change once, before the first block exists.
    unsafe { (*HEAP.0.get()).contains(addr) }
}

/// Reserves the heap, so that every run has it, and says where its shadow lies.
pub fn open() -> Shadow {
    with(|arena| {
        arena.open();
        arena.shadow()
    })
}

/// Sets how many bytes the program may have at a time; 0 is no bound.
pub fn set_limit(bytes: u64) {
    with(|arena| arena.set_limit(bytes as usize));
}

/// The last block of the region before an address that lies in no block's memory.
pub fn last_before(addr: usize) -> Option<Block> {
    with(|arena| arena.last_before(addr))
}

/// The block, live or freed, in whose memory an address lies. An address at or after `user + size`, or before `user`,
/// is outside what the program asked for.
pub fn find(addr: usize) -> Option<Block> {
    with(|arena| arena.find(addr))
}
