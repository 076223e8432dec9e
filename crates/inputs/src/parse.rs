//! Reading templates.
//!
//! A hole is `{NAME:KIND(WHAT)}`, and `{NAME}` the same value again; `{{` and `}}` stand for braces.
//!
//! | kind | |
//! |---|---|
//! | `int(-100..100)` | a number; `int(-100..100, 2:3)` has two positive ones for three others |
//! | `one-of(a,b)` | one of these words; `one-of(a*3,b)` has three times as many `a` |
//! | `flag(--fast)` | this text or nothing |
//! | `string(0..20)` | printable characters; `string(0..20, abc)` of these |
//! | `bytes(0..20)` | any bytes |
//! | `corpus(DIR)` | what is in a file of the folder, or a mutation of it |
//! | `grammar(FILE)` | a sentence of a grammar |
//! | `file(DIR)`, `file(0..20)` | the name of a file with what `corpus(DIR)` or `bytes(0..20)` gives |
//! | `file(grammar(FILE))` | the name of a file with what another kind gives |
//! | `file(size={n:int(1..9)})` | the name of a file with this text, a template itself |

use crate::corpus;
use crate::grammar::Grammar;
use crate::template::{Hole, Kind, Part, Template, TemplateError};
use std::path::Path;
use std::sync::Arc;

fn error(text: &str, why: impl Into<String>) -> TemplateError {
    TemplateError { text: text.to_owned(), why: why.into() }
}

/// Lengths of text, at the most.
const LONGEST: i64 = 1 << 20;

impl Template {
    /// Adds an argument.
    pub fn arg(&mut self, text: &str) -> Result<(), TemplateError> {
        let parts = self.parts(text, false)?;
        self.args.push(parts);
        Ok(())
    }

    /// Sets the standard input.
    pub fn set_stdin(&mut self, text: &str) -> Result<(), TemplateError> {
        self.stdin = Some(self.parts(text, true)?);
        Ok(())
    }

    /// Adds a variable: `NAME=TEXT`.
    pub fn variable(&mut self, text: &str) -> Result<(), TemplateError> {
        let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(error(text, "a variable is `NAME=TEXT`"));
        };
        if self.env.iter().any(|(other, _)| other == name) {
            return Err(error(text, "this variable is there already"));
        }
        let parts = self.parts(value, false)?;
        self.env.push((name.to_owned(), parts));
        Ok(())
    }

    fn parts(&mut self, text: &str, any_bytes: bool) -> Result<Vec<Part>, TemplateError> {
        self.texts.push(text.to_owned());
        self.pieces(text, any_bytes)
    }

    fn pieces(&mut self, text: &str, any_bytes: bool) -> Result<Vec<Part>, TemplateError> {
        let mut parts = Vec::new();
        let mut plain = Vec::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            if rest.starts_with("{{") || rest.starts_with("}}") {
                plain.push(next as u8);
                rest = &rest[2..];
            } else if next == '{' {
                let end =
                    closing(rest).ok_or_else(|| error(text, "a `{` has no `}`; `{{` stands for a brace"))?;
                if !plain.is_empty() {
                    parts.push(Part::Plain(std::mem::take(&mut plain)));
                }
                let part = self.hole(&rest[1..end], any_bytes)?;
                parts.push(part);
                rest = &rest[end + 1..];
            } else if next == '}' {
                return Err(error(text, "a `}` has no `{`; `}}` stands for a brace"));
            } else {
                plain.extend_from_slice(next.to_string().as_bytes());
                rest = &rest[next.len_utf8()..];
            }
        }
        if !plain.is_empty() || parts.is_empty() {
            parts.push(Part::Plain(plain));
        }
        Ok(parts)
    }

    /// What is between braces.
    fn hole(&mut self, text: &str, any_bytes: bool) -> Result<Part, TemplateError> {
        let (name, kind) = match text.split_once(':') {
            Some((name, kind)) => (name.trim(), Some(kind.trim())),
            None => (text.trim(), None),
        };
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(good) {
            return Err(error(text, "a hole is `{NAME:KIND(WHAT)}`, with a name of letters and digits"));
        }
        let hole = self.holes.iter().position(|hole| hole.name == name).map(Part::Hole);
        let file = self.files.iter().position(|(file, _)| *file == name).map(Part::File);
        match (hole.or(file), kind) {
            (Some(known), None) => Ok(known),
            (Some(_), Some(_)) => {
                Err(error(text, format!("there are two holes `{name}`; the second is `{{{name}}}`")))
            }
            (None, None) => Err(error(text, format!("`{name}` has no kind, such as `{{{name}:int(0..9)}}`"))),
            (None, Some(kind)) => {
                if let Some(content) = text_of_file(kind) {
                    let parts = self.pieces(content, true)?;
                    self.files.push((name.to_owned(), parts));
                    return Ok(Part::File(self.files.len() - 1));
                }
                let (kind, in_file) = read_kind(kind)?;
                let bytes = matches!(kind, Kind::Bytes { .. } | Kind::Corpus(_));
                if bytes && !in_file && !any_bytes {
                    let why = "an argument or a variable cannot have every byte; `file(…)` gives a file's name, `string(…)` text";
                    return Err(error(text, why));
                }
                self.holes.push(Hole { name: name.to_owned(), kind, in_file });
                Ok(Part::Hole(self.holes.len() - 1))
            }
        }
    }
}

/// The brace that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

const KINDS: &str = "int, one-of, flag, string, bytes, corpus, grammar, file";

fn read_kind(text: &str) -> Result<(Kind, bool), TemplateError> {
    let (name, what) = text
        .split_once('(')
        .and_then(|(name, what)| Some((name.trim(), what.strip_suffix(')')?)))
        .ok_or_else(|| error(text, format!("a kind is one of {KINDS}, with what it may be in brackets")))?;
    let kind = match name {
        "int" => int(text, what)?,
        "one-of" => one_of(text, what)?,
        "flag" if what.is_empty() => return Err(error(text, "a flag needs its text")),
        "flag" => Kind::Flag(what.to_owned()),
        "string" => {
            let (range, alphabet) =
                what.split_once(',').map_or((what, None), |(range, rest)| (range, Some(rest.trim_start())));
            let (shortest, longest) = lengths(text, range)?;
            let alphabet: Arc<[u8]> = match alphabet {
                Some("") => return Err(error(text, "the alphabet is empty")),
                Some(letters) if !letters.is_ascii() => return Err(error(text, "the alphabet is not ASCII")),
                Some(letters) => letters.as_bytes().into(),
                None => (0x20..0x7f).collect(),
            };
            Kind::Text { shortest, longest, alphabet }
        }
        "bytes" => bytes(text, what)?,
        "corpus" => from_folder(text, what)?,
        "file" if KINDS.split(", ").any(|kind| is_kind(what, kind)) && !Path::new(what.trim()).exists() => {
            return match read_kind(what.trim())? {
                (kind, false) => Ok((kind, true)),
                (_, true) => Err(error(text, "a file has no file in it")),
            };
        }
        "file" if what.contains("..") && !Path::new(what.trim()).exists() => {
            return Ok((bytes(text, what)?, true));
        }
        "file" => return Ok((from_folder(text, what)?, true)),
        "grammar" => {
            let path = Path::new(what.trim());
            let rules = read_grammar(path)
                .map_err(|why| error(text, format!("the grammar cannot be read: {why}")))?;
            Kind::Grammar(Arc::new(Grammar::parse(&rules).map_err(|why| error(text, why))?))
        }
        _ => return Err(error(text, format!("there is no kind `{name}`; there are {KINDS}"))),
    };
    Ok((kind, false))
}

/// Whether a text is `KIND(…)`.
fn is_kind(text: &str, kind: &str) -> bool {
    text.trim().strip_prefix(kind).is_some_and(|rest| rest.starts_with('(') && rest.ends_with(')'))
}

/// The text of a file that is a template itself.
fn text_of_file(kind: &str) -> Option<&str> {
    let text = kind.strip_prefix("file(")?.strip_suffix(')')?;
    text.contains('{').then_some(text)
}

/// Grammars are written by people. A device, or a pipe, would never end.
const LARGEST_GRAMMAR: u64 = 16 << 20;

fn read_grammar(path: &Path) -> std::io::Result<String> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    if about.len() > LARGEST_GRAMMAR {
        return Err(std::io::Error::other(format!("it has more than {} MiB", LARGEST_GRAMMAR >> 20)));
    }
    std::fs::read_to_string(path)
}

fn range(text: &str, what: &str) -> Result<(i64, i64), TemplateError> {
    let why = "a range is `LOW..HIGH`, such as `-100..100`, both included";
    let (low, high) = what.trim().split_once("..").ok_or_else(|| error(text, why))?;
    let high = high.strip_prefix('=').unwrap_or(high);
    let number = |word: &str| word.trim().parse::<i64>().map_err(|_| error(text, why));
    let (low, high) = (number(low)?, number(high)?);
    if low > high {
        return Err(error(text, format!("the range has nothing: {low} is more than {high}")));
    }
    Ok((low, high))
}

fn lengths(text: &str, what: &str) -> Result<(usize, usize), TemplateError> {
    let (low, high) = range(text, what)?;
    if low < 0 || high > LONGEST {
        return Err(error(text, format!("a length is from 0 to {LONGEST}")));
    }
    Ok((low as usize, high as usize))
}

fn bytes(text: &str, what: &str) -> Result<Kind, TemplateError> {
    let (shortest, longest) = lengths(text, what)?;
    Ok(Kind::Bytes { shortest, longest })
}

fn int(text: &str, what: &str) -> Result<Kind, TemplateError> {
    let (numbers, ratio) =
        what.split_once(',').map_or((what, None), |(numbers, ratio)| (numbers, Some(ratio)));
    let (low, high) = range(text, numbers)?;
    let ratio = ratio
        .map(|ratio| {
            let why = "a ratio is `2:3`, positive numbers to others";
            let (one, other) = ratio.trim().split_once(':').ok_or_else(|| error(text, why))?;
            let number = |word: &str| word.trim().parse::<u32>().map_err(|_| error(text, why));
            let (one, other) = (number(one)?, number(other)?);
            match one.checked_add(other) {
                None | Some(0) => Err(error(text, why)),
                Some(_) if (one > 0 && high <= 0) || (other > 0 && low > 0) => {
                    Err(error(text, "the range has numbers of one sort only, so there is no ratio"))
                }
                Some(_) => Ok((one, other)),
            }
        })
        .transpose()?;
    Ok(Kind::Int { low, high, ratio })
}

fn one_of(text: &str, what: &str) -> Result<Kind, TemplateError> {
    let mut words = Vec::new();
    for word in what.split(',') {
        let weighed =
            word.rsplit_once('*').and_then(|(word, weight)| Some((word, weight.trim().parse::<u32>().ok()?)));
        let (word, weight) = weighed.unwrap_or((word, 1));
        if weight == 0 || weight > 1_000_000 {
            return Err(error(text, "a weight is from 1 to 1000000"));
        }
        words.push((word.trim().to_owned(), weight));
    }
    if words.len() < 2 && words.iter().all(|(word, _)| word.is_empty()) {
        return Err(error(text, "there are no words to choose from"));
    }
    Ok(Kind::OneOf(words))
}

fn from_folder(text: &str, what: &str) -> Result<Kind, TemplateError> {
    let files = corpus::read(Path::new(what.trim())).map_err(|why| error(text, why))?;
    Ok(Kind::Corpus(files.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::{Input, Value};

    fn wrong(text: &str) -> String {
        Template::default().arg(text).unwrap_err().to_string()
    }

    #[test]
    fn holes_are_read_and_filled() {
        let mut template = Template::default();
        template.arg("--size={n:int(-3..9)}").unwrap();
        template.arg("{m:one-of(fast, slow*3)}{{{n}}}").unwrap();
        template.arg("{v:flag(-v)}").unwrap();
        template.set_stdin("{s:string(0..4, ab)}\n").unwrap();
        template.variable("MODE={m}").unwrap();
        assert_eq!(template.count(), None);
        let input =
            Input(vec![Value::Int(-2), Value::Choice(1), Value::Choice(0), Value::Bytes(b"abba".to_vec())]);
        assert!(template.takes(&input));
        let rendered = template.render(&input, "/in");
        assert_eq!(rendered.args, [&b"--size=-2"[..], b"slow{-2}"]);
        assert_eq!((rendered.stdin.as_deref(), &rendered.env[0].1[..]), (Some(&b"abba\n"[..]), &b"slow"[..]));
        assert_eq!(template.words(&input), "n=-2 m=slow v= s=\"abba\"");
        let given = Input(vec![Value::Int(0), Value::Choice(0), Value::Choice(1), Value::Bytes(Vec::new())]);
        assert_eq!(template.render(&given, "/in").args[2], b"-v");
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, why) in [
            ("{x:int(1..)}", "a range is `LOW..HIGH`"),
            ("{x:int(5..1)}", "5 is more than 1"),
            ("{x:integer(1..5)}", "there is no kind `integer`"),
            ("{x:int}", "a kind is one of"),
            ("{x}", "`x` has no kind"),
            ("{x:int(1..5)", "a `{` has no `}`"),
            ("x}", "a `}` has no `{`"),
            ("{:int(1..2)}", "a hole is"),
            ("{x:int(1..5)}{x:int(1..5)}", "two holes `x`"),
            ("{x:int(1..5, 1:1)}", "one sort only"),
            ("{x:int(-1..5, 0:0)}", "a ratio is"),
            ("{x:one-of()}", "no words"),
            ("{x:one-of(a*0,b)}", "a weight is"),
            ("{x:string(2..99999999)}", "a length is"),
            ("{x:string(0..3, )}", "alphabet is empty"),
            ("{x:bytes(0..3)}", "cannot have every byte"),
            ("{x:file(/nowhere/at/all)}", "/nowhere/at/all"),
            ("{x:grammar(/nowhere/at/all)}", "grammar cannot be read"),
            ("{x:flag()}", "needs its text"),
            ("{x:file(file(0..3))}", "no file in it"),
            ("{x:file(n={n:number(1..3)})}", "there is no kind `number`"),
            ("{x:file(n={n:int(1..3)})}{x:int(1..2)}", "two holes `x`"),
        ] {
            assert!(wrong(text).contains(why), "{text}: {}", wrong(text));
        }
        assert!(Template::default().variable("{x:int(0..1)}").is_err());
    }

    #[test]
    fn a_file_may_be_of_any_kind_or_a_template() {
        let mut template = Template::default();
        template.arg("{f:file(size={n:int(1..9)}, {b:bytes(1..2)}\n)}").unwrap();
        template.arg("{f}").unwrap();
        template.arg("{w:file(string(1..3, ab))}").unwrap();
        let input = Input(vec![Value::Int(7), Value::Bytes(vec![0, 255]), Value::Bytes(b"aba".to_vec())]);
        assert!(template.takes(&input));
        let rendered = template.render(&input, "/in");
        assert_eq!(rendered.args[0], rendered.args[1]);
        assert_eq!(rendered.files[0].1, b"size=7, \x00\xff\n");
        assert_eq!(rendered.files[2].1, b"aba");
    }

    #[test]
    fn a_file_of_bytes_has_a_name() {
        let mut template = Template::default();
        template.arg("{f:file(2..4)}").unwrap();
        let rendered = template.render(&Input(vec![Value::Bytes(vec![0, 1, 2])]), "/in");
        let (name, content) = &rendered.files[0];
        assert_eq!(
            (rendered.args[0].clone(), &content[..]),
            (format!("/in/{name}").into_bytes(), &[0, 1, 2][..])
        );
    }
}
