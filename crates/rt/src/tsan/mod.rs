//! ThreadSanitizer's ABI, as gcc, clang and rustc call it.

pub mod annotate;
pub mod atomic;
pub mod func;
pub mod memory;
mod parts;
pub mod plain;
pub mod strings;
