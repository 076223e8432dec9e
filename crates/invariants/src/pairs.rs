//! How pairs of slots compare.
//!
//! A pair keeps which of less, same and more it has seen. It leaves the working set when it has seen so much that nothing can be said of it any
//! more; most pairs of unrelated variables do after a few samples. Floating point numbers also keep the span of their differences.

use crate::layout::{Kind, Layout, Mask, Row, real, seen};
use crate::unary::Unary;
use seen::{LESS, MORE, SAME, STRANGE};
use serde::{Deserialize, Serialize};

/// Two integers whose values spread further than this are not told to be different: by chance they would be, too.
pub(crate) const MAX_APART: u128 = 1_000;

/// After so many looks the working set is searched for pairs that have spread too far.
const SWEEP: u32 = 4_096;

/// How the differences of two floating point numbers spread, and how great the numbers are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Span {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) scale: f64,
}

impl PartialEq for Span {
    fn eq(&self, other: &Self) -> bool {
        let bits = |span: &Self| [span.low.to_bits(), span.high.to_bits(), span.scale.to_bits()];
        bits(self) == bits(other)
    }
}

impl Span {
    const LOST: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, scale: 0.0 };

    fn empty() -> Self {
        Self { low: f64::INFINITY, high: f64::NEG_INFINITY, scale: 0.0 }
    }

    /// Whether that changes anything.
    fn take(&mut self, x: f64, y: f64) -> bool {
        let before = self.clone();
        let difference = x - y;
        // Infinities and what is not a number have no difference, so there is none for the pair.
        if difference.is_finite() {
            self.merge(&Self { low: difference, high: difference, scale: x.abs().max(y.abs()) });
        } else {
            *self = Self::LOST;
        }
        before != *self
    }

    fn merge(&mut self, other: &Self) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.scale = self.scale.max(other.scale);
        if self.high - self.low > ROOM {
            *self = Self::LOST;
        }
    }

    fn is_lost(&self) -> bool {
        self.low == f64::NEG_INFINITY
    }

    /// The one difference that all have, up to rounding.
    pub(crate) fn constant(&self) -> Option<f64> {
        let room = tolerance(self.scale);
        (self.low <= self.high && !self.is_lost() && self.high - self.low <= room)
            .then(|| tidy((self.low + self.high) / 2.0, room))
    }
}

/// Differences that spread further than this are not one difference, however great the numbers.
const ROOM: f64 = 1e-3;

/// How far apart differences of floating point numbers of a size may be and still be one.
pub(crate) fn tolerance(scale: f64) -> f64 {
    (scale * 1e-9).min(ROOM)
}

/// The shortest decimal number that is near enough.
fn tidy(value: f64, room: f64) -> f64 {
    for digits in 0..15 {
        let near: f64 = format!("{value:.digits$}").parse().unwrap_or(value);
        if (near - value).abs() <= room {
            return near + 0.0;
        }
    }
    value
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pairs {
    /// For each pair of the layout.
    seen: Vec<u8>,
    /// For each pair of floating point slots, by the number of the pair.
    spans: Vec<(u32, Span)>,
    #[serde(skip)]
    open: Vec<Open>,
    #[serde(skip)]
    looks: u32,
}

/// A pair of the working set.
#[derive(Clone, Copy, Debug)]
struct Open {
    x: u16,
    y: u16,
    pair: u32,
}

impl Pairs {
    pub(crate) fn new(layout: &Layout) -> Self {
        let floats = layout.pairs.iter().enumerate().filter(|(_, pair)| kind(layout, **pair) == Kind::Float);
        let spans = floats.map(|(at, _)| (at as u32, Span::empty())).collect();
        let mut new = Self { seen: vec![0; layout.pairs.len()], spans, open: Vec::new(), looks: 0 };
        new.reopen(layout);
        new
    }

    /// Makes the working set anew.
    pub(crate) fn reopen(&mut self, layout: &Layout) {
        let open = layout.pairs.iter().enumerate().filter(|(at, pair)| {
            let kind = kind(layout, **pair);
            kind != Kind::Float && self.seen[*at] != closed(kind, u8::MAX)
        });
        self.open = open.map(|(at, &(x, y))| Open { x, y, pair: at as u32 }).collect();
    }

    #[inline]
    pub(crate) fn take(&mut self, layout: &Layout, row: &Row, unary: &[Unary]) -> bool {
        let mut new = false;
        let whole = row.present == Mask::first(row.cells.len());
        let mut at = 0;
        while let Some(&Open { x, y, pair }) = self.open.get(at) {
            let (x, y, pair) = (usize::from(x), usize::from(y), pair as usize);
            at += 1;
            if !(whole || row.present.has(x) && row.present.has(y)) {
                continue;
            }
            let bit = seen::between(row.cells[x], row.cells[y]);
            if self.seen[pair] & bit == 0 {
                new = true;
                let kind = layout.slots[x].kind;
                self.seen[pair] = closed(kind, self.seen[pair] | bit);
                if self.seen[pair] == closed(kind, u8::MAX) {
                    at -= 1;
                    self.open.swap_remove(at);
                }
            }
        }
        for (pair, span) in &mut self.spans {
            let (x, y) = layout.pairs[*pair as usize];
            let (x, y) = (usize::from(x), usize::from(y));
            let seen = &mut self.seen[*pair as usize];
            let over = span.is_lost() && *seen == closed(Kind::Float, u8::MAX);
            if !over && row.present.has(x) && row.present.has(y) {
                let (a, b) = (real(row.cells[x]), real(row.cells[y]));
                let more = closed(Kind::Float, *seen | seen::of(a.partial_cmp(&b)));
                new |= std::mem::replace(seen, more) != more;
                new |= span.take(a, b);
            }
        }
        self.looks += 1;
        if self.looks == SWEEP {
            self.sweep(unary);
        }
        new
    }

    /// The pairs of which both do not know the same.
    pub(crate) fn apart(&self, other: &Self) -> Vec<usize> {
        let spans = self.spans.iter().zip(&other.spans).filter(|(mine, theirs)| mine != theirs);
        let mut apart: Vec<usize> = spans.map(|(mine, _)| mine.0 as usize).collect();
        apart.extend((0..self.seen.len()).filter(|&at| self.seen[at] != other.seen[at]));
        apart.sort_unstable();
        apart.dedup();
        apart
    }

    /// Takes a sample for some pairs only.
    pub(crate) fn take_some(&mut self, layout: &Layout, row: &Row, pairs: &[usize]) {
        for &pair in pairs {
            let (x, y) = layout.pairs[pair];
            let (x, y) = (usize::from(x), usize::from(y));
            if !(row.present.has(x) && row.present.has(y)) {
                continue;
            }
            let kind = layout.slots[x].kind;
            let seen = &mut self.seen[pair];
            if kind != Kind::Float {
                *seen = closed(kind, *seen | seen::between(row.cells[x], row.cells[y]));
            } else if let Ok(at) = self.spans.binary_search_by_key(&pair, |&(of, _)| of as usize) {
                let (a, b) = (real(row.cells[x]), real(row.cells[y]));
                *seen = closed(Kind::Float, *seen | seen::of(a.partial_cmp(&b)));
                self.spans[at].1.take(a, b);
            }
        }
    }

    /// Takes pairs out that are different always, but too far spread for that to mean anything.
    fn sweep(&mut self, unary: &[Unary]) {
        self.looks = 0;
        let seen = &self.seen;
        self.open.retain(|open| {
            let seen = seen[open.pair as usize];
            // It may have been closed by the way.
            seen != LESS | SAME | MORE && seen != LESS | MORE
                || seen == LESS | MORE && !too_far(&unary[usize::from(open.x)], &unary[usize::from(open.y)])
        });
    }

    pub(crate) fn merge(&mut self, other: &Self, layout: &Layout) {
        for (at, (mine, theirs)) in self.seen.iter_mut().zip(&other.seen).enumerate() {
            *mine = closed(kind(layout, layout.pairs[at]), *mine | theirs);
        }
        for ((_, mine), (_, theirs)) in self.spans.iter_mut().zip(&other.spans) {
            mine.merge(theirs);
        }
        self.reopen(layout);
    }

    /// What a pair has seen; everything if nothing can be said of it.
    pub(crate) fn seen(&self, pair: usize, layout: &Layout, unary: &[Unary]) -> u8 {
        let (x, y) = layout.pairs[pair];
        let different = self.seen[pair] == LESS | MORE && kind(layout, (x, y)) == Kind::Int;
        if different && too_far(&unary[usize::from(x)], &unary[usize::from(y)]) {
            return LESS | SAME | MORE;
        }
        self.seen[pair]
    }

    /// Whether both know the same. Pairs that left the working set because they spread too far may have missed something.
    pub(crate) fn same(&self, other: &Self, layout: &Layout, unary: &[Unary]) -> bool {
        self.spans == other.spans
            && self.seen.len() == other.seen.len()
            && (0..self.seen.len())
                .all(|pair| self.seen(pair, layout, unary) == other.seen(pair, layout, unary))
    }

    /// How the differences of a pair of floating point slots spread.
    pub(crate) fn span(&self, pair: usize) -> Option<&Span> {
        let at = self.spans.binary_search_by_key(&pair, |&(of, _)| of as usize).ok()?;
        Some(&self.spans[at].1)
    }

    pub(crate) fn is_sound(&self, layout: &Layout) -> bool {
        let expected = Self::new(layout);
        self.seen.len() == expected.seen.len()
            && self.spans.len() == expected.spans.len()
            && self.spans.iter().zip(&expected.spans).all(|(a, b)| a.0 == b.0)
    }
}

fn kind(layout: &Layout, pair: (u16, u16)) -> Kind {
    layout.slots[usize::from(pair.0)].kind
}

/// Whether two slots are spread too far to be told different.
pub(crate) fn too_far(x: &Unary, y: &Unary) -> bool {
    let (Unary::Ints(x), Unary::Ints(y)) = (x, y) else { return false };
    x.max.max(y.max).abs_diff(x.min.min(y.min)) >= MAX_APART
}

/// What a pair has seen, or everything if nothing can be said of it any more.
fn closed(kind: Kind, seen: u8) -> u8 {
    let over = match kind {
        Kind::Int => seen & (LESS | SAME | MORE) == LESS | SAME | MORE,
        Kind::Float => seen & STRANGE != 0 || seen & LESS != 0 && seen & MORE != 0,
        _ => seen & SAME != 0 && seen & (LESS | MORE) != 0,
    };
    if over { LESS | SAME | MORE } else { seen }
}
