//! Virtual time: how much of it passes with events, and how long a wait with a deadline lasts at most.

/// Virtual nanoseconds that pass at every event.
pub const TICK: u64 = 20;
/// Events for which others can go on before a wait ends by its deadline though little time has passed, so that a run in
/// which some strand works until another has slept for a second ends. A clock that is read again and again goes faster
/// from then on.
pub const LONG: u64 = 1 << 20;
/// Virtual nanoseconds that one event is worth then.
pub const LONG_TICK: u64 = 1000;

/// Virtual time that passes with this many events.
#[inline]
pub const fn time_of(events: u64) -> u64 {
    events * TICK
}

/// The number of events with which this much time has passed.
pub const fn events_at(time: u64) -> u64 {
    time.div_ceil(TICK)
}

/// The number of events that a wait of this much time lasts at most while others can go on.
pub const fn patience_of(time: u64) -> u64 {
    LONG + time / LONG_TICK
}
