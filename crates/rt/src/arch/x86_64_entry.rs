//! A call at the entry of a function that is already compiled: its first instructions move to a stub, which makes the
//! call and goes on behind them. Or calls around it: the stub goes to a frame of ours, which calls what has moved.

use crate::sys::{nr, syscall3, syscall6};
use core::arch::global_asm;
use threadbare_rules::code::entry::{JUMP, Stub, jump};

const PAGE: usize = 4096;
const PROT_READ_WRITE: usize = 3;
const PROT_READ_EXECUTE: usize = 5;
const PROT_ALL: usize = 7;
const MAP_PRIVATE_ANONYMOUS: usize = 0x22;
const MAP_FIXED_NOREPLACE: usize = 0x10_0000;

/// What is called, with the function's first argument and its return address.
pub type Hook = extern "C" fn(u64, u64);

/// A page for stubs that a jump from `near` reaches.
fn page(near: usize) -> Option<usize> {
    let start = near & !(PAGE - 1);
    (1..256).map(|step| step << 20).flat_map(|far| [start.wrapping_sub(far), start + far]).find(|&at| {
        // SAFETY: a new mapping where none is.
        let got = unsafe {
            syscall6(
                nr::MMAP,
                at,
                PAGE,
                PROT_READ_WRITE,
                MAP_PRIVATE_ANONYMOUS | MAP_FIXED_NOREPLACE,
                usize::MAX,
                0,
            )
        };
        got == at as isize
    })
}

/// From now on `hook` is called before the function at `at` does anything. False if its first instructions are not known
/// to be movable; nothing has happened then.
///
/// # Safety
/// `at` is the entry of a function of more than [`JUMP`] bytes that nobody runs now, and no later jump in it leads into its
/// first instructions.
pub unsafe fn call_at_entry(at: usize, hook: Hook) -> bool {
    // push rax, rcx, rdx, rsi, rdi, r8 to r11: nine of them, so that the stack is aligned for the call.
    const SAVE: [u8; 13] = [0x50, 0x51, 0x52, 0x56, 0x57, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53];
    const RESTORE: [u8; 13] = [0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58, 0x5f, 0x5e, 0x5a, 0x59, 0x58];
    let call = |out: &mut Stub, _: usize| {
        out.put(&SAVE);
        // The return address lies behind them: mov rsi, [rsp+72].
        out.put(&[0x48, 0x8b, 0x74, 0x24, 0x48]);
        // mov rax, hook; call rax.
        out.put(&[0x48, 0xb8]);
        out.put(&(hook as usize).to_le_bytes());
        out.put(&[0xff, 0xd0]);
        out.put(&RESTORE);
    };
    // SAFETY: as the caller says.
    unsafe { leads_to_stub(at, call) }
}

/// From now on the function at `at`, which gives back a value of three words through memory, is called by a frame of ours, between two hooks (`engine/scout.rs`). False
/// as above.
///
/// # Safety
/// As above, and it has no arguments on the stack.
pub unsafe fn call_around_test(at: usize) -> bool {
    let go = |out: &mut Stub, stub: usize| {
        const LENGTH: usize = 23;
        // mov r11, what has moved; mov r10, ours; jmp r10.
        out.put(&[0x49, 0xbb]);
        out.put(&(stub + LENGTH).to_le_bytes());
        out.put(&[0x49, 0xba]);
        out.put(&(tb_around_test as *const () as usize).to_le_bytes());
        out.put(&[0x41, 0xff, 0xe2]);
    };
    // SAFETY: as the caller says.
    unsafe { leads_to_stub(at, go) }
}

/// The function's first instructions become a jump to a stub: what `begin` puts there, and then they themselves.
///
/// # Safety
/// As for [`call_at_entry`].
unsafe fn leads_to_stub(at: usize, begin: impl FnOnce(&mut Stub, usize)) -> bool {
    // SAFETY: the caller's function is longer than what is looked at, or readable code lies behind it.
    let code = unsafe { core::slice::from_raw_parts(at as *const u8, 16) };
    let Some(stub) = page(at) else { return false };
    let mut out = Stub::new();
    begin(&mut out, stub);
    let Some(count) = out.put_moved(code, at, stub) else { return false };
    let back = jump(stub + out.bytes().len(), at + count);
    out.put(&back);
    let first = at & !(PAGE - 1);
    let pages = (at + JUMP - first).next_multiple_of(PAGE);
    // SAFETY: the stub's page is ours; the function's pages are code, which nobody runs now.
    unsafe {
        core::ptr::copy_nonoverlapping(out.bytes().as_ptr(), stub as *mut u8, out.bytes().len());
        syscall3(nr::MPROTECT, stub, PAGE, PROT_READ_EXECUTE);
        if syscall3(nr::MPROTECT, first, pages, PROT_ALL) != 0 {
            return false;
        }
        core::ptr::copy_nonoverlapping(jump(at, stub).as_ptr(), at as *mut u8, JUMP);
        syscall3(nr::MPROTECT, first, pages, PROT_READ_EXECUTE);
    }
    true
}

unsafe extern "C" {
    fn tb_around_test();
}

// A frame that panics can be unwound through. What has moved is in r11; rdi has where the value goes, and is given back. Where the first hook says
// so, the function is left out.
global_asm!(
    ".text",
    ".hidden tb_around_test",
    ".globl tb_around_test",
    ".type tb_around_test,@function",
    "tb_around_test:",
    ".cfi_startproc",
    "push rbx",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbx, -16",
    "push r12",
    ".cfi_def_cfa_offset 24",
    ".cfi_offset r12, -24",
    "sub rsp, 56",
    ".cfi_def_cfa_offset 80",
    "mov rbx, rdi",
    "mov r12, r11",
    "mov [rsp], rsi",
    "mov [rsp + 8], rdx",
    "mov [rsp + 16], rcx",
    "mov [rsp + 24], r8",
    "mov [rsp + 32], r9",
    "call {begins}",
    "test al, al",
    "jne 2f",
    "mov rdi, rbx",
    "mov rsi, [rsp]",
    "mov rdx, [rsp + 8]",
    "mov rcx, [rsp + 16]",
    "mov r8, [rsp + 24]",
    "mov r9, [rsp + 32]",
    "call r12",
    "2: mov rdi, rbx",
    "mov rsi, [rsp + 72]",
    "call {ends}",
    "mov rax, rbx",
    "add rsp, 56",
    ".cfi_def_cfa_offset 24",
    "pop r12",
    ".cfi_def_cfa_offset 16",
    "pop rbx",
    ".cfi_def_cfa_offset 8",
    "ret",
    ".cfi_endproc",
    ".size tb_around_test, . - tb_around_test",
    begins = sym crate::engine::scout::test_begins,
    ends = sym crate::engine::scout::test_ends,
);
