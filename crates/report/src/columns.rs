//! Text measured in columns of a terminal: wide characters, tabs, and what must not reach a terminal at all.

use crate::screen::Screen;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns from one tab stop to the next.
const TAB: usize = 4;

/// Columns of a text without control characters.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A line of the program or its source as a terminal can show it: tabs as blanks, other control characters as signs
/// that show there was one.
pub fn printable(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut column = 0;
    for c in line.chars() {
        let shown = match c {
            '\t' => {
                let blanks = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
                continue;
            }
            '\r' => continue,
            c if is_unsafe(c) => '\u{fffd}',
            c => c,
        };
        out.push(shown);
        column += shown.width().unwrap_or(0);
    }
    out
}

/// Whether a character speaks to a terminal, or makes a line look like another.
pub fn is_unsafe(c: char) -> bool {
    c.is_control() || is_direction(c)
}

/// Marks that turn the direction of writing would make source look like other source.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Columns that the first `bytes` bytes of a line take when it is [`printable`].
pub fn columns_before(line: &str, bytes: usize) -> usize {
    let mut end = bytes.min(line.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    width(&printable(&line[..end]))
}

/// The beginning of a text, as much as has room.
pub fn fit(text: &str, room: usize, screen: Screen) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mark = screen.ellipsis();
    let mut out = take(text.chars(), room.saturating_sub(width(mark)));
    out.push_str(&take(mark.chars(), room));
    out
}

/// The end of a text, as much as has room: of a path the end says most.
pub fn fit_end(text: &str, room: usize, screen: Screen) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mark = screen.ellipsis();
    let kept = take(text.chars().rev(), room.saturating_sub(width(mark)));
    format!("{}{}", take(mark.chars(), room), kept.chars().rev().collect::<String>())
}

fn take(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut left = room;
    chars
        .take_while(|c| {
            let columns = c.width().unwrap_or(0);
            let fits = columns <= left;
            left = left.saturating_sub(columns);
            fits
        })
        .collect()
}

/// The text filled up with blanks.
pub fn padded(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// A text in lines of at most `room` columns, broken between words; a word that is too long is broken where it must be.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(8);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let mut word = word;
        loop {
            let gap = usize::from(used > 0);
            let Some(line) = lines.last_mut() else { break };
            if used + gap + width(word) <= room {
                if gap == 1 {
                    line.push(' ');
                }
                line.push_str(word);
                used += gap + width(word);
                break;
            }
            if used > 0 {
                lines.push(String::new());
                used = 0;
                continue;
            }
            let piece = breaking(word, room);
            line.push_str(piece);
            word = &word[piece.len()..];
            lines.push(String::new());
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// A line in pieces of at most `room` columns, broken where it must be: nothing of it is lost or moved.
pub fn pieces(line: &str, room: usize) -> Vec<&str> {
    let room = room.max(8);
    let mut rest = line;
    let mut out = Vec::new();
    while width(rest) > room {
        let (piece, left) = rest.split_at(take(rest.chars(), room).len());
        out.push(piece);
        rest = left;
    }
    out.push(rest);
    out
}

/// The beginning of a long word: behind the last sign that parts names in it, if that is not too near to its start.
fn breaking(word: &str, room: usize) -> &str {
    let whole = take(word.chars(), room).len().max(word.chars().next().map_or(0, char::len_utf8));
    let piece = &word[..whole];
    match piece.rfind([':', ',', '/', '<', '(', '.']) {
        // Not between two colons.
        Some(at) if word[at + 1..].starts_with(':') && at > whole / 2 => &piece[..at],
        Some(at) if at + 1 > whole / 2 => &piece[..at + 1],
        _ => piece,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_and_tabs_take_their_columns() {
        assert_eq!(printable("\tx\ty\u{1b}[31m"), "    x   y\u{fffd}[31m");
        assert_eq!(printable("a\u{202e}b\r"), "a\u{fffd}b");
        assert_eq!(width("余额 = 1"), 8);
        assert_eq!(columns_before("\t余额 = 1", 1 + 6), 8);
        assert_eq!(columns_before("é", 1), 0, "in the middle of a character");
        let screen = Screen::PLAIN;
        assert_eq!(fit("余额余额", 6, screen), "余额…");
        assert_eq!(fit("balance", 4, Screen { unicode: false, ..screen }), "b...");
        assert_eq!(fit_end("/a/long/path/bank.c:9", 10, screen), "…/bank.c:9");
        assert_eq!(padded("é", 3), "é  ");
    }

    #[test]
    fn lines_break_between_words_and_long_words_between_names() {
        assert_eq!(wrap("one two  three", 8), ["one two", "three"]);
        assert_eq!(
            wrap("std::vector<std::string>::push_back", 16),
            ["std::vector<std", "::string>::", "push_back"]
        );
        assert!(wrap("", 10).is_empty());
        assert_eq!(pieces("a 余额 of 100", 8), ["a 余额 o", "f 100"]);
        assert_eq!(pieces("", 8), [""]);
        assert!(wrap(&"x".repeat(100), 40).iter().all(|line| width(line) <= 40));
    }
}
