//! Upper bounds of differences of slots, closed under addition: orders, bounds and offsets with all that follows from them.
//!
//! `x < y` of integers is `x - y <= -1`; a bound is a difference to a slot that is always zero. Of floating point numbers only orders are
//! entered, as if they were integers: what follows from those by adding up is right for them, too.

use crate::layout::Layout;
use crate::statement::{Cmp, Statement};

#[derive(Clone, Debug)]
pub(crate) struct Distances {
    size: usize,
    /// `at(x, y)` bounds `x - y`.
    bounds: Vec<i128>,
}

/// No bound.
const FAR: i128 = i128::MAX;

impl Distances {
    pub(crate) fn new(slots: usize) -> Self {
        let size = slots + 1;
        let mut bounds = vec![FAR; size * size];
        (0..size).for_each(|at| bounds[at * size + at] = 0);
        Self { size, bounds }
    }

    /// The slot that is always zero.
    pub(crate) fn zero(&self) -> usize {
        self.size - 1
    }

    /// The upper bound of `x - y`.
    pub(crate) fn bound(&self, x: usize, y: usize) -> Option<i128> {
        let bound = self.bounds[x * self.size + y];
        (bound != FAR).then_some(bound)
    }

    /// Learns that `x - y <= bound`.
    pub(crate) fn add(&mut self, x: usize, y: usize, bound: i128) {
        if self.bound(x, y).is_some_and(|known| known <= bound) {
            return;
        }
        for from in 0..self.size {
            let Some(before) = self.bound(from, x).and_then(|before| before.checked_add(bound)) else {
                continue;
            };
            for to in 0..self.size {
                let Some(after) = self.bound(y, to) else { continue };
                let Some(sum) = before.checked_add(after) else { continue };
                let known = &mut self.bounds[from * self.size + to];
                *known = (*known).min(sum);
            }
        }
    }

    /// Whether two slots are known to be equal.
    pub(crate) fn equal(&self, x: usize, y: usize) -> bool {
        x == y
            || self.bound(x, y).is_some_and(|bound| bound <= 0)
                && self.bound(y, x).is_some_and(|bound| bound <= 0)
    }

    /// The least and the greatest value of a slot.
    pub(crate) fn range(&self, x: usize) -> (Option<i128>, Option<i128>) {
        (self.bound(self.zero(), x).and_then(i128::checked_neg), self.bound(x, self.zero()))
    }

    /// Whether an edge follows from other edges, each `(x, y, bound)`.
    pub(crate) fn follows(slots: usize, edge: (usize, usize, i128), others: &[(usize, usize, i128)]) -> bool {
        let mut reach = vec![FAR; slots + 1];
        reach[edge.0] = 0;
        for _ in 0..=slots {
            let mut changed = false;
            for &(x, y, bound) in others {
                if reach[x] != FAR
                    && let Some(sum) = reach[x].checked_add(bound)
                    && sum < reach[y]
                {
                    reach[y] = sum;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        reach[edge.1] <= edge.2
    }
}

/// The edges that a statement about two slots, or a bound, is.
pub(crate) fn edges(layout: &Layout, zero: usize, statement: &Statement<usize>) -> Vec<(usize, usize, i128)> {
    let around = |cmp: Cmp, x: usize, y: usize, by: i128| -> Vec<(usize, usize, i128)> {
        let up = |less: i128| by.checked_sub(less).map(|bound| (x, y, bound));
        let down =
            |less: i128| by.checked_neg().and_then(|by| by.checked_sub(less)).map(|bound| (y, x, bound));
        let list = match cmp {
            Cmp::Eq => [up(0), down(0)],
            Cmp::Le => [up(0), None],
            Cmp::Lt => [up(1), None],
            Cmp::Ge => [None, down(0)],
            Cmp::Gt => [None, down(1)],
            Cmp::Ne => [None, None],
        };
        list.into_iter().flatten().collect()
    };
    match statement {
        Statement::Value { x, cmp, with } if layout.slots[*x].kind.is_number() => {
            with.cell(&layout.slots[*x]).map_or_else(Vec::new, |cell| around(*cmp, *x, zero, cell))
        }
        Statement::OneOf { x, values } if layout.slots[*x].kind.is_number() => {
            let cells: Vec<i128> = values.iter().filter_map(|value| value.cell(&layout.slots[*x])).collect();
            let (least, greatest) = (cells.iter().min(), cells.iter().max());
            let low = least.map_or_else(Vec::new, |&least| around(Cmp::Ge, *x, zero, least));
            let high = greatest.map_or_else(Vec::new, |&greatest| around(Cmp::Le, *x, zero, greatest));
            low.into_iter().chain(high).collect()
        }
        Statement::Compare { x, cmp, y } => around(*cmp, *x, *y, 0),
        Statement::Linear { terms, cmp, with } => match terms[..] {
            [(1, x), (-1, y)] => around(*cmp, x, y, *with),
            _ => Vec::new(),
        },
        Statement::Offset { x, y, by } => around(if by.0 > 0.0 { Cmp::Gt } else { Cmp::Lt }, *x, *y, 0),
        _ => Vec::new(),
    }
}
