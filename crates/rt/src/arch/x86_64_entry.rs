//! A call at the entry of a function that is already compiled: its first instructions move to a stub, which makes the
//! call and goes on behind them.

use crate::sys::{nr, syscall3, syscall6};

const PAGE: usize = 4096;
const PROT_READ_WRITE: usize = 3;
const PROT_READ_EXECUTE: usize = 5;
const PROT_ALL: usize = 7;
const MAP_PRIVATE_ANONYMOUS: usize = 0x22;
const MAP_FIXED_NOREPLACE: usize = 0x10_0000;

/// Bytes of a jump to anywhere within 2 GiB.
const JUMP: usize = 5;
/// Bytes of a stub at the most.
const STUB: usize = 128;

/// The length of the instruction at `code`, if it is one that prologues are made of and that may run anywhere.
fn length(code: &[u8]) -> Option<usize> {
    match *code {
        // `push r64`.
        [0x50..=0x57, ..] => Some(1),
        [0x41, 0x50..=0x57, ..] => Some(2),
        // `mov r64, r64`.
        [0x48 | 0x49 | 0x4c | 0x4d, 0x89 | 0x8b, form, ..] if form >= 0xc0 => Some(3),
        // `sub rsp, imm`.
        [0x48, 0x83, 0xec, _, ..] => Some(4),
        [0x48, 0x81, 0xec, ..] => Some(7),
        // `endbr64`.
        [0xf3, 0x0f, 0x1e, 0xfa, ..] => Some(4),
        _ => None,
    }
}

/// Whole instructions of at least [`JUMP`] bytes.
fn moved(code: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < JUMP {
        at += length(&code[at..])?;
    }
    Some(at)
}

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

fn jump(from: usize, to: usize) -> [u8; JUMP] {
    let distance = (to.wrapping_sub(from + JUMP) as i32).to_le_bytes();
    [0xe9, distance[0], distance[1], distance[2], distance[3]]
}

/// From now on `hook` is called before the function at `at` does anything. False if its first instructions are not known
/// to be movable; nothing has happened then.
///
/// # Safety
/// `at` is the entry of a function of more than [`JUMP`] bytes that nobody runs now, and no jump in it leads into its first
/// instructions (a compiler makes none into a prologue).
pub unsafe fn call_at_entry(at: usize, hook: extern "C" fn()) -> bool {
    // push rax, rcx, rdx, rsi, rdi, r8 to r11: nine of them, so that the stack is aligned for the call.
    const SAVE: [u8; 13] = [0x50, 0x51, 0x52, 0x56, 0x57, 0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53];
    const RESTORE: [u8; 13] = [0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58, 0x5f, 0x5e, 0x5a, 0x59, 0x58];
    // SAFETY: the caller's function is longer than what is looked at, or readable code lies behind it.
    let code = unsafe { core::slice::from_raw_parts(at as *const u8, 16) };
    let Some(count) = moved(code) else { return false };
    let Some(stub) = page(at) else { return false };
    let mut out = [0u8; STUB];
    let mut used = 0;
    let mut put = |bytes: &[u8]| {
        out[used..used + bytes.len()].copy_from_slice(bytes);
        used += bytes.len();
        used
    };
    put(&SAVE);
    // mov rax, hook; call rax.
    put(&[0x48, 0xb8]);
    put(&(hook as usize).to_le_bytes());
    put(&[0xff, 0xd0]);
    put(&RESTORE);
    let end = put(&code[..count]);
    put(&jump(stub + end, at + count));
    let first = at & !(PAGE - 1);
    let pages = (at + JUMP - first).next_multiple_of(PAGE);
    // SAFETY: the stub's page is ours; the function's pages are code, which nobody runs now.
    unsafe {
        core::ptr::copy_nonoverlapping(out.as_ptr(), stub as *mut u8, STUB);
        syscall3(nr::MPROTECT, stub, PAGE, PROT_READ_EXECUTE);
        if syscall3(nr::MPROTECT, first, pages, PROT_ALL) != 0 {
            return false;
        }
        core::ptr::copy_nonoverlapping(jump(at, stub).as_ptr(), at as *mut u8, JUMP);
        syscall3(nr::MPROTECT, first, pages, PROT_READ_EXECUTE);
    }
    true
}
