//! What a free run covers: functions that were interrupted, and functions that ran meanwhile.
//!
//! These are the two models of ConTest. The driver writes what earlier runs covered before it sends a command, so that noise
//! can go where tasks are open; the runtime adds to it while the strands run.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// How many functions are told apart.
pub const FUNCTIONS: usize = 1 << 12;
/// Words of one function's row of [`Tasks::pairs`].
pub const ROW: usize = FUNCTIONS / 64;

/// What is known of a function.
pub mod marks {
    /// A call of it was interrupted: its strand did not go on for a while, in which another strand did.
    pub const INTERRUPTED: u32 = 1;
    /// A call of it beside other strands came to its end and was interrupted nowhere, except where it waited by itself.
    pub const THROUGH: u32 = 2;
    /// It ran while another strand lived.
    pub const BESIDE: u32 = 4;
    /// Several strands ran it beside others.
    pub const SEVERAL: u32 = 8;
    /// It makes concurrent events of its own, which is where noise can be made.
    pub const EVENTS: u32 = 16;
    /// A call of it beside other strands came to its end.
    pub const RETURNED: u32 = 32;
    /// Not asked for: a library's own (driver to runtime). What it does counts for its caller.
    pub const LIBRARY: u32 = 64;
}

/// The table. All strands write it at the same time, and only ever add.
#[repr(C)]
#[derive(Debug)]
pub struct Tasks {
    /// Functions so far; more than [`FUNCTIONS`] if some were left out.
    pub count: AtomicU64,
    /// A pc near the beginning of each. One that two strands found at the same time may be there twice.
    pub functions: [AtomicU64; FUNCTIONS],
    /// Bit sets of [`marks`].
    pub marks: [AtomicU32; FUNCTIONS],
    /// The path of the first strand that ran it beside others; 0 for none.
    pub strands: [AtomicU64; FUNCTIONS],
    /// Bit `b` of row `a`: function `b` ran in another strand while `a` was interrupted.
    pub pairs: [[AtomicU64; ROW]; FUNCTIONS],
}
