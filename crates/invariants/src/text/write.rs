//! Statements as text.

use super::lex::is_plain_name;
use crate::operand::{Operand, Part};
use crate::statement::{Cmp, Constant, Real, Statement};
use std::fmt::{self, Display, Formatter, Write};

/// Words that a variable without backquotes cannot be.
pub(super) const WORDS: [&str; 8] = ["true", "false", "null", "NULL", "one", "of", "nan", "inf"];

/// A name as it stands in text.
pub(crate) fn name(name: &str) -> String {
    if is_plain_name(name) && !WORDS.contains(&name) {
        return name.to_owned();
    }
    let mut quoted = String::from("`");
    for next in name.chars() {
        match next {
            '`' | '\\' => quoted.extend(['\\', next]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            next => quoted.push(next),
        }
    }
    quoted.push('`');
    quoted
}

/// A string as it stands in text.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for next in text.chars() {
        match next {
            '"' | '\\' => out.extend(['\\', next]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            next if next.is_control() => {
                write!(out, "\\u{{{:x}}}", u32::from(next)).expect("strings take all")
            }
            next => out.push(next),
        }
    }
    out.push('"');
    out
}

impl Display for Operand {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let name = name(&self.name);
        let inner = self.part.word().map_or(name.clone(), |word| format!("{word}({name})"));
        if self.orig { write!(out, "orig({inner})") } else { out.write_str(&inner) }
    }
}

impl Display for Real {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if value.is_nan() {
            out.write_str("nan")
        } else if value.is_infinite() {
            out.write_str(if value > 0.0 { "inf" } else { "-inf" })
        } else {
            // Always with a point or an exponent, so that it is read as what it is.
            write!(out, "{value:?}")
        }
    }
}

impl Display for Constant {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(out, "{value}"),
            Self::Bool(value) => write!(out, "{value}"),
            Self::Null => out.write_str("NULL"),
            Self::Real(value) => write!(out, "{value}"),
            Self::Text(text) => out.write_str(&quoted(text)),
            Self::Name(value) => write!(out, ".{}", name(value)),
        }
    }
}

impl Display for Statement<Operand> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { x, cmp, with } => write!(out, "{x} {} {with}", cmp.sign()),
            Self::OneOf { x, values } => {
                let values: Vec<String> = values.iter().map(Constant::to_string).collect();
                write!(out, "{x} one of {{{}}}", values.join(", "))
            }
            Self::Compare { x, cmp, y } => write!(out, "{x} {} {y}", cmp.sign()),
            Self::Linear { terms, cmp, with } => linear(out, terms, *cmp, *with),
            Self::Offset { x, y, by } => {
                let sign = if by.0 < 0.0 { '-' } else { '+' };
                write!(out, "{x} == {y} {sign} {}", Real(by.0.abs()))
            }
            Self::Modulus { x, modulus, rest } => write!(out, "{x} % {modulus} == {rest}"),
            Self::Bits { x, mask, bits } => write!(out, "{x} & {mask:#x} == {bits:#x}"),
            Self::Sorted { x, cmp } => {
                write!(out, "sorted({}, {})", x.clone().part(Part::Whole), cmp.sign())
            }
            Self::When { flag, is, then } => write!(out, "{}{flag} ==> {then}", if *is { "" } else { "!" }),
        }
    }
}

/// A variable with the factor 1 or -1 stands alone on the left, if there is one: what is now before what was, one that is compared with what it was
/// itself before others, then the one that leaves the fewest minus signs.
fn linear(out: &mut Formatter<'_>, terms: &[(i128, Operand)], cmp: Cmp, with: i128) -> fmt::Result {
    let fits = with != i128::MIN && terms.iter().all(|term| term.0 != i128::MIN);
    let units = terms.iter().enumerate().filter(|(_, term)| fits && term.0.unsigned_abs() == 1);
    let alone = units.min_by_key(|&(at, (factor, x))| {
        let before = Operand { orig: true, ..x.clone() };
        let changed = !x.orig && terms.iter().any(|(_, other)| *other == before);
        let minus = terms.iter().filter(|(other, _)| (*other < 0) == (*factor < 0)).count();
        (x.orig, !changed, minus, at)
    });
    let Some((alone, (factor, x))) = alone else {
        sum(out, terms.iter().map(|(factor, x)| (*factor, x)), None)?;
        return write!(out, " {} {with}", cmp.sign());
    };
    let cmp = if *factor < 0 { cmp.turned() } else { cmp };
    write!(out, "{x} {} ", cmp.sign())?;
    let others = terms.iter().enumerate().filter(|term| term.0 != alone);
    let mut others: Vec<_> = others.map(|(_, (other, y))| (-other * factor, y)).collect();
    others.sort_by_key(|(factor, _)| *factor < 0);
    sum(out, others.into_iter(), Some(with * factor))
}

fn sum<'a>(
    out: &mut Formatter<'_>,
    terms: impl Iterator<Item = (i128, &'a Operand)>,
    with: Option<i128>,
) -> fmt::Result {
    for (at, (factor, x)) in terms.enumerate() {
        match (at, factor < 0) {
            (0, true) => out.write_str("-")?,
            (0, false) => {}
            (_, true) => out.write_str(" - ")?,
            (_, false) => out.write_str(" + ")?,
        }
        match factor.unsigned_abs() {
            1 => write!(out, "{x}")?,
            size => write!(out, "{size}*{x}")?,
        }
    }
    match with {
        None | Some(0) => Ok(()),
        Some(with) => write!(out, " {} {}", if with < 0 { '-' } else { '+' }, with.unsigned_abs()),
    }
}
