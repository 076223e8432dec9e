//! Vector clocks: for each strand, by index, how many of its events are known.

/// A vector clock. What is not there is 0.
pub type Clock = Vec<u32>;

/// All that the other knows is known.
pub fn join(clock: &mut Clock, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// How much of a strand is known.
pub fn get(clock: &[u32], strand: u16) -> u32 {
    clock.get(usize::from(strand)).copied().unwrap_or(0)
}

/// The strand is known up to this event.
pub fn raise(clock: &mut Clock, strand: u16, event: u32) {
    let strand = usize::from(strand);
    if clock.len() <= strand {
        clock.resize(strand + 1, 0);
    }
    clock[strand] = clock[strand].max(event);
}
