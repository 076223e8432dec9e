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
}

impl Clock {
    /// Nothing is known.
    pub const fn new() -> Self {
        Clock { times: Vec::new(), far: Vec::new() }
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
        *time = (*time).max(event);
    }

    /// All that the other knows is known.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
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
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
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
