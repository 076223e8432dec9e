//! Release sequences: what whoever acquires an atomic object gets.
//!
//! A release store heads a sequence; read-modify-writes carry it on, whoever makes them, and so do later stores of the strand
//! that headed it. Any other store begins anew, with what its strand's last release fence published.

use crate::clock::Clock;
use threadbare_abi::op::Order;

/// What is known of all strands: a vector clock, whoever keeps it.
pub trait Known {
    /// All that the other knows is known.
    fn join(&mut self, other: &Self);
    /// What the other knows is known, and nothing else.
    fn assign(&mut self, other: &Self);
    /// Nothing is known any more.
    fn clear(&mut self);
}

impl Known for Clock {
    #[inline]
    fn join(&mut self, other: &Self) {
        Clock::join(self, other);
    }

    #[inline]
    fn assign(&mut self, other: &Self) {
        Clock::assign(self, other);
    }

    fn clear(&mut self) {
        Clock::clear(self);
    }
}

const NOBODY: u16 = u16::MAX;

/// The release sequence of an atomic object.
#[derive(Debug)]
pub struct Sequence<C = Clock> {
    /// The strand whose release store heads it.
    head: u16,
    /// What it publishes.
    pub clock: C,
}

impl Sequence {
    /// Nothing is published.
    pub const fn new() -> Sequence {
        Sequence::of(Clock::new())
    }
}

impl<C> Sequence<C> {
    /// Nothing is published; the clock knows nothing.
    pub const fn of(clock: C) -> Sequence<C> {
        Sequence { head: NOBODY, clock }
    }
}

impl<C: Known> Sequence<C> {
    /// The object begins anew.
    pub fn clear(&mut self) {
        self.head = NOBODY;
        self.clock.clear();
    }

    /// The strand stores. `clock`: what happens before, the store among it; `fence`: what its last release fence published;
    /// `carries_on`: it is a read-modify-write.
    pub fn publish(&mut self, strand: u16, clock: &C, fence: &C, order: Order, carries_on: bool) {
        if order.releases() {
            if carries_on {
                self.clock.join(clock);
            } else {
                self.clock.assign(clock);
                self.head = strand;
            }
        } else if carries_on || self.head == strand {
            self.clock.join(fence);
        } else {
            self.clock.assign(fence);
            self.head = NOBODY;
        }
    }
}

impl Default for Sequence {
    fn default() -> Self {
        Sequence::new()
    }
}

/// The strand has read what was published: its clock, or what its next acquire fence orders before it, knows that.
#[inline]
pub fn take<C: Known>(clock: &mut C, fence: &mut C, published: &C, order: Order) {
    if order.acquires() {
        clock.join(published);
    } else {
        fence.join(published);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knows(strand: usize, event: u64) -> Clock {
        let mut clock = Clock::new();
        clock.raise(strand, event);
        clock
    }

    #[test]
    fn a_release_store_publishes_what_came_before() {
        let mut sequence = Sequence::new();
        sequence.publish(1, &knows(1, 7), &Clock::new(), Order::Release, false);
        assert_eq!(sequence.clock.get(1), 7);
    }

    #[test]
    fn a_relaxed_store_publishes_nothing() {
        let mut sequence = Sequence::new();
        sequence.publish(1, &knows(1, 7), &Clock::new(), Order::Relaxed, false);
        assert_eq!(sequence.clock.get(1), 0);
    }

    #[test]
    fn a_relaxed_store_behind_a_release_fence_publishes_what_the_fence_had() {
        let mut sequence = Sequence::new();
        sequence.publish(1, &knows(1, 7), &knows(1, 5), Order::Relaxed, false);
        assert_eq!(sequence.clock.get(1), 5);
    }

    #[test]
    fn a_relaxed_store_of_another_strand_ends_the_sequence() {
        let mut sequence = Sequence::new();
        sequence.publish(1, &knows(1, 7), &Clock::new(), Order::Release, false);
        sequence.publish(2, &knows(2, 8), &Clock::new(), Order::Relaxed, false);
        assert_eq!((sequence.clock.get(1), sequence.clock.get(2)), (0, 0));
    }

    #[test]
    fn a_relaxed_store_of_the_same_strand_carries_it_on() {
        let mut sequence = Sequence::new();
        sequence.publish(1, &knows(1, 7), &Clock::new(), Order::Release, false);
        sequence.publish(1, &knows(1, 9), &Clock::new(), Order::Relaxed, false);
        assert_eq!(sequence.clock.get(1), 7);
    }

    #[test]
    fn a_read_modify_write_of_anybody_carries_it_on() {
        let mut sequence = Sequence::new();
        sequence.publish(1, &knows(1, 7), &Clock::new(), Order::Release, false);
        sequence.publish(2, &knows(2, 8), &Clock::new(), Order::Relaxed, true);
        assert_eq!((sequence.clock.get(1), sequence.clock.get(2)), (7, 0));
        sequence.publish(3, &knows(3, 9), &Clock::new(), Order::AcqRel, true);
        assert_eq!((sequence.clock.get(1), sequence.clock.get(3)), (7, 9));
    }

    #[test]
    fn a_release_store_begins_anew() {
        let mut sequence = Sequence::new();
        sequence.publish(1, &knows(1, 7), &Clock::new(), Order::Release, false);
        sequence.publish(2, &knows(2, 8), &Clock::new(), Order::Release, false);
        assert_eq!((sequence.clock.get(1), sequence.clock.get(2)), (0, 8));
    }

    #[test]
    fn a_cleared_sequence_is_nobodys() {
        let mut sequence = Sequence::new();
        sequence.publish(1, &knows(1, 7), &Clock::new(), Order::SeqCst, false);
        sequence.clear();
        sequence.publish(1, &knows(1, 9), &knows(1, 2), Order::Relaxed, false);
        assert_eq!(sequence.clock.get(1), 2);
    }

    #[test]
    fn acquiring_knows_now_and_relaxed_knows_behind_a_fence() {
        for (order, now) in [
            (Order::Relaxed, false),
            (Order::Release, false),
            (Order::Acquire, true),
            (Order::AcqRel, true),
            (Order::SeqCst, true),
        ] {
            let (mut clock, mut fence) = (Clock::new(), Clock::new());
            take(&mut clock, &mut fence, &knows(4, 6), order);
            assert_eq!((clock.get(4), fence.get(4)), if now { (6, 0) } else { (0, 6) }, "{order:?}");
        }
    }
}
