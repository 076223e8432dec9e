//! Colour, where it is wanted.

use std::fmt;
use std::io::IsTerminal;

/// Whether to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// Plain text.
    pub const PLAIN: Style = Style { colour: false };
    /// With colour, whatever it is written to.
    pub const COLOUR: Style = Style { colour: true };

    /// The style for a stream: colour on a terminal, unless `NO_COLOR` is set or the terminal has none.
    pub fn for_stream(stream: &impl IsTerminal) -> Style {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Style { colour: stream.is_terminal() && !no_color && !dumb }
    }

    /// Whether it colours.
    pub fn has_colour(self) -> bool {
        self.colour
    }

    /// A headline of something bad.
    pub fn bad<T>(self, text: T) -> Painted<T> {
        self.paint("1;31", text)
    }

    /// A headline of something good.
    pub fn good<T>(self, text: T) -> Painted<T> {
        self.paint("1;32", text)
    }

    /// Something to heed.
    pub fn warn<T>(self, text: T) -> Painted<T> {
        self.paint("33", text)
    }

    /// Something that stands out.
    pub fn strong<T>(self, text: T) -> Painted<T> {
        self.paint("1", text)
    }

    /// Something that stays behind.
    pub fn faint<T>(self, text: T) -> Painted<T> {
        self.paint("2", text)
    }

    fn paint<T>(self, code: &'static str, text: T) -> Painted<T> {
        Painted { code: self.colour.then_some(code), text }
    }
}

/// A text with its colour.
#[derive(Clone, Copy, Debug)]
pub struct Painted<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "\x1b[{code}m{}\x1b[0m", self.text),
            None => self.text.fmt(f),
        }
    }
}
