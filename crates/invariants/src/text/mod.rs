//! Statements as text, written and read.
//!
//! ```text
//! ::balance == orig(::balance) - 100
//! ::p != NULL
//! state one of {.BUSY, .IDLE}
//! n == 2*m + 1
//! size(::queue) <= 8
//! ::flags & 0x3 == 0x1
//! x % 4 == 2
//! sorted(list, <=)
//! ::ready ==> ::data != NULL
//! ```
//!
//! A name that is not made of letters, digits, `_`, `$`, `.`, `::`, `->` and `[…]` stands in backquotes. What is written is read as the same statement.

mod lex;
mod parse;
#[cfg(test)]
mod round_trip;
mod write;

pub use parse::ParseError;
pub(crate) use write::quoted;
