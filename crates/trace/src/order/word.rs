//! Atomic objects: what each publishes, by C11's rules.
//!
//! A read-modify-write carries a release sequence on; a store begins anew, except that a relaxed store of the strand whose release heads the
//! sequence leaves it. Objects that share bytes know of each other.

use super::clock::{Clock, join};
use std::collections::{HashMap, VecDeque};
use threadbare_abi::op::{OpKind, Order};

/// What a strand knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Strand {
    /// Its own events are in it.
    pub(super) clock: Clock,
    pub(super) ordinal: u32,
    /// What relaxed loads saw, for the next acquire fence.
    pub(super) fence_acquire: Clock,
    /// What the last release fence publishes by relaxed stores.
    pub(super) fence_release: Clock,
}

/// An atomic operation that was made.
pub(super) struct Made<'a> {
    pub(super) op: OpKind,
    pub(super) order: Order,
    pub(super) refused: bool,
    pub(super) back: usize,
    /// All that was done so far, if a writer out of sight was met.
    pub(super) all: Option<Clock>,
    /// What code out of sight published, if it uses the object.
    pub(super) published: Option<&'a Clock>,
}

/// Stores that a load may still see: as many as the runtime keeps.
const KEPT: usize = 16;

#[derive(Clone, Debug)]
struct Word {
    addr: u64,
    size: u64,
    head: Option<u16>,
    release: Clock,
    /// What its last stores published, each with its strand.
    stores: VecDeque<(u16, Clock)>,
}

impl Word {
    fn overlaps(&self, addr: u64, size: u64) -> bool {
        self.addr < addr.saturating_add(size) && addr < self.addr.saturating_add(self.size)
    }

    fn push(&mut self, back: usize, strand: u16, release: Clock) {
        if self.stores.len() >= KEPT {
            self.stores.pop_front();
        }
        let at = self.stores.len().saturating_sub(back);
        self.stores.insert(at, (strand, release));
    }

    /// The store with so many newer ones.
    fn back(&self, back: usize) -> Option<&(u16, Clock)> {
        self.stores.get(self.stores.len().checked_sub(back + 1)?)
    }
}

/// All atomic objects, by the 8 bytes that they begin in.
#[derive(Clone, Debug, Default)]
pub(super) struct Words(HashMap<u64, Vec<Word>>);

impl Words {
    fn word(&mut self, addr: u64, size: u64) -> usize {
        let words = self.0.entry(addr >> 3).or_default();
        words.iter().position(|word| (word.addr, word.size) == (addr, size)).unwrap_or_else(|| {
            let (release, stores) = (Clock::new(), VecDeque::new());
            words.push(Word { addr, size, head: None, release, stores });
            words.len() - 1
        })
    }

    /// An atomic operation is made by a strand.
    pub(super) fn made(&mut self, strand: &mut Strand, me: u16, (addr, size): (u64, u64), made: &Made<'_>) {
        let at = self.word(addr, size);
        let Some(words) = self.0.get_mut(&(addr >> 3)) else { return };
        let loads = made.op != OpKind::AtomicStore;
        let stores = made.op != OpKind::AtomicLoad && !made.refused;
        let acquired = if made.order.acquires() { &mut strand.clock } else { &mut strand.fence_acquire };
        if loads && made.back > 0 {
            if let Some((_, release)) = words[at].back(made.back) {
                join(acquired, release);
            }
        } else if loads {
            if let Some(all) = &made.all {
                words[at].release.clone_from(all);
                words[at].stores.clear();
            }
            for word in words.iter().filter(|word| word.overlaps(addr, size)) {
                join(acquired, &word.release);
            }
            if let Some(published) = made.published {
                join(acquired, published);
            }
        }
        if !stores {
            return;
        }
        if !loads && made.back > 0 {
            let release = match made.order.releases() {
                true => strand.clock.clone(),
                false => {
                    let mut release = strand.fence_release.clone();
                    if let Some((_, before)) = words[at].back(made.back).filter(|(by, _)| *by == me) {
                        join(&mut release, before);
                    }
                    release
                }
            };
            words[at].push(made.back, me, release);
            return;
        }
        let word = &mut words[at];
        match (made.order.releases(), loads) {
            (true, true) => join(&mut word.release, &strand.clock),
            (true, false) => (word.release, word.head) = (strand.clock.clone(), Some(me)),
            (false, carries_on) if carries_on || word.head == Some(me) => {
                join(&mut word.release, &strand.fence_release);
            }
            (false, _) => (word.release, word.head) = (strand.fence_release.clone(), None),
        }
        let release = word.release.clone();
        word.push(0, me, release.clone());
        for (_, other) in words.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            if other.overlaps(addr, size) {
                join(&mut other.release, &release);
            }
        }
    }

    /// A strand acquires the objects of 4 bytes outside of an atomic operation; `all` is what one of them publishes if it was written
    /// out of sight.
    pub(super) fn acquire(&mut self, strand: &mut Strand, addr: u64, all: Option<&Clock>) {
        let words = self.0.get_mut(&(addr >> 3)).into_iter().flatten();
        for word in words.filter(|word| word.overlaps(addr, 4)) {
            if let Some(all) = all {
                word.release.clone_from(all);
                word.stores.clear();
            }
            join(&mut strand.clock, &word.release);
        }
    }

    /// The memory is given out anew.
    pub(super) fn forget(&mut self, addr: u64, size: u64) {
        let end = addr.saturating_add(size);
        let cells = addr >> 3..end.div_ceil(8);
        if cells.end - cells.start > self.0.len() as u64 {
            self.0.retain(|cell, _| !cells.contains(cell));
        } else {
            cells.for_each(|cell| _ = self.0.remove(&cell));
        }
    }
}
