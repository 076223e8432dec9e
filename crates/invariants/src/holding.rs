//! Everything in the grammar that holds of all samples, with what it rests on.

use crate::chance::{Evidence, chance};
use crate::facts::Facts;
use crate::layout::{Kind, Layout, Slot, real, seen};
use crate::query::Truth;
use crate::state::State;
use crate::statement::{Cmp, Constant, Real, Statement};
use crate::unary::{Ints, MAX_ONE_OF, Reals, Unary};
use crate::value::Type;

/// A statement that holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Holding {
    pub(crate) statement: Statement<usize>,
    pub(crate) evidence: Evidence,
}

impl State {
    /// Everything that holds of all samples: first what needs no flag, then by flags.
    pub(crate) fn holding(&self) -> Vec<Holding> {
        let mut found = self.weigh(&self.all, None);
        let flats = self.all.flats();
        for (at, &flag) in self.layout.flags.iter().enumerate() {
            for is in [false, true] {
                let Some(facts) = self.given(at, is) else { continue };
                if facts.all_samples() == 0 {
                    continue;
                }
                let flag = usize::from(flag);
                let given = self.weigh(facts, Some((flag, is)));
                found.extend(given.into_iter().filter_map(|Holding { statement, evidence }| {
                    let about = statement.operands().into_iter().any(|&slot| slot == flag);
                    // Whether integers far apart differ without the flag, too, is not known.
                    let truth = self.all.truth(&self.layout, &flats, &statement);
                    let plain = matches!(truth, Truth::Holds | Truth::Unknown);
                    let then = Box::new(statement);
                    (!about && !plain)
                        .then_some(Holding { statement: Statement::When { flag, is, then }, evidence })
                }));
            }
        }
        found
    }

    fn weigh(&self, facts: &Facts, given: Option<(usize, bool)>) -> Vec<Holding> {
        let given = given.map(|(flag, is)| (flag, i128::from(is)));
        let weigh = |statement: Statement<usize>| {
            let slots: Vec<usize> = statement.operands().into_iter().copied().collect();
            let (samples, distinct) = (facts.samples(&slots), self.sketch.distinct(&slots, given));
            let chance = chance(&statement, &self.layout.slots, facts, samples, distinct);
            Holding { statement, evidence: Evidence { samples, distinct, chance } }
        };
        facts.statements(&self.layout).into_iter().map(weigh).collect()
    }
}

impl Facts {
    /// Every statement of the grammar, without implications, that holds of all samples.
    pub(crate) fn statements(&self, layout: &Layout) -> Vec<Statement<usize>> {
        let mut found = Vec::new();
        for (x, slot) in layout.slots.iter().enumerate() {
            match &self.unary[x] {
                Unary::Ints(ints) => of_ints(slot, x, ints, &mut found),
                Unary::Reals(reals) => of_reals(x, reals, &mut found),
                Unary::Texts(few) => {
                    let values = few.get().unwrap_or_default().iter().cloned().map(Constant::Text);
                    of_few(x, values.collect(), &mut found);
                }
                Unary::Order(seen) => {
                    let cmp = relation_of(*seen, true).filter(|&cmp| cmp != Cmp::Ne);
                    found.extend(cmp.map(|cmp| Statement::Sorted { x, cmp }));
                }
                Unary::Unseen | Unary::Silent => {}
            }
        }
        self.of_pairs(layout, &mut found);
        self.of_lines(layout, &mut found);
        found
    }

    /// Comparisons. One with a constant is a bound, and told as such, unless it is of a variable with what it was.
    fn of_pairs(&self, layout: &Layout, found: &mut Vec<Statement<usize>>) {
        for (at, &(x, y)) in layout.pairs.iter().enumerate() {
            let (x, y) = (usize::from(x), usize::from(y));
            let (slot, other) = (&layout.slots[x], &layout.slots[y]);
            let ordered = matches!(slot.kind, Kind::Int | Kind::Float);
            let same = slot.operand.name == other.operand.name;
            if !same && (self.is_constant(slot.kind, x) || self.is_constant(slot.kind, y)) {
                continue;
            }
            let cmp = relation_of(self.seen(at, layout), ordered);
            // That two addresses or strings differ is no news, unless they are of one variable.
            let news = |cmp: &Cmp| {
                *cmp != Cmp::Ne
                    || matches!(slot.kind, Kind::Int | Kind::Flag)
                    || slot.kind != Kind::Float && same
            };
            found.extend(cmp.filter(news).map(|cmp| Statement::Compare { x, cmp, y }));
            let offset = self.pairs.span(at).and_then(|span| span.constant());
            if let Some(by) = offset.filter(|&by| by != 0.0) {
                found.push(Statement::Offset { x, y, by: Real(by) });
            }
        }
    }

    /// Whether a slot is told to be constant.
    fn is_constant(&self, kind: Kind, slot: usize) -> bool {
        match &self.unary[slot] {
            Unary::Ints(ints) => kind != Kind::Pointer && ints.min == ints.max,
            Unary::Reals(reals) => !reals.strange && reals.min == reals.max,
            Unary::Texts(few) => few.get().is_some_and(|texts| texts.len() == 1),
            _ => false,
        }
    }

    fn of_lines(&self, layout: &Layout, found: &mut Vec<Statement<usize>>) {
        let flats = self.flats();
        let varies = |slot: usize| self.unary[slot].ints().is_some_and(|ints| ints.min < ints.max);
        let mut bound = vec![false; layout.slots.len()];
        for &(x, y) in &layout.pairs {
            let (x, y) = (usize::from(x), usize::from(y));
            if layout.slots[x].kind == Kind::Int
                && varies(x)
                && varies(y)
                && let Some(line) = flats.line(x, y)
            {
                bound[y] = true;
                // Equality is found with the other comparisons.
                found.extend(Some(line).filter(|line| matches!(line, Statement::Linear { .. })));
            }
        }
        let free: Vec<usize> = layout.columns.iter().map(|&slot| usize::from(slot)).collect();
        let free: Vec<usize> = free.into_iter().filter(|&slot| varies(slot) && !bound[slot]).collect();
        found.extend(flats.planes(layout, &free, |slot| self.is_always(slot)));
    }
}

/// The strongest comparison that admits all that was seen.
fn relation_of(all: u8, ordered: bool) -> Option<Cmp> {
    use seen::{LESS, MORE, SAME};
    match (all, ordered) {
        (SAME, _) => Some(Cmp::Eq),
        (LESS, true) => Some(Cmp::Lt),
        (MORE, true) => Some(Cmp::Gt),
        (bits, true) if bits == LESS | SAME => Some(Cmp::Le),
        (bits, true) if bits == MORE | SAME => Some(Cmp::Ge),
        (bits, _) if bits != 0 && bits & SAME == 0 && bits & seen::STRANGE == 0 => Some(Cmp::Ne),
        _ => None,
    }
}

fn of_few(x: usize, mut values: Vec<Constant>, found: &mut Vec<Statement<usize>>) {
    values.sort();
    match values.len() {
        0 => {}
        1 => found.push(Statement::Value { x, cmp: Cmp::Eq, with: values.remove(0) }),
        2..=MAX_ONE_OF => found.push(Statement::OneOf { x, values }),
        _ => {}
    }
}

fn of_ints(slot: &Slot, x: usize, ints: &Ints, found: &mut Vec<Statement<usize>>) {
    let few = ints.few.get();
    let constants = |cells: &[i128]| cells.iter().map(|&cell| slot.constant(cell)).collect::<Vec<_>>();
    let value = |cmp, cell| Statement::Value { x, cmp, with: slot.constant(cell) };
    match slot.kind {
        Kind::Pointer => {
            found.extend((ints.max == 0).then(|| value(Cmp::Eq, 0)));
            found.extend((!ints.zero).then(|| value(Cmp::Ne, 0)));
        }
        Kind::Flag => found.extend((ints.min == ints.max).then(|| value(Cmp::Eq, ints.min))),
        Kind::Enum => {
            let Type::Enum { names } = &slot.class else { return };
            let some = few.filter(|few| few.len() == 1 || few.len() < names.len() || names.is_empty());
            of_few(x, some.map(constants).unwrap_or_default(), found);
        }
        _ if ints.min == ints.max => found.push(value(Cmp::Eq, ints.min)),
        _ => {
            of_few(x, few.map(constants).unwrap_or_default(), found);
            of_range(slot, x, ints, found);
            if let Ok(modulus @ 2..) = i128::try_from(ints.step) {
                found.push(Statement::Modulus { x, modulus, rest: ints.min.rem_euclid(modulus) });
            }
            of_bits(x, ints, found);
        }
    }
}

/// Bounds that its type does not have anyhow, and what they say of the sign.
fn of_range(slot: &Slot, x: usize, ints: &Ints, found: &mut Vec<Statement<usize>>) {
    let (least, greatest) = slot.limits();
    let mut bound = |cmp, with: i128| found.push(Statement::Value { x, cmp, with: Constant::Int(with) });
    if least.is_none_or(|least| ints.min > least) {
        bound(Cmp::Ge, ints.min);
        if ints.min > 1 {
            bound(Cmp::Ge, 1);
        }
    }
    if greatest.is_none_or(|greatest| ints.max < greatest) {
        bound(Cmp::Le, ints.max);
        if ints.max < -1 {
            bound(Cmp::Le, -1);
        }
    }
    if !ints.zero && ints.min < 0 && ints.max > 0 {
        bound(Cmp::Ne, 0);
    }
}

/// Bits that are always set or always clear, without those that bounds or a modulus say.
fn of_bits(x: usize, ints: &Ints, found: &mut Vec<Statement<usize>>) {
    if ints.min < 0 {
        return;
    }
    let below = 128 - (ints.min ^ ints.max).leading_zeros();
    let above = ints.step.trailing_zeros();
    let span = |bits: u32| if bits >= 127 { i128::MAX } else { (1_i128 << bits) - 1 };
    let mask = !(ints.always ^ ints.ever) & span(below) & !span(above.min(below));
    if mask != 0 {
        found.push(Statement::Bits { x, mask, bits: ints.always & mask });
    }
}

fn of_reals(x: usize, reals: &Reals, found: &mut Vec<Statement<usize>>) {
    if reals.strange {
        return;
    }
    let few = reals.few.get().unwrap_or_default().iter().map(|&cell| Constant::Real(Real(real(cell))));
    of_few(x, few.collect(), found);
    if reals.min == reals.max {
        return;
    }
    let mut bound =
        |cmp, with: f64| found.push(Statement::Value { x, cmp, with: Constant::Real(Real(with)) });
    if reals.min != 0.0 {
        bound(Cmp::Ge, reals.min);
    }
    if reals.max != 0.0 {
        bound(Cmp::Le, reals.max);
    }
    if reals.min >= 0.0 {
        bound(if reals.zero { Cmp::Ge } else { Cmp::Gt }, 0.0);
    } else if reals.max <= 0.0 {
        bound(if reals.zero { Cmp::Le } else { Cmp::Lt }, 0.0);
    } else if !reals.zero {
        bound(Cmp::Ne, 0.0);
    }
}

impl Slot {
    /// What a statement calls a value of this slot.
    pub(crate) fn constant(&self, cell: i128) -> Constant {
        match (self.kind, &self.class) {
            (Kind::Flag, _) => Constant::Bool(cell != 0),
            (Kind::Pointer, _) if cell == 0 => Constant::Null,
            (Kind::Enum, Type::Enum { names }) => {
                let name = names.iter().find(|known| known.0 == cell).map(|known| known.1.clone());
                name.map_or(Constant::Int(cell), Constant::Name)
            }
            (Kind::Float, _) => Constant::Real(Real(real(cell))),
            _ => Constant::Int(cell),
        }
    }
}
