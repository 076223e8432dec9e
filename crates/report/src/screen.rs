//! What a report is written on: how wide it is, what it can show, and whether in colour.

use crate::style::Style;
use crate::width;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::fd::AsFd;

/// The most columns a report uses: longer lines are harder to read, whatever the terminal has.
const WIDEST: usize = 100;

/// What a report is written on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Screen {
    /// Whether to colour.
    pub style: Style,
    /// Columns.
    pub width: usize,
    /// Whether lines and signs may be drawn with more than ASCII.
    pub unicode: bool,
}

impl Screen {
    /// Plain text of 80 columns, as for a file that people read.
    pub const PLAIN: Screen = Screen { style: Style::PLAIN, width: 80, unicode: true };

    /// The screen behind a stream.
    pub fn for_stream(stream: &(impl AsFd + IsTerminal)) -> Screen {
        let width = match stream.is_terminal() {
            true => width::of_stream(stream),
            // A pager, a log or an issue: the width that fits all of them, unless the user asks for another.
            false => width::asked_for().unwrap_or(Screen::PLAIN.width),
        };
        Screen {
            style: Style::for_stream(stream),
            width: width.min(WIDEST),
            unicode: is_utf8(|name| std::env::var_os(name)),
        }
    }

    /// The sign for what is left out of a line.
    pub fn ellipsis(self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }

    /// The sign for steps that are left out.
    pub fn dots(self) -> &'static str {
        if self.unicode { "⋮" } else { ":" }
    }

    /// The line between numbers and source.
    pub fn bar(self) -> &'static str {
        if self.unicode { "│" } else { "|" }
    }

    /// The lane of a strand that waits.
    pub fn waiting(self) -> &'static str {
        if self.unicode { "┊" } else { "." }
    }

    /// The sign before what decides.
    pub fn spot(self) -> &'static str {
        if self.unicode { "◆" } else { "*" }
    }

    /// The sign before what matters most.
    pub fn pointer(self) -> &'static str {
        if self.unicode { "▶" } else { ">" }
    }
}

/// Whether the locale's character set is UTF-8: the first of the three variables that has a value decides.
fn is_utf8(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| variable(name).filter(|value| !value.is_empty()))
        .unwrap_or_default();
    let locale = locale.to_string_lossy().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_decides_what_can_be_drawn() {
        let with = |list: &'static [(&str, &str)]| {
            is_utf8(|name| list.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
        };
        assert!(with(&[("LANG", "en_GB.UTF-8")]));
        assert!(with(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!with(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]));
        assert!(!with(&[]));
    }
}
