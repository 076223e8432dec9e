//! Strands on x86-64.
//!
//! A switched-out strand's stack holds, from its saved stack pointer upwards: r15, r14, r13, r12, rbx, rbp, return
//! address (`threadbare replay --gdb` relies on it), and below it the SSE control word. Nothing else uses
//! memory below a switched-out stack pointer: signal handlers run on the alternate stack or on the running strand.

use core::arch::{asm, global_asm};

/// Whether `rdfsbase`/`wrfsbase` may be used; read by the assembly below.
static mut TB_FSGSBASE: u8 = 0;

const AT_HWCAP2: u64 = 26;
const HWCAP2_FSGSBASE: u64 = 2;
const ARCH_SET_FS: usize = 0x1002;
const ARCH_GET_FS: usize = 0x1003;

unsafe extern "C" {
    fn getauxval(kind: u64) -> u64;
    /// Saves the running strand to `*save` and goes on with the one whose stack pointer is `to`, thread pointer `fs`.
    pub fn tb_switch(save: *mut usize, to: usize, fs: usize);
    /// Calls `body(a, b)` under a frame that catches `pthread_exit` and cancellation, then `end(result, unwound)`,
    /// which does not return.
    pub fn tb_base_call(body: usize, a: usize, b: usize, end: usize) -> !;
    fn tb_strand_entry();
    /// Goes to another stack for good, sets `*ready` to 1, wakes who waits for it, and sleeps on `*never`.
    pub fn tb_park(stack_top: usize, ready: *mut u32, never: *mut u32) -> !;
}

/// Looks at what the processor and kernel allow. Safe before init.
pub fn detect() {
    // SAFETY: getauxval has no side effects; the static is written once, before any strand exists.
    unsafe { TB_FSGSBASE = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE != 0) as u8 }
}

/// The thread pointer of whoever runs.
pub fn thread_pointer() -> usize {
    let mut value: usize = 0;
    // SAFETY: reading the FS base has no side effects; the slower call writes to `value`.
    unsafe {
        if TB_FSGSBASE != 0 {
            asm!("rdfsbase {}", out(reg) value, options(nomem, nostack));
        } else {
            crate::sys::syscall3(crate::sys::nr::ARCH_PRCTL, ARCH_GET_FS, &raw mut value as usize, 0);
        }
    }
    value
}

/// Sets the thread pointer of whoever runs.
///
/// # Safety
/// It is one of libc's, of a thread that does not run.
pub unsafe fn set_thread_pointer(value: usize) {
    // SAFETY: as the caller says.
    unsafe {
        if TB_FSGSBASE != 0 {
            asm!("wrfsbase {}", in(reg) value, options(nostack));
        } else {
            crate::sys::syscall3(crate::sys::nr::ARCH_PRCTL, ARCH_SET_FS, value, 0);
        }
    }
}

/// The stack pointer of whoever runs.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack)) };
    sp
}

/// Asks for memory that will be looked at soon: a value of up to 64 bytes, wherever its cache lines begin.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    let first = (&raw const *value).cast::<u8>();
    let last = first.wrapping_add(size_of::<T>() - 1);
    // SAFETY: no access; what is asked for lies within a value.
    unsafe {
        asm!("prefetcht0 [{}]", "prefetcht0 [{}]", in(reg) first, in(reg) last, options(nostack, preserves_flags, readonly));
    }
}

/// The registers that a function leaves as it found them, as they are now.
#[inline(always)]
pub fn kept_registers() -> [usize; 6] {
    let mut found = [0usize; 6];
    // SAFETY: writes six words.
    unsafe {
        asm!(
            "mov [{at}], rbx",
            "mov [{at} + 8], rbp",
            "mov [{at} + 16], r12",
            "mov [{at} + 24], r13",
            "mov [{at} + 32], r14",
            "mov [{at} + 40], r15",
            at = in(reg) found.as_mut_ptr(),
            options(nostack, preserves_flags)
        );
    }
    found
}

/// Lays out the first frame of a strand below `top` so that a switch to the returned stack pointer calls
/// `body(a, b)` on it.
///
/// # Safety
/// The memory below `top` is the strand's own and unused.
pub unsafe fn first_frame(top: usize, body: usize, a: usize, b: usize, end: usize) -> usize {
    let top = top & !15;
    // After `ret` into tb_strand_entry the stack pointer is `top - 16`, which is 16-byte aligned.
    let sp = top - 16 - 7 * 8;
    let mut mxcsr = 0u32;
    // SAFETY: `sp..top` is unused memory of the strand; the control word is inherited as POSIX says.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack));
        let frame = sp as *mut usize;
        // r15 is unused, r14 = end, r13 = b, r12 = a, rbx = body, rbp = 0.
        frame.write(0);
        frame.add(1).write(end);
        frame.add(2).write(b);
        frame.add(3).write(a);
        frame.add(4).write(body);
        frame.add(5).write(0);
        frame.add(6).write(tb_strand_entry as *const () as usize);
        ((sp - 8) as *mut u32).write(mxcsr);
    }
    sp
}

global_asm!(
    ".text",
    ".hidden tb_switch",
    ".globl tb_switch",
    ".type tb_switch,@function",
    "tb_switch:",
    ".cfi_startproc",
    "cmp byte ptr [rip + {fsgsbase}], 0",
    "je 6f",
    "wrfsbase rdx",
    "7: push rbp",
    "push rbx",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "stmxcsr [rsp - 8]",
    "mov eax, [rsp - 8]",
    "mov [rdi], rsp",
    "mov rsp, rsi",
    "xor eax, [rsp - 8]",
    "test eax, 0xffc0",
    "jne 4f",
    "3: pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbx",
    "pop rbp",
    "ret",
    "4: ldmxcsr [rsp - 8]",
    "jmp 3b",
    "6: mov r8, rdi",
    "mov r9, rsi",
    "mov edi, {set_fs}",
    "mov rsi, rdx",
    "mov eax, {arch_prctl}",
    "syscall",
    "mov rdi, r8",
    "mov rsi, r9",
    "jmp 7b",
    ".cfi_endproc",
    ".size tb_switch, . - tb_switch",
    // The base frame: an unwind buffer of glibc's (104 bytes) so that pthread_exit and cancellation end here.
    ".hidden tb_strand_entry",
    ".globl tb_strand_entry",
    ".type tb_strand_entry,@function",
    ".hidden tb_base_call",
    ".globl tb_base_call",
    ".type tb_base_call,@function",
    "tb_base_call:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "mov rbx, rdi",
    "mov r12, rsi",
    "mov r13, rdx",
    "mov r14, rcx",
    "and rsp, -16",
    "tb_strand_entry:",
    "xor ebp, ebp",
    "sub rsp, 128",
    "mov rdi, rsp",
    "xor esi, esi",
    "call __sigsetjmp@PLT",
    "test eax, eax",
    "jne 8f",
    "mov rdi, rsp",
    "call __pthread_register_cancel@PLT",
    "mov rdi, r12",
    "mov rsi, r13",
    "call rbx",
    "mov r15, rax",
    "mov rdi, rsp",
    "call __pthread_unregister_cancel@PLT",
    "mov rdi, r15",
    "xor esi, esi",
    "call r14",
    "ud2",
    "8: xor edi, edi",
    "mov esi, 1",
    "call r14",
    "ud2",
    ".cfi_endproc",
    ".size tb_base_call, . - tb_base_call",
    ".hidden tb_park",
    ".globl tb_park",
    ".type tb_park,@function",
    "tb_park:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "mov rsp, rdi",
    "mov rbx, rdx",
    "mov dword ptr [rsi], 1",
    "mov rdi, rsi",
    "mov esi, 1",
    "mov edx, 1",
    "mov eax, {futex}",
    "syscall",
    "9: mov rdi, rbx",
    "xor esi, esi",
    "xor edx, edx",
    "xor r10d, r10d",
    "mov eax, {futex}",
    "syscall",
    "jmp 9b",
    ".cfi_endproc",
    ".size tb_park, . - tb_park",
    fsgsbase = sym TB_FSGSBASE,
    set_fs = const ARCH_SET_FS,
    arch_prctl = const crate::sys::nr::ARCH_PRCTL,
    futex = const crate::sys::nr::FUTEX,
);

/// The control word of the older floating-point unit.
pub fn control_word() -> u16 {
    let mut word = 0u16;
    // SAFETY: writes two bytes.
    unsafe { asm!("fnstcw [{}]", in(reg) &raw mut word, options(nostack)) };
    word
}

/// Sets the control word of the older floating-point unit, and the direction that string operations go.
pub fn set_control_word(word: u16) {
    // SAFETY: reads two bytes; the direction is the one that every function expects.
    unsafe { asm!("cld", "fldcw [{}]", in(reg) &raw const word, options(nostack)) };
}

/// Makes every call of a function go to another one of the same type; false if its code may not be written.
///
/// # Safety
/// Nobody is inside the function, which is longer than 12 bytes and is never to run again in this process.
pub unsafe fn redirect(from: usize, to: usize) -> bool {
    const RWX: usize = 7;
    const RX: usize = 5;
    let (page, size) = (from & !4095, ((from + 12) | 4095) + 1 - (from & !4095));
    let mut code = [0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0];
    code[2..10].copy_from_slice(&(to as u64).to_le_bytes());
    // SAFETY: as the caller says; `mov rax, to; jmp rax`.
    unsafe {
        if crate::sys::syscall3(crate::sys::nr::MPROTECT, page, size, RWX) != 0 {
            return false;
        }
        core::ptr::copy_nonoverlapping(code.as_ptr(), from as *mut u8, code.len());
        crate::sys::syscall3(crate::sys::nr::MPROTECT, page, size, RX);
    }
    true
}
