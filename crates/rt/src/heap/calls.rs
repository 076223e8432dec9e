//! The exported functions. All are safe before init, after fork, and in a signal handler that runs at a point.

use core::ptr::null_mut;

use threadbare_abi::fault::Fault;
use threadbare_abi::verdict::VerdictKind;

use super::arena::{Block, Given, Refused};
use super::with;
use crate::effect::{Effect, effect, in_free_run};
use crate::engine::addressable::{self, Bytes};
use crate::engine::{self, ObjectId, faults, modules};
use crate::free;
use crate::sys::errno::{EINVAL, ENOMEM};
use crate::sys::{c_int, c_void, nr, set_errno, syscall3};

#[link(name = "c")]
unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

const PAGE: usize = 4096;
const SIGABRT: usize = 6;

interpose!(malloc, 1, malloc_hook);
interpose_slot!(calloc, 2, calloc_hook);
interpose_slot!(realloc, 2, realloc_seen_hook);
interpose!(reallocarray, 3, reallocarray_hook);
interpose_slot!(free, 1, free_hook);
interpose_slot!(cfree, 1, free_hook);
interpose!(posix_memalign, 3, posix_memalign_hook);
interpose!(aligned_alloc, 2, aligned_alloc_hook);
interpose!(memalign, 2, memalign_hook);
interpose!(valloc, 1, valloc_hook);
interpose!(pvalloc, 1, pvalloc_hook);
interpose!(malloc_usable_size, 1, malloc_usable_size_hook);
interpose!(malloc_trim, 1, malloc_trim_hook);
interpose!(mallopt, 2, mallopt_hook);

/// The return address at `slot`, and whether the caller is code that the compiler's pass has seen.
fn caller(slot: *const u64) -> (u64, bool) {
    // SAFETY: the stub passes where its return address lies.
    (unsafe { *slot }, engine::frames::is_innermost(slot as usize))
}

fn count() {
    if engine::controlled() {
        engine::event();
    }
}

fn no_memory() -> *mut c_void {
    set_errno(ENOMEM);
    null_mut()
}

/// A block from the arena; the flag says whether it is known to be zero.
fn allocate(size: usize, align: usize, pc: u64) -> Option<(*mut c_void, bool)> {
    count();
    within_bounds(size, pc)?;
    // What libc allocates for itself does not fail.
    if !modules::is_libc(pc) && faults::happens(Fault::Memory, pc) {
        return None;
    }
    let Given { user, zero, in_order } =
        with(|arena| arena.allocate(size, align.max(16), pc, &mut engine::heap_slot()))?;
    if in_order {
        engine::given_in_order(pc);
    }
    effect(Effect::Alloc(size as u64), memory(user), pc);
    Some((user as *mut c_void, zero))
}

/// Sees that the program may have so many bytes more. More than all it may have in one block is refused, as a system
/// without that memory would do; one that goes on and on ends the run.
fn within_bounds(more: usize, pc: u64) -> Option<()> {
    if !engine::controlled() {
        return Some(());
    }
    let Some((live, limit)) = with(|arena| arena.excess(more)) else { return Some(()) };
    if more > limit {
        engine::warn_once("an allocation of more than `--memory` allows was refused", pc);
        return None;
    }
    engine::fail_run(
        VerdictKind::OutOfMemory,
        0,
        0,
        pc,
        format_args!(
            "the program has {} and asks for {more} more; it may have {limit} (`--memory`)",
            Bytes(live)
        ),
    )
}

unsafe extern "C" fn malloc_hook(size: usize, pc: u64) -> *mut c_void {
    if !engine::heap_is_ours() {
        // SAFETY: the caller's request, unchanged.
        let block = unsafe { __libc_malloc(size) };
        if free::access::open() {
            free::past::allocated(block as u64, size as u64);
            allocated_free(block, size, pc);
        }
        return block;
    }
    allocate(size, 16, pc).map_or_else(no_memory, |(block, _)| block)
}

unsafe extern "C" fn calloc_hook(number: usize, size: usize, slot: *const u64) -> *mut c_void {
    if !engine::heap_is_ours() {
        // SAFETY: the caller's request, unchanged.
        let block = unsafe { __libc_calloc(number, size) };
        if free::race::on() {
            let (pc, seen) = caller(slot);
            let bytes = number.saturating_mul(size);
            allocated_free(block, bytes, pc);
            if seen && !block.is_null() {
                in_free_run(Effect::Written(bytes as u64), memory(block as usize), pc);
            }
        }
        return block;
    }
    let Some(bytes) = number.checked_mul(size) else { return no_memory() };
    let (pc, seen) = caller(slot);
    let Some((block, fresh)) = allocate(bytes, 16, pc) else { return no_memory() };
    if !fresh {
        // SAFETY: the block has `bytes` bytes and is nobody else's.
        unsafe { core::ptr::write_bytes(block.cast::<u8>(), 0, bytes) };
    }
    if seen {
        effect(Effect::Written(bytes as u64), memory(block as usize), pc);
    }
    block
}

/// `realloc`, for the caller at `pc`.
///
/// # Safety
/// `block` is null or came from the malloc family.
pub unsafe extern "C" fn realloc_hook(block: *mut c_void, size: usize, pc: u64) -> *mut c_void {
    // SAFETY: the same contract.
    unsafe { reallocate(block, size, pc, false) }
}

unsafe extern "C" fn realloc_seen_hook(block: *mut c_void, size: usize, slot: *const u64) -> *mut c_void {
    let (pc, seen) = caller(slot);
    // SAFETY: the caller's request, unchanged.
    unsafe { reallocate(block, size, pc, seen) }
}

/// `seen`: called straight from code that the compiler's pass has seen.
unsafe fn reallocate(block: *mut c_void, size: usize, pc: u64, seen: bool) -> *mut c_void {
    let ours = if block.is_null() { engine::heap_is_ours() } else { super::contains(block as usize) };
    if !ours {
        return reallocate_free(block, size, pc, seen);
    }
    if block.is_null() {
        return allocate(size, 16, pc).map_or_else(no_memory, |(block, _)| block);
    }
    if size == 0 {
        release(block as usize, pc, seen);
        return null_mut();
    }
    let user = block as usize;
    let old = match with(|arena| arena.block(user)) {
        Ok(old) => old,
        Err(Refused::Twice(block)) => used_freed("resized", block, user, pc),
        Err(why) => refuse(why, user, pc),
    };
    if size < 1 << 39 && with(|arena| arena.resize(user, size, pc)) == Ok(true) {
        count();
        if size > old.size {
            effect(Effect::Fresh((size - old.size) as u64), memory(user + old.size), pc);
        } else {
            addressable::shrinks();
        }
        return block;
    }
    let Some((other, _)) = allocate(size, 16, pc) else { return no_memory() };
    // SAFETY: both blocks are live and at least that long.
    unsafe { core::ptr::copy_nonoverlapping(block.cast::<u8>(), other.cast::<u8>(), old.size.min(size)) };
    if seen {
        effect(Effect::Written(old.size.min(size) as u64), memory(other as usize), pc);
    }
    release(user, pc, seen);
    other
}

unsafe extern "C" fn reallocarray_hook(
    block: *mut c_void,
    number: usize,
    size: usize,
    pc: u64,
) -> *mut c_void {
    let Some(bytes) = number.checked_mul(size) else { return no_memory() };
    // SAFETY: the same contract as `realloc`.
    unsafe { realloc_hook(block, bytes, pc) }
}

unsafe extern "C" fn free_hook(block: *mut c_void, slot: *const u64) {
    if block.is_null() {
        return;
    }
    if !super::contains(block as usize) {
        if free::race::on() {
            let (pc, seen) = caller(slot);
            freed_free(block, pc, seen);
        }
        // SAFETY: glibc's own block, or a bare program's.
        return unsafe { __libc_free(block) };
    }
    let (pc, seen) = caller(slot);
    release(block as usize, pc, seen);
}

/// libc has given out a block in a free run.
fn allocated_free(block: *mut c_void, size: usize, pc: u64) {
    if !block.is_null() {
        in_free_run(Effect::Alloc(size as u64), memory(block as usize), pc);
    }
}

/// A block is about to be given back to libc in a free run.
fn freed_free(block: *mut c_void, pc: u64, seen: bool) {
    // One that was allocated before the run is as large as libc says.
    let size = free::race::shadow::block_at(block as u64).map_or_else(
        // SAFETY: glibc's own block.
        || unsafe { real!(malloc_usable_size: fn(*mut c_void) -> usize)(block) } as u64,
        |block| block.size,
    );
    in_free_run(Effect::Free { size, seen }, memory(block as usize), pc);
}

/// glibc's own `realloc`: a free, an allocation and a copy, whether the block moves or not.
fn reallocate_free(block: *mut c_void, size: usize, pc: u64, seen: bool) -> *mut c_void {
    let looked_at = free::race::on();
    let old = free::race::on().then(|| free::race::shadow::block_at(block as u64)).flatten();
    if looked_at && !block.is_null() {
        freed_free(block, pc, seen);
    }
    // SAFETY: glibc's own block, or a bare program's.
    let new = unsafe { __libc_realloc(block, size) };
    if looked_at && !new.is_null() {
        allocated_free(new, size, pc);
        let copied = old.map_or(0, |old| old.size).min(size as u64);
        if seen {
            in_free_run(Effect::Written(copied), memory(new as usize), pc);
        }
    }
    new
}

fn memory(user: usize) -> ObjectId {
    ObjectId::memory(user as u64)
}

fn release(user: usize, pc: u64, seen: bool) {
    if engine::controlled() {
        let size = || with(|arena| arena.block(user)).map_or(0, |block| block.size);
        engine::learn::frees(user as u64, size, pc, seen);
    }
    if let Ok(block) = with(|arena| arena.block(user)) {
        effect(Effect::Free { size: block.size as u64, seen }, memory(user), pc);
    }
    if let Err(why) = with(|arena| arena.release(user, pc)) {
        refuse(why, user, pc);
    }
}

fn refuse(why: Refused, user: usize, pc: u64) -> ! {
    if !engine::controlled() {
        let text: &[u8] = match why {
            Refused::Twice(_) => b"free(): double free detected\n",
            Refused::Wild(_) => b"free(): invalid pointer\n",
        };
        // SAFETY: writes to standard error and ends this process, as glibc does.
        unsafe {
            syscall3(nr::WRITE, 2, text.as_ptr() as usize, text.len());
            let pid = syscall3(nr::GETPID, 0, 0, 0) as usize;
            syscall3(nr::KILL, pid, SIGABRT, 0);
            syscall3(nr::EXIT_GROUP, 127, 0, 0);
        }
        engine::fatal("a process outlived exit_group");
    }
    let addr = user as u64;
    if let Refused::Twice(block) = why {
        engine::learn::freed_early(block.free_pc);
        engine::learn::freed_early(pc);
    }
    addressable::tell_block(match why {
        Refused::Twice(block) => Some(block),
        Refused::Wild(block) => block,
    });
    match why {
        Refused::Twice(block) => engine::fail_run(
            VerdictKind::DoubleFree,
            0,
            addr,
            pc,
            format_args!("a block of {} is freed a second time", Bytes(block.size)),
        ),
        Refused::Wild(Some(block)) if user > block.user => engine::fail_run(
            VerdictKind::InvalidFree,
            0,
            addr,
            pc,
            format_args!("{} into a block of {} is freed", Bytes(user - block.user), Bytes(block.size)),
        ),
        Refused::Wild(_) => engine::fail_run(
            VerdictKind::InvalidFree,
            0,
            addr,
            pc,
            format_args!("what is freed was never allocated"),
        ),
    }
}

/// A freed block is passed to a call that needs a live one.
fn used_freed(how: &str, block: Block, user: usize, pc: u64) -> ! {
    if !engine::controlled() {
        refuse(Refused::Twice(block), user, pc)
    }
    engine::learn::freed_early(block.free_pc);
    engine::learn::freed_early(pc);
    addressable::ends_by_free(user as u64, block.size, pc);
    addressable::tell_block(Some(block));
    engine::fail_run(
        VerdictKind::UseAfterFree,
        0,
        user as u64,
        pc,
        format_args!("a block of {} is {how} after it was freed", Bytes(block.size)),
    )
}

/// A block with an alignment that is a power of two.
fn aligned(align: usize, size: usize, pc: u64) -> *mut c_void {
    if !engine::heap_is_ours() {
        // SAFETY: the caller's request, unchanged.
        let block = unsafe { __libc_memalign(align, size) };
        allocated_free(block, size, pc);
        return block;
    }
    allocate(size, align, pc).map_or_else(no_memory, |(block, _)| block)
}

unsafe extern "C" fn posix_memalign_hook(out: *mut *mut c_void, align: usize, size: usize, pc: u64) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return EINVAL;
    }
    let block = aligned(align, size, pc);
    if block.is_null() {
        return ENOMEM;
    }
    // SAFETY: the caller's out pointer.
    unsafe { *out = block };
    0
}

unsafe extern "C" fn aligned_alloc_hook(align: usize, size: usize, pc: u64) -> *mut c_void {
    if !align.is_power_of_two() {
        set_errno(EINVAL);
        return null_mut();
    }
    aligned(align, size, pc)
}

unsafe extern "C" fn memalign_hook(align: usize, size: usize, pc: u64) -> *mut c_void {
    // glibc rounds up to a power of two.
    match align.checked_next_power_of_two() {
        Some(align) => aligned(align, size, pc),
        None => {
            set_errno(EINVAL);
            null_mut()
        }
    }
}

unsafe extern "C" fn valloc_hook(size: usize, pc: u64) -> *mut c_void {
    aligned(PAGE, size, pc)
}

unsafe extern "C" fn pvalloc_hook(size: usize, pc: u64) -> *mut c_void {
    match size.checked_next_multiple_of(PAGE) {
        Some(size) => aligned(PAGE, size, pc),
        None => no_memory(),
    }
}

unsafe extern "C" fn malloc_usable_size_hook(block: *mut c_void, pc: u64) -> usize {
    if block.is_null() {
        return 0;
    }
    if !super::contains(block as usize) {
        // SAFETY: glibc's own block.
        return unsafe { real!(malloc_usable_size: fn(*mut c_void) -> usize)(block) };
    }
    match with(|arena| arena.block(block as usize)) {
        Ok(found) => found.size,
        Err(Refused::Twice(found)) => used_freed("asked for its size", found, block as usize, pc),
        Err(why) => refuse(why, block as usize, pc),
    }
}

unsafe extern "C" fn malloc_trim_hook(pad: usize, _pc: u64) -> c_int {
    if engine::heap_is_ours() {
        return 0;
    }
    // SAFETY: the caller's request, unchanged.
    unsafe { real!(malloc_trim: fn(usize) -> c_int)(pad) }
}

unsafe extern "C" fn mallopt_hook(parameter: c_int, value: c_int, _pc: u64) -> c_int {
    if engine::heap_is_ours() {
        return 1;
    }
    // SAFETY: the caller's request, unchanged.
    unsafe { real!(mallopt: fn(c_int, c_int) -> c_int)(parameter, value) }
}
