//! Statements that are kept in a file, for a person to read and to add to.
//!
//! A line that is not indented names a point; indented lines below it are its statements, one a line. `#` begins a comment.
//!
//! ```text
//! # threadbare invariants 1
//!
//! ..withdraw():::EXIT
//!     ::balance == orig(::balance) - 100
//! ```

use crate::bind::BindError;
use crate::operand::Operand;
use crate::point::{Points, Sample};
use crate::statement::Statement;
use crate::tell::PointTold;
use crate::watch::{Break, Watch};
use std::fmt::{self, Display, Formatter};

const FIRST: &str = "# threadbare invariants 1";

/// A statement of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLine {
    /// Its line in the file, from 1. Of statements that were not read from a file, the line they are written to.
    pub line: usize,
    /// The point's name.
    pub point: String,
    /// The statement.
    pub statement: Statement<Operand>,
}

/// The statements of a file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Kept {
    lines: Vec<KeptLine>,
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}\n  {text}\n  {:>column$}", "^")]
pub struct KeptError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself.
    pub text: String,
}

impl Kept {
    /// What is told of points.
    pub fn of(told: &[PointTold]) -> Self {
        let statements = told.iter().flat_map(|point| {
            let name = point.point.to_string();
            point.told.iter().map(move |told| (name.clone(), told.statement.clone()))
        });
        Self::new(statements)
    }

    /// Statements of points, by the points' names.
    pub fn new(statements: impl IntoIterator<Item = (String, Statement<Operand>)>) -> Self {
        let mut lines: Vec<KeptLine> =
            statements.into_iter().map(|(point, statement)| KeptLine { line: 0, point, statement }).collect();
        // Statements of one point stand together, in the order in which they came.
        let mut order: Vec<String> = Vec::new();
        for line in &lines {
            if !order.contains(&line.point) {
                order.push(line.point.clone());
            }
        }
        lines.sort_by_key(|line| order.iter().position(|point| *point == line.point));
        let (mut number, mut last) = (1, None);
        for line in &mut lines {
            if last.as_ref() != Some(&line.point) {
                last = Some(line.point.clone());
                number += 2;
            }
            number += 1;
            line.line = number;
        }
        Self { lines }
    }

    /// The statements in the order of the file.
    pub fn lines(&self) -> &[KeptLine] {
        &self.lines
    }

    /// Reads a file. All lines that cannot be read are told.
    ///
    /// # Errors
    /// If there is such a line.
    pub fn parse(text: &str) -> Result<Self, Vec<KeptError>> {
        let (mut lines, mut errors) = (Vec::new(), Vec::new());
        let mut point: Option<String> = None;
        for (at, full) in text.lines().enumerate() {
            let number = at + 1;
            let text = without_comment(full);
            let body = text.trim();
            if body.is_empty() {
                continue;
            }
            let indent = text.len() - text.trim_start().len();
            let mut error = |column: usize, message: String| {
                errors.push(KeptError { line: number, column, message, text: full.to_owned() });
            };
            if indent == 0 {
                if ends_with_side(body) {
                    point = Some(unescaped(body));
                } else {
                    let help = "a point ends with :::ENTER, :::EXIT or :::POINT; a statement is indented";
                    error(1, help.to_owned());
                }
                continue;
            }
            let before = text[..indent].chars().count();
            match (body.parse(), &point) {
                (Ok(statement), Some(point)) => {
                    lines.push(KeptLine { line: number, point: point.clone(), statement });
                }
                (Ok(_), None) => error(before + 1, "no point stands above this statement".to_owned()),
                (Err(wrong), _) => error(before + wrong.column, wrong.message),
            }
        }
        if errors.is_empty() { Ok(Self { lines }) } else { Err(errors) }
    }

    /// Begins to check streams of a program against the statements.
    pub fn check(&self, points: &Points) -> Check {
        let unknown = |line: &KeptLine| Err(BindError::NoPoint(line.point.clone()));
        let bound = self.lines.iter().map(unknown).collect();
        let mut check = Check { lines: self.lines.clone(), bound, watch: Watch::new(), points: 0 };
        check.meet(points);
        check
    }
}

/// The check of a stream against a file.
#[derive(Clone, Debug)]
pub struct Check {
    lines: Vec<KeptLine>,
    bound: Vec<Result<usize, BindError>>,
    watch: Watch,
    /// How many points are known.
    points: usize,
}

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It holds of all samples.
    Holds {
        /// How many there were.
        samples: u64,
    },
    /// It no longer holds.
    Broken {
        /// The first sample that breaks it.
        first: Break,
        /// In how many runs.
        runs: u64,
    },
    /// No sample had its variables.
    NotReached,
    /// It cannot be checked.
    Unknown(BindError),
}

impl Check {
    /// Looks for the points of statements whose points were not there before.
    pub fn meet(&mut self, points: &Points) {
        if self.points == points.len() {
            return;
        }
        for (line, bound) in self.lines.iter().zip(&mut self.bound) {
            if let (Err(BindError::NoPoint(_)), Some(point)) = (&*bound, points.by_name(&line.point)) {
                *bound = self.watch.add(points, point, &line.statement);
            }
        }
        self.points = points.len();
    }

    /// Takes a sample.
    pub fn take(&mut self, sample: &Sample) {
        self.watch.take(sample);
    }

    /// Every line and what became of it.
    pub fn fates(&self) -> impl Iterator<Item = (&KeptLine, Fate)> {
        self.lines.iter().zip(&self.bound).map(|(line, bound)| (line, self.fate(bound)))
    }

    fn fate(&self, bound: &Result<usize, BindError>) -> Fate {
        match bound {
            Err(error) => Fate::Unknown(error.clone()),
            Ok(number) => match (self.watch.first(*number), self.watch.looked_at(*number)) {
                (Some(first), _) => Fate::Broken { first: first.clone(), runs: self.watch.runs(*number) },
                (None, 0) => Fate::NotReached,
                (None, samples) => Fate::Holds { samples },
            },
        }
    }
}

impl Display for Kept {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "{FIRST}")?;
        let mut last = None;
        for line in &self.lines {
            if last != Some(&line.point) {
                last = Some(&line.point);
                write!(out, "\n{}\n", escaped(&line.point))?;
            }
            writeln!(out, "    {}", line.statement)?;
        }
        Ok(())
    }
}

/// A point's name on a line of its own.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for (at, next) in name.chars().enumerate() {
        match next {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '#' => out.push_str("\\h"),
            next if next.is_whitespace() && (at == 0 || next != ' ') => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(next)));
            }
            next => out.push(next),
        }
    }
    out
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut all = text.chars();
    while let Some(next) = all.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        match all.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('h') => out.push('#'),
            Some('u') => {
                let digits: String = all.by_ref().skip(1).take_while(|&next| next != '}').collect();
                out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

fn ends_with_side(name: &str) -> bool {
    [":::ENTER", ":::EXIT", ":::POINT"].iter().any(|side| name.ends_with(side))
}

/// A line up to its comment. A `#` within quotes begins none.
fn without_comment(line: &str) -> &str {
    let (mut quote, mut escaped) = (None, false);
    for (at, next) in line.char_indices() {
        match (quote, next) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), next) if open == next => quote = None,
            (None, '"' | '`') if line.starts_with(char::is_whitespace) => quote = Some(next),
            (None, '#') => return &line[..at],
            _ => {}
        }
    }
    line
}
