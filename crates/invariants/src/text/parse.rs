//! Statements from text.

use super::lex::{Word, words};
use crate::operand::{Operand, Part};
use crate::statement::{Cmp, Constant, Real, Statement};
use std::str::FromStr;

/// Why a text is no statement, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct ParseError {
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    pub(super) fn new(column: usize, message: impl Into<String>) -> Self {
        Self { column, message: message.into() }
    }
}

impl FromStr for Statement<Operand> {
    type Err = ParseError;

    fn from_str(line: &str) -> Result<Self, ParseError> {
        let words = words(line)?;
        let mut parser = Parser { words: &words, at: 0 };
        let statement = parser.statement()?;
        parser.end()?;
        Ok(statement)
    }
}

struct Parser<'a> {
    words: &'a [(usize, Word)],
    at: usize,
}

/// One side of a comparison.
enum Side {
    Constant(Constant),
    Sum { terms: Vec<(i128, Operand)>, constant: i128, real: Option<f64> },
}

impl Parser<'_> {
    fn peek(&self) -> &Word {
        &self.words[self.at].1
    }

    fn column(&self) -> usize {
        self.words[self.at].0
    }

    fn next(&mut self) -> Word {
        let word = self.peek().clone();
        self.at = (self.at + 1).min(self.words.len() - 1);
        word
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::new(self.column(), message))
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Word::Sign(known) if *known == sign);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.accept(sign) { Ok(()) } else { self.error(format!("`{sign}` is expected here")) }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Word::Name(known, false) if known == word);
        if found {
            self.next();
        }
        found
    }

    fn end(&self) -> Result<(), ParseError> {
        match self.peek() {
            Word::End => Ok(()),
            _ => self.error("the statement should end here"),
        }
    }

    fn statement(&mut self) -> Result<Statement<Operand>, ParseError> {
        let start = self.at;
        let negated = self.accept("!");
        // A flag by itself, with an arrow after it, is a condition.
        if let Ok(flag) = self.operand()
            && self.accept("==>")
        {
            let then = self.simple()?;
            return Ok(Statement::When { flag, is: !negated, then: Box::new(then) });
        }
        self.at = start;
        if negated {
            return self.error("`!` stands before a flag, and `==>` after it");
        }
        self.simple()
    }

    fn simple(&mut self) -> Result<Statement<Operand>, ParseError> {
        if matches!(self.peek(), Word::Name(known, false) if known == "sorted")
            && matches!(self.words[self.at + 1].1, Word::Sign("("))
        {
            return self.sorted();
        }
        let column = self.column();
        let left = self.side()?;
        if let Some(x) = left.variable() {
            if self.word("one") {
                return self.one_of(x.clone());
            }
            if self.accept("%") {
                let modulus = self.int()?;
                let rest = self.equals_int()?;
                if modulus < 1 || !(0..modulus).contains(&rest) {
                    return Err(ParseError::new(column, "a rest is from 0 to below what is divided by"));
                }
                return Ok(Statement::Modulus { x: x.clone(), modulus, rest });
            }
            if self.accept("&") {
                let mask = self.int()?;
                let bits = self.equals_int()?;
                if bits & !mask != 0 {
                    return Err(ParseError::new(
                        column,
                        "there are bits on the right that the mask does not have",
                    ));
                }
                return Ok(Statement::Bits { x: x.clone(), mask, bits });
            }
        }
        let Some(cmp) = self.cmp() else {
            return self.error("a comparison is expected here: ==, !=, <, <=, >, >=, `one of`, % or &");
        };
        let right = self.side()?;
        compare(column, left, cmp, right)
    }

    fn cmp(&mut self) -> Option<Cmp> {
        let all = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];
        all.into_iter().find(|cmp| self.accept(cmp.sign()))
    }

    fn sorted(&mut self) -> Result<Statement<Operand>, ParseError> {
        self.next();
        self.expect("(")?;
        let x = self.operand()?;
        self.expect(",")?;
        let Some(cmp) = self.cmp().filter(|cmp| *cmp != Cmp::Ne) else {
            return self.error("<, <=, ==, >= or > is expected here");
        };
        self.expect(")")?;
        Ok(Statement::Sorted { x: x.part(Part::Order), cmp })
    }

    fn one_of(&mut self, x: Operand) -> Result<Statement<Operand>, ParseError> {
        if !self.word("of") {
            return self.error("`of` is expected after `one`");
        }
        self.expect("{")?;
        let mut values = Vec::new();
        loop {
            let column = self.column();
            match self.side()? {
                Side::Constant(value) => values.push(value),
                Side::Sum { terms, constant, real } if terms.is_empty() => {
                    values.push(real.map_or(Constant::Int(constant), |real| Constant::Real(Real(real))));
                }
                Side::Sum { .. } => {
                    return Err(ParseError::new(column, "a value is expected here, not a variable"));
                }
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect("}")?;
        values.sort();
        values.dedup();
        Ok(Statement::OneOf { x, values })
    }

    fn int(&mut self) -> Result<i128, ParseError> {
        let negative = self.accept("-");
        match *self.peek() {
            Word::Int(value) => {
                self.next();
                Ok(if negative { value.wrapping_neg() } else { value })
            }
            _ => self.error("a number is expected here"),
        }
    }

    fn equals_int(&mut self) -> Result<i128, ParseError> {
        self.expect("==")?;
        self.int()
    }

    fn operand(&mut self) -> Result<Operand, ParseError> {
        let Word::Name(name, quoted) = self.peek().clone() else {
            return self.error("a variable is expected here");
        };
        if !quoted && super::write::WORDS.contains(&&*name) {
            return self.error(format!("`{name}` is no variable; one with this name stands in backquotes"));
        }
        self.next();
        let part = match &*name {
            "size" => Some(Part::Size),
            "min" => Some(Part::Min),
            "max" => Some(Part::Max),
            "sum" => Some(Part::Sum),
            _ => None,
        };
        let is_call = !quoted && matches!(self.peek(), Word::Sign("("));
        if is_call && (part.is_some() || name == "orig") {
            self.next();
            let column = self.column();
            let inner = self.operand()?;
            self.expect(")")?;
            return match part {
                Some(part) if inner.part == Part::Whole => Ok(inner.part(part)),
                None if !inner.orig => Ok(Operand { orig: true, ..inner }),
                _ => Err(ParseError::new(column, format!("{name}() of this makes no sense"))),
            };
        }
        Ok(Operand::now(name))
    }

    /// A value, or a sum of variables with factors and numbers.
    fn side(&mut self) -> Result<Side, ParseError> {
        let value = match self.peek().clone() {
            Word::Text(text) => Some(Constant::Text(text)),
            Word::Name(name, false) => match &*name {
                "true" => Some(Constant::Bool(true)),
                "false" => Some(Constant::Bool(false)),
                "null" | "NULL" => Some(Constant::Null),
                _ => None,
            },
            Word::Sign(".") => {
                self.next();
                match self.peek().clone() {
                    Word::Name(name, _) => Some(Constant::Name(name)),
                    _ => return self.error("the name of an enum's value is expected after the point"),
                }
            }
            _ => None,
        };
        if let Some(value) = value {
            self.next();
            return Ok(Side::Constant(value));
        }
        self.sum()
    }

    fn sum(&mut self) -> Result<Side, ParseError> {
        let (mut terms, mut constant, mut real) = (Vec::new(), 0_i128, None);
        let mut sign = if self.accept("-") { -1 } else { 1 };
        let too_great = |column| ParseError::new(column, "the numbers are too great");
        loop {
            let column = self.column();
            match self.peek().clone() {
                Word::Int(value) => {
                    self.next();
                    let value = match (value, sign) {
                        (i128::MIN, 1) => None,
                        (i128::MIN, _) => Some(value),
                        _ => value.checked_mul(sign),
                    };
                    let value = value.ok_or_else(|| too_great(column))?;
                    if self.accept("*") {
                        terms.push((value, self.operand()?));
                    } else {
                        constant = constant.checked_add(value).ok_or_else(|| too_great(column))?;
                    }
                }
                Word::Real(value) => {
                    self.next();
                    real = Some(real.map_or(value * sign as f64, |real| real + value * sign as f64));
                }
                Word::Name(name, false) if name == "inf" || name == "nan" => {
                    self.next();
                    let value = if name == "inf" { f64::INFINITY } else { f64::NAN };
                    real = Some(value * sign as f64);
                }
                _ => terms.push((sign, self.operand()?)),
            }
            sign = if self.accept("+") {
                1
            } else if self.accept("-") {
                -1
            } else {
                // Adding nothing would take the sign of a zero away.
                let real = real.map(|real| if constant == 0 { real } else { real + constant as f64 });
                return Ok(Side::Sum { terms, constant, real });
            };
        }
    }
}

impl Side {
    /// The variable that it is, if it is one alone.
    fn variable(&self) -> Option<&Operand> {
        match self {
            Self::Sum { terms, constant: 0, real: None } => match &terms[..] {
                [(1, x)] => Some(x),
                _ => None,
            },
            _ => None,
        }
    }
}

fn compare(column: usize, left: Side, cmp: Cmp, right: Side) -> Result<Statement<Operand>, ParseError> {
    let wrong = |message: &str| Err(ParseError::new(column, message));
    match (left, right) {
        (Side::Constant(_), Side::Constant(_)) => wrong("two values are compared, and no variable"),
        (Side::Constant(with), side) => compare(column, side, cmp.turned(), Side::Constant(with)),
        (side, Side::Constant(with)) => match side.variable() {
            Some(x) => Ok(Statement::Value { x: x.clone(), cmp, with }),
            None => wrong("only a variable alone can be compared with this value"),
        },
        (
            Side::Sum { terms: mut left, constant: minus, real: first },
            Side::Sum { terms: right, constant: plus, real: second },
        ) => {
            if first.is_some() || second.is_some() {
                let by = second.unwrap_or(plus as f64) - first.unwrap_or(minus as f64);
                return of_reals(&left, &right, cmp, by).map_or_else(
                    || wrong("of numbers with a point there is `x == y + 0.5` and `x < 0.5`"),
                    Ok,
                );
            }
            let negated: Option<Vec<_>> =
                right.into_iter().map(|(factor, x)| Some((factor.checked_neg()?, x))).collect();
            let (Some(negated), Some(with)) = (negated, plus.checked_sub(minus)) else {
                return wrong("the numbers are too great");
            };
            left.extend(negated);
            match Statement::linear(left, cmp, with) {
                Some(Ok(statement)) => Ok(statement),
                Some(Err(_)) => wrong("no variable is left in this"),
                None => wrong("the numbers are too great"),
            }
        }
    }
}

fn of_reals(
    left: &[(i128, Operand)],
    right: &[(i128, Operand)],
    cmp: Cmp,
    by: f64,
) -> Option<Statement<Operand>> {
    match (left, right) {
        ([(1, x)], []) => Some(Statement::Value { x: x.clone(), cmp, with: Constant::Real(Real(by)) }),
        ([], [(1, x)]) => {
            Some(Statement::Value { x: x.clone(), cmp: cmp.turned(), with: Constant::Real(Real(-by)) })
        }
        ([(1, x)], [(1, y)]) if cmp == Cmp::Eq => {
            let (x, y, by) = if x < y { (x, y, by) } else { (y, x, -by) };
            Some(Statement::Offset { x: x.clone(), y: y.clone(), by: Real(by) })
        }
        _ => None,
    }
}
