//! Everything known of some samples of a point: of single slots, of pairs, and of all integers together.
//!
//! A linear relation is about the samples that have all of its variables. So samples are told apart by which slots are present
//! (a *pattern*), and each pattern has a [`Hull`] of its own; a relation of some columns is read from the shadows of all patterns
//! that have them. With too many patterns only the slots that are never missing keep a hull.

use crate::flats::{Flats, Spanned};
use crate::hull::Hull;
use crate::layout::{Layout, Mask, Row};
use crate::pairs::Pairs;
use crate::unary::Unary;
use serde::{Deserialize, Serialize};

/// How many patterns are told apart.
const MAX_PATTERNS: usize = 16;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Pattern {
    present: Mask,
    count: u64,
    /// The columns of the hull, as slots.
    columns: Vec<u16>,
    hull: Hull,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// In the order of their masks. If `narrow`, there is one, with the slots that were never missing.
    patterns: Vec<Pattern>,
    narrow: bool,
    /// How many samples had each slot.
    counts: Vec<u64>,
    samples: u64,
    pub(crate) unary: Vec<Unary>,
    pub(crate) pairs: Pairs,
    /// Where the last sample's pattern was.
    #[serde(skip)]
    recent: usize,
}

/// Where facts of some samples differ from those of all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Apart {
    slots: Vec<usize>,
    pairs: Vec<usize>,
    flat: bool,
}

impl Facts {
    /// Whether both know the same.
    pub(crate) fn same(&self, other: &Self, layout: &Layout) -> bool {
        self.patterns == other.patterns
            && (self.narrow, self.samples, &self.counts) == (other.narrow, other.samples, &other.counts)
            && self.unary == other.unary
            && self.pairs.same(&other.pairs, layout, &self.unary)
    }

    pub(crate) fn new(layout: &Layout) -> Self {
        Self {
            patterns: Vec::new(),
            narrow: false,
            counts: vec![0; layout.slots.len()],
            samples: 0,
            unary: vec![Unary::Unseen; layout.slots.len()],
            pairs: Pairs::new(layout),
            recent: 0,
        }
    }

    /// How a pair of slots compares, as [`crate::layout::seen`] has it; everything if nothing can be said.
    pub(crate) fn seen(&self, pair: usize, layout: &Layout) -> u8 {
        self.pairs.seen(pair, layout, &self.unary)
    }

    /// Counts samples that say nothing new.
    #[inline]
    pub(crate) fn count(&mut self, layout: &Layout, row: &Row, times: u64) {
        self.samples += times;
        if !self.narrow {
            let at = self.pattern(layout, row.present);
            self.patterns[at].count += times;
            if self.patterns.len() > MAX_PATTERNS {
                self.narrow(layout);
            }
        } else {
            self.patterns[0].count += times;
            self.shrink(layout, &row.present);
            count_slots(&mut self.counts, &row.present, times);
        }
    }

    /// Takes a sample. Whether it says something new.
    pub(crate) fn take<'a>(
        &mut self,
        layout: &Layout,
        row: &Row,
        text: &impl Fn(usize) -> Option<&'a str>,
    ) -> bool {
        let patterns = self.patterns.len();
        self.count(layout, row, 1);
        let mut new = self.narrow || self.patterns.len() != patterns;
        for (at, (unary, slot)) in self.unary.iter_mut().zip(&layout.slots).enumerate() {
            if row.present.has(at) {
                new |= unary.take(slot.kind, row.cells[at], || text(at));
            }
        }
        new |= self.pairs.take(layout, row, &self.unary);
        new | self.take_flat(row)
    }

    /// Where these facts, of some of the samples of others, are not theirs. The flat of some rows is within that of all, so of one dimension
    /// they are one. None if they are not to be compared.
    pub(crate) fn apart(&self, all: &Self) -> Option<Apart> {
        let same = |(mine, theirs): (&Pattern, &Pattern)| mine.present == theirs.present;
        let comparable = !self.narrow
            && !all.narrow
            && self.patterns.len() == all.patterns.len()
            && self.patterns.iter().zip(&all.patterns).all(same);
        comparable.then(|| Apart {
            slots: (0..self.unary.len()).filter(|&slot| self.unary[slot] != all.unary[slot]).collect(),
            pairs: self.pairs.apart(&all.pairs),
            flat: self.patterns.iter().zip(&all.patterns).any(|(a, b)| a.hull.freedom() != b.hull.freedom()),
        })
    }

    /// Takes a sample that says nothing new of others, where these facts are apart from theirs.
    pub(crate) fn take_apart<'a>(
        &mut self,
        layout: &Layout,
        row: &Row,
        text: &impl Fn(usize) -> Option<&'a str>,
        apart: &Apart,
    ) {
        self.count(layout, row, 1);
        for &slot in apart.slots.iter().filter(|slot| row.present.has(**slot)) {
            self.unary[slot].take(layout.slots[slot].kind, row.cells[slot], || text(slot));
        }
        self.pairs.take_some(layout, row, &apart.pairs);
        if apart.flat {
            self.take_flat(row);
        }
    }

    fn take_flat(&mut self, row: &Row) -> bool {
        let at = if self.narrow { 0 } else { self.recent };
        let Pattern { columns, hull, .. } = &mut self.patterns[at];
        !hull.is_full() && hull.take(|column| row.cells[usize::from(columns[column])])
    }

    /// The pattern of a mask; made if it is new.
    fn pattern(&mut self, layout: &Layout, present: Mask) -> usize {
        if self.patterns.get(self.recent).is_some_and(|pattern| pattern.present == present) {
            return self.recent;
        }
        self.recent = match self.patterns.binary_search_by_key(&present, |pattern| pattern.present) {
            Ok(at) => at,
            Err(at) => {
                self.patterns.insert(at, Pattern::new(layout, present));
                at
            }
        };
        self.recent
    }

    /// Gives up telling patterns apart.
    fn narrow(&mut self, layout: &Layout) {
        for pattern in &self.patterns {
            count_slots(&mut self.counts, &pattern.present, pattern.count);
        }
        let always = self.patterns.iter().fold(Mask::first(layout.slots.len()), |all, pattern| {
            if pattern.count == 0 { all } else { all.both(&pattern.present) }
        });
        let mut one = Pattern::new(layout, always);
        for pattern in &self.patterns {
            one.count += pattern.count;
            one.hull.merge(&pattern.shadow(&one.columns));
        }
        self.patterns = vec![one];
        self.narrow = true;
        self.recent = 0;
    }

    /// Takes the slots out that a sample is missing.
    fn shrink(&mut self, layout: &Layout, present: &Mask) {
        let pattern = &mut self.patterns[0];
        let always = pattern.present.both(present);
        if always != pattern.present {
            let mut less = Pattern::new(layout, always);
            less.count = pattern.count;
            less.hull = pattern.shadow(&less.columns);
            *pattern = less;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self, layout: &Layout) {
        let mut other = other.clone();
        if (other.narrow || self.narrow) && other.samples > 0 && self.samples > 0 {
            for side in [&mut *self, &mut other] {
                if !side.narrow {
                    side.narrow(layout);
                }
            }
            let always = self.patterns[0].present.both(&other.patterns[0].present);
            self.shrink(layout, &always);
            other.shrink(layout, &always);
            self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
            self.patterns[0].count += other.patterns[0].count;
            self.patterns[0].hull.merge(&other.patterns[0].hull);
        } else if other.narrow {
            (self.patterns, self.narrow, self.counts) = (other.patterns, true, other.counts);
        } else if !self.narrow {
            for theirs in &other.patterns {
                let at = self.pattern(layout, theirs.present);
                self.patterns[at].count += theirs.count;
                self.patterns[at].hull.merge(&theirs.hull);
            }
            if self.patterns.len() > MAX_PATTERNS {
                self.narrow(layout);
            }
        }
        self.samples += other.samples;
        self.unary.iter_mut().zip(&other.unary).for_each(|(mine, theirs)| mine.merge(theirs));
        self.pairs.merge(&other.pairs, layout);
    }

    /// How many samples had all of some slots. With too many patterns, at least how many.
    pub(crate) fn samples(&self, slots: &[usize]) -> u64 {
        if !self.narrow {
            let having = self.patterns.iter().filter(|pattern| pattern.present.has_all(slots));
            return having.map(|pattern| pattern.count).sum();
        }
        let missing: u64 = slots.iter().map(|&slot| self.samples - self.counts[slot]).sum();
        self.samples.saturating_sub(missing)
    }

    /// How many samples there were.
    pub(crate) fn all_samples(&self) -> u64 {
        self.samples
    }

    /// Whether a slot was there in every sample.
    pub(crate) fn is_always(&self, slot: usize) -> bool {
        self.patterns.iter().all(|pattern| pattern.present.has(slot))
    }

    /// The slots that are there whenever some slots are.
    pub(crate) fn along(&self, slots: &[usize]) -> Mask {
        let having = self.patterns.iter().filter(|pattern| self.narrow || pattern.present.has_all(slots));
        let mut along = having.fold(Mask::first(self.unary.len()), |all, pattern| all.both(&pattern.present));
        slots.iter().for_each(|&slot| along.add(slot));
        along
    }

    /// What holds linearly.
    pub(crate) fn flats(&self) -> Flats {
        let spanned = self.patterns.iter().map(|pattern| Spanned {
            present: pattern.present,
            columns: pattern.columns.clone(),
            points: pattern.hull.generators(),
            witness: pattern.hull.witness().map(<[i128]>::to_vec),
        });
        Flats::new(spanned.collect())
    }

    /// Sets up what is not kept in files.
    pub(crate) fn reopen(&mut self, layout: &Layout) {
        self.pairs.reopen(layout);
    }

    pub(crate) fn is_sound(&self, layout: &Layout) -> bool {
        let slots = layout.slots.len();
        let patterns = self.patterns.iter().all(|pattern| {
            let fresh = Pattern::new(layout, pattern.present.both(&Mask::first(slots)));
            pattern.present == fresh.present
                && pattern.columns == fresh.columns
                && pattern.hull.columns() == pattern.columns.len()
                && pattern.hull.is_sound()
                && (pattern.columns.is_empty() || !pattern.hull.is_empty())
        });
        let count = if self.narrow { self.patterns.len() == 1 } else { self.patterns.len() <= MAX_PATTERNS };
        self.unary.len() == slots
            && self.counts.len() == slots
            && self.counts.iter().all(|&count| count <= self.samples)
            && self.unary.iter().zip(&layout.slots).all(|(unary, slot)| unary.is_sound(slot.kind))
            && self.pairs.is_sound(layout)
            && patterns
            && count
            && self.patterns.windows(2).all(|pair| pair[0].present < pair[1].present)
    }
}

fn count_slots(counts: &mut [u64], present: &Mask, times: u64) {
    for (slot, count) in counts.iter_mut().enumerate() {
        *count += u64::from(present.has(slot)) * times;
    }
}

impl Pattern {
    fn new(layout: &Layout, present: Mask) -> Self {
        let columns: Vec<u16> =
            layout.columns.iter().copied().filter(|&slot| present.has(usize::from(slot))).collect();
        Self { present, count: 0, hull: Hull::new(columns.len()), columns }
    }

    /// The hull in some of its columns, given as slots.
    fn shadow(&self, slots: &[u16]) -> Hull {
        let places: Option<Vec<usize>> =
            slots.iter().map(|slot| self.columns.binary_search(slot).ok()).collect();
        self.hull.project(&places.unwrap_or_default())
    }
}
