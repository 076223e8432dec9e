//! Which class a run belongs to, and which pairs of places it showed.
//!
//! Two runs are of one Mazurkiewicz class if they differ only in the order of steps that do not concern each other. Steps
//! concern each other if they are of one strand, or touch the same bytes and one of them writes; an object of
//! synchronisation counts as a byte of its own ([`table::sync_key`]).
//!
//! Every strand has a *view*: a hash of its past as far as others had a part in it. A step that has a predecessor of another
//! strand changes the view by (how far the strand had come since the view last changed, the predecessors' hashes). A step's
//! hash is the view and how far the strand has come in it. Both follow from the class alone, so the sum of all views names
//! the class, whatever the order in which the run came to it; and from the views every edge can be told, so two classes
//! have the same sum only by chance. Addresses are only used to look things up, never hashed.
//!
//! How far a strand has come is counted in its own events. Those do not depend on which instructions are points, so runs
//! that knew different points are comparable, as long as they learnt none themselves.
//!
//! A strand that spins makes events without an end: a read that finds what the same instruction found there a moment
//! ago, with nothing but reads between, counts [`REPEATS`] times at the most, and then takes the strand's count back to where
//! it was.

pub mod table;
pub mod told;

#[cfg(test)]
mod tests;

use table::{Entry, MANY, OVERLAPS, Table, is_sync};
pub use told::{Kind, Told};

/// How often the same read counts in a row.
pub const REPEATS: u32 = 2;
const IDLE: usize = 2;

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
const OWN: u64 = 0xD6E8_FEB8_6659_FD93;

/// Multiplies and folds: a hash of two words.
#[inline(always)]
const fn fold(a: u64, b: u64) -> u64 {
    let product = (a ^ 0xA076_1D64_78BD_642F) as u128 * (b ^ 0xE703_7ED1_A0B4_28DB) as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A read that may turn out to be part of a spin.
#[derive(Clone, Copy, Debug, Default)]
struct Idle {
    word: u64,
    write: u64,
    at: u64,
    entry: u32,
    times: u32,
}

/// What is kept of a strand.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Track {
    /// The event count at which the strand would have begun, had it not been stopped.
    base: u64,
    /// The event count when it was last stopped.
    left: u64,
    /// Hash of its past.
    view: u64,
    /// How far it had come when the view last changed.
    mark: u64,
    idle: [Idle; IDLE],
    /// Reads in `idle`, and the next to be replaced.
    used: u32,
    next: u32,
}

impl Track {
    /// A strand that has not run, with this view.
    pub const fn new(view: u64, events: u64) -> Track {
        const NONE: Idle = Idle { word: 0, write: 0, at: 0, entry: 0, times: 0 };
        Track { base: events, left: events, view, mark: 0, idle: [NONE; IDLE], used: 0, next: 0 }
    }

    /// The strand is stopped.
    #[inline(always)]
    pub fn stops(&mut self, events: u64) {
        self.left = events;
    }

    /// The strand goes on.
    #[inline(always)]
    pub fn goes_on(&mut self, events: u64) {
        self.base = self.base.wrapping_add(events.wrapping_sub(self.left));
    }

    /// Its part of the class.
    pub const fn view(&self) -> u64 {
        self.view
    }

    #[inline(always)]
    fn come(&self, events: u64) -> u64 {
        events.wrapping_sub(self.base)
    }

    /// The hash of a step of its own that it makes now.
    #[inline(always)]
    pub fn step(&self, events: u64) -> u64 {
        fold(self.view.wrapping_add(self.come(events).wrapping_sub(self.mark).wrapping_mul(STEP)), OWN)
    }

    /// Something from outside had a part in its next step; returns by how much the class changes.
    #[inline(always)]
    pub fn turns(&mut self, events: u64, by: u64) -> u64 {
        let come = self.come(events);
        let past = self.view.wrapping_add(come.wrapping_sub(self.mark).wrapping_mul(STEP));
        let old = self.view;
        self.view = fold(past, by);
        self.mark = come;
        self.view.wrapping_sub(old)
    }

    /// The same for a strand that stands still.
    pub fn turned(&mut self, by: u64) -> u64 {
        self.turns(self.left, by)
    }

    /// The view of a strand that this one creates.
    pub fn child(&self, events: u64, ordinal: u32) -> Track {
        Track::new(fold(self.step(events), ordinal as u64), events)
    }
}

/// A strand and an instruction in one word; 0 is nobody.
#[inline(always)]
pub const fn word(strand: u16, pc: u64) -> u64 {
    (strand as u64 + 1) << 48 | pc & PC
}

const PC: u64 = (1 << 48) - 1;

#[inline(always)]
const fn strand_of(word: u64) -> u64 {
    word >> 48
}

/// A pair that a step showed.
pub type Pair = (Kind, u64, u64);

/// Everything that steps touched, and what was told of it.
#[derive(Debug)]
pub struct Tracker {
    /// The places.
    pub table: Table,
    /// What has been told.
    pub told: Told,
}

impl Tracker {
    /// Nothing known, no memory.
    pub const fn new() -> Self {
        Tracker { table: Table::new(), told: Told::new() }
    }

    /// The strand makes a step now: it reads or writes the place `key`. Returns by how much the class changes; `tell`
    /// gets what is new.
    #[inline]
    pub fn step(
        &mut self,
        track: &mut Track,
        events: u64,
        word: u64,
        key: u64,
        write: bool,
        mut tell: impl FnMut(Pair),
    ) -> u64 {
        let at = self.table.find(key);
        let entry = self.table.entry(at);
        if entry.flags & OVERLAPS != 0 {
            return self.step_overlapping(track, events, word, at, write, tell);
        }
        let me = strand_of(word);
        let writer = strand_of(entry.writer);
        let foreign_writer = writer != me && writer != 0;
        if !write {
            if is_idle(track, events, word, at, entry) {
                return 0;
            }
            let mut delta = 0;
            let mut node = 0;
            if foreign_writer {
                delta = track.turns(events, entry.write);
                node = track.view;
                let kind = if is_sync(key) { Kind::Sync } else { Kind::ReadsFrom };
                let from = entry.writer;
                if self.told.is_new(kind, from & PC, word & PC) {
                    tell((kind, from & PC, word & PC));
                }
            } else if entry.reader != word && self.told.is_new(Kind::Point, word & PC, 0) {
                tell((Kind::Point, word & PC, 0));
            }
            let entry = self.table.entry(at);
            if node == 0 {
                node = track.step(events);
            }
            add_reader(entry, node, word);
            return delta;
        }
        let reader = strand_of(entry.reader);
        let foreign_reader = reader != 0 && (reader != me || entry.flags & MANY != 0);
        let (old_writer, old_reader) = (entry.writer, entry.reader);
        let mut delta = 0;
        let mut node = 0;
        if foreign_writer || foreign_reader {
            delta = track.turns(events, entry.write.wrapping_add(entry.readers.rotate_left(29)));
            node = track.view;
        }
        if node == 0 {
            node = track.step(events);
        }
        set_writer(entry, node, word);
        track.used = 0;
        let from = if reader != me && reader != 0 {
            old_reader
        } else if foreign_writer {
            old_writer
        } else {
            0
        };
        if from != 0 {
            let kind = if is_sync(key) { Kind::Sync } else { Kind::Before };
            if self.told.is_new(kind, from & PC, word & PC) {
                tell((kind, from & PC, word & PC));
            }
        } else if old_writer != word && self.told.is_new(Kind::Point, word & PC, 0) {
            tell((Kind::Point, word & PC, 0));
        }
        delta
    }

    /// A step at a place whose bytes are touched in several shapes.
    #[cold]
    #[inline(never)]
    fn step_overlapping(
        &mut self,
        track: &mut Track,
        events: u64,
        word: u64,
        at: u32,
        write: bool,
        mut tell: impl FnMut(Pair),
    ) -> u64 {
        let me = strand_of(word);
        let (mut foreign, mut by, mut from) = (false, 0u64, 0);
        self.table.each_overlapping(at, |entry| {
            let writer = strand_of(entry.writer);
            let reader = strand_of(entry.reader);
            let foreign_writer = writer != me && writer != 0;
            let foreign_reader = reader != 0 && (reader != me || entry.flags & MANY != 0);
            if foreign_writer || write && foreign_reader {
                let readers = if write { entry.readers } else { 0 };
                by = by.wrapping_add(entry.write.wrapping_add(readers.rotate_left(29)));
                foreign = true;
                from = if write && reader != 0 && reader != me { entry.reader } else { entry.writer };
            }
        });
        if !write && is_idle(track, events, word, at, self.table.entry(at)) {
            return 0;
        }
        let (delta, node) =
            if foreign { (track.turns(events, by), track.view) } else { (0, track.step(events)) };
        let entry = self.table.entry(at);
        if write {
            set_writer(entry, node, word);
            track.used = 0;
        } else {
            add_reader(entry, node, word);
        }
        let kind = if write { Kind::Before } else { Kind::ReadsFrom };
        if from != 0 && strand_of(from) != me {
            if self.told.is_new(kind, from & PC, word & PC) {
                tell((kind, from & PC, word & PC));
            }
        } else if self.told.is_new(Kind::Point, word & PC, 0) {
            tell((Kind::Point, word & PC, 0));
        }
        delta
    }

    /// The place at an address is taken by somebody: the pair of where it was taken and who waits for it.
    pub fn blocked(&mut self, key: u64, pc: u64, mut tell: impl FnMut(Pair)) {
        let at = self.table.find(key);
        let holder = self.table.entry(at).writer & PC;
        if holder != 0 && self.told.is_new(Kind::Blocked, holder, pc & PC) {
            tell((Kind::Blocked, holder, pc & PC));
        }
    }

    /// The strand is preempted before this instruction.
    #[inline(always)]
    pub fn preempted(&mut self, pc: u64, mut tell: impl FnMut(Pair)) {
        if self.told.is_new(Kind::Preempted, pc & PC, 0) {
            tell((Kind::Preempted, pc & PC, 0));
        }
    }
}

impl Default for Tracker {
    fn default() -> Self {
        Self::new()
    }
}

#[inline(always)]
fn add_reader(entry: &mut Entry, node: u64, word: u64) {
    let last = strand_of(entry.reader);
    if last != 0 && last != strand_of(word) {
        entry.flags |= MANY;
    }
    entry.readers = entry.readers.wrapping_add(node);
    entry.reader = word;
}

#[inline(always)]
fn set_writer(entry: &mut Entry, node: u64, word: u64) {
    entry.write = node;
    entry.readers = 0;
    entry.writer = word;
    entry.reader = 0;
    entry.flags &= !MANY;
}

/// Whether a read only repeats what the strand has read a moment ago.
#[inline(always)]
fn is_idle(track: &mut Track, events: u64, word: u64, at: u32, entry: &Entry) -> bool {
    let come = track.come(events);
    for index in 0..track.used as usize & (2 * IDLE - 1) {
        let idle = &mut track.idle[index & (IDLE - 1)];
        if idle.entry == at && idle.word == word && idle.write == entry.write {
            if idle.times < REPEATS {
                idle.times += 1;
                idle.at = come;
                return false;
            }
            // The strand is where it was then.
            track.base = track.base.wrapping_add(come.wrapping_sub(idle.at));
            return true;
        }
    }
    let index = track.next as usize & (IDLE - 1);
    track.idle[index] = Idle { word, write: entry.write, at: come, entry: at, times: 1 };
    track.next = track.next.wrapping_add(1);
    track.used = (track.used + 1).min(IDLE as u32);
    false
}
