//! Plain accesses.
//!
//! In a bare run, and while one strand is alive and touches neither heap nor an ended strand's stack, the stubs return
//! after three compares. In a free run that looks for races they look at the cells of the address themselves (`free::race`).
//! Safe before init, in a signal (single kernel thread), after fork.

use crate::arch;
use crate::engine::access;
use crate::engine::addressable::{self, VIEW, offset};
use crate::engine::learn::{self, GATE};
use crate::engine::registers;
use threadbare_abi::op::OpKind;

// The bit of a cell that says that it writes, in the lower half of four cells.
core::arch::global_asm!(
    ".section .rodata",
    ".hidden tb_race_writes",
    ".p2align 4",
    "tb_race_writes: .rept 4; .long {writes}; .endr",
    ".text",
    writes = const threadbare_rules::cells::WRITES_BIT,
);

/// What is done to four cells before they are compared with a write.
macro_rules! either {
    (Read) => {
        "por xmm0, [rip + tb_race_writes]"
    };
    ($kind:ident) => {
        ""
    };
}

macro_rules! accesses {
    ($($kind:ident $size:literal: $($name:ident)*;)*) => {
        $($(
            /// Exported.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    "cmp byte ptr [rip + {gate}], 1",
                    "je 2f",
                    "ja 4f",
                    "mov rax, rdi",
                    "sub rax, [rip + {view} + {heap}]",
                    "cmp rax, [rip + {view} + {heap_length}]",
                    "jb 3f",
                    "mov rax, rdi",
                    "sub rax, [rip + {view} + {stacks}]",
                    "cmp rax, [rip + {view} + {stacks_length}]",
                    "jb 3f",
                    "ret",
                    "2: mov rsi, [rsp]",
                    "jmp {target}",
                    "3: mov rsi, [rsp]",
                    "jmp {alone}",
                    "4: cmp byte ptr [rip + {gate}], {races}",
                    "jne 6f",
                    // A free run that looks for races: whether the strand has done the same in the same epoch.
                    "mov rax, qword ptr [rip + tb_free_self@GOTTPOFF]",
                    "mov rax, qword ptr fs:[rax]",
                    "test rax, rax",
                    "jz 7f",
                    "mov rax, [rax + {stamp_at}]",
                    "mov eax, [rax]",
                    "test eax, eax",
                    "jz 5f",
                    "mov ecx, edi",
                    "and ecx, 7",
                    "mov edx, {bytes}",
                    "shl edx, cl",
                    "cmp edx, 0xff",
                    "ja 5f",
                    "lea eax, [rax + rdx + {writes}]",
                    "movabs rdx, {fold}",
                    "and rdx, rdi",
                    "shl rdx, {scale}",
                    "add rdx, [rip + {base}]",
                    "movaps xmm0, [rdx]",
                    "movaps xmm1, [rdx + 16]",
                    "shufps xmm0, xmm1, 0x88",
                    "movd xmm1, eax",
                    "pshufd xmm1, xmm1, 0",
                    // A write of the strand's own does for its reads.
                    either!($kind),
                    "pcmpeqd xmm0, xmm1",
                    "pmovmskb eax, xmm0",
                    "test eax, eax",
                    "jz 5f",
                    "7: ret",
                    "5: mov rsi, [rsp]",
                    "jmp {races_slow}",
                    // All registers are still the caller's: they are kept for who tells values.
                    "6: cmp byte ptr [rip + {gate}], {watched}",
                    "jne 8f",
                    "mov [rip + {registers}], rax",
                    "lea rax, [rip + {other}]",
                    "jmp {keep}",
                    "8: mov rsi, [rsp]",
                    "jmp {other}",
                    races = const crate::free::access::RACES,
                    stamp_at = const crate::free::thread::STAMP_AT,
                    bytes = const (1u32 << $size) - 1,
                    writes = const threadbare_rules::cells::WRITES_BIT,
                    fold = const ((1u64 << threadbare_rules::cells::FOLDED_BITS) - 8),
                    scale = const crate::free::race::shadow::SCALE,
                    base = sym crate::free::race::shadow::BASE,
                    races_slow = sym crate::free::race::plain::hook::<{ OpKind::$kind as u8 }, $size>,
                    gate = sym GATE,
                    view = sym VIEW,
                    heap = const offset::HEAP,
                    heap_length = const offset::HEAP_LENGTH,
                    stacks = const offset::STACKS,
                    stacks_length = const offset::STACKS_LENGTH,
                    target = sym hook::<{ OpKind::$kind as u8 }, $size>,
                    alone = sym alone::<{ OpKind::$kind as u8 }, $size>,
                    other = sym other::<{ OpKind::$kind as u8 }, $size>,
                    watched = const learn::WATCHED,
                    registers = sym arch::registers::LAST,
                    keep = sym arch::registers::keep,
                )
            }
        )*)*
    };
}

unsafe extern "C" fn hook<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    access::announced::<KIND, SIZE>(addr, pc);
}

/// An access of the only strand: only whether there is such memory matters.
unsafe extern "C" fn alone<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    if let Some(kind) = OpKind::from_code(KIND) {
        addressable::check(kind, addr, SIZE, pc);
    }
}

/// An access of a free run, or of one in which every access is told.
unsafe extern "C" fn other<const KIND: u8, const SIZE: u32>(addr: u64, pc: u64) {
    if let Some(kind) = OpKind::from_code(KIND) {
        if crate::free::access::open() {
            crate::free::access::plain(kind, addr, SIZE, pc);
        } else {
            registers::with(pc, || learn::announced(kind, addr, SIZE, pc));
        }
    }
}

accesses! {
    Read 1: __tsan_read1 __tsan_volatile_read1;
    Read 2: __tsan_read2 __tsan_volatile_read2 __tsan_unaligned_read2 __tsan_unaligned_volatile_read2;
    Read 4: __tsan_read4 __tsan_volatile_read4 __tsan_unaligned_read4 __tsan_unaligned_volatile_read4;
    Read 8: __tsan_read8 __tsan_volatile_read8 __tsan_unaligned_read8 __tsan_unaligned_volatile_read8
        __tsan_vptr_read;
    Read 16: __tsan_read16 __tsan_volatile_read16 __tsan_unaligned_read16 __tsan_unaligned_volatile_read16;
    Write 1: __tsan_write1 __tsan_volatile_write1;
    Write 2: __tsan_write2 __tsan_volatile_write2 __tsan_unaligned_write2 __tsan_unaligned_volatile_write2;
    Write 4: __tsan_write4 __tsan_volatile_write4 __tsan_unaligned_write4 __tsan_unaligned_volatile_write4;
    Write 8: __tsan_write8 __tsan_volatile_write8 __tsan_unaligned_write8 __tsan_unaligned_volatile_write8;
    Write 16: __tsan_write16 __tsan_volatile_write16 __tsan_unaligned_write16 __tsan_unaligned_volatile_write16;
    ReadWrite 1: __tsan_read_write1;
    ReadWrite 2: __tsan_read_write2 __tsan_unaligned_read_write2;
    ReadWrite 4: __tsan_read_write4 __tsan_unaligned_read_write4;
    ReadWrite 8: __tsan_read_write8 __tsan_unaligned_read_write8;
    ReadWrite 16: __tsan_read_write16 __tsan_unaligned_read_write16;
}

macro_rules! accesses_with_pc {
    ($($kind:ident $size:literal $name:ident;)*) => {
        $(
            /// Exported; the pc is an argument.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(addr: u64, pc: u64) {
                gated(OpKind::$kind, addr, $size, pc);
            }
        )*
    };
}

accesses_with_pc! {
    Read 1 __tsan_read1_pc;
    Read 2 __tsan_read2_pc;
    Read 4 __tsan_read4_pc;
    Read 8 __tsan_read8_pc;
    Read 16 __tsan_read16_pc;
    Write 1 __tsan_write1_pc;
    Write 2 __tsan_write2_pc;
    Write 4 __tsan_write4_pc;
    Write 8 __tsan_write8_pc;
    Write 16 __tsan_write16_pc;
}

/// An access if it can matter, which is made right after this.
#[inline]
pub fn gated(kind: OpKind, addr: u64, size: u64, pc: u64) {
    gated_to(learn::access, kind, addr, size, pc);
}

#[inline(always)]
fn gated_to(access: fn(OpKind, u64, u32, u64), kind: OpKind, addr: u64, size: u64, pc: u64) {
    // SAFETY: a byte that only the single kernel thread writes.
    let gate = unsafe { GATE };
    let bytes = size.min(u32::MAX as u64) as u32;
    if bytes == 0 {
    } else if crate::free::access::open() {
        crate::free::access::plain(kind, addr, bytes, pc);
    } else if gate != 0 {
        access(kind, addr, bytes, pc);
    } else {
        addressable::check(kind, addr, bytes, pc);
    }
}

/// A vtable pointer is stored; storing the same one again is no write.
unsafe extern "C" fn vptr_update(addr: *const u64, new: u64, pc: u64) {
    // SAFETY: the object is being constructed or destroyed at this address.
    if unsafe { *addr } != new {
        gated(OpKind::Write, addr as u64, 8, pc);
    }
}

unsafe extern "C" fn read_range(addr: u64, size: u64, pc: u64) {
    gated_to(learn::announced, OpKind::ReadRange, addr, size, pc);
}

unsafe extern "C" fn write_range(addr: u64, size: u64, pc: u64) {
    gated_to(learn::announced, OpKind::WriteRange, addr, size, pc);
}

interpose!(__tsan_vptr_update, 2, vptr_update);
interpose!(__tsan_read_range, 2, read_range);
interpose!(__tsan_write_range, 2, write_range);

/// Exported; the pc is an argument.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_read_range_pc(addr: u64, size: u64, pc: u64) {
    gated(OpKind::ReadRange, addr, size, pc);
}

/// Exported; the pc is an argument.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_write_range_pc(addr: u64, size: u64, pc: u64) {
    gated(OpKind::WriteRange, addr, size, pc);
}
