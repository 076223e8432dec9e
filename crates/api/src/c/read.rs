//! A modest reader of C declarations: typedefs, structs, enums, prototypes and inline functions.

use super::lex::{Word, words};
use super::{Api, CTy, Function};
use std::collections::BTreeMap;

/// Words that say nothing of a type here.
const PLAIN: [&str; 17] = [
    "extern",
    "static",
    "inline",
    "__inline",
    "__inline__",
    "_Noreturn",
    "__extension__",
    "volatile",
    "__volatile__",
    "register",
    "restrict",
    "__restrict",
    "__restrict__",
    "_Atomic",
    "_Thread_local",
    "auto",
    "constexpr",
];
const NUMBERS: [&str; 12] = [
    "char",
    "short",
    "int",
    "long",
    "signed",
    "unsigned",
    "float",
    "double",
    "_Bool",
    "bool",
    "__signed__",
    "__int128",
];

/// Reads a preprocessed header; `is_own` knows the files whose functions are asked for.
pub fn read(source: &str, is_own: &dyn Fn(&str) -> bool) -> Api {
    let words = words(source, is_own);
    let mut reader = Reader { api: Api::default(), typedefs: BTreeMap::new() };
    let mut at = 0;
    while at < words.len() {
        let (end, next) = declaration(&words, at);
        reader.declaration(&words[at..end]);
        at = next;
    }
    reader.api
}

/// Where a declaration ends, and where the next begins.
fn declaration(words: &[Word], from: usize) -> (usize, usize) {
    let mut at = from;
    while at < words.len() {
        match words[at].text.as_str() {
            ";" => return (at, at + 1),
            "{" => {
                let close = closing(words, at);
                // After a list of parameters it is a function's body.
                if at > from && words[at - 1].text == ")" {
                    return (at, close + 1);
                }
                at = close + 1;
            }
            "(" => at = closing(words, at) + 1,
            _ => at += 1,
        }
    }
    (words.len(), words.len())
}

/// The place of the bracket that closes the one here.
fn closing(words: &[Word], from: usize) -> usize {
    let mut depth = 0usize;
    for (at, word) in words.iter().enumerate().skip(from) {
        match word.text.as_str() {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    words.len().saturating_sub(1)
}

struct Reader {
    api: Api,
    typedefs: BTreeMap<String, CTy>,
}

/// A name that is declared, with its type and, of a function, its parameters.
struct Declared {
    name: String,
    ty: CTy,
    params: Option<Vec<(String, CTy)>>,
}

impl Reader {
    fn declaration(&mut self, all: &[Word]) {
        let words = without_attributes(all);
        let is_typedef = words.first().is_some_and(|word| word.text == "typedef");
        let words = if is_typedef { &words[1..] } else { &words[..] };
        let Some((base, rest)) = self.specifiers(words, is_typedef) else { return };
        let own = all.first().is_some_and(|word| word.own);
        for part in split(rest, ",") {
            let Some(declared) = self.declarator(&part, base.clone()) else { continue };
            if is_typedef {
                let ty = match (&declared.ty, &declared.params) {
                    (_, Some(_)) => CTy::Function,
                    // A struct without a name has its typedef's.
                    (CTy::Struct(name, _), None) if name.is_empty() => {
                        self.api.complete.insert(declared.name.clone());
                        CTy::Struct(declared.name.clone(), declared.name.clone())
                    }
                    (CTy::Struct(name, _), None) => CTy::Struct(name.clone(), declared.name.clone()),
                    (CTy::Int(_), None) => CTy::Int(declared.name.clone()),
                    (ty, None) => ty.clone(),
                };
                self.typedefs.insert(declared.name, ty);
            } else if let Some(params) = declared.params
                && own
            {
                let known = self.api.functions.iter().any(|other| other.name == declared.name);
                if !known {
                    self.api.functions.push(Function { name: declared.name, params, gives: declared.ty });
                }
            }
        }
    }

    /// The type that a declaration begins with, and what comes after it.
    fn specifiers<'a>(&mut self, words: &'a [Word], is_typedef: bool) -> Option<(CTy, &'a [Word])> {
        let mut at = 0;
        let mut constant = false;
        let mut found: Option<CTy> = None;
        while let Some(word) = words.get(at) {
            match word.text.as_str() {
                "const" | "__const" => constant = true,
                plain if PLAIN.contains(&plain) => {}
                "void" if found.is_none() => found = Some(CTy::Void),
                "bool" | "_Bool" => found = Some(CTy::Bool),
                number if NUMBERS.contains(&number) => {
                    let floats = matches!(number, "float" | "double");
                    found = match found {
                        None if number == "char" => Some(CTy::Char),
                        Some(CTy::Int(before)) => Some(CTy::Int(format!("{before} {number}"))),
                        Some(CTy::Char) => Some(CTy::Char),
                        _ if floats => Some(CTy::Float),
                        _ => Some(CTy::Int(number.to_owned())),
                    };
                }
                kind @ ("struct" | "union" | "enum") => {
                    at += 1;
                    let mut name = String::new();
                    if words.get(at).is_some_and(|word| word.text != "{") {
                        name = words[at].text.clone();
                        at += 1;
                    }
                    let body = words.get(at).filter(|word| word.text == "{").map(|_| closing(words, at));
                    if kind == "enum" {
                        if let Some(close) = body {
                            let constants = split(&words[at + 1..close], ",");
                            let constants: Vec<String> =
                                constants.iter().filter_map(|one| Some(one.first()?.text.clone())).collect();
                            self.api.enums.insert(name.clone(), constants.clone());
                            found = Some(CTy::Enum(constants));
                        } else {
                            found = Some(CTy::Enum(self.api.enums.get(&name).cloned().unwrap_or_default()));
                        }
                    } else {
                        if body.is_some() && !name.is_empty() {
                            self.api.complete.insert(name.clone());
                        }
                        found = Some(CTy::Struct(name.clone(), format!("{kind} {name}")));
                    }
                    if let Some(close) = body {
                        at = close;
                    } else {
                        at -= 1;
                    }
                }
                other => {
                    if found.is_none()
                        && let Some(ty) = self.typedefs.get(other)
                    {
                        found = Some(ty.clone());
                    } else if found.is_none()
                        && is_name(other)
                        && words.get(at + 1).is_some_and(|next| is_name(&next.text) || next.text == "*")
                    {
                        found = Some(CTy::Other(other.to_owned()));
                    } else {
                        break;
                    }
                }
            }
            at += 1;
        }
        let _ = is_typedef;
        let found = found?;
        let found = if constant { CTy::Const(Box::new(found)) } else { found };
        Some((found, &words[at..]))
    }

    fn declarator(&mut self, words: &[Word], base: CTy) -> Option<Declared> {
        let mut ty = base;
        let mut at = 0;
        while let Some(word) = words.get(at) {
            match word.text.as_str() {
                "*" => ty = CTy::Pointer(Box::new(ty)),
                "const" | "__const" => ty = CTy::Const(Box::new(ty)),
                plain if PLAIN.contains(&plain) => {}
                _ => break,
            }
            at += 1;
        }
        let word = words.get(at)?;
        if word.text == "(" {
            // A pointer to a function, or a name in brackets.
            let close = closing(words, at);
            let inner = &words[at + 1..close];
            let name = inner.iter().map(|word| word.text.as_str()).find(|text| is_name(text))?.to_owned();
            if inner.first().is_some_and(|word| word.text == "*") {
                return Some(Declared { name, ty: CTy::Function, params: None });
            }
            let params = words.get(close + 1).filter(|word| word.text == "(").map(|_| close + 1);
            let params = params.map(|open| self.params(&words[open + 1..closing(words, open)]));
            return Some(Declared { name, ty, params });
        }
        if !is_name(&word.text) {
            return None;
        }
        let name = word.text.clone();
        match words.get(at + 1).map(|word| word.text.as_str()) {
            Some("(") => {
                let params = self.params(&words[at + 2..closing(words, at + 1)]);
                Some(Declared { name, ty, params: Some(params) })
            }
            Some("[") => Some(Declared { name, ty: CTy::Pointer(Box::new(ty)), params: None }),
            _ => Some(Declared { name, ty, params: None }),
        }
    }

    fn params(&mut self, words: &[Word]) -> Vec<(String, CTy)> {
        let mut params = Vec::new();
        for part in split(words, ",") {
            if part.len() == 1 && part[0].text == "void" {
                continue;
            }
            if part.first().is_some_and(|word| word.text == "...") {
                params.push(("...".to_owned(), CTy::Other("...".to_owned())));
                continue;
            }
            let Some((base, rest)) = self.specifiers(&part, false) else {
                let text: Vec<&str> = part.iter().map(|word| word.text.as_str()).collect();
                params.push((String::new(), CTy::Other(text.join(" "))));
                continue;
            };
            let named = self.declarator(rest, base.clone());
            params.push(match named {
                Some(declared) => (declared.name, declared.ty),
                None => {
                    let stars = rest.iter().filter(|word| word.text == "*").count();
                    let ty = (0..stars).fold(base, |ty, _| CTy::Pointer(Box::new(ty)));
                    (String::new(), ty)
                }
            });
        }
        params
    }
}

/// Parts between separators that stand in no bracket.
fn split(words: &[Word], separator: &str) -> Vec<Vec<Word>> {
    let mut parts = vec![Vec::new()];
    let mut at = 0;
    while at < words.len() {
        let text = words[at].text.as_str();
        if matches!(text, "(" | "{" | "[") {
            let close = closing(words, at);
            if let Some(part) = parts.last_mut() {
                part.extend_from_slice(&words[at..=close.min(words.len() - 1)]);
            }
            at = close + 1;
            continue;
        }
        if text == separator {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(words[at].clone());
        }
        at += 1;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn without_attributes(words: &[Word]) -> Vec<Word> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < words.len() {
        match words[at].text.as_str() {
            "__attribute__" | "__attribute" | "__asm__" | "asm" | "__asm" | "_Alignas" | "__declspec" => {
                at += 1;
                if words.get(at).is_some_and(|word| word.text == "(") {
                    at = closing(words, at) + 1;
                }
            }
            _ => {
                kept.push(words[at].clone());
                at += 1;
            }
        }
    }
    kept
}

fn is_name(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
}
