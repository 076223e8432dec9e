//! What the commands say, on standard output and standard error.
//!
//! Texts for people are cleaned on their way out, whoever made them: findings, schedules and journals may come from elsewhere,
//! and what they hold must not speak to the terminal or the workflow that reads it. Of control characters only line ends, tabs
//! and, where the stream has colours, Threadbare's own pass. A line that a workflow run would take as a command to it is
//! told as a text. Results for programs keep every character, and escape these in the manner of their format.
//!
//! Nothing else in this crate writes to the two streams: see the lints at its head.

use crate::exit::Trouble;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use threadbare_report::Style;
use threadbare_report::columns::is_unsafe;

/// Colours of [`threadbare_report::Style`], and the end of one.
const COLOURS: [&str; 6] = ["1;31", "1;32", "33", "1", "2", "0"];

/// What GitHub's workflow runs do when a line begins with its name between colons; a word of the program's at that place, such as
/// `::balance`, is none of these.
const COMMANDS: [&str; 15] = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
];

/// Writes a result for programs, as it is. A reader that went away is no error; a disk that is full is one.
pub(crate) fn data(text: &str) -> Result<(), Trouble> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// What comes of writing to standard output.
pub(crate) fn written(result: io::Result<()>) -> Result<(), Trouble> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Trouble::usage(
            format!("the result could not be written: {error}"),
            "standard output does not take it: give it another file, or room on its disk",
        )),
        _ => Ok(()),
    }
}

/// Writes a result in JSON.
pub(crate) fn json(text: &str) -> Result<(), Trouble> {
    data(&in_json(text))
}

/// JSON in which nothing speaks to a terminal: characters that would are written by their numbers.
pub(crate) fn in_json(text: &str) -> Cow<'_, str> {
    // Those of ASCII are written so by everybody who writes JSON, and stand between values where they do not.
    escaped(text, |out, c| _ = write!(out, "\\u{:04x}", u32::from(c)))
}

/// Writes a result in XML.
pub(crate) fn xml(text: &str) -> Result<(), Trouble> {
    data(&in_xml(text))
}

/// The same for XML, which a workflow run may read besides.
pub(crate) fn in_xml(text: &str) -> String {
    let text = escaped(text, |out, c| _ = write!(out, "&#x{:x};", u32::from(c)));
    without_commands(&text, "&#58;", "&#35;")
}

fn escaped(text: &str, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    let is_bad = |c: char| c >= '\u{7f}' && is_unsafe(c);
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_bad(c) { escape(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Writes a result for people.
pub(crate) fn text(text: &str) -> Result<(), Trouble> {
    data(&coloured(text, Style::for_stream(&io::stdout())))
}

/// Writes commands to a workflow run, which are what is wanted of it.
pub(crate) fn commands(text: &str) -> Result<(), Trouble> {
    data(&printable(text, false))
}

/// A result that is written piece by piece, each of whole lines if it is for people. Behind an error nothing more is written.
#[derive(Debug)]
pub(crate) struct Pieces {
    out: io::BufWriter<io::StdoutLock<'static>>,
    style: Style,
    result: io::Result<()>,
}

impl Pieces {
    /// On standard output.
    pub(crate) fn new() -> Pieces {
        let stdout = io::stdout();
        let style = Style::for_stream(&stdout);
        Pieces { out: io::BufWriter::new(stdout.lock()), style, result: Ok(()) }
    }

    /// Writes a piece for people.
    pub(crate) fn text(&mut self, text: &str) {
        self.put(&coloured(text, self.style));
    }

    /// Writes a piece of JSON.
    pub(crate) fn json(&mut self, text: &str) {
        self.put(&in_json(text));
    }

    fn put(&mut self, text: &str) {
        if self.result.is_ok() {
            self.result = self.out.write_all(text.as_bytes());
        }
    }

    /// Lets the reader have what was written.
    pub(crate) fn flush(&mut self) {
        if self.result.is_ok() {
            self.result = self.out.flush();
        }
    }

    /// Whether nobody takes any more.
    pub(crate) fn is_over(&self) -> bool {
        self.result.is_err()
    }

    /// That was all: what came of it.
    pub(crate) fn end(mut self) -> Result<(), Trouble> {
        self.flush();
        if self.is_over() {
            // What is left would only fail once more.
            let (_stdout, _rest) = self.out.into_parts();
        }
        written(self.result)
    }
}

/// Tells something on standard error, in a line of its own. Nobody has to read it, so nothing comes of an error.
pub(crate) fn note(text: &str) {
    let style = Style::for_stream(&io::stderr());
    let _ = writeln!(io::stderr().lock(), "{}", coloured(text, style));
}

/// A text in which only the style's colours are more than text.
pub(crate) fn coloured(text: &str, style: Style) -> String {
    without_commands(&printable(text, style.has_colour()), "\u{fffd}", "\u{fffd}")
}

/// A text in which nothing is more than text.
pub(crate) fn clean(text: &str) -> String {
    coloured(text, Style::PLAIN)
}

fn printable(text: &str, colours: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(colour) = colour(rest).filter(|_| colours) {
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

/// A text without commands to a workflow run: of the marks that begin one, the first sign is another.
fn without_commands(text: &str, colon: &str, hash: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let begin = line.len() - line.trim_start().len();
        let (blanks, words) = line.split_at(begin);
        out.push_str(blanks);
        let words = match words.strip_prefix(':').filter(|_| is_command(words)) {
            Some(rest) => {
                out.push_str(colon);
                rest
            }
            None => words,
        };
        match words.contains("##[") {
            true => out.push_str(&words.replace("##[", &format!("{hash}#["))),
            false => out.push_str(words),
        }
    }
    out
}

fn is_command(line: &str) -> bool {
    let Some(words) = line.strip_prefix("::") else { return false };
    let name = words.split([' ', ':']).next().unwrap_or_default();
    COMMANDS.iter().any(|command| command.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_reach_a_terminal() {
        let ours = format!("{} {}\n\tx", Style::COLOUR.bad("a"), Style::COLOUR.faint("é"));
        assert_eq!(coloured(&ours, Style::COLOUR), ours);
        assert!(!clean(&ours).contains('\x1b'), "{:?}", clean(&ours));
        let theirs = "\x1b]0;title\x07 \x1b[2J \x1b[5m \u{9b}31m \u{202e} \r \x08";
        for said in [clean(theirs), coloured(theirs, Style::COLOUR)] {
            assert!(said.chars().all(|c| !c.is_control() && c != '\u{202e}'), "{said:?}");
        }
        assert_eq!(clean("\x1b["), "\u{fffd}[");
    }

    #[test]
    fn nobody_else_commands_a_workflow() {
        let told = clean("a\n  ::error file=x::y\n::Stop-Commands::z ##[group]\n::balance == ::count\n:: x");
        assert_eq!(
            told,
            "a\n  \u{fffd}:error file=x::y\n\u{fffd}:Stop-Commands::z \u{fffd}#[group]\n::balance == ::count\n:: x"
        );
        assert_eq!(in_xml("\n::error::x\u{202e}"), "\n&#58;:error::x&#x202e;");
    }

    #[test]
    fn json_keeps_every_character_by_its_number() {
        let value = serde_json::json!({ "name": "\x1b[2J\u{9b}\u{7f}\u{202e}é" });
        let text = value.to_string();
        let told = in_json(&text);
        assert!(!told.contains(is_unsafe), "{told:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&told).unwrap(), value);
        assert!(matches!(in_json("{\"a\":\"é\"}"), Cow::Borrowed(_)));
    }
}
