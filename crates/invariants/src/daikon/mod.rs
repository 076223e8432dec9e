//! Daikon's files, version 2.0: declarations (`.decls`) and values (`.dtrace`), written and read.
//!
//! Strands interleave, so entries and exits are joined by a nonce, never by nesting. A point is named as the paper on Udon prints it: `..withdraw():::ENTER`, `..main.c_3_9():::EXIT0`,
//! and globals have `::` in front. How our model and Daikon's differ:
//!
//! 1. Daikon knows sequences as `a[..]` inside a pointer `a`. A sequence without one gets a synthetic one, which the reader leaves out again.
//! 2. Its integers have 64 bits; unsigned ones above that half are written as they are, which Daikon takes as negative. What
//!    does not fit into 64 bits at all is `nonsensical`.
//! 3. Which run, strand and event a sample is of stands in a comment before it.
//! 4. That strands share a variable is its flag `volatile`.
//! 5. The names of an enum's values are part of its declared type.
//!
//! The reader takes files of other front ends, too: what it has no class for is opaque.

mod read;
mod types;
mod write;

pub use read::{ReadError, Reader};
pub use write::{TraceWriter, write_decls};

/// A comment that says where a file comes from. Groups of comparability can be recovered from such a file.
const ORIGIN: &str = "// Written by Threadbare.";

/// A name in Daikon's files: no blank, no line break.
fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for next in name.chars() {
        match next {
            '\\' => out.push_str("\\\\"),
            ' ' => out.push_str("\\_"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            next => out.push(next),
        }
    }
    out
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut all = text.chars();
    while let Some(next) = all.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        match all.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('_') => out.push(' '),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}
