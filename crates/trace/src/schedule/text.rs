//! What writer and reader of the text form share: marks, escapes, the checksum.

use crate::hash::Fnv;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use threadbare_abi::event::{ChoiceKind, Segment, StopKind};

/// The first words of a file, before the version.
pub(super) const TITLE: &str = "threadbare schedule";
/// Bits of a stop that are the offset in its module.
pub(super) const OFFSET_BITS: u32 = 48;

/// Whether a segment is a stretch of a strand.
pub(super) fn is_strand(segment: &Segment) -> bool {
    segment.kind == ChoiceKind::Strand as u8 || segment.kind == ChoiceKind::Timeout as u8
}

/// The letter of a choice that is no strand.
pub(super) const CHOICES: [(char, ChoiceKind); 6] = [
    ('w', ChoiceKind::Wake),
    ('p', ChoiceKind::Spurious),
    ('v', ChoiceKind::Value),
    ('r', ChoiceKind::ReadsFrom),
    ('f', ChoiceKind::Fault),
    ('c', ChoiceKind::Own),
];

/// The mark of a stop; a preempted strand has none.
pub(super) const MARKS: [(char, StopKind); 3] =
    [('#', StopKind::Blocked), (';', StopKind::Ended), ('.', StopKind::Final)];

/// A checksum over the words of a text: blanks and line ends do not matter.
pub(super) fn checksum(text: &str) -> u64 {
    let mut hash = Fnv::new();
    for word in text.split_whitespace() {
        hash.write(word.as_bytes());
        hash.write(b" ");
    }
    hash.finish()
}

/// The name of a place in the table: a, b, … z, aa, ab, ….
pub(super) fn place_name(mut index: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.push(b'a' + (index % 26) as u8);
        index /= 26;
        if index == 0 {
            break;
        }
        index -= 1;
    }
    name.reverse();
    String::from_utf8_lossy(&name).into_owned()
}

/// A value on one line: control characters, bytes that are no text, and blanks at the ends are escaped.
pub(super) fn escape(value: &OsStr) -> String {
    let mut out = String::new();
    for chunk in value.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                // Other blanks would not survive a paste.
                c if c.is_control() || c != ' ' && c.is_whitespace() => {
                    let mut buffer = [0; 4];
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        out.push_str(&format!("\\x{byte:02x}"));
                    }
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02x}"));
        }
    }
    // A blank at an end, or the second of two, would be lost.
    let mut kept = String::with_capacity(out.len());
    let last = out.chars().count().saturating_sub(1);
    let mut before = ' ';
    for (at, c) in out.chars().enumerate() {
        if c == ' ' && (before == ' ' || at == last) {
            kept.push_str("\\x20");
            before = 'x';
        } else {
            kept.push(c);
            before = c;
        }
    }
    kept
}

/// The value an escaped text stands for; `None` if an escape is not one.
pub(super) fn unescape(text: &str) -> Option<OsString> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&kind, after) = rest.split_first()?;
        rest = after;
        match kind {
            b'\\' => out.push(b'\\'),
            b'n' => out.push(b'\n'),
            b'x' => {
                let digits = rest.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
                out.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                rest = &rest[2..];
            }
            _ => return None,
        }
    }
    Some(OsString::from_vec(out))
}
