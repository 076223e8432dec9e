//! tokio, unmodified: the multi-thread runtime with two workers, in tests that pass under every schedule.

#[cfg(test)]
mod net;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod timers;
