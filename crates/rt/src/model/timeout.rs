//! Deadlines of timed waits.

use crate::sys::errno::EINVAL;
use crate::sys::{c_int, timespec};

pub const CLOCK_REALTIME: c_int = 0;
pub const CLOCK_MONOTONIC: c_int = 1;

/// How long a wait may take: for ever, until a virtual time, or not at all because the deadline is malformed (which
/// POSIX lets a call notice only if it has to wait).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// No deadline.
    Never,
    /// Virtual nanoseconds.
    At(u64),
    /// The error a wait gives.
    Malformed(c_int),
}

impl Limit {
    /// The limit an absolute time of a clock stands for.
    pub fn absolute(clock: c_int, time: *const timespec) -> Limit {
        match crate::model::time::deadline(clock, time) {
            Ok(u64::MAX) => Limit::Never,
            Ok(at) => Limit::At(at),
            Err(error) => Limit::Malformed(error),
        }
    }

    /// As [`Limit::absolute`]; an error if it is malformed.
    pub fn checked(clock: c_int, time: *const timespec) -> Result<Limit, c_int> {
        match Limit::absolute(clock, time) {
            Limit::Malformed(error) => Err(error),
            limit => Ok(limit),
        }
    }

    /// What the engine is told.
    pub fn deadline(self) -> Option<u64> {
        match self {
            Limit::At(at) => Some(at),
            _ => None,
        }
    }
}

/// Whether glibc's `*_clock*` calls take this clock.
pub fn clock_error(clock: c_int) -> Option<c_int> {
    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC).then_some(EINVAL)
}
