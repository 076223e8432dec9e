//! What is known of a point: of all its samples, and of those where one of its flags is true, or false.
//!
//! An implication `flag ==> …` is what holds of the samples with the flag. As long as a flag has been there always, with one value
//! only, those are all samples, and nothing is kept for it; when that ends, the facts so far are copied. The same for a flag that has always been
//! like another one, as most are like what they were at the entry.

use crate::facts::{Apart, Facts};
use crate::layout::{Layout, Row};
use crate::point::{ProgramPoint, Sample};
use crate::sketch::Sketch;
use crate::value::Value;
use serde::{Deserialize, Serialize};

/// Rows that came lately are recognised by their hashes: a row that comes again changes nothing but counts.
const RECENT: usize = 512;

/// Rows after which the facts of a flag are held against those of all, for the first time and again.
const LOOKS: u32 = 256;
const LOOKS_AGAIN: u32 = 4096;

/// What is kept for a flag.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Split {
    /// It has been there always, with one value; or there was no sample.
    One,
    /// It has always been like an earlier flag with facts of its own, the first such one.
    Like(u16),
    /// The facts where it is false and where it is true.
    Own(Box<[Side; 2]>),
}

/// The facts where a flag has one of its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Side {
    facts: Facts,
    /// Where they are not those of all samples: what says nothing new of all says nothing new elsewhere.
    #[serde(skip)]
    apart: Option<Apart>,
    /// Rows since that was looked at.
    #[serde(skip)]
    rows: u32,
}

impl Side {
    fn new(facts: Facts) -> Self {
        Self { facts, apart: None, rows: 0 }
    }

    /// Takes a row that is one of its own; `new` if it says something new of all, whose facts have it already.
    fn take<'a>(
        &mut self,
        layout: &Layout,
        row: &Row,
        text: &impl Fn(usize) -> Option<&'a str>,
        all: &Facts,
        new: bool,
    ) {
        match &self.apart {
            Some(apart) if !new => self.facts.take_apart(layout, row, text, apart),
            _ => {
                self.facts.take(layout, row, text);
            }
        }
        self.rows += 1;
        if self.rows >= if self.apart.is_some() { LOOKS_AGAIN } else { LOOKS } {
            self.rows = 0;
            self.apart = self.facts.apart(all);
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) point: ProgramPoint,
    pub(crate) layout: Layout,
    pub(crate) all: Facts,
    /// For each flag of the layout.
    splits: Vec<Split>,
    pub(crate) sketch: Sketch,
    #[serde(skip)]
    recent: Vec<u128>,
    #[serde(skip)]
    row: Row,
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        let same = |a: &Facts, b: &Facts| a.same(b, &self.layout);
        self.layout == other.layout
            && same(&self.all, &other.all)
            && self.sketch == other.sketch
            && self.splits.iter().zip(&other.splits).all(|pair| match pair {
                (Split::Own(mine), Split::Own(theirs)) => {
                    mine.iter().zip(theirs.iter()).all(|(a, b)| same(&a.facts, &b.facts))
                }
                (Split::Like(mine), Split::Like(theirs)) => mine == theirs,
                (mine, theirs) => matches!((mine, theirs), (Split::One, Split::One)),
            })
    }
}

impl State {
    pub(crate) fn new(point: &ProgramPoint, entry: Option<&ProgramPoint>) -> Self {
        let layout = Layout::new(point, entry);
        Self {
            point: point.clone(),
            all: Facts::new(&layout),
            splits: vec![Split::One; layout.flags.len()],
            sketch: Sketch::default(),
            recent: Vec::new(),
            row: Row::default(),
            layout,
        }
    }

    /// Takes a sample that came so many times.
    pub(crate) fn take(&mut self, sample: &Sample, times: u64) {
        let mut row = std::mem::take(&mut self.row);
        self.layout.fill(sample, &mut row);
        let hash = row.hash();
        if self.recent.is_empty() {
            self.recent = vec![0; RECENT];
        }
        let known = &mut self.recent[hash as usize % RECENT];
        let mut again = times;
        if *known != hash {
            *known = hash;
            self.learn(sample, &row);
            self.sketch.take(hash, &row);
            again -= 1;
        }
        if again > 0 {
            self.count(&row, again);
        }
        self.row = row;
    }

    fn count(&mut self, row: &Row, times: u64) {
        self.all.count(&self.layout, row, times);
        for (flag, split) in self.layout.flags.iter().zip(&mut self.splits) {
            if let (Split::Own(sides), Some(is)) = (split, row.get(usize::from(*flag))) {
                sides[is as usize].facts.count(&self.layout, row, times);
            }
        }
    }

    fn learn(&mut self, sample: &Sample, row: &Row) {
        self.part(row);
        let layout = &self.layout;
        let text = |slot: usize| layout.text(slot, sample);
        let new = self.all.take(layout, row, &text);
        for (&flag, split) in layout.flags.iter().zip(&mut self.splits) {
            let Split::Own(sides) = split else { continue };
            let is = row.get(usize::from(flag)).map(|is| is as usize);
            for (at, side) in sides.iter_mut().enumerate() {
                if is == Some(at) {
                    side.take(layout, row, &text, &self.all, new);
                } else if new {
                    side.apart = None;
                }
            }
        }
    }

    /// Gives facts of their own to flags that stop being constant, or like others, with a row that is to come.
    fn part(&mut self, row: &Row) {
        let value = |at: usize| row.get(usize::from(self.layout.flags[at]));
        let leaves: Vec<bool> = (0..self.splits.len())
            .map(|at| match self.splits[at] {
                Split::One => self.breaks(usize::from(self.layout.flags[at]), value(at)),
                Split::Like(other) => value(usize::from(other)) != value(at),
                Split::Own(_) => false,
            })
            .collect();
        if !leaves.contains(&true) {
            return;
        }
        let fresh: Vec<Option<Split>> = (0..self.splits.len())
            .map(|at| {
                let also = |other: usize| leaves[other] && self.alike(other, at) && value(other) == value(at);
                leaves[at].then(|| match (0..at).find(|&other| also(other)) {
                    Some(other) => Split::Like(other as u16),
                    None => Split::Own(self.sides(at)),
                })
            })
            .collect();
        for (split, fresh) in self.splits.iter_mut().zip(fresh) {
            if let Some(fresh) = fresh {
                *split = fresh;
            }
        }
    }

    /// Whether two flags have been alike in all samples.
    fn alike(&self, x: usize, y: usize) -> bool {
        let only = |at: usize| self.only(usize::from(self.layout.flags[at]));
        let root = |at: usize| match self.splits[at] {
            Split::Like(other) => usize::from(other),
            _ => at,
        };
        match (&self.splits[x], &self.splits[y]) {
            (Split::One, Split::One) => only(x) == only(y),
            (Split::One, _) | (_, Split::One) => false,
            _ => root(x) == root(y),
        }
    }

    /// The facts of a flag as its own.
    fn sides(&self, at: usize) -> Box<[Side; 2]> {
        match &self.splits[at] {
            Split::Own(sides) => sides.clone(),
            Split::Like(other) => self.sides(usize::from(*other)),
            Split::One => {
                let mut sides = [Facts::new(&self.layout), Facts::new(&self.layout)];
                if let Some(only) = self.only(usize::from(self.layout.flags[at])) {
                    sides[only as usize] = self.all.clone();
                }
                Box::new(sides.map(Side::new))
            }
        }
    }

    /// Whether a flag stops having been there always with one value.
    fn breaks(&self, flag: usize, value: Option<i128>) -> bool {
        match (self.only(flag), value) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(only), Some(value)) => only != value,
        }
    }

    /// The one value of a flag so far.
    fn only(&self, flag: usize) -> Option<i128> {
        self.all.unary[flag].ints().map(|ints| ints.min)
    }

    /// The facts where a flag (by its place among the layout's flags) has a value. Nothing if it has one value always.
    pub(crate) fn given(&self, flag: usize, is: bool) -> Option<&Facts> {
        match &self.splits[flag] {
            Split::One => None,
            Split::Like(other) => self.given(usize::from(*other), is),
            Split::Own(sides) => Some(&sides[usize::from(is)].facts),
        }
    }

    /// Takes all samples that another state has taken. The layouts must be equal.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.all.all_samples() == 0 {
            return;
        }
        if self.all.all_samples() == 0 {
            let row = std::mem::take(&mut self.row);
            *self = Self { row, recent: Vec::new(), ..other.clone() };
            return;
        }
        let mut merged: Vec<Split> = Vec::new();
        for at in 0..self.splits.len() {
            let flag = usize::from(self.layout.flags[at]);
            let one = |state: &Self| matches!(state.splits[at], Split::One);
            let like = (0..at).find(|&earlier| {
                matches!(merged[earlier], Split::Own(_))
                    && self.alike(earlier, at)
                    && other.alike(earlier, at)
            });
            merged.push(if one(self) && one(other) && self.only(flag) == other.only(flag) {
                Split::One
            } else if let Some(earlier) = like {
                Split::Like(earlier as u16)
            } else {
                let mut sides = self.sides(at);
                for (mine, theirs) in sides.iter_mut().zip(other.sides(at).iter()) {
                    mine.facts.merge(&theirs.facts, &self.layout);
                    mine.apart = None;
                }
                Split::Own(sides)
            });
        }
        self.splits = merged;
        self.all.merge(&other.all, &self.layout);
        self.sketch.merge(&other.sketch);
        self.recent.clear();
    }

    /// Sets up what is not kept in files. False if what was read makes no sense.
    pub(crate) fn reopen(&mut self) -> bool {
        let sound = self.layout.is_sound()
            && self.all.is_sound(&self.layout)
            && self.sketch.is_sound(self.layout.slots.len())
            && self.splits.len() == self.layout.flags.len()
            && self.splits.iter().enumerate().all(|(at, split)| match split {
                Split::One => true,
                Split::Like(other) => {
                    usize::from(*other) < at && matches!(self.splits[usize::from(*other)], Split::Own(_))
                }
                Split::Own(sides) => sides.iter().all(|side| side.facts.is_sound(&self.layout)),
            })
            && self
                .layout
                .flags
                .iter()
                .all(|&flag| self.only(usize::from(flag)).is_none_or(|only| matches!(only, 0 | 1)));
        if sound {
            self.all.reopen(&self.layout);
            for split in &mut self.splits {
                if let Split::Own(sides) = split {
                    sides.iter_mut().for_each(|side| side.facts.reopen(&self.layout));
                }
            }
        }
        sound
    }
}

impl Layout {
    /// The string that a slot of a sample stands for.
    pub(crate) fn text<'a>(&self, slot: usize, sample: &'a Sample) -> Option<&'a str> {
        match self.value(slot, sample) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }
}
