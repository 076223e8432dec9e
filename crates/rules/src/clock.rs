//! Vector clocks.
//!
//! Time is the run's event count. A clock holds for each strand the last event of it that happens before whatever the
//! clock belongs to; so an access is named by its strand and event, and no strand counts epochs of its own.
//!
//! The first strands lie side by side. Behind them a clock is cut into pieces, and a piece of which nothing is known is not there:
//! in a run with thousands of strands each knows of few others, and a clock must not cost as much as there are strands. What a
//! strand knows when it begins its creator knows too, and so does whoever joins it: clocks share the pieces in which they agree, so
//! that strands that come and go one after another cost what they are, and not as much as all before them.

use alloc::rc::Rc;
use alloc::vec::Vec;

/// Strands that lie side by side, and strands of a piece.
const NEAR: usize = 64;
const PIECE: usize = 64;

type Piece = Option<Rc<[u64; PIECE]>>;

/// For each strand, the last of its events that is known.
#[derive(Debug, Default)]
pub struct Clock {
    times: Vec<u64>,
    far: Vec<Piece>,
    /// The first event at which a strand was raised since the clock last learnt from another one; 0 if there is none.
    since: u64,
}

impl Clock {
    /// Nothing is known.
    pub const fn new() -> Self {
        Clock { times: Vec::new(), far: Vec::new(), since: 0 }
    }

    /// The last event of a strand that is known.
    #[inline(always)]
    pub fn get(&self, strand: usize) -> u64 {
        if strand < self.times.len() { self.times[strand] } else { self.get_far(strand) }
    }

    #[inline]
    fn get_far(&self, strand: usize) -> u64 {
        if strand < NEAR {
            return 0;
        }
        let (piece, at) = place(strand);
        match self.far.get(piece) {
            Some(Some(piece)) => piece[at],
            _ => 0,
        }
    }

    /// The strand is known up to this event.
    #[inline]
    pub fn raise(&mut self, strand: usize, event: u64) {
        let time = if strand < NEAR {
            if strand >= self.times.len() {
                self.times.resize(strand + 1, 0);
            }
            &mut self.times[strand]
        } else {
            let (piece, at) = place(strand);
            if piece >= self.far.len() {
                self.far.resize_with(piece + 1, || None);
            }
            let piece = self.far[piece].get_or_insert_with(|| Rc::new([0; PIECE]));
            if piece[at] >= event {
                return;
            }
            &mut Rc::make_mut(piece)[at]
        };
        if *time < event {
            *time = event;
            if self.since == 0 {
                self.since = event;
            }
        }
    }

    /// All that the other knows is known.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
        self.since = 0;
        if other.times.len() > self.times.len() {
            self.times.resize(other.times.len(), 0);
        }
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            *mine = (*mine).max(*theirs);
        }
        if !other.far.is_empty() {
            self.join_far(&other.far);
        }
    }

    /// The same for the clock of a strand, which nobody else raises. Whoever knows of the strand's last event before which it learnt
    /// nothing new knows all that it does, but for its own time: with many strands that is found out sooner than what each of the two knows of each.
    #[inline]
    pub fn join_as(&mut self, strand: usize, other: &Clock) {
        if other.far.is_empty() || self.since == 0 || other.get(strand) < self.since {
            return self.join(other);
        }
        let own = self.get(strand);
        self.share(other);
        self.raise(strand, own);
        self.since = 0;
    }

    /// Becomes equal to a clock that knows more.
    #[inline(never)]
    fn share(&mut self, other: &Clock) {
        self.times.clear();
        self.times.extend_from_slice(&other.times);
        self.far.resize_with(other.far.len(), || None);
        for (mine, theirs) in self.far.iter_mut().zip(&other.far) {
            match (&*mine, theirs) {
                (Some(mine), Some(theirs)) if Rc::ptr_eq(mine, theirs) => {}
                _ => mine.clone_from(theirs),
            }
        }
    }

    #[inline(never)]
    fn join_far(&mut self, other: &[Piece]) {
        if other.len() > self.far.len() {
            self.far.resize_with(other.len(), || None);
        }
        for (mine, theirs) in self.far.iter_mut().zip(other) {
            let Some(theirs) = theirs else { continue };
            match mine {
                Some(mine) if Rc::ptr_eq(mine, theirs) => {}
                Some(mine) => join_piece(mine, theirs),
                None => *mine = Some(theirs.clone()),
            }
        }
    }

    /// What the other knows is known, and nothing else.
    #[inline]
    pub fn assign(&mut self, other: &Clock) {
        self.since = 0;
        self.times.clear();
        self.times.extend_from_slice(&other.times);
        self.far.clear();
        if !other.far.is_empty() {
            self.far.extend_from_slice(&other.far);
        }
    }

    /// All of `strands` strands are known up to this event.
    pub fn raise_all(&mut self, strands: usize, event: u64) {
        self.clear();
        self.times.resize(strands.min(NEAR), event);
        for strand in NEAR..strands {
            self.raise(strand, event);
        }
        self.since = 0;
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        self.since = 0;
        self.times.clear();
        self.far.clear();
    }
}

/// The same of a piece: it stays shared if one of the two knows all that the other does.
fn join_piece(mine: &mut Rc<[u64; PIECE]>, theirs: &Rc<[u64; PIECE]>) {
    let pairs = || mine.iter().zip(theirs.iter());
    let more = pairs().any(|(mine, theirs)| theirs > mine);
    if more && pairs().all(|(mine, theirs)| theirs >= mine) {
        *mine = theirs.clone();
    } else if more {
        let mine = Rc::make_mut(mine);
        mine.iter_mut().zip(theirs.iter()).for_each(|(mine, time)| *mine = (*mine).max(*time));
    }
}

/// Which piece a strand is in, and where.
fn place(strand: usize) -> (usize, usize) {
    ((strand - NEAR) / PIECE, (strand - NEAR) % PIECE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn nothing_is_known_at_first() {
        let clock = Clock::new();
        for strand in [0, 1, NEAR - 1, NEAR, NEAR + PIECE, 60_000] {
            assert_eq!(clock.get(strand), 0);
        }
    }

    #[test]
    fn what_is_known_never_becomes_less() {
        let mut clock = Clock::new();
        for strand in [3, NEAR, 5000] {
            clock.raise(strand, 9);
            clock.raise(strand, 4);
            assert_eq!(clock.get(strand), 9);
        }
    }

    #[test]
    fn joining_takes_the_later_of_both() {
        let (mut one, mut other) = (Clock::new(), Clock::new());
        one.raise(1, 5);
        one.raise(700, 5);
        other.raise(1, 3);
        other.raise(2, 8);
        other.raise(700, 9);
        other.raise(900, 1);
        one.join(&other);
        let known = [1, 2, 3, 700, 900].map(|strand| one.get(strand));
        assert_eq!(known, [5, 8, 0, 9, 1]);
    }

    #[test]
    fn assigning_forgets_what_the_other_does_not_know() {
        let (mut one, mut other) = (Clock::new(), Clock::new());
        one.raise(1, 5);
        one.raise(700, 5);
        other.raise(2, 8);
        one.assign(&other);
        assert_eq!([1, 2, 700].map(|strand| one.get(strand)), [0, 8, 0]);
    }

    #[test]
    fn what_is_joined_is_a_copy() {
        let (mut one, mut other) = (Clock::new(), Clock::new());
        other.raise(700, 5);
        one.join(&other);
        other.raise(700, 50);
        assert_eq!(one.get(700), 5);
    }

    #[test]
    fn all_of_so_many_are_known() {
        for strands in [1, NEAR, NEAR + 1, 3 * NEAR] {
            let mut clock = Clock::new();
            clock.raise(5 * NEAR, 99);
            clock.raise_all(strands, 7);
            assert!((0..strands).all(|strand| clock.get(strand) == 7));
            assert_eq!((clock.get(strands), clock.get(5 * NEAR)), (0, 0));
        }
    }

    #[test]
    fn a_cleared_clock_knows_nothing() {
        let mut clock = Clock::new();
        clock.raise_all(2 * NEAR, 7);
        clock.clear();
        assert!((0..2 * NEAR).all(|strand| clock.get(strand) == 0));
    }

    proptest! {
        /// What a strand learns at once, if the other clock knows all that it does, is what it learns strand by strand.
        #[test]
        fn strands_learn_the_same_either_way(steps in prop::collection::vec((0usize..5, 0usize..3, 0u8..6, 0u64..2), 1..120)) {
            const STRANDS: [usize; 5] = [0, 1, NEAR, NEAR + 1, NEAR + 2 * PIECE];
            let mut strands: [[Clock; 2]; 5] = Default::default();
            let mut locks: [[Clock; 2]; 3] = Default::default();
            let mut event = 1;
            for (who, lock, what, passes) in steps {
                event += passes;
                let id = STRANDS[who];
                for way in 0..2 {
                    let (strand, lock) = (&mut strands[who][way], &mut locks[lock][way]);
                    match what {
                        0..=2 if way == 0 => strand.join(lock),
                        0..=2 => strand.join_as(id, lock),
                        3 | 4 => {
                            strand.raise(id, event);
                            lock.join(strand);
                        }
                        _ if passes == 0 => lock.raise_all(NEAR + 3 * PIECE, event),
                        _ => strand.raise_all(NEAR + 3 * PIECE, event),
                    }
                }
            }
            for clock in strands.iter().chain(&locks) {
                for strand in 0..NEAR + 3 * PIECE {
                    prop_assert_eq!(clock[0].get(strand), clock[1].get(strand));
                }
            }
        }

        /// Clocks are maps from strands to the last event known.
        #[test]
        fn clocks_are_maps(steps in prop::collection::vec((0usize..3, 0usize..3, 0usize..300, 1u64..50, 0u8..8), 1..60)) {
            let mut clocks = [Clock::new(), Clock::new(), Clock::new()];
            let mut maps: [BTreeMap<usize, u64>; 3] = Default::default();
            for (one, other, strand, event, what) in steps {
                let theirs = maps[other].clone();
                let mut copy = Clock::new();
                copy.assign(&clocks[other]);
                match what {
                    0..=4 => {
                        clocks[one].raise(strand, event);
                        let known = maps[one].entry(strand).or_default();
                        *known = event.max(*known);
                    }
                    5 | 6 => {
                        clocks[one].join(&copy);
                        for (strand, event) in theirs {
                            let known = maps[one].entry(strand).or_default();
                            *known = event.max(*known);
                        }
                    }
                    _ => {
                        clocks[one].assign(&copy);
                        maps[one] = theirs;
                    }
                }
            }
            for (clock, map) in clocks.iter().zip(&maps) {
                for strand in 0..300 {
                    prop_assert_eq!(clock.get(strand), map.get(&strand).copied().unwrap_or(0));
                }
            }
        }
    }
}
