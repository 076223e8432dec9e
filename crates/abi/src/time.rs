//! Virtual time: how much of it passes with events.

/// Virtual nanoseconds that pass at every event.
pub const TICK: u64 = 20;
/// Events after which time runs faster, so that a run in which some strand works until another has slept for a second
/// ends: a run that long is not about the order of the first few milliseconds.
pub const LONG: u64 = 1 << 20;
/// Virtual nanoseconds that pass at every event of a long run.
pub const LONG_TICK: u64 = 1000;

/// Virtual time that passes with this many events.
#[inline]
pub const fn time_of(events: u64) -> u64 {
    if events <= LONG { events * TICK } else { LONG * TICK + (events - LONG) * LONG_TICK }
}

/// The number of events with which this much time has passed.
pub const fn events_at(time: u64) -> u64 {
    if time <= LONG * TICK { time.div_ceil(TICK) } else { LONG + (time - LONG * TICK).div_ceil(LONG_TICK) }
}
