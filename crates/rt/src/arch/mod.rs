//! What depends on the processor: the switch between strands, their base frame, the thread pointer.

#[cfg(target_arch = "x86_64")]
#[path = "x86_64_entry.rs"]
pub mod entry;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64_local.rs"]
pub mod local;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64_merge.rs"]
pub mod merge;
#[cfg(target_arch = "x86_64")]
#[path = "x86_64_registers.rs"]
pub mod registers;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
