//! Places in their source: lines with numbers, signs under the expression, and what happened there.
//!
//! ```text
//!   bank.c:10 in deposit
//!      9 │     int before = balance;
//!     10 │     balance = before + *(int *)amount;
//!        │     ^^^^^^^ write by strand 0.2, holding nothing
//! ```
//!
//! Places of one file that are near to each other share an excerpt. Without the source there is the place and the label.

use crate::columns::{columns_before, fit, fit_end, printable, width, wrap};
use crate::screen::Screen;
use std::fmt::Write;
use std::ops::Range;
use threadbare_findings::Finding;
use threadbare_findings::finding::SourceText;

/// Places nearer than this many lines share an excerpt.
const NEAR: u32 = 4;
/// Columns before an excerpt.
const INDENT: usize = 2;

/// One place to show.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, if it is known.
    pub column: Option<u32>,
    /// The function.
    pub function: Option<String>,
    /// A name whose place in the line is meant, if it is there.
    pub name: Option<String>,
    /// What happened there.
    pub label: String,
    /// Who.
    pub strand: Option<String>,
    /// Whether it is the place the finding is about.
    pub main: bool,
}

/// The source that a finding has.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a>(&'a Finding);

impl<'a> Sources<'a> {
    /// The source kept with a finding.
    pub fn of(finding: &'a Finding) -> Sources<'a> {
        Sources(finding)
    }

    /// A line, if it was kept.
    pub fn line(&self, file: &str, line: u32) -> Option<&'a str> {
        let within = |text: &&SourceText| text.file == file && line >= text.line;
        let kept = self.0.sources.iter().filter(within);
        let kept = kept.filter_map(|text| text.lines.get((line - text.line) as usize)).next();
        let at = (Some(file), Some(line));
        let location = || {
            let same = self.0.locations.iter().filter(|place| (place.file.as_deref(), place.line) == at);
            same.filter_map(|place| place.source.as_ref()).next()
        };
        kept.or_else(location).map(String::as_str)
    }
}

/// Writes the places, in the order given; near ones together.
pub fn excerpts(out: &mut String, marks: &[Mark], sources: Sources<'_>, screen: Screen) {
    let mut groups: Vec<Vec<&Mark>> = Vec::new();
    for mark in marks {
        let near = |other: &&Mark| other.file == mark.file && other.line.abs_diff(mark.line) <= NEAR;
        match groups.iter_mut().find(|group| group.iter().any(near)) {
            Some(group) => group.push(mark),
            None => groups.push(vec![mark]),
        }
    }
    for group in groups {
        excerpt(out, &group, sources, screen);
    }
}

fn excerpt(out: &mut String, marks: &[&Mark], sources: Sources<'_>, screen: Screen) {
    let Some(first) = marks.first() else { return };
    header(out, first, screen);
    let mut lines: Vec<u32> = marks.iter().map(|mark| mark.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let (Some(&low), Some(&high)) = (lines.first(), lines.last()) else { return };
    let gutter = high.saturating_add(1).to_string().len();
    for number in low.saturating_sub(1).max(1)..=high.saturating_add(1) {
        let here: Vec<&Mark> = marks.iter().copied().filter(|mark| mark.line == number).collect();
        let source = sources.line(&first.file, number);
        let context = number < low || number > high;
        match source {
            Some(source) if !context || !source.trim().is_empty() => {
                line(out, number, source, &here, gutter, screen);
            }
            _ if here.is_empty() => {}
            _ => here.iter().for_each(|mark| label_rows(out, &mark.label, &bare(INDENT + 2), 0, screen)),
        }
    }
}

fn header(out: &mut String, mark: &Mark, screen: Screen) {
    let at = if mark.line == 0 { mark.file.clone() } else { format!("{}:{}", mark.file, mark.line) };
    let room = screen.width.saturating_sub(INDENT);
    let at = fit_end(&at, room, screen);
    let left = room.saturating_sub(width(&at) + " in ".len());
    let function = mark.function.as_deref().filter(|_| left >= 8);
    let function = function.map(|function| format!(" in {}", fit(&printable(function), left, screen)));
    let _ = writeln!(out, "{}{}{}", bare(INDENT), screen.style.strong(at), function.unwrap_or_default());
}

/// A line of source, and the labels under it.
fn line(out: &mut String, number: u32, source: &str, marks: &[&Mark], gutter: usize, screen: Screen) {
    let style = screen.style;
    let edge = |number: &str| {
        let text = format!("{}{number:>gutter$} {}", bare(INDENT + 2), screen.bar());
        style.faint(text).to_string()
    };
    let edge_width = INDENT + 2 + gutter + 2;
    let room = screen.width.saturating_sub(edge_width + 1).max(8);
    let spans: Vec<Range<usize>> = marks.iter().map(|mark| span(source, mark)).collect();
    let (shown, shift) = window(source, spans.first(), room, screen);
    let _ = writeln!(out, "{} {shown}", edge(&number.to_string()));
    let blank = edge("");
    let mut told: Vec<&Range<usize>> = Vec::new();
    for (mark, span) in marks.iter().zip(&spans) {
        let start = span.start.saturating_sub(shift).min(room - 1);
        let length = (span.end.saturating_sub(shift).min(room)).saturating_sub(start).max(1);
        // A label behind the signs where it has room, else below them.
        let behind = start + length + 1;
        let beside = behind + width(&mark.label) <= room;
        let again = told.contains(&span);
        if !again || !beside {
            let sign = if mark.main { "^" } else { "-" }.repeat(length);
            let sign = if mark.main { style.bad(sign).to_string() } else { style.warn(sign).to_string() };
            let label = if beside { format!(" {}", paint(mark, &mark.label, screen)) } else { String::new() };
            if !again {
                let _ = writeln!(out, "{blank} {}{sign}{label}", bare(start));
            }
            if !beside && width(&mark.label) <= room {
                let under = start.min(room - width(&mark.label));
                let _ = writeln!(out, "{blank} {}{}", bare(under), paint(mark, &mark.label, screen));
            } else if !beside {
                label_rows(out, &mark.label, &blank, edge_width, screen);
            }
        } else {
            let _ = writeln!(out, "{blank} {}{}", bare(behind), paint(mark, &mark.label, screen));
        }
        told.push(span);
    }
}

fn paint(mark: &Mark, label: &str, screen: Screen) -> String {
    if mark.main { screen.style.bad(label).to_string() } else { screen.style.warn(label).to_string() }
}

/// A label on lines of its own.
fn label_rows(out: &mut String, label: &str, edge: &str, edge_width: usize, screen: Screen) {
    let used = if edge_width == 0 { edge.len() } else { edge_width };
    for row in wrap(label, screen.width.saturating_sub(used + 3)) {
        let _ = writeln!(out, "{edge}   {row}");
    }
}

fn bare(columns: usize) -> String {
    " ".repeat(columns)
}

/// The part of a line that has room, around what is marked, and how many columns of it are cut off at its beginning,
/// the sign for that taken off.
fn window(source: &str, span: Option<&Range<usize>>, room: usize, screen: Screen) -> (String, usize) {
    let text = printable(source);
    let text = text.trim_end();
    let blanks = text.len() - text.trim_start_matches(' ').len();
    let end = span.map_or(0, |span| span.end).min(width(text));
    if width(text) <= room || end + 4 <= room {
        return (fit(text, room, screen), 0);
    }
    let start = span.map_or(0, |span| span.start);
    // What lies left of the marked part goes first; a long marked part is cut at its end.
    let cut = (end + 4).saturating_sub(room).min(start.saturating_sub(2)).max(blanks.min(start));
    let mark = screen.ellipsis();
    let mut columns = 0;
    let rest: String = text
        .chars()
        .skip_while(|c| {
            let skip = columns < cut + width(mark);
            if skip {
                columns += width(c.encode_utf8(&mut [0; 4]));
            }
            skip
        })
        .collect();
    if cut <= blanks {
        // Only blanks are cut: nothing is missing.
        return (fit(&text[cut..], room, screen), cut);
    }
    (fit(&format!("{mark}{rest}"), room, screen), columns - width(mark))
}

/// The columns of a line that a mark is about: the named variable, else the expression at its column, else the statement.
fn span(source: &str, mark: &Mark) -> Range<usize> {
    let column =
        mark.column.map(|column| (column as usize).saturating_sub(1)).filter(|&at| at < source.len());
    let named = mark.name.as_deref().and_then(|name| occurrence(source, name, column));
    let bytes =
        named.or_else(|| column.and_then(|at| expression(source, at))).unwrap_or_else(|| statement(source));
    columns_before(source, bytes.start)..columns_before(source, bytes.end)
}

/// Where a name stands in a line as a word of its own; of several the nearest to the column.
fn occurrence(source: &str, name: &str, column: Option<usize>) -> Option<Range<usize>> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let code = &source[..comment(source)];
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in code.match_indices(name) {
        let before = code[..at].chars().next_back();
        let after = code[at + name.len()..].chars().next();
        // What a string says is not meant.
        let said = !code[..at].matches('"').count().is_multiple_of(2);
        if !before.is_some_and(word) && !after.is_some_and(word) && !said {
            found.push(at..at + name.len());
        }
    }
    match column {
        Some(column) => found.into_iter().min_by_key(|range| range.start.abs_diff(column)),
        // Without a column a name that stands there twice could be either.
        None if found.len() == 1 => found.pop(),
        None => None,
    }
}

/// The expression at a byte: a name with what it belongs to, and a call or an index behind it; or an operator.
fn expression(source: &str, at: usize) -> Option<Range<usize>> {
    let bytes = source.as_bytes();
    let name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let byte = *bytes.get(at)?;
    // Some compilers name a call by its bracket.
    let bracket = byte == b'(' && at > 0 && name(bytes[at - 1]);
    if !name(byte) && !bracket && !matches!(byte, b'*' | b'&') {
        let operator = bytes[at..].iter().take_while(|byte| b"=+-/%|<>!^".contains(byte)).count();
        let group = if byte == b'(' { closing(bytes, at).map_or(0, |close| close + 1 - at) } else { 0 };
        return (operator + group > 0).then_some(at..at + operator + group);
    }
    let mut start = at;
    while start > 0 {
        let before = &bytes[..start];
        match before[start - 1] {
            byte if name(byte) => start -= 1,
            b'.' => start -= 1,
            _ if before.ends_with(b"->") || before.ends_with(b"::") => start -= 2,
            _ => break,
        }
    }
    let mut end = at;
    while end < bytes.len() {
        match bytes[end] {
            byte if name(byte) => end += 1,
            b'.' if bytes.get(end + 1).copied().is_some_and(name) => end += 1,
            b':' if bytes.get(end + 1) == Some(&b':') => end += 2,
            b'-' if end > at && bytes.get(end + 1) == Some(&b'>') => end += 2,
            b'*' | b'&' if end == at => end += 1,
            b'[' if end > at => end = closing(bytes, end)? + 1,
            b'(' => {
                end = closing(bytes, end).map_or(end, |close| close + 1);
                break;
            }
            _ => break,
        }
    }
    Some(start..end)
        .filter(|range| source.is_char_boundary(range.start) && source.is_char_boundary(range.end))
}

/// Where the bracket that opens at a byte is closed again.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in bytes.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// The statement of a line: without blanks around it, the semicolon and a comment behind it.
fn statement(source: &str) -> Range<usize> {
    let code = source[..comment(source)].trim_end().trim_end_matches(['{', ';']).trim_end();
    let start = source.len() - source.trim_start().len();
    if code.len() > start { start..code.len() } else { start..source.trim_end().len().max(start + 1) }
}

/// Where a line's comment begins; signs in a string are taken for one only at worst.
fn comment(source: &str) -> usize {
    let in_string = |at: usize| !source[..at].matches('"').count().is_multiple_of(2);
    ["//", "/*"]
        .iter()
        .filter_map(|sign| source.match_indices(sign).map(|(at, _)| at).find(|&at| !in_string(at)))
        .min()
        .unwrap_or(source.len())
}

#[cfg(test)]
mod tests;
