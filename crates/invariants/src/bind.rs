//! Finds the slots that a statement in words speaks of, and whether it makes sense there.

use crate::layout::{Kind, Layout};
use crate::operand::{Operand, Part};
use crate::statement::{Cmp, Constant, Real, Statement};

/// Why a statement cannot be checked at a point.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The program has no such point.
    #[error("the program has no point {0}")]
    NoPoint(String),
    /// The point has no such variable.
    #[error("there is no {0} here")]
    NoVariable(String),
    /// The variable is of a type that has no such statement.
    #[error("{0} {1}")]
    WrongType(String, &'static str),
}

impl Layout {
    /// The statement of this layout's slots.
    pub(crate) fn bind(&self, statement: &Statement<Operand>) -> Result<Statement<usize>, BindError> {
        for operand in statement.operands() {
            if self.find(operand).is_none() {
                return Err(BindError::NoVariable(operand.to_string()));
            }
        }
        let bound = statement.map(&mut |operand| self.find(operand)).expect("all were found");
        self.sense(bound, true)
    }

    fn sense(&self, statement: Statement<usize>, conditions: bool) -> Result<Statement<usize>, BindError> {
        let kind = |slot: usize| self.slots[slot].kind;
        let wrong = |slot: usize, why| {
            let operand = &self.slots[slot].operand;
            Err(BindError::WrongType(operand.clone().part(shown(operand.part)).to_string(), why))
        };
        let ordered = |cmp: Cmp, slot: usize| {
            matches!(cmp, Cmp::Eq | Cmp::Ne) || matches!(kind(slot), Kind::Int | Kind::Float)
        };
        match statement {
            Statement::Value { x, cmp, ref with } => match with.cell(&self.slots[x]) {
                None => wrong(x, "never has this value"),
                Some(_) if !ordered(cmp, x) => wrong(x, "has no order"),
                Some(_) => Ok(with_type(statement, kind(x))),
            },
            Statement::OneOf { x, ref values } => {
                match values.iter().all(|value| value.cell(&self.slots[x]).is_some()) {
                    true => Ok(with_type(statement, kind(x))),
                    false => wrong(x, "never has one of these values"),
                }
            }
            Statement::Compare { x, cmp, y } => match kind(x) == kind(y) {
                false => wrong(x, "cannot be compared with something of another type"),
                true if !ordered(cmp, x) => wrong(x, "has no order"),
                true => Ok(statement),
            },
            Statement::Linear { ref terms, cmp, with } => match terms[..] {
                [(1, x), (-1, y)] if cmp == Cmp::Eq && kind(x) == Kind::Float && kind(y) == Kind::Float => {
                    Ok(Statement::Offset { x, y, by: Real(with as f64) })
                }
                _ => match terms.iter().find(|term| kind(term.1) != Kind::Int) {
                    Some(term) => wrong(term.1, "is no integer, so there is no sum of it"),
                    None => Ok(statement),
                },
            },
            Statement::Offset { x, y, .. } => {
                match [x, y].into_iter().find(|&slot| kind(slot) != Kind::Float) {
                    Some(slot) => wrong(slot, "is no number with a point"),
                    None => Ok(statement),
                }
            }
            Statement::Modulus { x, .. } | Statement::Bits { x, .. } if kind(x) != Kind::Int => {
                wrong(x, "is no integer")
            }
            Statement::When { flag, .. } if kind(flag) != Kind::Flag => {
                wrong(flag, "is neither true nor false")
            }
            Statement::When { flag, is, then } if conditions => {
                let then = Box::new(self.sense(*then, false)?);
                Ok(Statement::When { flag, is, then })
            }
            Statement::When { flag, .. } => wrong(flag, "is a condition inside another one"),
            _ => Ok(statement),
        }
    }
}

fn shown(part: Part) -> Part {
    if part == Part::Order { Part::Whole } else { part }
}

/// A number that a person wrote without a point, for a variable that has one.
fn with_type(statement: Statement<usize>, kind: Kind) -> Statement<usize> {
    let real = |value: Constant| match value {
        Constant::Int(value) if kind == Kind::Float => Constant::Real(Real(value as f64)),
        value => value,
    };
    match statement {
        Statement::Value { x, cmp, with } => Statement::Value { x, cmp, with: real(with) },
        Statement::OneOf { x, values } => {
            Statement::OneOf { x, values: values.into_iter().map(real).collect() }
        }
        other => other,
    }
}
