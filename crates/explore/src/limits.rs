//! What a careless program may take of the machine.
//!
//! - Memory is bounded twice. The runtime counts the heap's bytes, so a program that allocates without end fails at the same
//!   allocation in every run. What it cannot see (mappings, stacks, its own notes on memory) is seen from outside: a run whose
//!   process has become too large is ended. `RLIMIT_AS` and `RLIMIT_DATA` are of no use, because the runtime reserves
//!   far more addresses than it ever touches.
//! - Output is caught in memory; of more than the bound only the end is kept.
//! - No file grows beyond the bound on files (`RLIMIT_FSIZE`), and there are no core files.
//! - Processes that a run leaves behind are ended by the server (the runtime's `engine/orphans.rs`).
//! - If the system runs out of memory all the same, it is told to take the runs first.
//!
//! **Heap bytes are counted by the runtime**, not limited by the kernel: the runtime reserves far more addresses than
//! it touches, and the allocation that is one too many is the same in every run.

use rustix::process::Pid;
use threadbare_abi::layout::MEMORY;

/// The bounds of one run; 0 is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of heap at a time.
    pub memory: u64,
    /// Bytes of each output stream that are kept while the run goes on.
    pub output: u64,
    /// Bytes of a file it writes.
    pub file_size: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { memory: MEMORY, output: 16 << 20, file_size: 1 << 30 }
    }
}

impl Limits {
    /// Whether a process has become too large. What the runtime notes on the heap may be larger than the heap.
    pub(crate) fn are_passed_by(&self, process: Pid) -> bool {
        const LEAST: u64 = 64 << 20;
        self.memory != 0 && resident(process) > self.memory.saturating_mul(3).saturating_add(LEAST)
    }
}

/// The bytes of memory a process has.
fn resident(process: Pid) -> u64 {
    let path = format!("/proc/{}/statm", process.as_raw_nonzero());
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}
