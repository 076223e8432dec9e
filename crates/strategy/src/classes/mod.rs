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
//! A strand that waits in a loop looks in vain without an end. How often makes no difference, so a read of such a loop is kept
//! back until the strand's next step: if that is the same read again, the round was in vain, and the strand is back where
//! it was; else the read counts, by what it found. Writes have no edge from such reads, which they need not: whoever reads says from
//! whom, and the writes of a place are in order. In a loop that ends by itself every read counts.

pub mod table;
pub mod told;

#[cfg(test)]
mod tests;

use table::{Entry, Table, is_sync};
pub use told::{Kind, Told};

/// Reads of a loop that are kept back at the most.
const LOOKS: usize = 4;

/// After so many events of a run, pairs are looked for only in one of eight stretches of events: a run that is so long shows
/// the same ones again and again. The class counts every step.
const LONG: u64 = 1 << 16;
const STRETCHES: u64 = 7 << 8;

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
const OWN: u64 = 0xD6E8_FEB8_6659_FD93;

/// Multiplies and folds: a hash of two words, the first of which is one already.
#[inline(always)]
const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * (b ^ 0xE703_7ED1_A0B4_28DB) as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A read of a loop that waits, until it is known whether it was in vain.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    word: u64,
    by: u64,
    foreign: u64,
    come: u64,
    entry: u32,
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
    /// How far it had come at its last step.
    last: u64,
    /// The strand, where a word has it.
    me: u64,
    /// Reads that are kept back.
    kept: u32,
    looks: [Look; LOOKS],
}

impl Track {
    /// A strand that has not run, with this view.
    pub const fn new(strand: u16, view: u64, events: u64) -> Track {
        const NONE: Look = Look { word: 0, by: 0, foreign: 0, come: 0, entry: 0 };
        let me = (strand as u64 + 1) << STRAND;
        Track { base: events, left: events, view, mark: 0, last: 0, me, kept: 0, looks: [NONE; LOOKS] }
    }

    /// The strand and an instruction in one word; 0 is nobody.
    #[inline(always)]
    const fn word(&self, pc: u64) -> u64 {
        self.me | pc
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

    /// The hash of a step of its own that it makes now. Settle before.
    #[inline(always)]
    pub fn step(&self, events: u64) -> u64 {
        fold(self.view.wrapping_add(self.come(events).wrapping_sub(self.mark).wrapping_mul(STEP)), OWN)
    }

    /// The hash of a step that it makes now, and by how much the class changes: if `foreign` is all ones, `by` had a part in
    /// it; else it is 0.
    #[inline(always)]
    fn steps(&mut self, events: u64, foreign: u64, by: u64) -> (u64, u64) {
        let settled = self.settle();
        let (node, delta) = self.comes(self.come(events), foreign, by);
        (node, delta.wrapping_add(settled))
    }

    #[inline(always)]
    fn comes(&mut self, come: u64, foreign: u64, by: u64) -> (u64, u64) {
        let past = self.view.wrapping_add(come.wrapping_sub(self.mark).wrapping_mul(STEP));
        let node = fold(past, pick(foreign, by, OWN));
        let delta = node.wrapping_sub(self.view) & foreign;
        self.view = self.view.wrapping_add(delta);
        self.mark = pick(foreign, come, self.mark);
        self.last = come;
        (node, delta)
    }

    /// The reads that were kept back count; returns by how much the class changes.
    #[inline(always)]
    pub fn settle(&mut self) -> u64 {
        if self.kept == 0 { 0 } else { self.settle_looks() }
    }

    #[cold]
    #[inline(never)]
    fn settle_looks(&mut self) -> u64 {
        let looks = self.looks;
        let kept = core::mem::take(&mut self.kept) as usize;
        looks[..kept]
            .iter()
            .fold(0u64, |sum, look| sum.wrapping_add(self.comes(look.come, look.foreign, look.by).1))
    }

    /// A read of a loop that waits; returns by how much the class changes.
    #[cold]
    #[inline(never)]
    fn looks(&mut self, events: u64, word: u64, entry: u32, foreign: u64, by: u64) -> u64 {
        let kept = &self.looks[..self.kept as usize];
        if let Some(at) = kept.iter().position(|look| look.word == word && look.entry == entry) {
            // The strand is where it was then.
            self.base = self.base.wrapping_add(self.come(events).wrapping_sub(self.looks[at].come));
            self.kept = at as u32;
        }
        let settled = if self.kept as usize == LOOKS { self.settle() } else { 0 };
        let come = self.come(events);
        self.looks[self.kept as usize] = Look { word, by, foreign, come, entry };
        self.kept += 1;
        settled
    }

    /// Something from outside had a part in its next step; returns by how much the class changes.
    #[inline(always)]
    pub fn turns(&mut self, events: u64, by: u64) -> u64 {
        self.steps(events, !0, by).1
    }

    /// The same for a strand that stands still.
    pub fn turned(&mut self, by: u64) -> u64 {
        self.turns(self.left, by)
    }

    /// The hash of all that a strand has done which stands before this instruction. What it has begun in vain there does not count.
    pub fn done(&self, pc: u64) -> u64 {
        let mut here = *self;
        let kept = &self.looks[..self.kept as usize];
        if let Some(at) = kept.iter().position(|look| look.word == self.word(pc)) {
            here.kept = at as u32;
        }
        here.settle();
        fold(here.view.wrapping_add(here.last.wrapping_sub(here.mark).wrapping_mul(STEP)), OWN)
    }

    /// The view of a strand that this one creates. Settle before.
    pub fn child(&self, strand: u16, events: u64, ordinal: u32) -> Track {
        Track::new(strand, fold(self.step(events), ordinal as u64), events)
    }
}

// A word has the strand (its index plus 1), whether several strands are meant, and an instruction, whose address has 47 bits
// in every program.
const STRAND: u32 = 48;
const MANY: u64 = 1 << 47;
const PC: u64 = MANY - 1;

#[inline(always)]
const fn strand_of(word: u64) -> u64 {
    word >> STRAND
}

/// When and where a step is made: the run's events so far, and the instruction.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Events so far.
    pub events: u64,
    /// The instruction.
    pub pc: u64,
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

    /// The strand makes a step now: at this instruction it reads or writes the place `key`. Returns by how much the class
    /// changes; `waits` says whether a read is one of a loop without an end, `tell` gets what is new.
    #[inline(always)]
    pub fn step(
        &mut self,
        track: &mut Track,
        now: Moment,
        key: u64,
        write: bool,
        waits: impl Fn() -> bool,
        tell: impl FnMut(Pair),
    ) -> u64 {
        let sync = is_sync(key);
        match self.table.find(key) {
            Some(at) if write => self.write(track, now, at, sync, tell),
            Some(at) => self.read(track, now, at, sync, waits, tell),
            None => self.step_overlapping(track, now, key, write, waits, tell),
        }
    }

    // Whether others had a part in a step is as random as the schedule: no branch depends on it.

    #[inline(always)]
    fn read(
        &mut self,
        track: &mut Track,
        now: Moment,
        at: u32,
        sync: bool,
        waits: impl Fn() -> bool,
        tell: impl FnMut(Pair),
    ) -> u64 {
        let Moment { events, pc } = now;
        let word = track.word(pc);
        let entry = self.table.entry(at);
        let from = entry.writer;
        let foreign = all_if(is_other(strand_of(from), strand_of(word)));
        let kind = if sync { Kind::Sync } else { Kind::ReadsFrom };
        let delta = if waits() {
            track.looks(events, word, at, foreign, entry.write)
        } else {
            let (node, delta) = track.steps(events, foreign, entry.write);
            add_reader(entry, node, word);
            delta
        };
        self.show(events, foreign, kind, from, word, tell);
        delta
    }

    #[inline(always)]
    fn write(&mut self, track: &mut Track, now: Moment, at: u32, sync: bool, tell: impl FnMut(Pair)) -> u64 {
        let Moment { events, pc } = now;
        let word = track.word(pc);
        let entry = self.table.entry(at);
        let (me, writer, reader) = (strand_of(word), entry.writer, entry.reader);
        let after_write = all_if(is_other(strand_of(writer), me));
        let after_read = all_if(is_other(strand_of(reader), me));
        let many = all_if(reader & MANY != 0);
        let by = entry.write.wrapping_add(entry.readers.rotate_left(29));
        let (node, delta) = track.steps(events, after_write | after_read | many, by);
        let kind = if sync { Kind::Sync } else { Kind::Before };
        set_writer(entry, node, word);
        let from = pick(after_read, reader, writer);
        self.show(events, after_read | after_write, kind, from, word, tell);
        delta
    }

    /// Tells the pair of a step and the one before it, or the step's own place if there is none.
    #[inline(always)]
    fn show(&mut self, events: u64, foreign: u64, kind: Kind, from: u64, word: u64, tell: impl FnMut(Pair)) {
        if !looks(events) {
            return;
        }
        let salt = pick(foreign, kind.salt(), Kind::Point.salt());
        let (one, other) = (pick(foreign, from, word), word & foreign);
        if self.told.may_be_new(salt, one, other) {
            self.show_slow(if foreign == 0 { Kind::Point } else { kind }, one, other, tell);
        }
    }

    #[cold]
    #[inline(never)]
    fn show_slow(&mut self, kind: Kind, one: u64, other: u64, mut tell: impl FnMut(Pair)) {
        let (one, other) = (one & PC, other & PC);
        if self.told.is_new(kind, one, other) {
            tell((kind, one, other));
        }
    }

    /// A step at a place whose bytes are touched in several shapes.
    #[cold]
    #[inline(never)]
    fn step_overlapping(
        &mut self,
        track: &mut Track,
        now: Moment,
        key: u64,
        write: bool,
        waits: impl Fn() -> bool,
        tell: impl FnMut(Pair),
    ) -> u64 {
        let Moment { events, pc } = now;
        let word = track.word(pc);
        let at = self.table.find_overlapping(key);
        let me = strand_of(word);
        let (mut foreign, mut by, mut from) = (false, 0u64, 0);
        self.table.each_overlapping(at, |entry| {
            let after_write = is_other(strand_of(entry.writer), me);
            let after_read = is_other(strand_of(entry.reader), me);
            if after_write || write && (after_read || entry.reader & MANY != 0) {
                let readers = if write { entry.readers } else { 0 };
                by = by.wrapping_add(entry.write.wrapping_add(readers.rotate_left(29)));
                from = if write && after_read { entry.reader } else { entry.writer };
                foreign = true;
            }
        });
        let entry = self.table.entry(at);
        let delta = if !write && waits() {
            track.looks(events, word, at, all_if(foreign), by)
        } else {
            let (node, delta) = track.steps(events, all_if(foreign), by);
            if write {
                set_writer(entry, node, word);
            } else {
                add_reader(entry, node, word);
            }
            delta
        };
        let kind = if write { Kind::Before } else { Kind::ReadsFrom };
        self.show(events, all_if(is_other(strand_of(from), me)), kind, from, word, tell);
        delta
    }

    /// The place is taken by somebody: the pair of where it was taken and who waits for it.
    pub fn blocked(&mut self, key: u64, pc: u64, tell: impl FnMut(Pair)) {
        let holder = self.table.find(key).map_or(0, |at| self.table.entry(at).writer & PC);
        if holder != 0 {
            self.show_slow(Kind::Blocked, holder, pc, tell);
        }
    }

    /// The strand is preempted before this instruction.
    #[inline(always)]
    pub fn preempted(&mut self, events: u64, pc: u64, tell: impl FnMut(Pair)) {
        if looks(events) && self.told.may_be_new(Kind::Preempted.salt(), pc, 0) {
            self.show_slow(Kind::Preempted, pc, 0, tell);
        }
    }
}

impl Default for Tracker {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether pairs are looked for.
#[inline(always)]
const fn looks(events: u64) -> bool {
    events < LONG || events & STRETCHES == 0
}

/// All ones, or nothing.
#[inline(always)]
const fn all_if(condition: bool) -> u64 {
    0u64.wrapping_sub(condition as u64)
}

#[inline(always)]
const fn pick(which: u64, one: u64, other: u64) -> u64 {
    one & which | other & !which
}

/// Whether there is such a strand, and it is another.
#[inline(always)]
const fn is_other(strand: u64, me: u64) -> bool {
    (strand != 0) & (strand != me)
}

#[inline(always)]
fn add_reader(entry: &mut Entry, node: u64, word: u64) {
    let many = MANY & (all_if(is_other(strand_of(entry.reader), strand_of(word))) | entry.reader);
    entry.readers = entry.readers.wrapping_add(node);
    entry.reader = word | many;
}

#[inline(always)]
fn set_writer(entry: &mut Entry, node: u64, word: u64) {
    entry.write = node;
    entry.readers = 0;
    entry.writer = word;
    entry.reader = 0;
}
