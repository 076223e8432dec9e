//! Templates: text with holes, and the values that holes may have.

use crate::grammar::Grammar;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Why a text is no template.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}`: {why}")]
pub struct TemplateError {
    /// The text, or the part of it that is wrong.
    pub text: String,
    /// What is wrong.
    pub why: String,
}

/// What a hole may be.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A number from low to high; with a ratio, positive ones to others.
    Int {
        /// The least.
        low: i64,
        /// The most.
        high: i64,
        /// Positive numbers to others.
        ratio: Option<(u32, u32)>,
    },
    /// One of several words, by weight.
    OneOf(Vec<(String, u32)>),
    /// The text, or nothing: an argument that is only this is left out then.
    Flag(String),
    /// Characters of an alphabet.
    Text {
        /// The least length.
        shortest: usize,
        /// The greatest.
        longest: usize,
        /// The characters.
        alphabet: Arc<[u8]>,
    },
    /// Any bytes.
    Bytes {
        /// The least length.
        shortest: usize,
        /// The greatest.
        longest: usize,
    },
    /// The content of a file of a corpus, or a mutation of it.
    Corpus(Arc<[Vec<u8>]>),
    /// A sentence of a grammar.
    Grammar(Arc<Grammar>),
    /// What the program itself asks for, by a number that all of its choices come from: 1 for the first option of each.
    Own,
}

/// The value of a hole.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// A number.
    Int(i64),
    /// Which of several words, or whether a flag is there.
    Choice(usize),
    /// Text or bytes.
    Bytes(Vec<u8>),
}

/// A hole.
#[derive(Clone, PartialEq, Debug)]
pub struct Hole {
    /// Its name; a template may use it again as `{name}`.
    pub name: String,
    /// What it may be.
    pub kind: Kind,
    /// The value is in a file, and the text has the file's name.
    pub in_file: bool,
}

/// A part of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// As it stands.
    Plain(Vec<u8>),
    /// The hole with this number.
    Hole(usize),
    /// The name of the file with this number.
    File(usize),
}

/// What an input may be.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Template {
    /// The holes.
    pub holes: Vec<Hole>,
    /// The arguments.
    pub args: Vec<Vec<Part>>,
    /// The standard input.
    pub stdin: Option<Vec<Part>>,
    /// Variables of the environment.
    pub env: Vec<(String, Vec<Part>)>,
    /// Files that are templates themselves: a name for the template, and what is in the file.
    pub files: Vec<(String, Vec<Part>)>,
    /// The texts it was read from.
    pub texts: Vec<String>,
}

/// An input: a value for each hole.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Input(pub Vec<Value>);

/// An input as the program gets it. Where a value is in a file, the text has [`Rendered::name_of`] its content.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rendered {
    /// The arguments.
    pub args: Vec<Vec<u8>>,
    /// The standard input.
    pub stdin: Option<Vec<u8>>,
    /// Variables of the environment.
    pub env: Vec<(String, Vec<u8>)>,
    /// Files: name and content.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Rendered {
    /// The name of a file with this content, so that equal inputs have equal names.
    pub fn name_of(content: &[u8]) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for &byte in content {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        format!("{:016x}-{}", hash, content.len())
    }
}

impl Kind {
    /// How many values there are, if they can be counted.
    pub fn count(&self) -> Option<u128> {
        match self {
            Kind::Int { low, high, .. } => Some((*high as i128 - *low as i128 + 1) as u128),
            Kind::OneOf(words) => Some(words.len() as u128),
            Kind::Flag(_) => Some(2),
            _ => None,
        }
    }
}

impl Template {
    /// The name of the hole for what the program itself asks for.
    pub const OWN: &'static str = "choices";

    /// What the program itself asks for belongs to the input.
    pub fn choose_own(&mut self) {
        self.texts.push(Template::OWN.to_owned());
        self.holes.push(Hole { name: Template::OWN.to_owned(), kind: Kind::Own, in_file: false });
    }

    /// The number that the program's own choices come from, if they belong to the input.
    pub fn own(&self, input: &Input) -> Option<u64> {
        let at = self.holes.iter().position(|hole| hole.kind == Kind::Own)?;
        match input.0.get(at)? {
            Value::Int(number) => Some(number.unsigned_abs()),
            _ => None,
        }
    }

    /// Whether there is nothing to choose.
    pub fn is_fixed(&self) -> bool {
        self.holes.is_empty()
    }

    /// How many inputs there are, if they can be counted.
    pub fn count(&self) -> Option<u128> {
        self.holes.iter().try_fold(1u128, |all, hole| all.checked_mul(hole.kind.count()?))
    }

    /// Whether these are values for its holes.
    pub fn takes(&self, input: &Input) -> bool {
        self.holes.len() == input.0.len()
            && self.holes.iter().zip(&input.0).all(|(hole, value)| match (&hole.kind, value) {
                (Kind::Int { low, high, .. }, Value::Int(number)) => (low..=high).contains(&number),
                (Kind::OneOf(words), Value::Choice(index)) => *index < words.len(),
                (Kind::Flag(_), Value::Choice(index)) => *index < 2,
                (
                    Kind::Text { shortest, longest, .. } | Kind::Bytes { shortest, longest },
                    Value::Bytes(bytes),
                ) => (shortest..=longest).contains(&&bytes.len()),
                (Kind::Corpus(_), Value::Bytes(_)) => true,
                (Kind::Grammar(grammar), Value::Bytes(bytes)) => grammar.accepts(bytes),
                (Kind::Own, Value::Int(number)) => *number > 0,
                _ => false,
            })
    }

    /// The bytes of a hole's value.
    fn value(&self, hole: usize, value: &Value) -> Vec<u8> {
        match (&self.holes[hole].kind, value) {
            (_, Value::Int(number)) => number.to_string().into_bytes(),
            (Kind::OneOf(words), Value::Choice(index)) => {
                words.get(*index).map(|(word, _)| word.clone().into_bytes()).unwrap_or_default()
            }
            (Kind::Flag(text), Value::Choice(1)) => text.clone().into_bytes(),
            (_, Value::Choice(_)) => Vec::new(),
            (_, Value::Bytes(bytes)) => bytes.clone(),
        }
    }

    fn render_parts(
        &self,
        parts: &[Part],
        input: &Input,
        folder: &str,
        files: &mut Vec<(String, Vec<u8>)>,
    ) -> Vec<u8> {
        let mut text = Vec::new();
        for part in parts {
            let (content, in_file) = match part {
                Part::Plain(plain) => (plain.clone(), false),
                Part::Hole(hole) => (self.value(*hole, &input.0[*hole]), self.holes[*hole].in_file),
                Part::File(file) => (self.render_parts(&self.files[*file].1, input, folder, files), true),
            };
            if in_file {
                let name = Rendered::name_of(&content);
                text.extend_from_slice(format!("{folder}/{name}").as_bytes());
                files.push((name, content));
            } else {
                text.extend(content);
            }
        }
        text
    }

    /// What the program gets; files are in this folder.
    pub fn render(&self, input: &Input, folder: &str) -> Rendered {
        let mut files = Vec::new();
        let mut args = Vec::new();
        for parts in &self.args {
            // A flag that is not given is no argument.
            let absent = matches!(parts[..], [Part::Hole(hole)]
                if matches!((&self.holes[hole].kind, &input.0[hole]), (Kind::Flag(_), Value::Choice(0))));
            if !absent {
                args.push(self.render_parts(parts, input, folder, &mut files));
            }
        }
        let stdin = self.stdin.as_ref().map(|parts| self.render_parts(parts, input, folder, &mut files));
        let env = self
            .env
            .iter()
            .map(|(name, parts)| (name.clone(), self.render_parts(parts, input, folder, &mut files)))
            .collect();
        Rendered { args, stdin, env, files }
    }

    /// An input in words: `x=5 mode=a s="b c"`.
    pub fn words(&self, input: &Input) -> String {
        let mut words = Vec::new();
        for (index, (hole, value)) in self.holes.iter().zip(&input.0).enumerate() {
            let bytes = self.value(index, value);
            let text = match value {
                Value::Bytes(_) => shown(&bytes),
                _ => String::from_utf8_lossy(&bytes).into_owned(),
            };
            words.push(format!("{}={text}", hole.name));
        }
        words.join(" ")
    }
}

/// Bytes as they can be read, in quotes; of many the beginning.
fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 60;
    let mut text = String::from("\"");
    for &byte in bytes.iter().take(MOST) {
        match byte {
            b'"' | b'\\' => text.extend(['\\', byte as char]),
            0x20..0x7f => text.push(byte as char),
            b'\n' => text.push_str("\\n"),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text.push('"');
    if bytes.len() > MOST {
        text.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    text
}
