//! The slow way: keeps every sample and tries every statement on all of them. The incremental way is held against it.

use crate::layout::{Kind, Layout, Row, Slot, real};
use crate::operand::Operand;
use crate::statement::{Cmp, Constant, Real, Statement};
use crate::value::Type;
use crate::{Points, Sample};
use std::collections::BTreeSet;

pub(crate) struct Oracle {
    pub(crate) layout: Layout,
    pub(crate) rows: Vec<Row>,
    texts: Vec<Vec<Option<String>>>,
}

impl Oracle {
    pub(crate) fn new(points: &Points, samples: &[Sample]) -> Self {
        let id = samples[0].point;
        let layout = Layout::new(&points[id], points.entry_of(id).map(|entry| &points[entry]));
        let row = |sample: &Sample| {
            let mut row = Row::default();
            layout.fill(sample, &mut row);
            row
        };
        let rows = samples.iter().map(row).collect();
        let texts = samples
            .iter()
            .map(|sample| {
                (0..layout.slots.len()).map(|slot| layout.text(slot, sample).map(str::to_owned)).collect()
            })
            .collect();
        Self { layout, rows, texts }
    }

    fn holds(&self, rows: &[usize], statement: &Statement<usize>) -> bool {
        rows.iter().all(|&row| statement.holds(&self.rows[row], &self.layout) != Some(false))
    }

    fn having(&self, rows: &[usize], slots: &[usize]) -> Vec<usize> {
        rows.iter().copied().filter(|&row| self.rows[row].present.has_all(slots)).collect()
    }

    /// Everything that holds, with the number of samples it is about.
    pub(crate) fn holding(&self) -> BTreeSet<(Statement<usize>, u64)> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let mut found = self.plain(&all);
        for &flag in &self.layout.flags {
            let flag = usize::from(flag);
            let values: BTreeSet<Option<i128>> = self.rows.iter().map(|row| row.get(flag)).collect();
            if values.len() == 1 {
                continue;
            }
            for is in [false, true] {
                let rows: Vec<usize> =
                    all.iter().copied().filter(|&row| self.rows[row].get(flag) == Some(is.into())).collect();
                for (then, samples) in self.plain(&rows) {
                    let about = then.operands().into_iter().any(|&slot| slot == flag);
                    if !about && !self.holds(&all, &then) && !self.far_apart(&then) {
                        found.insert((Statement::When { flag, is, then: Box::new(then) }, samples));
                    }
                }
            }
        }
        found
    }

    /// Whether a statement is that integers differ, and they spread so far that this is not followed.
    fn far_apart(&self, statement: &Statement<usize>) -> bool {
        let Statement::Compare { x, cmp: Cmp::Ne, y } = statement else { return false };
        let cells: BTreeSet<i128> =
            self.rows.iter().flat_map(|row| [row.get(*x), row.get(*y)]).flatten().collect();
        let spread = cells.last().zip(cells.first()).is_some_and(|(high, low)| high.abs_diff(*low) >= 1_000);
        self.layout.slots[*x].kind == Kind::Int && spread
    }

    fn plain(&self, rows: &[usize]) -> BTreeSet<(Statement<usize>, u64)> {
        let mut found = Vec::new();
        for (x, slot) in self.layout.slots.iter().enumerate() {
            let having = self.having(rows, &[x]);
            if !having.is_empty() {
                let cells: Vec<i128> = having.iter().map(|&row| self.rows[row].cells[x]).collect();
                self.unary(x, slot, &having, &cells, &mut found);
            }
        }
        let count = self.layout.slots.len();
        for x in 0..count {
            for y in x + 1..count {
                self.pair(x, y, rows, &mut found);
            }
        }
        self.linear(rows, &mut found);
        let counted = |statement: Statement<usize>| {
            let slots: Vec<usize> = statement.operands().into_iter().copied().collect();
            let samples = self.having(rows, &slots).len() as u64;
            assert!(self.holds(rows, &statement), "{statement:?}");
            (statement, samples)
        };
        found.into_iter().map(counted).collect()
    }

    fn unary(
        &self,
        x: usize,
        slot: &Slot,
        rows: &[usize],
        cells: &[i128],
        found: &mut Vec<Statement<usize>>,
    ) {
        let different: BTreeSet<i128> = cells.iter().copied().collect();
        let value = |cmp, with| Statement::Value { x, cmp, with };
        let (least, greatest) = (*different.first().unwrap(), *different.last().unwrap());
        let mut few = |limit: usize| {
            let mut values: Vec<Constant> = match slot.kind {
                Kind::Text => {
                    let texts: BTreeSet<_> =
                        rows.iter().map(|&row| self.texts[row][x].clone().unwrap()).collect();
                    texts.into_iter().map(Constant::Text).collect()
                }
                _ => different.iter().map(|&cell| slot.constant(cell)).collect(),
            };
            values.sort();
            match values.len() {
                1 => found.push(value(Cmp::Eq, values.remove(0))),
                many if many <= limit.min(5) => found.push(Statement::OneOf { x, values }),
                _ => {}
            }
        };
        match slot.kind {
            Kind::Text => few(5),
            Kind::Enum => {
                let Type::Enum { names } = &slot.class else { unreachable!() };
                few(if names.is_empty() { 5 } else { names.len() - 1 });
            }
            Kind::Flag => {
                if different.len() == 1 {
                    few(1);
                }
            }
            Kind::Pointer => {
                if least == 0 && greatest == 0 {
                    found.push(value(Cmp::Eq, Constant::Null));
                }
                if !different.contains(&0) {
                    found.push(value(Cmp::Ne, Constant::Null));
                }
            }
            Kind::Int => {
                few(5);
                if different.len() > 1 {
                    self.bounds(x, slot, &different, found);
                }
            }
            Kind::Float => {
                let reals: Vec<f64> = cells.iter().map(|&cell| real(cell)).collect();
                if reals.iter().any(|real| real.is_nan()) {
                    return;
                }
                few(5);
                if different.len() > 1 {
                    let with = |real| Constant::Real(Real(real));
                    let least = reals.iter().copied().fold(f64::INFINITY, f64::min);
                    let greatest = reals.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let mut all = vec![value(Cmp::Ge, with(least)), value(Cmp::Le, with(greatest))];
                    let signs =
                        [Cmp::Gt, Cmp::Lt, Cmp::Ge, Cmp::Le, Cmp::Ne].map(|cmp| value(cmp, with(0.0)));
                    all.extend(signs.into_iter().find(|sign| self.holds(rows, sign)));
                    all.sort();
                    all.dedup();
                    found.extend(all);
                }
            }
            Kind::Order => {
                let pairs = cells.iter().any(|&cell| cell != 0);
                let ways =
                    [Cmp::Eq, Cmp::Lt, Cmp::Gt, Cmp::Le, Cmp::Ge].map(|cmp| Statement::Sorted { x, cmp });
                found.extend(ways.into_iter().find(|way| pairs && self.holds(rows, way)));
            }
            Kind::Sequence => {}
        }
    }

    fn bounds(&self, x: usize, slot: &Slot, cells: &BTreeSet<i128>, found: &mut Vec<Statement<usize>>) {
        let (least, greatest) = (*cells.first().unwrap(), *cells.last().unwrap());
        let mut bound = |cmp, with| found.push(Statement::Value { x, cmp, with: Constant::Int(with) });
        let limits = slot.limits();
        if limits.0 != Some(least) {
            bound(Cmp::Ge, least);
            if least > 1 {
                bound(Cmp::Ge, 1);
            }
        }
        if limits.1 != Some(greatest) {
            bound(Cmp::Le, greatest);
            if greatest < -1 {
                bound(Cmp::Le, -1);
            }
        }
        if least < 0 && greatest > 0 && !cells.contains(&0) {
            bound(Cmp::Ne, 0);
        }
        let modulus = (2..=greatest - least)
            .filter(|modulus| {
                cells.iter().all(|cell| cell.rem_euclid(*modulus) == least.rem_euclid(*modulus))
            })
            .max();
        if let Some(modulus) = modulus {
            found.push(Statement::Modulus { x, modulus, rest: least.rem_euclid(modulus) });
        }
        let (mut mask, mut bits) = (0, 0);
        for bit in 0..40 {
            let of = |cell: &i128| cell >> bit & 1;
            let constant = cells.iter().all(|cell| of(cell) == of(&least));
            let by_bounds = least >> bit == greatest >> bit;
            let by_modulus = modulus.is_some_and(|modulus| modulus % (2 << bit) == 0);
            if least >= 0 && constant && !by_bounds && !by_modulus {
                mask |= 1 << bit;
                bits |= of(&least) << bit;
            }
        }
        if mask != 0 {
            found.push(Statement::Bits { x, mask, bits });
        }
    }

    fn is_constant(&self, x: usize, rows: &[usize]) -> bool {
        let kind = self.layout.slots[x].kind;
        let cells: BTreeSet<i128> =
            self.having(rows, &[x]).iter().map(|&row| self.rows[row].cells[x]).collect();
        cells.len() == 1 && !matches!(kind, Kind::Pointer | Kind::Sequence)
    }

    fn pair(&self, x: usize, y: usize, rows: &[usize], found: &mut Vec<Statement<usize>>) {
        let (left, right) = (&self.layout.slots[x], &self.layout.slots[y]);
        let both = self.having(rows, &[x, y]);
        let same = left.operand.name == right.operand.name;
        let constant = self.is_constant(x, rows) || self.is_constant(y, rows);
        if !left.comparable(right) || both.is_empty() || !same && constant {
            return;
        }
        let compare = |cmp| Statement::Compare { x, cmp, y };
        let mut ways = vec![Cmp::Eq];
        if matches!(left.kind, Kind::Int | Kind::Float) {
            ways.extend([Cmp::Lt, Cmp::Gt, Cmp::Le, Cmp::Ge]);
        }
        let all = |row: &usize| [self.rows[*row].cells[x], self.rows[*row].cells[y]];
        let spread = |list: &[usize]| {
            let cells: BTreeSet<i128> = list.iter().flat_map(all).collect();
            cells.last().unwrap().abs_diff(*cells.first().unwrap())
        };
        let different = match left.kind {
            Kind::Int => {
                let cells: Vec<usize> =
                    self.having(rows, &[x]).into_iter().chain(self.having(rows, &[y])).collect();
                let cells: BTreeSet<i128> = cells
                    .iter()
                    .flat_map(|&row| [self.rows[row].get(x), self.rows[row].get(y)])
                    .flatten()
                    .collect();
                cells.last().unwrap().abs_diff(*cells.first().unwrap()) < 1_000 && spread(&both) < 1_000
            }
            Kind::Flag => true,
            Kind::Float => false,
            _ => same,
        };
        if different {
            ways.push(Cmp::Ne);
        }
        found.extend(ways.into_iter().map(compare).find(|way| self.holds(&both, way)));
        if left.kind == Kind::Float {
            let differences: Vec<f64> =
                both.iter().map(|&row| self.rows[row].real(x) - self.rows[row].real(y)).collect();
            if differences[0] != 0.0
                && differences[0].is_finite()
                && differences.iter().all(|&by| by == differences[0])
            {
                found.push(Statement::Offset { x, y, by: Real(differences[0]) });
            }
        }
    }

    fn linear(&self, rows: &[usize], found: &mut Vec<Statement<usize>>) {
        let columns: Vec<usize> = (0..self.layout.slots.len())
            .filter(|&x| self.layout.slots[x].kind == Kind::Int && !self.having(rows, &[x]).is_empty())
            .filter(|&x| !self.is_constant(x, rows))
            .collect();
        let mut bound = BTreeSet::new();
        for (at, &x) in columns.iter().enumerate() {
            for &y in &columns[at + 1..] {
                if let Some(line) = self.through(&[x, y], rows) {
                    bound.insert(y);
                    if !matches!(line, Statement::Compare { .. }) {
                        found.push(line);
                    }
                }
            }
        }
        let mut free: Vec<usize> = columns.into_iter().filter(|column| !bound.contains(column)).collect();
        // Of columns that are missing at times, 16 take part.
        let fleeting = |x: &usize| self.having(rows, &[*x]).len() < rows.len();
        let beyond: Vec<usize> = free.iter().copied().filter(|x| fleeting(x)).skip(16).collect();
        free.retain(|x| !beyond.contains(x));
        for (at, &x) in free.iter().enumerate() {
            for (next, &y) in free.iter().enumerate().skip(at + 1) {
                for &z in &free[next + 1..] {
                    found.extend(self.through(&[x, y, z], rows));
                }
            }
        }
    }

    /// The relation through all rows, by minors of as many of them as it takes.
    fn through(&self, slots: &[usize], rows: &[usize]) -> Option<Statement<usize>> {
        let comparable = |(at, x): (usize, &usize)| {
            slots[at + 1..].iter().all(|y| self.layout.slots[*x].comparable(&self.layout.slots[*y]))
        };
        if !slots.iter().enumerate().all(comparable) {
            return None;
        }
        let points: BTreeSet<Vec<i128>> = self
            .having(rows, slots)
            .iter()
            .map(|&row| slots.iter().map(|&slot| self.rows[row].cells[slot]).collect())
            .collect();
        let points: Vec<Vec<i128>> = points.into_iter().collect();
        let origin = points.first()?;
        let steps: Vec<Vec<i128>> =
            points[1..].iter().map(|point| point.iter().zip(origin).map(|(a, b)| a - b).collect()).collect();
        let normals: Vec<Vec<i128>> = if slots.len() == 2 {
            steps.iter().map(|step| vec![step[1], -step[0]]).collect()
        } else {
            let cross = |a: &[i128], b: &[i128]| {
                vec![a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
            };
            steps.iter().flat_map(|a| steps.iter().map(move |b| cross(a, b))).collect()
        };
        let normal = normals.into_iter().find(|normal| normal.iter().any(|&part| part != 0))?;
        let dot = |point: &[i128]| point.iter().zip(&normal).map(|(a, b)| a * b).sum::<i128>();
        if normal.contains(&0) || points.iter().any(|point| dot(point) != dot(origin)) {
            return None;
        }
        let terms = normal.iter().copied().zip(slots.iter().copied()).collect();
        let found = Statement::linear(terms, Cmp::Eq, dot(origin))?.ok()?;
        match &found {
            Statement::Linear { terms, .. } if terms.iter().any(|term| term.0.abs() > crate::MAX_FACTOR) => {
                None
            }
            _ => Some(found),
        }
    }

    pub(crate) fn operands(&self) -> Vec<Operand> {
        self.layout.slots.iter().map(|slot| slot.operand.clone()).collect()
    }
}
