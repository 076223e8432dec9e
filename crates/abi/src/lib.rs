//! What the runtime and the driver agree on.
//!
//! Pure data: no allocation, no I/O, no process. The runtime (`threadbare-rt`) runs inside the tested program and is
//! `no_std`; the driver runs outside. They share one memory file (see [`layout`]) and one control socket (see
//! [`protocol`]). Every struct that crosses the border is `repr(C)`, has no padding that matters and is versioned by
//! [`layout::VERSION`].
#![no_std]

#[cfg(test)]
extern crate std;

pub mod batch;
pub mod decision;
pub mod does;
pub mod event;
pub mod fact;
pub mod fault;
pub mod layout;
pub mod local;
pub mod noise;
pub mod object;
pub mod op;
pub mod protocol;
pub mod report;
pub mod step;
pub mod strand;
pub mod tasks;
pub mod time;
pub mod verdict;
