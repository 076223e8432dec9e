//! What follows from statements that are told, so that nothing is told twice.
//!
//! It answers yes only where it can show it. What it misses is told although it follows; what it says follows, does.

use crate::distances::{Distances, edges};
use crate::equations::{Equations, Sum};
use crate::eval::{admits, order};
use crate::layout::{Kind, Layout, cell_of_real, real};
use crate::operand::Part;
use crate::statement::{Cmp, Constant, Statement};
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub(crate) struct Known<'a> {
    layout: &'a Layout,
    distances: Distances,
    equations: Equations,
    /// For each slot the cells it can have.
    sets: Vec<Option<BTreeSet<i128>>>,
    moduli: Vec<(usize, i128, i128)>,
    bits: Vec<(usize, i128, i128)>,
    differ: Vec<(usize, usize)>,
    /// Slots compared with one cell: floating point bounds, and what is not zero.
    values: Vec<(usize, Cmp, i128)>,
    sorted: Vec<(usize, Cmp)>,
    offsets: Vec<(usize, usize, f64)>,
}

impl<'a> Known<'a> {
    pub(crate) fn new(layout: &'a Layout) -> Self {
        let mut distances = Distances::new(layout.slots.len());
        for (at, slot) in layout.slots.iter().enumerate() {
            let (least, greatest) = slot.limits();
            let zero = distances.zero();
            if let Some(bound) = least.and_then(i128::checked_neg) {
                distances.add(zero, at, bound);
            }
            if let Some(bound) = greatest {
                distances.add(at, zero, bound);
            }
        }
        Self {
            layout,
            distances,
            equations: Equations::default(),
            sets: vec![None; layout.slots.len()],
            moduli: Vec::new(),
            bits: Vec::new(),
            differ: Vec::new(),
            values: Vec::new(),
            sorted: Vec::new(),
            offsets: Vec::new(),
        }
    }

    /// Learns a statement.
    pub(crate) fn add(&mut self, statement: &Statement<usize>) {
        for (x, y, bound) in edges(self.layout, self.distances.zero(), statement) {
            self.distances.add(x, y, bound);
        }
        let layout = self.layout;
        match statement {
            Statement::Value { x, cmp, with } => {
                let Some(cell) = with.cell(&layout.slots[*x]) else { return };
                self.values.push((*x, *cmp, cell));
                if *cmp == Cmp::Eq {
                    self.sets[*x] = Some(BTreeSet::from([cell]));
                    if layout.slots[*x].kind == Kind::Int
                        && let Some(constant) = cell.checked_neg()
                    {
                        self.equations.add(&Sum::new(&[(1, *x)], constant));
                    }
                }
            }
            Statement::OneOf { x, values } => {
                let slot = &layout.slots[*x];
                self.sets[*x] = Some(values.iter().filter_map(|value| value.cell(slot)).collect());
            }
            Statement::Compare { x, cmp: Cmp::Eq, y } => {
                if layout.slots[*x].kind == Kind::Int {
                    self.equations.add(&Sum::new(&[(1, *x), (-1, *y)], 0));
                }
                self.parts_equal(*x, *y);
            }
            Statement::Compare { x, cmp: Cmp::Ne, y } => self.differ.push((*x, *y)),
            Statement::Linear { terms, cmp: Cmp::Eq, with } => {
                if let Some(constant) = with.checked_neg() {
                    self.equations.add(&Sum::new(terms, constant));
                }
            }
            Statement::Offset { x, y, by } => self.offsets.push((*x, *y, by.0)),
            Statement::Modulus { x, modulus, rest } => self.moduli.push((*x, *modulus, *rest)),
            Statement::Bits { x, mask, bits } => self.bits.push((*x, *mask, *bits)),
            Statement::Sorted { x, cmp } => self.sorted.push((*x, *cmp)),
            Statement::Compare { .. } | Statement::Linear { .. } | Statement::When { .. } => {}
        }
    }

    /// Sequences that are equal have equal parts.
    fn parts_equal(&mut self, x: usize, y: usize) {
        for part in [Part::Size, Part::Min, Part::Max, Part::Sum] {
            let of = |whole: usize| self.layout.find(&self.layout.slots[whole].operand.clone().part(part));
            if self.layout.slots[x].kind == Kind::Sequence
                && let (Some(x), Some(y)) = (of(x), of(y))
            {
                self.distances.add(x, y, 0);
                self.distances.add(y, x, 0);
                if self.layout.slots[x].kind == Kind::Int {
                    self.equations.add(&Sum::new(&[(1, x), (-1, y)], 0));
                }
            }
        }
    }

    /// Whether a statement follows from what is known.
    pub(crate) fn implies(&self, statement: &Statement<usize>) -> bool {
        match statement {
            Statement::Value { x, cmp, with } => {
                with.cell(&self.layout.slots[*x]).is_some_and(|cell| self.implies_value(*x, *cmp, cell, with))
            }
            Statement::OneOf { x, values } => {
                let slot = &self.layout.slots[*x];
                let cells: Vec<i128> = values.iter().filter_map(|value| value.cell(slot)).collect();
                self.every(*x, |cell| cells.contains(&cell))
            }
            Statement::Compare { x, cmp, y } => self.implies_order(*x, *cmp, *y),
            Statement::Linear { terms, cmp: Cmp::Eq, with } => {
                with.checked_neg().is_some_and(|constant| self.equations.imply(&Sum::new(terms, constant)))
            }
            Statement::Linear { .. } | Statement::When { .. } => false,
            Statement::Offset { x, y, by } => {
                self.offset(*x, *y).is_some_and(|sum| (sum - by.0).abs() <= 1e-9 * sum.abs().max(1.0))
            }
            Statement::Modulus { x, modulus, rest } => self.implies_modulus(*x, *modulus, *rest),
            Statement::Bits { x, mask, bits } => {
                self.every(*x, |cell| cell & mask == *bits)
                    || self.bits.iter().any(|&(other, known, are)| {
                        self.distances.equal(*x, other) && known & mask == *mask && are & mask == *bits
                    })
            }
            Statement::Sorted { x, cmp } => {
                let whole = |slot: usize| {
                    self.layout.find(&self.layout.slots[slot].operand.clone().part(Part::Whole))
                };
                self.sorted.iter().any(|&(other, known)| {
                    let equal = whole(*x).zip(whole(other)).is_some_and(|(a, b)| self.distances.equal(a, b));
                    equal && (known == *cmp || stronger(known, *cmp))
                })
            }
        }
    }

    /// Whether all cells that a slot can have, if these are known, satisfy something.
    fn every(&self, x: usize, holds: impl Fn(i128) -> bool) -> bool {
        let equal = (0..self.sets.len()).filter(|&other| self.distances.equal(x, other));
        if equal.filter_map(|other| self.sets[other].as_ref()).any(|set| set.iter().all(|&cell| holds(cell)))
        {
            return true;
        }
        // By a linear relation to a slot whose cells are known.
        let Some((factor, y, constant, divisor)) = self.image(x) else { return false };
        self.sets[y].as_ref().is_some_and(|set| {
            set.iter().all(|&cell| {
                let sum = cell.checked_mul(factor).and_then(|product| product.checked_add(constant));
                sum.is_some_and(|sum| sum % divisor == 0 && holds(sum / divisor))
            })
        })
    }

    /// An integer slot by an earlier one: `divisor * x == factor * y + constant`.
    fn image(&self, x: usize) -> Option<(i128, usize, i128, i128)> {
        if self.layout.slots[x].kind != Kind::Int {
            return None;
        }
        let (terms, constant, divisor) = self.equations.reduce(&Sum::new(&[(1, x)], 0)).integers()?;
        match terms[..] {
            [(factor, y)] if y != x => Some((factor, y, constant, divisor)),
            _ => None,
        }
    }

    /// Bounds of a sum of integer slots.
    fn span(&self, terms: &[(i128, usize)]) -> (Option<i128>, Option<i128>) {
        let Some((terms, constant, divisor)) = self.equations.reduce(&Sum::new(terms, 0)).integers() else {
            return (None, None);
        };
        let (mut low, mut high) = (Some(constant), Some(constant));
        if let [(a, x), (b, y)] = terms[..]
            && a == -b
        {
            // A difference may be bounded where its sides are not.
            let scaled = |bound: Option<i128>| bound?.checked_mul(a.abs())?.checked_add(constant);
            let (up, down) = if a > 0 { (x, y) } else { (y, x) };
            high = scaled(self.distances.bound(up, down));
            low = scaled(self.distances.bound(down, up).and_then(i128::checked_neg));
        } else {
            for &(factor, slot) in &terms {
                let (least, greatest) = self.distances.range(slot);
                let (small, great) = if factor > 0 { (least, greatest) } else { (greatest, least) };
                let add =
                    |sum: Option<i128>, bound: Option<i128>| sum?.checked_add(bound?.checked_mul(factor)?);
                (low, high) = (add(low, small), add(high, great));
            }
        }
        let low = low.and_then(i128::checked_neg).map(|low| -low.div_euclid(divisor));
        (low, high.map(|high| high.div_euclid(divisor)))
    }

    fn implies_value(&self, x: usize, cmp: Cmp, cell: i128, with: &Constant) -> bool {
        let kind = self.layout.slots[x].kind;
        if self.every(x, |known| admits(cmp, order(kind, known, cell))) {
            return true;
        }
        let follows = |&(other, known, of): &(usize, Cmp, i128)| {
            self.distances.equal(x, other) && one_implies(kind, (known, of), (cmp, cell))
        };
        if self.values.iter().any(follows) {
            return true;
        }
        if kind == Kind::Float {
            // A bound of another one at a constant distance, up to rounding.
            return self.values.iter().any(|&(other, known, of)| {
                self.offset(x, other).is_some_and(|by| {
                    let moved = real(of) + by;
                    let near = (moved - real(cell)).abs() <= 1e-9 * moved.abs();
                    let moved = if near { cell } else { cell_of_real(moved) };
                    one_implies(kind, (known, moved), (cmp, cell))
                })
            });
        }
        if !kind.is_number() {
            return false;
        }
        if kind == Kind::Flag {
            // The opposite of a flag that is known.
            let opposite = self.differ.iter().any(|&(a, b)| {
                let other = if self.distances.equal(a, x) { b } else { a };
                (self.distances.equal(a, x) || self.distances.equal(b, x))
                    && self.distances.range(other) == (Some(1 - cell), Some(1 - cell))
            });
            if opposite && cmp == Cmp::Eq {
                return true;
            }
        }
        let (mut low, mut high) = self.distances.range(x);
        if kind == Kind::Int {
            let (least, greatest) = self.span(&[(1, x)]);
            low = low.max(least);
            high = [high, greatest].into_iter().flatten().min();
        }
        match cmp {
            Cmp::Eq => low == Some(cell) && high == Some(cell),
            Cmp::Lt => high.is_some_and(|high| high < cell),
            Cmp::Le => high.is_some_and(|high| high <= cell),
            Cmp::Gt => low.is_some_and(|low| low > cell),
            Cmp::Ge => low.is_some_and(|low| low >= cell),
            Cmp::Ne => {
                low.is_some_and(|low| low > cell)
                    || high.is_some_and(|high| high < cell)
                    || matches!(with, Constant::Int(_))
                        && self.rests(x).iter().any(|&(modulus, rest)| cell.rem_euclid(modulus) != rest)
            }
        }
    }

    fn implies_order(&self, x: usize, cmp: Cmp, y: usize) -> bool {
        let kind = self.layout.slots[x].kind;
        let (mut low, mut high) =
            (self.distances.bound(y, x).and_then(i128::checked_neg), self.distances.bound(x, y));
        if kind == Kind::Int {
            let (least, greatest) = self.span(&[(1, x), (-1, y)]);
            low = low.max(least);
            high = [high, greatest].into_iter().flatten().min();
        }
        let by_difference = match cmp {
            Cmp::Eq => low.is_some_and(|low| low >= 0) && high.is_some_and(|high| high <= 0),
            Cmp::Lt => high.is_some_and(|high| high < 0),
            Cmp::Le => high.is_some_and(|high| high <= 0),
            Cmp::Gt => low.is_some_and(|low| low > 0),
            Cmp::Ge => low.is_some_and(|low| low >= 0),
            Cmp::Ne => low.is_some_and(|low| low > 0) || high.is_some_and(|high| high < 0),
        };
        let told_apart = || {
            let same = |a: usize, b: usize| self.distances.equal(a, x) && self.distances.equal(b, y);
            self.differ.iter().any(|&(a, b)| same(a, b) || same(b, a))
                || self.sets[x].as_ref().zip(self.sets[y].as_ref()).is_some_and(|(a, b)| a.is_disjoint(b))
                || kind == Kind::Int && self.rests_conflict(x, y)
        };
        let by_bounds = || {
            kind == Kind::Float
                && self.values.iter().any(|&(a, first, cell)| {
                    a == x
                        && self
                            .values
                            .iter()
                            .any(|&(b, second, other)| b == y && apart(first, cell, second, other, cmp))
                })
        };
        by_difference || cmp == Cmp::Ne && told_apart() || by_bounds()
    }

    /// Moduli and rests that a slot is known to have.
    fn rests(&self, x: usize) -> Vec<(i128, i128)> {
        let equal = self.moduli.iter().filter(|known| self.distances.equal(known.0, x));
        let mut rests: Vec<(i128, i128)> = equal.map(|known| (known.1, known.2)).collect();
        if let Some((factor, y, constant, 1)) = self.image(x) {
            let own = self.moduli.iter().filter(|known| self.distances.equal(known.0, y));
            let own = own.map(|known| (known.1, known.2)).chain([(1, 0)]);
            rests.extend(own.filter_map(|(modulus, rest)| {
                let modulus = modulus.checked_mul(factor.checked_abs()?)?;
                let rest = rest.checked_mul(factor)?.checked_add(constant)?;
                (modulus > 1).then(|| (modulus, rest.rem_euclid(modulus)))
            }));
        }
        rests
    }

    fn implies_modulus(&self, x: usize, modulus: i128, rest: i128) -> bool {
        modulus > 0
            && (self.every(x, |cell| cell.rem_euclid(modulus) == rest)
                || self.rests(x).iter().any(|&(known, is)| known % modulus == 0 && is % modulus == rest))
    }

    fn rests_conflict(&self, x: usize, y: usize) -> bool {
        self.rests(x).iter().any(|&(m, r)| self.rests(y).iter().any(|&(n, s)| m == n && r != s))
    }

    /// What is added to one floating point slot to get another, by a chain of offsets.
    fn offset(&self, x: usize, y: usize) -> Option<f64> {
        let mut open = vec![(y, 0.0)];
        let mut done = vec![y];
        while let Some((at, sum)) = open.pop() {
            if self.distances.equal(at, x) {
                return Some(sum);
            }
            for &(left, right, by) in &self.offsets {
                for (from, to, by) in [(right, left, by), (left, right, -by)] {
                    if self.distances.equal(from, at) && !done.contains(&to) {
                        done.push(to);
                        open.push((to, sum + by));
                    }
                }
            }
        }
        None
    }
}

/// Whether one comparison with a cell implies another.
fn one_implies(kind: Kind, known: (Cmp, i128), asked: (Cmp, i128)) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let Some(between) = order(kind, known.1, asked.1) else { return false };
    match (known.0, asked.0, between) {
        (a, b, Equal) if a == b => true,
        (Cmp::Eq, asked, between) => asked.admits(between),
        (Cmp::Lt, Cmp::Lt | Cmp::Le | Cmp::Ne, Less | Equal) => true,
        (Cmp::Le, Cmp::Le | Cmp::Lt | Cmp::Ne, Less) => true,
        (Cmp::Gt, Cmp::Gt | Cmp::Ge | Cmp::Ne, Greater | Equal) => true,
        (Cmp::Ge, Cmp::Ge | Cmp::Gt | Cmp::Ne, Greater) => true,
        _ => false,
    }
}

/// Whether bounds of two floating point slots imply how they compare.
fn apart(first: Cmp, cell: i128, second: Cmp, other: i128, asked: Cmp) -> bool {
    let (a, b) = (real(cell), real(other));
    match (first, second) {
        (Cmp::Lt | Cmp::Le | Cmp::Eq, Cmp::Gt | Cmp::Ge | Cmp::Eq) if a < b => {
            matches!(asked, Cmp::Lt | Cmp::Le | Cmp::Ne)
        }
        (Cmp::Gt | Cmp::Ge | Cmp::Eq, Cmp::Lt | Cmp::Le | Cmp::Eq) if a > b => {
            matches!(asked, Cmp::Gt | Cmp::Ge | Cmp::Ne)
        }
        _ => false,
    }
}

/// Whether a sequence sorted one way is sorted the other way.
fn stronger(known: Cmp, asked: Cmp) -> bool {
    matches!((known, asked), (Cmp::Lt | Cmp::Eq, Cmp::Le) | (Cmp::Gt | Cmp::Eq, Cmp::Ge))
}
