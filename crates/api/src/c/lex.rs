//! The words of a preprocessed C file, each with whether it stands in the header that was asked for.

/// A word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) own: bool,
}

/// Splits a preprocessed file. `# 3 "queue.h"` says which file the next line is of; `is_own` knows which are asked for.
pub(super) fn words(source: &str, is_own: &dyn Fn(&str) -> bool) -> Vec<Word> {
    let mut words = Vec::new();
    let mut own = false;
    for line in source.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            if let Some(file) = rest.split('"').nth(1) {
                own = is_own(file);
            }
            continue;
        }
        if line.trim_start().starts_with('#') {
            continue;
        }
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if first.is_alphanumeric() || first == '_' {
                rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
            } else if first == '"' || first == '\'' {
                quoted(rest, first)
            } else if rest.starts_with("...") {
                3
            } else {
                first.len_utf8()
            };
            words.push(Word { text: rest[..length].to_owned(), own });
            rest = rest[length..].trim_start();
        }
    }
    words
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
