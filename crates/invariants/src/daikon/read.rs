//! Reads Daikon's files. What is damaged is told with its line; memory is bounded whatever the file says.

use super::types::{class, read_value};
use super::{ORIGIN, unescape};
use crate::point::{PointId, Points, ProgramPoint, Region, Sample, Side, Variable};
use crate::value::{Type, Value};
use std::collections::HashMap;
use std::io::{self, BufRead};

const MAX_LINE: u64 = 1 << 20;
const MAX_POINTS: usize = 1 << 16;
const MAX_VARIABLES: usize = 1 << 12;
/// Entries that wait for their exits. Beyond, the oldest are given up.
const MAX_OPEN: usize = 1 << 16;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is damaged, or of another version.
    #[error("line {line}: {message}")]
    Wrong {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// It cannot be read at all.
    #[error("it cannot be read")]
    Io(#[from] io::Error),
}

/// Reads declarations and values, from one file or from several.
#[derive(Debug, Default)]
pub struct Reader {
    /// The points declared so far.
    pub points: Points,
    /// Exits without an entry, and a last record that was cut off.
    pub dropped: u64,
    declared: HashMap<String, Declared>,
    open: HashMap<i64, (PointId, Vec<Value>, u64)>,
    entered: u64,
    ours: bool,
    version: bool,
    /// Run, strand and event of the next sample.
    moment: (u64, u32, u64),
    line: u64,
}

/// A declared point: its number, and the variables of its records.
#[derive(Debug)]
struct Declared {
    id: PointId,
    side: Side,
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    class: Type,
    /// Representation and declared type.
    types: (String, String),
    /// Declared as an array.
    array: bool,
    /// Made up by the writer; not a variable of ours.
    synthetic: bool,
    /// Its value is in the declaration, not in the records.
    constant: Option<String>,
    variable: Variable,
}

impl Reader {
    /// Nothing read.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a file, declarations or values or both; each sample goes to `take`. Exits have their entries' values.
    ///
    /// # Errors
    /// If the file is damaged; what came before has been taken.
    pub fn read(
        &mut self,
        mut input: impl BufRead,
        mut take: impl FnMut(&Points, &Sample),
    ) -> Result<(), ReadError> {
        self.line = 0;
        self.moment = (0, 0, 0);
        while let Some(line) = self.next_line(&mut input)? {
            let text = line.trim();
            if text == ORIGIN {
                self.ours = true;
            } else if let Some(comment) = text.strip_prefix("// run ") {
                self.note(comment);
            } else if text.is_empty() || text.starts_with("//") || text.starts_with('#') {
                // Nothing is said.
            } else if let Some(version) = text.strip_prefix("decl-version ") {
                if version.trim() != "2.0" {
                    return self.wrong(format!("declarations of version {version}, not 2.0"));
                }
                self.version = true;
            } else if text.starts_with("var-comparability") || text.starts_with("input-language") {
                // One way to say what may be compared is enough.
            } else if text == "DECLARE" || text == "ListImplementors" {
                return self.wrong("declarations of version 1 are not read");
            } else if let Some(name) = text.strip_prefix("ppt ") {
                if !self.version {
                    return self.wrong("decl-version 2.0 is expected before the first point");
                }
                self.declare(&mut input, name.trim())?;
            } else {
                self.record(&mut input, text, &mut take)?;
            }
        }
        Ok(())
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, ReadError> {
        Err(ReadError::Wrong { line: self.line, message: message.into() })
    }

    fn next_line(&mut self, input: &mut impl BufRead) -> Result<Option<String>, ReadError> {
        let mut bytes = Vec::new();
        io::Read::take(&mut *input, MAX_LINE).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if bytes.len() as u64 == MAX_LINE {
            return self.wrong("the line is too long");
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        match String::from_utf8(bytes) {
            Ok(line) => Ok(Some(line)),
            Err(_) => self.wrong("this is no text"),
        }
    }

    /// Run, strand and event, from a comment of ours.
    fn note(&mut self, comment: &str) {
        let mut words = comment.split_whitespace();
        let run = words.next().and_then(|word| word.parse().ok());
        let strand = words.nth(1).and_then(|word| word.parse().ok());
        let event = words.nth(1).and_then(|word| word.parse().ok());
        if let (Some(run), Some(strand), Some(event)) = (run, strand, event) {
            self.moment = (run, strand, event);
        }
    }

    fn declare(&mut self, input: &mut impl BufRead, name: &str) -> Result<(), ReadError> {
        let name = unescape(name);
        let (region, side) = place(&name);
        let mut columns: Vec<Column> = Vec::new();
        while let Some(line) = self.next_line(input)? {
            let text = line.trim();
            if text.is_empty() {
                break;
            }
            let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            let rest = rest.trim();
            if word == "variable" {
                let name = unescape(rest);
                if name.is_empty() || columns.iter().any(|column| column.name == name) {
                    return self.wrong("a variable without a name, or declared twice");
                }
                if columns.len() == MAX_VARIABLES {
                    return self.wrong(format!("a point with more than {MAX_VARIABLES} variables"));
                }
                columns.push(Column::new(name));
            } else if let Some(column) = columns.last_mut() {
                column.describe(word, rest, self.ours);
            }
        }
        let synthetic: Vec<String> =
            columns.iter().filter(|column| column.synthetic).map(|column| column.name.clone()).collect();
        for column in &mut columns {
            column.finish(&synthetic);
        }
        if self.points.len() >= MAX_POINTS {
            return self.wrong(format!("more than {MAX_POINTS} points"));
        }
        let own = columns.iter().filter(|column| !column.synthetic);
        let point =
            ProgramPoint { region, side, variables: own.map(|column| column.variable.clone()).collect() };
        match self.points.add(point) {
            Ok(id) => {
                self.declared.insert(name, Declared { id, side, columns });
                Ok(())
            }
            Err(conflict) => self.wrong(conflict.to_string()),
        }
    }

    fn record(
        &mut self,
        input: &mut impl BufRead,
        name: &str,
        take: &mut impl FnMut(&Points, &Sample),
    ) -> Result<(), ReadError> {
        let name = unescape(name);
        let Some(declared) = self.declared.remove(&name) else {
            return self.wrong(format!("the point {name} is not declared"));
        };
        let read = self.values(input, &declared);
        let (id, side) = (declared.id, declared.side);
        self.declared.insert(name, declared);
        let Some((values, nonce)) = read? else {
            self.dropped += 1;
            return Ok(());
        };
        let (run, strand, event) = self.moment;
        let mut sample = Sample { point: id, run, strand, event, values, entry: Vec::new() };
        match (side, nonce) {
            (Side::Enter, Some(nonce)) => self.enter(nonce, &sample),
            (Side::Exit, Some(nonce)) => match self.open.remove(&nonce) {
                Some((entry, values, _)) if self.points.entry_of(id) == Some(entry) => sample.entry = values,
                _ => self.dropped += 1,
            },
            _ => {}
        }
        take(&self.points, &sample);
        Ok(())
    }

    fn enter(&mut self, nonce: i64, sample: &Sample) {
        if self.open.len() >= MAX_OPEN {
            // Entries that nobody leaves: the older half goes.
            let middle = self.entered - MAX_OPEN as u64 / 2;
            self.open.retain(|_, open| open.2 >= middle);
        }
        self.entered += 1;
        self.open.insert(nonce, (sample.point, sample.values.clone(), self.entered));
    }

    /// The values of a record and its nonce. Nothing if the file ends within.
    #[expect(clippy::type_complexity, reason = "used once")]
    fn values(
        &mut self,
        input: &mut impl BufRead,
        declared: &Declared,
    ) -> Result<Option<(Vec<Value>, Option<i64>)>, ReadError> {
        let (mut values, mut nonce, mut pending) = (Vec::new(), None, None);
        for column in &declared.columns {
            if let Some(constant) = &column.constant {
                values.push(read_value(&column.class, constant).unwrap_or_default());
                continue;
            }
            let Some(mut line) =
                pending.take().map_or_else(|| self.next_line(input), |line| Ok(Some(line)))?
            else {
                return Ok(None);
            };
            if nonce.is_none() && line == "this_invocation_nonce" {
                let Some(number) = self.next_line(input)? else { return Ok(None) };
                nonce = Some(number.trim().parse().or_else(|_| self.wrong("a nonce is a number"))?);
                match self.next_line(input)? {
                    Some(next) => line = next,
                    None => return Ok(None),
                }
            }
            if unescape(line.trim()) != column.name {
                return self.wrong(format!("{} is expected here", column.name));
            }
            let (Some(text), Some(modified)) = (self.next_line(input)?, self.next_line(input)?) else {
                return Ok(None);
            };
            let value = match modified.trim() {
                "0" | "1" => match read_value(&column.class, text.trim()) {
                    Some(value) => value,
                    None if matches!(text.trim(), "nonsensical" | "uninit" | "missing") => Value::Missing,
                    None if text.contains("nonsensical") => Value::Missing,
                    None => {
                        return self.wrong(format!(
                            "{} cannot have the value {}",
                            column.name,
                            shorten(&text)
                        ));
                    }
                },
                "2" => Value::Missing,
                _ => return self.wrong("0, 1 or 2 is expected after a value"),
            };
            if !column.synthetic {
                values.push(value);
            }
        }
        if declared.columns.iter().all(|column| column.constant.is_some()) {
            // A record without variables may still have a nonce.
            pending = self.next_line(input)?;
            if pending.as_deref() == Some("this_invocation_nonce") {
                let Some(number) = self.next_line(input)? else { return Ok(None) };
                nonce = Some(number.trim().parse().or_else(|_| self.wrong("a nonce is a number"))?);
                pending = self.next_line(input)?;
            }
        } else {
            pending = self.next_line(input)?;
        }
        match pending {
            Some(line) if !line.trim().is_empty() => {
                self.wrong("an empty line is expected after the last variable")
            }
            _ => Ok(Some((values, nonce))),
        }
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}

impl Column {
    fn new(name: String) -> Self {
        let variable = Variable::new(name.clone(), Type::Opaque);
        let types = (String::from("java.lang.String"), String::new());
        Self { name, class: Type::Opaque, types, array: false, synthetic: false, constant: None, variable }
    }

    /// A line of the variable's declaration. What we have no use for is passed over.
    fn describe(&mut self, word: &str, rest: &str, ours: bool) {
        match word {
            "rep-type" => self.types.0 = rest.to_owned(),
            "dec-type" => self.types.1 = rest.to_owned(),
            "enclosing-var" => self.variable.enclosing = Some(unescape(rest)),
            "array" => self.array = rest == "1",
            "constant" => self.constant = Some(rest.to_owned()),
            "flags" => self.synthetic |= ours && rest.split_whitespace().any(|flag| flag == "synthetic"),
            "lang-flags" => self.variable.shared |= rest.split_whitespace().any(|flag| flag == "volatile"),
            "comparability" => {
                let number = rest.split('[').next().and_then(|number| number.trim().parse::<i64>().ok());
                let group = number.map_or(0, |number| if ours { number / 16 } else { number.max(0) });
                self.variable.group = u32::try_from(group).unwrap_or(0);
            }
            _ => {}
        }
    }

    /// Works out the class, and the name of a sequence whose pointer was made up.
    fn finish(&mut self, synthetic: &[String]) {
        let (representation, declared) = &self.types;
        self.class = match representation.ends_with("[]") || !self.array {
            true => class(representation, declared),
            false => class(&format!("{representation}[]"), declared),
        };
        self.variable.class = self.class.clone();
        let inside = self.variable.enclosing.as_ref().is_some_and(|outer| synthetic.contains(outer));
        if inside {
            self.variable.name = self.name.replacen("[..]", "", 1);
            self.variable.enclosing = None;
        }
    }
}

/// The region and the side that a point's name stands for.
fn place(name: &str) -> (Region, Side) {
    let (base, side) = match name.split_once(":::") {
        Some((base, "ENTER")) => (base, Side::Enter),
        Some((base, "POINT")) => (base, Side::Here),
        Some((base, rest))
            if rest
                .strip_prefix("EXIT")
                .is_some_and(|number| number.bytes().all(|next| next.is_ascii_digit())) =>
        {
            (base, Side::Exit)
        }
        _ => (name, Side::Here),
    };
    let Some(inner) = base.strip_prefix("..").and_then(|rest| rest.strip_suffix("()")) else {
        return (Region::Place(base.to_owned()), side);
    };
    let block = || {
        let (rest, last) = inner.rsplit_once('_')?;
        let (file, first) = rest.rsplit_once('_')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        file.contains('.').then(|| Region::Block { file: file.to_owned(), first, last })
    };
    (block().unwrap_or_else(|| Region::Function(inner.to_owned())), side)
}
