//! Linear relations, read from the hulls of facts.

use crate::field;
use crate::hull::Hull;
use crate::layout::{Layout, Mask};
use crate::statement::{Cmp, Statement};

/// Factors of a relation are at most so great: with greater ones, almost any few samples fit.
pub const MAX_FACTOR: i128 = 1 << 12;

/// Of slots that are missing at times, so many take part in relations of three.
const MAX_FLEETING: usize = 16;

/// Points that span the hull of each pattern.
pub(crate) struct Flats {
    patterns: Vec<Spanned>,
}

pub(crate) struct Spanned {
    pub(crate) present: Mask,
    /// Columns as slots.
    pub(crate) columns: Vec<u16>,
    pub(crate) points: Vec<Vec<u64>>,
    /// An exact point; none where nothing holds.
    pub(crate) witness: Option<Vec<i128>>,
}

impl Flats {
    pub(crate) fn new(patterns: Vec<Spanned>) -> Self {
        Self { patterns }
    }

    /// The flat through all samples that have some columns, in these columns alone.
    pub(crate) fn flat(&self, slots: &[usize]) -> Hull {
        let mut flat = Hull::new(slots.len());
        for pattern in self.patterns.iter().filter(|pattern| pattern.present.has_all(slots)) {
            let places: Option<Vec<usize>> =
                slots.iter().map(|&slot| pattern.columns.binary_search(&(slot as u16)).ok()).collect();
            let Some(places) = places else { continue };
            for point in &pattern.points {
                if flat.is_full() {
                    break;
                }
                flat.widen_with(|at| point[places[at]]);
            }
            if let Some(witness) = &pattern.witness {
                flat.set_witness(|at| witness[places[at]]);
            }
        }
        flat
    }

    /// Whether a linear equation holds of all samples. Nothing if there is none.
    pub(crate) fn satisfy(&self, terms: &[(i128, usize)], with: i128) -> Option<bool> {
        let slots: Vec<usize> = terms.iter().map(|term| term.1).collect();
        let mut seen = None;
        for pattern in self.patterns.iter().filter(|pattern| pattern.present.has_all(&slots)) {
            for point in &pattern.points {
                let sum = terms.iter().fold(0, |sum, &(factor, slot)| {
                    let place = pattern.columns.binary_search(&(slot as u16));
                    let value = place.map_or(0, |at| point[at]);
                    field::add(sum, field::mul(field::number(factor), value))
                });
                seen = Some(seen.unwrap_or(true) && sum == field::plain(with));
            }
        }
        seen
    }

    /// The relation of two columns that are not constant, if there is one: `x == a*y + b`.
    pub(crate) fn line(&self, x: usize, y: usize) -> Option<Statement<usize>> {
        relation(&self.flat(&[x, y]), &[x, y])
    }

    /// The relations of three columns each, none of which is constant or has a relation to another.
    pub(crate) fn planes(
        &self,
        layout: &Layout,
        columns: &[usize],
        always: impl Fn(usize) -> bool,
    ) -> Vec<Statement<usize>> {
        let (steady, mut fleeting): (Vec<usize>, Vec<usize>) =
            columns.iter().partition(|&&slot| always(slot));
        fleeting.truncate(MAX_FLEETING);
        let mut found = Vec::new();
        let whole = self.flat(&steady);
        let depend = Dependence::new(&whole);
        for i in 0..steady.len() {
            for j in i + 1..steady.len() {
                for k in j + 1..steady.len() {
                    if depend.possible([i, j, k]) {
                        found.extend(self.plane(layout, [steady[i], steady[j], steady[k]]));
                    }
                }
            }
        }
        if !fleeting.is_empty() {
            let mut all: Vec<usize> = steady.iter().chain(&fleeting).copied().collect();
            all.sort_unstable();
            for (at, &x) in all.iter().enumerate() {
                for (next, &y) in all.iter().enumerate().skip(at + 1) {
                    for &z in &all[next + 1..] {
                        if [x, y, z].iter().any(|slot| fleeting.contains(slot)) {
                            found.extend(self.plane(layout, [x, y, z]));
                        }
                    }
                }
            }
        }
        found
    }

    fn plane(&self, layout: &Layout, slots: [usize; 3]) -> Option<Statement<usize>> {
        let [x, y, z] = slots.map(|slot| &layout.slots[slot]);
        if !(x.comparable(y) && y.comparable(z) && x.comparable(z)) {
            return None;
        }
        relation(&self.flat(&slots), &slots)
    }
}

/// Which columns of a flat depend on which.
struct Dependence {
    /// For each column, the free columns it depends on; nothing if it is free itself.
    terms: Vec<Option<Vec<usize>>>,
    any: bool,
}

impl Dependence {
    fn new(flat: &Hull) -> Self {
        let mut terms = vec![None; flat.columns()];
        for (column, of) in flat.equations() {
            terms[column] = Some(of.iter().map(|term| usize::from(term.0)).collect());
        }
        Self { any: terms.iter().any(Option::is_some), terms }
    }

    /// Whether three columns may have a relation. One that depends on free columns only needs just those.
    fn possible(&self, columns: [usize; 3]) -> bool {
        if !self.any {
            return false;
        }
        let mut bound = columns.iter().filter_map(|&column| self.terms[column].as_ref());
        match (bound.next(), bound.next()) {
            (None, _) => false,
            (Some(of), None) => of.len() == 2 && of.iter().all(|free| columns.contains(free)),
            _ => true,
        }
    }
}

/// The one relation of a flat of one dimension less than its columns, if all columns take part and its factors are small.
fn relation(flat: &Hull, slots: &[usize]) -> Option<Statement<usize>> {
    let mut equations = flat.equations();
    let (column, terms) = equations.next()?;
    if equations.next().is_some() || terms.len() + 1 != slots.len() {
        return None;
    }
    let ratios: Option<Vec<(usize, (i128, i128))>> = terms
        .iter()
        .map(|&(free, factor)| Some((usize::from(free), field::ratio(factor, MAX_FACTOR)?)))
        .collect();
    let ratios = ratios?;
    // Over the common denominator.
    let common = ratios.iter().try_fold(1_i128, |all, &(_, (_, below))| {
        let next = all / i128::try_from(crate::statement::gcd(all as u128, below as u128)).ok()? * below;
        (next <= MAX_FACTOR).then_some(next)
    })?;
    let mut sum = vec![(common, slots[column])];
    sum.extend(ratios.iter().map(|&(free, (above, below))| (-above * (common / below), slots[free])));
    if sum.iter().any(|term| term.0.abs() > MAX_FACTOR) {
        return None;
    }
    let witness = flat.witness()?;
    let with = crate::eval::sum(&sum, |slot| {
        slots.iter().position(|known| known == slot).map_or(0, |at| witness[at])
    })?;
    Statement::linear(sum, Cmp::Eq, with)?.ok()
}
