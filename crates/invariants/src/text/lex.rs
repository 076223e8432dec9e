//! The words of a statement, each with its column.

use super::parse::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// A name or a word; `true` if it was in backquotes.
    Name(String, bool),
    Int(i128),
    Real(f64),
    Text(String),
    Sign(&'static str),
    End,
}

/// Longer signs before their beginnings.
const SIGNS: [&str; 19] =
    ["==>", "==", "!=", "<=", ">=", "<", ">", "(", ")", "{", "}", ",", "+", "-", "*", "%", "&", "!", "."];

/// Whether a name can stand without backquotes.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && plain_name(name) == name.len()
}

/// What a pointer leads to is named like this.
const OBJECT: &str = "object(";

/// How many bytes of a text are a plain name.
fn plain_name(text: &str) -> usize {
    if let Some(inner) = text.strip_prefix(OBJECT) {
        let length = path(inner);
        let closes = length > 0 && inner[length..].starts_with(')');
        return if closes { OBJECT.len() + length + 1 } else { path(text) };
    }
    path(text)
}

/// How many bytes of a text are a variable, or a way from it to a part.
fn path(text: &str) -> usize {
    let bytes = text.as_bytes();
    let letter = |at: usize| {
        bytes.get(at).is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'_' | b'$'))
    };
    let part = |at: usize| letter(at) || bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = if text.starts_with("::") { 2 } else { 0 };
    if !letter(at) {
        return 0;
    }
    loop {
        while part(at) {
            at += 1;
        }
        let rest = &text[at..];
        if rest.starts_with("::") && letter(at + 2) || rest.starts_with("->") && letter(at + 2) {
            at += 2;
        } else if rest.starts_with('.') && part(at + 1) {
            at += 1;
        } else if rest.starts_with("[..]") {
            at += 4;
        } else if rest.starts_with('[')
            && let Some(digits) = rest[1..].find(|next: char| !next.is_ascii_digit())
            && digits > 0
            && rest[1 + digits..].starts_with(']')
        {
            at += digits + 2;
        } else {
            return at;
        }
    }
}

/// Divides a line into words with their columns, counted in characters from 1. The last one is [`Word::End`].
pub(super) fn words(line: &str) -> Result<Vec<(usize, Word)>, ParseError> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(next) = line[at..].chars().next() {
        let column = line[..at].chars().count() + 1;
        let rest = &line[at..];
        let (word, length) = if next.is_whitespace() {
            at += next.len_utf8();
            continue;
        } else if next.is_ascii_digit() {
            number(rest).ok_or_else(|| ParseError::new(column, "this is no number"))?
        } else if next == '"' || next == '`' {
            let (text, length) = string(rest, next).ok_or_else(|| {
                ParseError::new(column, format!("the text that begins with {next} does not end"))
            })?;
            (if next == '"' { Word::Text(text) } else { Word::Name(text, true) }, length)
        } else if let length @ 1.. = plain_name(rest) {
            (Word::Name(rest[..length].to_owned(), false), length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Word::Sign(sign), sign.len())
        } else {
            let help = if next == '=' { "; equality is `==`" } else { "" };
            return Err(ParseError::new(column, format!("a statement has no `{next}`{help}")));
        };
        words.push((column, word));
        at += length;
    }
    words.push((line.chars().count() + 1, Word::End));
    Ok(words)
}

fn number(text: &str) -> Option<(Word, usize)> {
    if let Some(digits) = text.strip_prefix("0x") {
        let length = digits.find(|next: char| !next.is_ascii_hexdigit()).unwrap_or(digits.len());
        let value = u128::from_str_radix(&digits[..length], 16).ok()?;
        return Some((Word::Int(value as i128), length + 2));
    }
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let whole = digits(0);
    let mut end = whole;
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    if end == whole {
        let value: u128 = text[..end].parse().ok()?;
        // The least integer has no positive counterpart: it stands for itself, and only after a minus.
        let least = value == i128::MIN.unsigned_abs();
        return Some((Word::Int(if least { i128::MIN } else { value.try_into().ok()? }), end));
    }
    Some((Word::Real(text[..end].parse().ok()?), end))
}

/// A text in quotes and how many bytes it takes.
fn string(text: &str, quote: char) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut all = text.char_indices().skip(1);
    while let Some((at, next)) = all.next() {
        match next {
            next if next == quote => return Some((out, at + next.len_utf8())),
            '\\' => match all.next()?.1 {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'u' => {
                    let digits: String =
                        all.by_ref().map(|(_, next)| next).skip(1).take_while(|&next| next != '}').collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                other => out.push(other),
            },
            next => out.push(next),
        }
    }
    None
}
