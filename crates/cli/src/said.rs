//! What the commands say on standard output.
//!
//! Texts for people are cleaned on their way out, whoever made them: findings, schedules and journals may come from elsewhere,
//! and what they hold must not speak to the terminal or the workflow that reads it. Of control characters only line ends, tabs
//! and Threadbare's own colours pass.

use crate::exit::Trouble;
use std::io::{ErrorKind, Write};
use threadbare_report::columns::is_unsafe;

/// Colours of [`threadbare_report::Style`], and the end of one.
const COLOURS: [&str; 6] = ["1;31", "1;32", "33", "1", "2", "0"];

/// Writes a result for programs, as it is. A reader that went away is no error; a disk that is full is one.
pub(crate) fn data(text: &str) -> Result<(), Trouble> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Trouble::usage(
            format!("the result could not be written: {error}"),
            "standard output does not take it: give it another file, or room on its disk",
        )),
        _ => Ok(()),
    }
}

/// Writes a result for people.
pub(crate) fn text(text: &str) -> Result<(), Trouble> {
    data(&clean(text))
}

/// A text without what would speak to a terminal.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(colour) = colour(rest) {
            out.push_str(colour);
            rest = &rest[colour.len()..];
            continue;
        }
        match c {
            '\n' | '\t' => out.push(c),
            c if is_unsafe(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// The colour that a text begins with.
fn colour(text: &str) -> Option<&str> {
    let code = text.strip_prefix("\x1b[")?;
    let end = code.find('m')?;
    COLOURS.contains(&&code[..end]).then(|| &text[..end + 3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_report::Style;

    #[test]
    fn only_our_own_colours_reach_a_terminal() {
        let ours = format!("{} {}\n\tx", Style::COLOUR.bad("a"), Style::COLOUR.faint("é"));
        assert_eq!(clean(&ours), ours);
        let theirs = "\x1b]0;title\x07 \x1b[2J \x1b[5m \u{9b}31m \u{202e} \r \x08";
        assert!(clean(theirs).chars().all(|c| !c.is_control() && c != '\u{202e}'), "{:?}", clean(theirs));
        assert_eq!(clean("\x1b["), "\u{fffd}[");
    }
}
