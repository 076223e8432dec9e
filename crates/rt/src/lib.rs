//! The runtime of Threadbare, loaded into the tested program.
//!
//! This code runs inside a stranger's process. It must never:
//! - call a libc function that it interposes itself (raw system calls and [`sys::real`] are for that);
//! - hold a lock, or a borrow of engine state, across a switch of strands;
//! - allocate on the path of a memory access;
//! - unwind or panic across the ABI (`panic = "abort"`: a panic is reported as `internal` and ends the run);
//! - print to the program's standard output.
//!
//! Each hook says in its comment whether it is safe before init, in a signal handler, and after fork.
//!
//! No module is public: what is exported is exported by name to the loader, so the compiler tells what nobody uses.
#![no_std]

extern crate alloc;

#[macro_use]
mod interpose;
#[macro_use]
mod sys;

mod arch;
mod effect;
mod engine;
mod free;
mod heap;
mod model;
mod raw;
mod tsan;

#[global_allocator]
static OWN: heap::own::Own = heap::own::Own;

#[link(name = "c")]
unsafe extern "C" {}

// The precompiled `core` and `alloc` mention these two; with `panic = "abort"` nothing reaches them.
core::arch::global_asm!(
    ".hidden rust_eh_personality",
    ".globl rust_eh_personality",
    "rust_eh_personality: ud2",
    ".hidden _Unwind_Resume",
    ".globl _Unwind_Resume",
    "_Unwind_Resume: ud2",
);
