//! What proptest keeps of failures: lines `cc SEED # shrinks to x = 5, s = "ab"`. The values after the sign are taken for holes of these names.

use crate::template::{Input, Kind, Template, Value};

/// Whether a text is such a file.
pub fn is_one(text: &str) -> bool {
    text.lines().any(|line| is_case(line.trim()))
        && text.lines().all(|line| {
            let line = line.trim();
            line.is_empty() || line.starts_with('#') || is_case(line) || line.starts_with("xs ")
        })
}

fn is_case(line: &str) -> bool {
    line.strip_prefix("cc ").is_some_and(|rest| {
        rest.split_whitespace()
            .next()
            .is_some_and(|seed| seed.len() >= 16 && seed.bytes().all(|byte| byte.is_ascii_hexdigit()))
    })
}

/// The names and values of each case.
pub fn cases(text: &str) -> Vec<Vec<(String, String)>> {
    let told = |line: &str| Some(line.trim().strip_prefix("cc ")?.split_once("# shrinks to ")?.1.to_owned());
    text.lines().filter_map(told).map(|told| assignments(&told)).collect()
}

/// Splits `x = 5, s = "a, b"` where a comma is neither in quotes nor in brackets.
fn assignments(text: &str) -> Vec<(String, String)> {
    let (mut depth, mut quoted, mut escaped) = (0i32, false, false);
    let (mut parts, mut part) = (Vec::new(), String::new());
    for c in text.chars() {
        if c == ',' && depth == 0 && !quoted {
            parts.push(std::mem::take(&mut part));
            continue;
        }
        part.push(c);
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
    }
    parts.push(part);
    let pair = |part: &String| {
        part.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
    };
    parts.iter().filter_map(pair).collect()
}

impl Template {
    /// The input of a case: its values where a hole has the name and takes the value, those of `otherwise` elsewhere. None if no hole does.
    pub fn of_case(&self, case: &[(String, String)], otherwise: &Input) -> Option<Input> {
        let mut input = otherwise.clone();
        let mut some = false;
        for (at, hole) in self.holes.iter().enumerate() {
            let Some((_, text)) = case.iter().find(|(name, _)| *name == hole.name) else { continue };
            let value = match &hole.kind {
                Kind::Int { .. } => text.parse().ok().map(Value::Int),
                Kind::OneOf(words) => {
                    words.iter().position(|(word, _)| *word == unquoted(text)).map(Value::Choice)
                }
                Kind::Own => None,
                Kind::Flag(_) => Some(Value::Choice(usize::from(text == "true"))),
                _ => Some(Value::Bytes(bytes(text))),
            };
            let before = std::mem::replace(&mut input.0[at], value.unwrap_or(otherwise.0[at].clone()));
            if self.takes(&input) {
                some = true;
            } else {
                input.0[at] = before;
            }
        }
        some.then_some(input)
    }
}

fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let (mut out, mut chars) = (String::new(), inner.chars());
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('0') => out.push('\0'),
                Some(other) => out.push(other),
                None => {}
            },
            (c, _) => out.push(c),
        }
    }
    out
}

/// A string, or a list of numbers.
fn bytes(text: &str) -> Vec<u8> {
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let numbers = list.and_then(|list| list.split(',').map(|word| word.trim().parse::<u8>().ok()).collect());
    numbers.unwrap_or_else(|| unquoted(text).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_become_inputs() {
        let text = "# Seeds for failure cases proptest has generated in the past.\n\n\
            cc 0a1b2c3d4e5f60718293a4b5c6d7e8f9 # shrinks to x = -7, s = \"a, b\", v = [1, 255]\n\
            cc 0a1b2c3d4e5f60718293a4b5c6d7e8f0 # shrinks to x = 999\n";
        assert!(is_one(text) && !is_one("cc main.c\n"));
        let mut template = Template::default();
        template.arg("{x:int(-10..10)}").unwrap();
        template.set_stdin("{s:string(0..9)}{v:bytes(0..4)}").unwrap();
        let otherwise = Input(vec![Value::Int(0), Value::Bytes(vec![]), Value::Bytes(vec![])]);
        let inputs: Vec<_> = cases(text).iter().map(|case| template.of_case(case, &otherwise)).collect();
        let first = Input(vec![Value::Int(-7), Value::Bytes(b"a, b".to_vec()), Value::Bytes(vec![1, 255])]);
        // What the hole does not take is left out.
        assert_eq!(inputs, [Some(first), None]);
    }
}
