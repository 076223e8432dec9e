//! Atomic operations of 1 to 16 bytes, and fences.
//!
//! Each is a point, then the operation itself with a real atomic instruction: other processes may share the memory,
//! and in a bare run other kernel threads do. Orders are kept for the event; the instruction is always sequentially
//! consistent. Safe before init, in a signal (single kernel thread), after fork.
//!
//! **Real atomic instructions** even under control, because other processes may share the memory.

use crate::effect::{Atomic, Effect, effect};
use crate::engine::sched::{self, ATTENTION};
use crate::engine::{ObjectId, addressable, controlled, faults, learn, stores};
use crate::free;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence};
use threadbare_abi::fault::Fault;
use threadbare_abi::op::{Op, OpKind, Order};

fn order(code: i32) -> Order {
    // The upper bits are hints (transactional memory) that do not concern the order.
    Order::from_code((code & 7) as u8).unwrap_or(Order::SeqCst)
}

#[inline(always)]
fn before(kind: OpKind, addr: u64, size: u32, mo: i32, pc: u64) {
    if controlled() {
        addressable::check(kind, addr, size, pc);
        learn::atomic(addr, size, kind.writes_memory());
        // SAFETY: a byte that only the single kernel thread writes.
        if unsafe { learn::GATE } == 0 && ATTENTION.load(Ordering::Relaxed) == 0 {
            sched::publish(Op { kind, order: order(mo), size, addr, pc });
        } else if kind == OpKind::AtomicCas {
            sched::point_before_lock(Op { kind, order: order(mo), size, addr, pc });
        } else {
            sched::point(Op { kind, order: order(mo), size, addr, pc });
        }
    } else if free::access::open() {
        free::access::atomic(kind, addr, order(mo), pc);
    }
}

/// An atomic operation has been made.
#[inline(always)]
fn done(what: Atomic, addr: u64, size: u8, mo: i32, pc: u64) {
    effect(Effect::Atomic(what, size, order(mo)), ObjectId::memory(addr), pc);
}

macro_rules! atomics {
    ($module:ident $int:ty, $atomic:ty, $size:literal: $load:ident $store:ident $cas_strong:ident $cas_weak:ident
     $cas_val:ident; $($rmw:ident $op:ident $combine:expr;)*) => {
        mod $module {
            use super::*;

            #[inline(always)]
            unsafe fn at<'a>(p: *mut $int) -> &'a $atomic {
                // SAFETY: the program's own atomic object of this size.
                unsafe { <$atomic>::from_ptr(p) }
            }

            pub unsafe extern "C" fn load(p: *mut $int, mo: i32, pc: u64) -> $int {
                before(OpKind::AtomicLoad, p as u64, $size, mo, pc);
                // SAFETY: the program's own access.
                let newest = unsafe { at(p) }.load(Ordering::SeqCst);
                let value = stores::seen(p as u64, $size, newest as u64, order(mo), pc) as $int;
                done(Atomic::Load(value as u64), p as u64, $size, mo, pc);
                value
            }

            pub unsafe extern "C" fn store(p: *mut $int, value: $int, mo: i32, pc: u64) {
                before(OpKind::AtomicStore, p as u64, $size, mo, pc);
                // SAFETY: the program's own access.
                unsafe {
                    let old = || at(p).load(Ordering::Relaxed) as u64;
                    if !stores::comes_late(p as u64, $size, old, order(mo), pc) {
                        at(p).store(value, Ordering::SeqCst);
                    }
                }
                done(Atomic::Store(value as u64), p as u64, $size, mo, pc);
            }

            pub unsafe extern "C" fn compare(p: *mut $int, expected: $int, new: $int, mo: i32, fail: i32, pc: u64) -> $int {
                // SAFETY: the program's own access.
                unsafe { compare_or(p, expected, new, mo, fail, pc, false) }.0
            }

            /// What was found, and whether it was exchanged; a weak one may fail for no reason.
            #[inline(always)]
            unsafe fn compare_or(p: *mut $int, expected: $int, new: $int, mo: i32, fail: i32, pc: u64, weak: bool) -> ($int, bool) {
                before(OpKind::AtomicCas, p as u64, $size, mo, pc);
                // SAFETY: the program's own access.
                let word = unsafe { at(p) };
                let fails = weak && word.load(Ordering::SeqCst) == expected && faults::happens(Fault::Exchange, pc);
                if fails {
                    done(Atomic::Load(expected as u64), p as u64, $size, fail, pc);
                    return (expected, false);
                }
                match word.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(old) => {
                        done(Atomic::Exchange(old as u64, new as u64), p as u64, $size, mo, pc);
                        (old, true)
                    }
                    Err(old) => {
                        let takes = expected == 0 && new == 1 && order(mo).acquires();
                        let (found, expected, new) = (old as u64, expected as u64, new as u64);
                        done(Atomic::Refused { found, expected, new, takes }, p as u64, $size, fail, pc);
                        (old, false)
                    }
                }
            }

            pub unsafe extern "C" fn compare_exchange(p: *mut $int, expected: *mut $int, new: $int, mo: i32, fail: i32, pc: u64) -> i32 {
                // SAFETY: the program's own access.
                unsafe {
                    let wanted = *expected;
                    let old = compare(p, wanted, new, mo, fail, pc);
                    if old == wanted {
                        1
                    } else {
                        *expected = old;
                        0
                    }
                }
            }

            pub unsafe extern "C" fn compare_exchange_weak(p: *mut $int, expected: *mut $int, new: $int, mo: i32, fail: i32, pc: u64) -> i32 {
                // SAFETY: the program's own access.
                unsafe {
                    let wanted = *expected;
                    let old = compare_or(p, wanted, new, mo, fail, pc, true);
                    *expected = old.0;
                    i32::from(old.1)
                }
            }

            $(
                pub unsafe extern "C" fn $op(p: *mut $int, value: $int, mo: i32, pc: u64) -> $int {
                    before(OpKind::AtomicRmw, p as u64, $size, mo, pc);
                    let combine: fn(&$atomic, $int) -> $int = $combine;
                    // SAFETY: the program's own access.
                    let old = combine(unsafe { at(p) }, value);
                    done(Atomic::Update(old as u64, old as u64), p as u64, $size, mo, pc);
                    old
                }
            )*
        }
        crate::interpose_local!($load, 2, $module::load);
        interpose!($store, 3, $module::store);
        crate::interpose_local!($cas_strong, 5, $module::compare_exchange);
        crate::interpose_local!($cas_weak, 5, $module::compare_exchange_weak);
        crate::interpose_local!($cas_val, 5, $module::compare);
        $(crate::interpose_local!($rmw, 3, $module::$op);)*
    };
}

macro_rules! all_atomics {
    ($($module:ident $int:ty, $atomic:ty, $size:literal: $load:ident $store:ident $cas_strong:ident $cas_weak:ident
       $cas_val:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident;)*) => {
        $(atomics! {
            $module $int, $atomic, $size: $load $store $cas_strong $cas_weak $cas_val;
            $exchange exchange |a, v| a.swap(v, Ordering::SeqCst);
            $add add |a, v| a.fetch_add(v, Ordering::SeqCst);
            $sub sub |a, v| a.fetch_sub(v, Ordering::SeqCst);
            $and and |a, v| a.fetch_and(v, Ordering::SeqCst);
            $or or |a, v| a.fetch_or(v, Ordering::SeqCst);
            $xor xor |a, v| a.fetch_xor(v, Ordering::SeqCst);
            $nand nand |a, v| a.fetch_nand(v, Ordering::SeqCst);
        })*
    };
}

all_atomics! {
    bits8 u8, AtomicU8, 1: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_compare_exchange_strong
        __tsan_atomic8_compare_exchange_weak __tsan_atomic8_compare_exchange_val __tsan_atomic8_exchange
        __tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or
        __tsan_atomic8_fetch_xor __tsan_atomic8_fetch_nand;
    bits16 u16, AtomicU16, 2: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_compare_exchange_strong
        __tsan_atomic16_compare_exchange_weak __tsan_atomic16_compare_exchange_val __tsan_atomic16_exchange
        __tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or
        __tsan_atomic16_fetch_xor __tsan_atomic16_fetch_nand;
    bits32 u32, AtomicU32, 4: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_compare_exchange_strong
        __tsan_atomic32_compare_exchange_weak __tsan_atomic32_compare_exchange_val __tsan_atomic32_exchange
        __tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or
        __tsan_atomic32_fetch_xor __tsan_atomic32_fetch_nand;
    bits64 u64, AtomicU64, 8: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_compare_exchange_strong
        __tsan_atomic64_compare_exchange_weak __tsan_atomic64_compare_exchange_val __tsan_atomic64_exchange
        __tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or
        __tsan_atomic64_fetch_xor __tsan_atomic64_fetch_nand;
}

/// 16 bytes: one `cmpxchg16b`, in a loop where the operation needs it.
mod bits128 {
    use super::*;
    use core::arch::asm;

    /// The caller's pc where no argument register is left for it.
    pub static mut CALLER: u64 = 0;

    unsafe fn cmpxchg(p: *mut u128, expected: u128, new: u128) -> u128 {
        let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
        // SAFETY: the program's own aligned 16-byte object; every x86-64 processor this runs on has the instruction.
        unsafe {
            asm!(
                "xchg {b}, rbx",
                "lock cmpxchg16b [{p}]",
                "mov rbx, {b}",
                p = in(reg) p,
                b = inout(reg) new as u64 => _,
                in("rcx") (new >> 64) as u64,
                inout("rax") low,
                inout("rdx") high,
                options(nostack),
            );
        }
        (high as u128) << 64 | low as u128
    }

    unsafe fn update(p: *mut u128, f: impl Fn(u128) -> u128) -> u128 {
        // SAFETY: passed on.
        unsafe {
            let mut old = cmpxchg(p, 0, 0);
            loop {
                let seen = cmpxchg(p, old, f(old));
                if seen == old {
                    return old;
                }
                old = seen;
            }
        }
    }

    pub unsafe extern "C" fn load(p: *mut u128, mo: i32, pc: u64) -> u128 {
        before(OpKind::AtomicLoad, p as u64, 16, mo, pc);
        // SAFETY: the program's own access; writing 0 over 0 changes nothing.
        let value = unsafe { cmpxchg(p, 0, 0) };
        loaded_wide(p, value, mo, pc);
        value
    }

    fn loaded_wide(p: *mut u128, value: u128, mo: i32, pc: u64) {
        done(Atomic::Load((value >> 64) as u64), p as u64 + 8, 8, mo, pc);
        done(Atomic::Load(value as u64), p as u64, 8, mo, pc);
    }

    fn stored_wide(p: *mut u128, value: u128, found: Option<u128>, mo: i32, pc: u64) {
        let half = |shift: u32| {
            let value = (value >> shift) as u64;
            found.map_or(Atomic::Store(value), |found| Atomic::Update((found >> shift) as u64, value))
        };
        done(half(64), p as u64 + 8, 8, mo, pc);
        done(half(0), p as u64, 8, mo, pc);
    }

    pub unsafe extern "C" fn store(p: *mut u128, value: u128, mo: i32, pc: u64) {
        before(OpKind::AtomicStore, p as u64, 16, mo, pc);
        // SAFETY: the program's own access.
        unsafe { update(p, |_| value) };
        stored_wide(p, value, None, mo, pc);
    }

    macro_rules! rmw {
        ($($name:ident $f:expr;)*) => {
            $(pub unsafe extern "C" fn $name(p: *mut u128, value: u128, mo: i32, pc: u64) -> u128 {
                before(OpKind::AtomicRmw, p as u64, 16, mo, pc);
                let f: fn(u128, u128) -> u128 = $f;
                // SAFETY: the program's own access.
                let old = unsafe { update(p, |old| f(old, value)) };
                stored_wide(p, old, Some(old), mo, pc);
                old
            })*
        };
    }

    rmw! {
        exchange |_, v| v;
        add |o, v| o.wrapping_add(v);
        sub |o, v| o.wrapping_sub(v);
        and |o, v| o & v;
        or |o, v| o | v;
        xor |o, v| o ^ v;
        nand |o, v| !(o & v);
    }

    pub unsafe extern "C" fn compare(p: *mut u128, expected: u128, new: u128, mo: i32, fail: i32) -> u128 {
        // SAFETY: written by the stub just before; single kernel thread (a bare run does not look at it).
        let pc = unsafe { CALLER };
        before(OpKind::AtomicCas, p as u64, 16, mo, pc);
        // SAFETY: the program's own access.
        let old = unsafe { cmpxchg(p, expected, new) };
        if old == expected {
            stored_wide(p, new, Some(old), mo, pc)
        } else {
            loaded_wide(p, old, fail, pc)
        }
        old
    }

    pub unsafe extern "C" fn compare_exchange(
        p: *mut u128,
        expected: *mut u128,
        new: u128,
        mo: i32,
        fail: i32,
    ) -> i32 {
        // SAFETY: the program's own access.
        unsafe {
            let wanted = expected.read_unaligned();
            let old = compare(p, wanted, new, mo, fail);
            if old == wanted {
                1
            } else {
                expected.write_unaligned(old);
                0
            }
        }
    }
}

macro_rules! wide_stub {
    ($($name:ident $target:path;)*) => {
        $(
            /// Exported; all argument registers are taken, so the caller's pc goes through memory.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "mov rax, [rsp]",
                    "mov [rip + {caller}], rax",
                    "jmp {target}",
                    caller = sym bits128::CALLER,
                    target = sym $target,
                )
            }
        )*
    };
}

interpose!(__tsan_atomic128_load, 2, bits128::load);
interpose!(__tsan_atomic128_store, 4, bits128::store);
interpose!(__tsan_atomic128_exchange, 4, bits128::exchange);
interpose!(__tsan_atomic128_fetch_add, 4, bits128::add);
interpose!(__tsan_atomic128_fetch_sub, 4, bits128::sub);
interpose!(__tsan_atomic128_fetch_and, 4, bits128::and);
interpose!(__tsan_atomic128_fetch_or, 4, bits128::or);
interpose!(__tsan_atomic128_fetch_xor, 4, bits128::xor);
interpose!(__tsan_atomic128_fetch_nand, 4, bits128::nand);
wide_stub! {
    __tsan_atomic128_compare_exchange_strong bits128::compare_exchange;
    __tsan_atomic128_compare_exchange_weak bits128::compare_exchange;
    __tsan_atomic128_compare_exchange_val bits128::compare;
}

unsafe extern "C" fn thread_fence(mo: i32, pc: u64) {
    if controlled() {
        sched::point(Op { kind: OpKind::Fence, order: order(mo), size: 0, addr: 0, pc });
    }
    effect(Effect::Fence(order(mo)), ObjectId::NEVER, pc);
    fence(Ordering::SeqCst);
}

interpose!(__tsan_atomic_thread_fence, 1, thread_fence);

/// A fence against signal handlers only: they run at points, so nothing is to be done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic_signal_fence(_mo: i32) {
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}
