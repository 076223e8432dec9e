//! What proptest keeps of failures: lines `cc SEED # shrinks to x = 5, s = "ab"`. The values after the sign are taken for holes of these names.

use crate::template::{Input, Kind, Template, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// Bytes of a file, at the most.
const LARGEST: u64 = 16 << 20;
/// Folders within folders.
const DEPTH: u32 = 8;

/// Names and values, as a case has them.
pub type Case = Vec<(String, String)>;

/// The cases of a file, or of all such files below a folder.
///
/// # Errors
/// Why there are none, in words.
pub fn read(path: &Path) -> Result<Vec<Case>, String> {
    let cannot = |why: std::io::Error| format!("cannot read `{}`: {why}", path.display());
    let mut all = Vec::new();
    collect(path, DEPTH, &mut all).map_err(cannot)?;
    match all.is_empty() {
        true => Err(format!("`{}` has no regressions of proptest", path.display())),
        false => Ok(all.into_iter().flatten().collect()),
    }
}

/// The cases of each file.
fn collect(path: &Path, depth: u32, all: &mut Vec<Vec<Case>>) -> std::io::Result<()> {
    let about = std::fs::metadata(path)?;
    if about.is_dir() {
        let mut entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        let entries = entries.iter().filter(|_| depth > 0);
        return entries.map(std::fs::DirEntry::path).try_for_each(|path| collect(&path, depth - 1, all));
    }
    if about.is_file() && about.len() <= LARGEST {
        let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        all.extend(is_one(&text).then(|| cases(&text)));
    }
    Ok(())
}

/// The names that cases have values for.
pub fn names(cases: &[Case]) -> Vec<String> {
    let all: BTreeSet<&String> = cases.iter().flatten().map(|(name, _)| name).collect();
    all.into_iter().cloned().collect()
}

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
pub fn cases(text: &str) -> Vec<Case> {
    let told = |line: &str| Some(line.trim().strip_prefix("cc ")?.split_once("# shrinks to ")?.1.to_owned());
    text.lines().filter_map(told).map(|told| assignments(&told)).collect()
}

/// The names and values of `x = 5, s = "a, b", (y, z) = (1, 2)`.
fn assignments(text: &str) -> Case {
    let mut all = Vec::new();
    for part in split(text) {
        let Some((name, value)) = part.split_once('=') else { continue };
        let (name, value) = (name.trim(), value.trim());
        match (inner(name), inner(value)) {
            (Some(names), Some(values)) => {
                all.extend(names.into_iter().zip(values));
            }
            _ => all.push((name.to_owned(), value.to_owned())),
        }
    }
    all
}

/// What a tuple has.
fn inner(text: &str) -> Option<Vec<String>> {
    let text = text.strip_prefix('(')?.strip_suffix(')')?;
    Some(split(text).into_iter().map(|part| part.trim().to_owned()).collect())
}

/// Splits where a comma is neither in quotes nor in brackets.
fn split(text: &str) -> Vec<String> {
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
    parts
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

/// A string, or a character, without its quotes.
fn unquoted(text: &str) -> String {
    let within = |quote| text.strip_prefix(quote).and_then(|text: &str| text.strip_suffix(quote));
    let inner = within('"').or(within('\'')).unwrap_or(text);
    let (mut out, mut chars) = (String::new(), inner.chars());
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('u') => {
                let digits: String = chars.by_ref().take_while(|c| *c != '}').filter(|c| *c != '{').collect();
                out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// A string, or a list of numbers.
fn bytes(text: &str) -> Vec<u8> {
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let words = list.map(|list| list.split(',').map(str::trim).filter(|word| !word.is_empty()));
    let numbers = words.and_then(|words| words.map(|word| word.parse::<u8>().ok()).collect());
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

    #[test]
    fn values_are_read_as_they_are_printed() {
        let case = |text: &str| {
            cases(&format!("cc 0a1b2c3d4e5f60718293a4b5c6d7e8f9 # shrinks to {text}\n")).remove(0)
        };
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            case("(x, y) = (1, \"a, b\"), c = '\\u{e9}'"),
            [pair("x", "1"), pair("y", "\"a, b\""), pair("c", "'\\u{e9}'")]
        );
        assert_eq!(unquoted("'\\u{e9}'"), "é");
        assert_eq!(unquoted("\"a\\n\\\"\""), "a\n\"");
        assert_eq!((bytes("[]"), bytes("[1, 2]")), (vec![], vec![1, 2]));
    }

    #[test]
    fn files_below_a_folder_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = "cc 0a1b2c3d4e5f60718293a4b5c6d7e8f9 # shrinks to x = 1\n";
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("sub/lib.txt"), text).unwrap();
        std::fs::write(folder.path().join("other.md"), "words").unwrap();
        let all = read(folder.path()).unwrap();
        assert_eq!((all.len(), names(&all)), (1, vec!["x".to_owned()]));
        assert!(read(&folder.path().join("other.md")).unwrap_err().contains("has no regressions"));
        assert!(read(&folder.path().join("gone")).unwrap_err().contains("cannot read"));
    }
}
