//! Leaves out what follows from the rest.
//!
//! Statements are taken in an order that says which is the better one to tell; one that follows from those before it is left out. Orders are looked at
//! a second time, from the last to the first, since one of them may follow from later ones. The order speaks of kinds and names only, so the
//! outcome depends neither on samples' order nor on that of declarations.

use crate::distances::{Distances, edges};
use crate::holding::Holding;
use crate::known::Known;
use crate::layout::{Layout, Mask};
use crate::state::State;
use crate::statement::{Cmp, Constant, Real, Statement};

/// Which statements are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taste {
    /// Simple ones first: constants, equalities, relations.
    Plain,
    /// First those that say what the code between entry and exit does to shared variables.
    Transitions,
}

/// Whether a statement says what happens to variables: it speaks of what they are and of what they were.
/// A condition of it does not count.
pub(crate) fn is_transition(layout: &Layout, statement: &Statement<usize>) -> bool {
    let operands = statement.core().operands();
    let orig = |slot: &&usize| layout.slots[**slot].operand.orig;
    operands.iter().any(orig) && !operands.iter().all(orig)
}

/// Whether all that a statement speaks of is shared.
pub(crate) fn is_shared(layout: &Layout, statement: &Statement<usize>) -> bool {
    statement.operands().into_iter().any(|&slot| layout.slots[slot].shared)
}

/// Whether it is about one variable only, now and then.
pub(crate) fn is_of_one(layout: &Layout, statement: &Statement<usize>) -> bool {
    let mut names = statement.operands().into_iter().map(|&slot| &layout.slots[slot].operand);
    let first = names.next();
    names.all(|next| first.is_some_and(|first| first.name == next.name && first.part == next.part))
}

/// Kinds of statements, the better one first.
pub(crate) fn kind(statement: &Statement<usize>) -> u8 {
    match statement {
        Statement::Value { cmp: Cmp::Eq, .. } => 0,
        Statement::Compare { cmp: Cmp::Eq, .. } => 1,
        Statement::Offset { .. } => 2,
        Statement::Linear { terms, .. } => match terms[..] {
            [(1, _), (-1, _)] => 2,
            [_, _] => 3,
            _ => 4,
        },
        Statement::OneOf { .. } => 5,
        Statement::Value { .. } => 6,
        Statement::Modulus { .. } => 7,
        Statement::Compare { cmp, .. } if *cmp != Cmp::Ne => 8,
        Statement::Sorted { .. } => 9,
        Statement::Bits { .. } => 10,
        Statement::Compare { .. } => 11,
        Statement::When { then, .. } => 12 + kind(then),
    }
}

/// How great the numbers of a linear statement are.
fn weight(statement: &Statement<usize>) -> (u128, u128) {
    match statement.core() {
        Statement::Linear { terms, with, .. } => {
            (terms.iter().map(|term| term.0.unsigned_abs()).sum(), with.unsigned_abs())
        }
        _ => (0, 0),
    }
}

/// Bounds of one variable on one side, the tighter one first.
fn tightness(statement: &Statement<usize>) -> Option<(usize, bool, i128, Option<Real>)> {
    let Statement::Value { x, cmp, with } = statement.core() else { return None };
    let upper = matches!(cmp, Cmp::Le | Cmp::Lt);
    match with {
        Constant::Int(with) => Some((*x, upper, if upper { *with } else { with.saturating_neg() }, None)),
        Constant::Real(with) => Some((*x, upper, 0, Some(Real(if upper { with.0 } else { -with.0 })))),
        _ => None,
    }
}

/// Sorts statements, the better one first.
pub(crate) fn sort(layout: &Layout, list: &mut [Holding], taste: Taste) {
    list.sort_by_cached_key(|holding| {
        let statement = &holding.statement;
        let transition = is_transition(layout, statement);
        let class = match taste {
            Taste::Plain => 0,
            Taste::Transitions => match (transition, is_shared(layout, statement)) {
                (true, true) => 0,
                (true, false) => 1,
                (false, true) => 2,
                (false, false) => 3,
            },
        };
        // Of one variable now and then, of variables at one time, and only then of one now and another one then.
        let mixed = match (transition, is_of_one(layout, statement)) {
            (true, true) => 0,
            (false, _) => 1,
            (true, false) => 2,
        };
        (class, kind(statement), mixed, weight(statement), tightness(statement), statement.clone())
    });
}

/// Leaves out what follows from the rest.
pub(crate) fn reduce(state: &State, list: Vec<Holding>, taste: Taste) -> Vec<Holding> {
    reduce_beside(state, Vec::new(), list, taste)
}

/// Leaves out what follows from the rest and from statements that are no news.
pub(crate) fn reduce_beside(
    state: &State,
    mut old: Vec<Holding>,
    mut list: Vec<Holding>,
    taste: Taste,
) -> Vec<Holding> {
    sort(&state.layout, &mut list, taste);
    sort(&state.layout, &mut old, Taste::Plain);
    let (given, plain): (Vec<Holding>, Vec<Holding>) =
        list.into_iter().partition(|holding| matches!(holding.statement, Statement::When { .. }));
    let mut shelves = Shelves::new(state);
    for holding in &old {
        if !matches!(holding.statement, Statement::When { .. }) {
            shelves.accept(&holding.statement, &holding.statement);
        }
    }
    let before = shelves.told.clone();
    let mut told: Vec<Holding> = Vec::new();
    for holding in plain {
        if shelves.accept(&holding.statement, &holding.statement) {
            told.push(holding);
        }
    }
    thin(state, &mut told);
    thin_bounds(state, &mut told);
    let statements: Vec<&Statement<usize>> =
        before.iter().chain(told.iter().map(|holding| &holding.statement)).collect();
    let given = conditions(state, &statements, given);
    told.extend(given);
    told
}

/// What is known where certain slots are there. A statement about variables that are missing at times says nothing of samples without
/// them, so it takes part only in what is concluded where they are.
struct Shelves<'a> {
    state: &'a State,
    shelves: Vec<(Mask, Known<'a>)>,
    told: Vec<Statement<usize>>,
}

impl<'a> Shelves<'a> {
    fn new(state: &'a State) -> Self {
        Self { state, shelves: Vec::new(), told: Vec::new() }
    }

    /// The shelf for what is about some slots.
    fn shelf(&mut self, slots: &[usize]) -> &mut Known<'a> {
        let along = self.state.all.along(slots);
        let at = match self.shelves.iter().position(|shelf| shelf.0 == along) {
            Some(at) => at,
            None => {
                let mut known = Known::new(&self.state.layout);
                let fits = |statement: &&Statement<usize>| along.has_all(&slots_of(statement));
                self.told.iter().filter(fits).for_each(|statement| known.add(statement));
                self.shelves.push((along, known));
                self.shelves.len() - 1
            }
        };
        &mut self.shelves[at].1
    }

    fn add(&mut self, statement: &Statement<usize>) {
        let slots = slots_of(statement);
        for (along, known) in &mut self.shelves {
            if along.has_all(&slots) {
                known.add(statement);
            }
        }
        self.told.push(statement.clone());
    }

    /// Learns a statement unless it follows. `whole` names all slots that must be there for it to be about anything.
    fn accept(&mut self, statement: &Statement<usize>, whole: &Statement<usize>) -> bool {
        let news = !self.shelf(&slots_of(whole)).implies(statement);
        if news {
            self.add(statement);
        }
        news
    }
}

fn slots_of(statement: &Statement<usize>) -> Vec<usize> {
    statement.operands().into_iter().copied().collect()
}

/// Takes orders out that follow from other statements, also later ones.
fn thin(state: &State, told: &mut Vec<Holding>) {
    let (layout, slots) = (&state.layout, state.layout.slots.len());
    let is_order = |statement: &Statement<usize>| {
        matches!(statement, Statement::Compare { cmp: Cmp::Lt | Cmp::Le | Cmp::Gt | Cmp::Ge, .. })
    };
    let mut all: Vec<_> = told.iter().map(|holding| edges(layout, slots, &holding.statement)).collect();
    for at in (0..told.len()).rev() {
        let [edge] = all[at][..] else { continue };
        if !is_order(&told[at].statement) {
            continue;
        }
        let along = state.all.along(&slots_of(&told[at].statement));
        let there = |slot: usize| slot == slots || along.has(slot);
        let others: Vec<_> = all
            .iter()
            .enumerate()
            .filter(|other| other.0 != at)
            .flat_map(|other| other.1.iter().copied())
            .filter(|other| there(other.0) && there(other.1))
            .collect();
        if Distances::follows(slots, edge, &others) {
            told.remove(at);
            all.remove(at);
        }
    }
}

/// Takes bounds out that one relation implies, with the limits of types: an unsigned number that is greater than another one is not zero.
fn thin_bounds(state: &State, told: &mut Vec<Holding>) {
    let (layout, zero) = (&state.layout, state.layout.slots.len());
    let limits = |slot: usize| {
        let (least, greatest) = layout.slots[slot].limits();
        let low = least.and_then(i128::checked_neg).map(|bound| (zero, slot, bound));
        low.into_iter().chain(greatest.map(|bound| (slot, zero, bound)))
    };
    for at in (0..told.len()).rev() {
        let Statement::Value { x, .. } = told[at].statement else { continue };
        let [edge] = edges(layout, zero, &told[at].statement)[..] else { continue };
        let along = state.all.along(&[x]);
        let implied = told.iter().enumerate().filter(|other| other.0 != at).any(|(_, other)| {
            let slots = slots_of(&other.statement);
            if slots.len() != 2 || !slots.contains(&x) || !along.has_all(&slots) {
                return false;
            }
            let mut all = edges(layout, zero, &other.statement);
            all.extend(slots.iter().flat_map(|&slot| limits(slot)));
            Distances::follows(zero, edge, &all)
        });
        if implied {
            told.remove(at);
        }
    }
}

/// What is left of implications: each is held against what is known where its flag is so.
fn conditions(state: &State, plain: &[&Statement<usize>], given: Vec<Holding>) -> Vec<Holding> {
    let mut told: Vec<Holding> = Vec::new();
    for &flag in &state.layout.flags {
        for value in [false, true] {
            let flag = usize::from(flag);
            let mine: Vec<&Holding> = given
                .iter()
                .filter(|holding| {
                    matches!(holding.statement, Statement::When { flag: of, is, .. } if of == flag && is == value)
                })
                .collect();
            if mine.is_empty() {
                continue;
            }
            let mut here = Shelves::new(state);
            plain.iter().for_each(|statement| here.add(statement));
            here.add(&Statement::Value { x: flag, cmp: Cmp::Eq, with: Constant::Bool(value) });
            // What was told for another flag that is so whenever this one is.
            for other in &told {
                let Statement::When { flag: of, is, then } = &other.statement else { continue };
                let so = Statement::Value { x: *of, cmp: Cmp::Eq, with: Constant::Bool(*is) };
                if here.shelf(&[flag]).implies(&so) {
                    here.add(then);
                }
            }
            let mut kept: Vec<Holding> = Vec::new();
            for holding in mine {
                let Statement::When { then, .. } = &holding.statement else { continue };
                let turned = contrapositive(&holding.statement);
                let twice = turned.is_some_and(|turned| told.iter().any(|other| other.statement == turned));
                if !twice && here.accept(then, &holding.statement) {
                    kept.push(holding.clone());
                }
            }
            told.extend(kept);
        }
    }
    told
}

/// `!b ==> !a` for `a ==> b`.
fn contrapositive(statement: &Statement<usize>) -> Option<Statement<usize>> {
    let Statement::When { flag, is, then } = statement else { return None };
    let Statement::Value { x, cmp: Cmp::Eq, with: Constant::Bool(value) } = &**then else { return None };
    let back = Statement::Value { x: *flag, cmp: Cmp::Eq, with: Constant::Bool(!is) };
    Some(Statement::When { flag: *x, is: !value, then: Box::new(back) })
}
