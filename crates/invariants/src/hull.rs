//! The smallest flat (point, line, plane, …) through all rows of integers seen: what holds linearly, for any number of columns.
//!
//! One flat stands for every linear relation at once: a row inside it changes nothing, a row outside raises its
//! dimension by one and takes one relation away. So there are at most as many changes as columns, and a flat without relations costs nothing.
//!
//! It is kept as the reduced echelon form of its equations: some columns are free (the pivots), each other one is an
//! offset plus multiples of free ones. That form is unique, so it depends neither on the order of the rows nor on how they were put
//! together ([`Hull::merge`]).

use crate::field;
use serde::{Deserialize, Serialize};

/// `column = offset + sum of factor * pivot`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Equation {
    column: u16,
    /// Plain form.
    offset: u64,
    /// Pivot column and factor (not zero), in the order of columns.
    terms: Vec<(u16, u64)>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hull {
    columns: u16,
    /// One exact point of the flat, any. Empty while there is no row, and when no relation is left that it would be needed for.
    witness: Vec<i128>,
    pivots: Vec<u16>,
    equations: Vec<Equation>,
    seen: bool,
}

impl PartialEq for Hull {
    fn eq(&self, other: &Self) -> bool {
        (self.columns, self.seen, &self.equations) == (other.columns, other.seen, &other.equations)
    }
}

impl Hull {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns: columns as u16, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.seen
    }

    pub(crate) fn columns(&self) -> usize {
        usize::from(self.columns)
    }

    /// One exact point of the flat.
    pub(crate) fn witness(&self) -> Option<&[i128]> {
        (!self.witness.is_empty()).then_some(&*self.witness)
    }

    /// Whether no linear relation is left.
    pub(crate) fn is_full(&self) -> bool {
        self.seen && self.equations.is_empty()
    }

    /// Takes a row; `row(column)` is its value. Whether it was outside.
    #[inline]
    pub(crate) fn take(&mut self, row: impl Fn(usize) -> i128 + Copy) -> bool {
        if self.columns == 0 {
            return false;
        }
        let known = self.seen && self.equations.iter().all(|equation| equation.residue(row) == 0);
        if !known {
            let values: Vec<u64> = (0..self.columns()).map(|at| field::plain(row(at))).collect();
            self.widen(&values);
        }
        if self.witness.is_empty() {
            self.set_witness(row);
        }
        self.settle();
        !known
    }

    /// How many columns are free; none while there is no row.
    pub(crate) fn freedom(&self) -> Option<usize> {
        self.seen.then_some(self.pivots.len())
    }

    /// Takes a row of plain numbers modulo the prime.
    fn widen(&mut self, row: &[u64]) {
        if !self.seen {
            self.seen = true;
            self.equations = (0..self.columns)
                .map(|column| Equation { column, offset: row[usize::from(column)], terms: Vec::new() })
                .collect();
            return;
        }
        let residues: Vec<u64> = self.equations.iter().map(|equation| equation.residue_of(row)).collect();
        let Some(first) = residues.iter().position(|&residue| residue != 0) else { return };
        let pivot = self.equations.remove(first);
        let scale = field::inverse(field::enter(residues[first]));
        let others = residues.iter().enumerate().filter(|&(at, _)| at != first).map(|(_, &residue)| residue);
        for (equation, residue) in self.equations.iter_mut().zip(others) {
            if residue != 0 {
                equation.absorb(&pivot, field::mul(field::enter(residue), scale));
            }
        }
        let place = self.pivots.partition_point(|&column| column < pivot.column);
        self.pivots.insert(place, pivot.column);
    }

    /// Takes a row modulo the prime; `row(column)` is its value.
    pub(crate) fn widen_with(&mut self, row: impl Fn(usize) -> u64) {
        let values: Vec<u64> = (0..self.columns()).map(row).collect();
        self.widen(&values);
    }

    /// Names an exact point of the flat.
    pub(crate) fn set_witness(&mut self, row: impl Fn(usize) -> i128) {
        self.witness = (0..self.columns()).map(row).collect();
    }

    /// Forgets the exact point if no relation is left.
    fn settle(&mut self) {
        if self.is_full() {
            self.witness = Vec::new();
        }
    }

    /// Points that span the flat, in plain form.
    pub(crate) fn generators(&self) -> Vec<Vec<u64>> {
        if !self.seen {
            return Vec::new();
        }
        let mut origin = vec![0; self.columns()];
        for equation in &self.equations {
            origin[usize::from(equation.column)] = equation.offset;
        }
        let steps = self.pivots.iter().map(|&pivot| {
            let mut point = origin.clone();
            point[usize::from(pivot)] = 1;
            for equation in &self.equations {
                if let Ok(at) = equation.terms.binary_search_by_key(&pivot, |&(column, _)| column) {
                    let column = usize::from(equation.column);
                    point[column] = field::add(point[column], field::leave(equation.terms[at].1));
                }
            }
            point
        });
        let steps: Vec<_> = steps.collect();
        std::iter::once(origin).chain(steps).collect()
    }

    /// Takes all rows that another flat has taken.
    pub(crate) fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.columns, other.columns);
        for point in other.generators() {
            self.widen(&point);
        }
        if self.witness.is_empty() {
            self.witness.clone_from(&other.witness);
        }
        self.settle();
    }

    /// The shadow of the flat on some of its columns, in the given order.
    pub(crate) fn project(&self, columns: &[usize]) -> Self {
        let mut shadow = Self::new(columns.len());
        for point in self.generators() {
            let row: Vec<u64> = columns.iter().map(|&at| point[at]).collect();
            shadow.widen(&row);
        }
        if let Some(witness) = self.witness() {
            shadow.set_witness(|at| witness[columns[at]]);
        }
        shadow.settle();
        shadow
    }

    /// The equations: a column, and the free columns with factors that it depends on.
    pub(crate) fn equations(&self) -> impl Iterator<Item = (usize, &[(u16, u64)])> {
        self.equations.iter().map(|equation| (usize::from(equation.column), &*equation.terms))
    }

    /// Whether a flat read from a file is one.
    pub(crate) fn is_sound(&self) -> bool {
        let sorted = |list: &mut dyn Iterator<Item = u16>| {
            let list: Vec<u16> = list.collect();
            list.windows(2).all(|pair| pair[0] < pair[1]) && list.iter().all(|&at| at < self.columns)
        };
        let pivots = sorted(&mut self.pivots.iter().copied());
        let depend = sorted(&mut self.equations.iter().map(|equation| equation.column));
        let terms = self.equations.iter().all(|equation| {
            equation.offset < field::PRIME
                && sorted(&mut equation.terms.iter().map(|term| term.0))
                && equation.terms.iter().all(|term| {
                    term.1 != 0 && term.1 < field::PRIME && self.pivots.binary_search(&term.0).is_ok()
                })
        });
        let count = self.pivots.len() + self.equations.len();
        let disjoint =
            self.equations.iter().all(|equation| self.pivots.binary_search(&equation.column).is_err());
        let counted = if self.seen { count == self.columns() } else { count == 0 && self.witness.is_empty() };
        let witness = self.witness.is_empty() || self.witness.len() == self.columns();
        pivots && depend && terms && disjoint && counted && witness
    }
}

impl Equation {
    #[inline]
    fn residue(&self, row: impl Fn(usize) -> i128) -> u64 {
        let mut expected = self.offset;
        for &(pivot, factor) in &self.terms {
            let value = field::plain(row(usize::from(pivot)));
            let step = if factor == field::ONE { value } else { field::mul(factor, value) };
            expected = field::add(expected, step);
        }
        field::sub(field::plain(row(usize::from(self.column))), expected)
    }

    fn residue_of(&self, row: &[u64]) -> u64 {
        let expected = self.terms.iter().fold(self.offset, |sum, &(pivot, factor)| {
            field::add(sum, field::mul(factor, row[usize::from(pivot)]))
        });
        field::sub(row[usize::from(self.column)], expected)
    }

    /// Takes a multiple of another equation off, whose column becomes free.
    fn absorb(&mut self, pivot: &Self, multiple: u64) {
        self.offset = field::sub(self.offset, field::mul(multiple, pivot.offset));
        let mut terms: Vec<(u16, u64)> = Vec::with_capacity(self.terms.len() + pivot.terms.len() + 1);
        let mut mine = self.terms.iter().copied().peekable();
        let theirs =
            pivot.terms.iter().map(|&(column, factor)| (column, field::sub(0, field::mul(multiple, factor))));
        let mut theirs: Vec<(u16, u64)> = theirs.chain([(pivot.column, multiple)]).collect();
        theirs.sort_unstable_by_key(|&(column, _)| column);
        for (column, factor) in theirs {
            while let Some(term) = mine.next_if(|term| term.0 < column) {
                terms.push(term);
            }
            let sum = mine.next_if(|term| term.0 == column).map_or(factor, |term| field::add(term.1, factor));
            if sum != 0 {
                terms.push((column, sum));
            }
        }
        terms.extend(mine);
        self.terms = terms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows() -> impl Strategy<Value = Vec<Vec<i128>>> {
        prop::collection::vec(prop::collection::vec(-3_i128..4, 4), 1..12)
    }

    fn hull(rows: &[Vec<i128>]) -> Hull {
        let mut hull = Hull::new(4);
        for row in rows {
            hull.take(|at| row[at]);
        }
        hull
    }

    proptest! {
        #[test]
        fn order_makes_no_difference(mut list in rows(), turn in 0_usize..12) {
            let straight = hull(&list);
            prop_assert!(straight.is_sound());
            let middle = turn % list.len();
            list.rotate_left(middle);
            list.reverse();
            prop_assert_eq!(straight, hull(&list));
        }

        #[test]
        fn merging_is_taking_all(a in rows(), b in rows()) {
            let mut merged = hull(&a);
            merged.merge(&hull(&b));
            let all: Vec<_> = a.iter().chain(&b).cloned().collect();
            prop_assert_eq!(merged, hull(&all));
        }

        #[test]
        fn a_shadow_is_the_hull_of_the_shadows(list in rows()) {
            let shadow = hull(&list).project(&[2, 0]);
            let mut direct = Hull::new(2);
            for row in &list {
                direct.take(|at| row[[2, 0][at]]);
            }
            prop_assert_eq!(shadow.equations, direct.equations);
        }
    }
}
