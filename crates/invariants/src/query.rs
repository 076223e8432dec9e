//! Whether a statement holds of all samples that facts were made of.

use crate::eval::{admits, order, sorted};
use crate::facts::Facts;
use crate::flats::Flats;
use crate::layout::{Kind, Layout, Slot, real, seen};
use crate::pairs::{tolerance, too_far};
use crate::state::State;
use crate::statement::{Cmp, Constant, Statement};
use crate::unary::{Ints, Reals, Unary};

/// What facts say of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// It holds of every sample that has its variables.
    Holds,
    /// Some sample breaks it.
    Broken,
    /// No sample had all its variables.
    Unseen,
    /// The facts do not say: only statements that a person wrote.
    Unknown,
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Broken }
    }
}

/// Answers for a state, with its linear relations worked out once.
pub(crate) struct Judge<'a> {
    state: &'a State,
    all: Flats,
    /// For each flag of the layout, where it is false and where it is true.
    given: Vec<[Option<Flats>; 2]>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(state: &'a State) -> Self {
        let side = |flag: usize, is: bool| state.given(flag, is).map(Facts::flats);
        let given = (0..state.layout.flags.len()).map(|flag| [side(flag, false), side(flag, true)]).collect();
        Self { state, all: state.all.flats(), given }
    }

    /// What is known of a statement.
    pub(crate) fn truth(&self, statement: &Statement<usize>) -> Truth {
        let State { layout, all, .. } = self.state;
        let Statement::When { flag, is, then } = statement else {
            return all.truth(layout, &self.all, statement);
        };
        let Some(at) = layout.flags.iter().position(|&known| usize::from(known) == *flag) else {
            return Truth::Unknown;
        };
        match (self.state.given(at, *is), &self.given[at][usize::from(*is)]) {
            (Some(facts), Some(flats)) => facts.truth(layout, flats, then),
            _ if all.unary[*flag].ints().is_some_and(|ints| ints.min == i128::from(*is)) => {
                all.truth(layout, &self.all, then)
            }
            _ => Truth::Unseen,
        }
    }
}

impl Facts {
    /// What is known of a statement that is no implication.
    pub(crate) fn truth(&self, layout: &Layout, flats: &Flats, statement: &Statement<usize>) -> Truth {
        let slots: Vec<usize> = statement.operands().into_iter().copied().collect();
        if slots.iter().any(|&slot| self.unary[slot] == Unary::Unseen) {
            return Truth::Unseen;
        }
        match statement {
            Statement::Value { x, cmp, with } => self.value(&layout.slots[*x], *x, *cmp, with),
            Statement::OneOf { x, values } => self.one_of(&layout.slots[*x], *x, values),
            Statement::Compare { x, cmp, y } => self.compare(layout, *x, *cmp, *y),
            Statement::Linear { terms, cmp: Cmp::Eq, with } => {
                flats.satisfy(terms, *with).map_or(Truth::Unseen, Truth::from)
            }
            Statement::Linear { .. } => Truth::Unknown,
            Statement::Offset { x, y, by } => {
                let Some(pair) = layout.pair(*x, *y) else { return Truth::Unknown };
                let Some(span) = self.pairs.span(pair) else { return Truth::Unknown };
                match span.constant() {
                    Some(known) => ((known - by.0).abs() <= tolerance(span.scale)).into(),
                    None if self.samples(&slots) == 0 => Truth::Unseen,
                    None => Truth::Broken,
                }
            }
            Statement::Modulus { x, modulus, rest } => self.ints(*x, |ints| {
                let steps = ints.step % modulus.unsigned_abs().max(1) == 0;
                (steps && ints.min.rem_euclid((*modulus).max(1)) == *rest).into()
            }),
            Statement::Bits { x, mask, bits } => {
                self.ints(*x, |ints| (ints.always & mask == *bits && ints.ever & mask == *bits).into())
            }
            Statement::Sorted { x, cmp } => match &self.unary[*x] {
                Unary::Order(seen) => sorted(*cmp, *seen).into(),
                _ => Truth::Unknown,
            },
            Statement::When { .. } => Truth::Unknown,
        }
    }

    fn ints(&self, slot: usize, of: impl FnOnce(&Ints) -> Truth) -> Truth {
        self.unary[slot].ints().map_or(Truth::Unknown, of)
    }

    fn value(&self, slot: &Slot, x: usize, cmp: Cmp, with: &Constant) -> Truth {
        let Some(cell) = with.cell(slot) else { return Truth::Unknown };
        match &self.unary[x] {
            Unary::Ints(ints) => int_value(ints, cmp, cell),
            Unary::Reals(reals) => real_value(reals, cmp, real(cell)),
            Unary::Texts(few) => match (few.get(), with, cmp) {
                (Some(values), Constant::Text(text), Cmp::Eq) => {
                    values.iter().all(|value| value == text).into()
                }
                (Some(values), Constant::Text(text), Cmp::Ne) => {
                    values.iter().all(|value| value != text).into()
                }
                (None, _, Cmp::Eq) => Truth::Broken,
                _ => Truth::Unknown,
            },
            _ => Truth::Unknown,
        }
    }

    fn one_of(&self, slot: &Slot, x: usize, values: &[Constant]) -> Truth {
        let known = |cell: i128| values.iter().any(|value| value.cell(slot) == Some(cell));
        let few = match &self.unary[x] {
            Unary::Ints(ints) => ints.few.get(),
            Unary::Reals(reals) => reals.few.get(),
            Unary::Texts(few) => {
                return match few.get() {
                    Some(texts) => texts
                        .iter()
                        .all(|text| {
                            values.iter().any(|value| matches!(value, Constant::Text(known) if known == text))
                        })
                        .into(),
                    None => Truth::Broken,
                };
            }
            _ => return Truth::Unknown,
        };
        match few {
            Some(few) => few.iter().all(|&cell| known(cell)).into(),
            None if values.len() <= crate::unary::MAX_ONE_OF => Truth::Broken,
            None => Truth::Unknown,
        }
    }

    fn compare(&self, layout: &Layout, x: usize, cmp: Cmp, y: usize) -> Truth {
        let (low, high, cmp) = if x < y { (x, y, cmp) } else { (y, x, cmp.turned()) };
        let Some(pair) = layout.pair(low, high) else { return Truth::Unknown };
        let all = self.seen(pair, layout);
        if all == 0 {
            return Truth::Unseen;
        }
        let kind = layout.slots[x].kind;
        let lost = kind == Kind::Float || kind == Kind::Int && too_far(&self.unary[x], &self.unary[y]);
        if cmp == Cmp::Ne && lost && all == seen::LESS | seen::SAME | seen::MORE {
            return Truth::Unknown;
        }
        sorted(cmp, all).into()
    }
}

impl Layout {
    /// The number of a pair of slots, the smaller one first.
    pub(crate) fn pair(&self, x: usize, y: usize) -> Option<usize> {
        self.pairs.binary_search(&(x as u16, y as u16)).ok()
    }
}

fn int_value(ints: &Ints, cmp: Cmp, cell: i128) -> Truth {
    match cmp {
        Cmp::Eq => (ints.min == cell && ints.max == cell).into(),
        Cmp::Lt => (ints.max < cell).into(),
        Cmp::Le => (ints.max <= cell).into(),
        Cmp::Gt => (ints.min > cell).into(),
        Cmp::Ge => (ints.min >= cell).into(),
        Cmp::Ne if cell == 0 => (!ints.zero).into(),
        Cmp::Ne if cell < ints.min || cell > ints.max => Truth::Holds,
        Cmp::Ne => ints.few.get().map_or(Truth::Unknown, |few| (!few.contains(&cell)).into()),
    }
}

fn real_value(reals: &Reals, cmp: Cmp, value: f64) -> Truth {
    let of = |extreme: f64| admits(cmp, order(Kind::Float, bits(extreme), bits(value)));
    match cmp {
        Cmp::Ne if value == 0.0 => (!reals.zero).into(),
        Cmp::Ne => reals.few.get().map_or(Truth::Unknown, |few| (!few.contains(&bits(value))).into()),
        Cmp::Eq => (!reals.strange && of(reals.min) && of(reals.max)).into(),
        Cmp::Lt | Cmp::Le => (!reals.strange && of(reals.max)).into(),
        Cmp::Gt | Cmp::Ge => (!reals.strange && of(reals.min)).into(),
    }
}

fn bits(value: f64) -> i128 {
    crate::layout::cell_of_real(value)
}
