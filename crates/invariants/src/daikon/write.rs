//! Writes Daikon's files.

use super::types::{declared, representation, write_value};
use super::{ORIGIN, escape};
use crate::point::{PointId, Points, ProgramPoint, Sample, Side, Variable};
use crate::value::{Type, Value};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::{self, Write};

/// A point's name. Daikon wants a number after an exit, and makes the one without itself.
fn point_name(point: &ProgramPoint) -> String {
    let number = if point.side == Side::Exit { "0" } else { "" };
    escape(&format!("{point}{number}"))
}

/// Whether a variable is a sequence, and so needs a pointer that it is in.
fn is_array(variable: &Variable) -> bool {
    matches!(variable.class, Type::Sequence(_))
}

/// A variable's name for Daikon.
fn variable_name(variable: &Variable) -> String {
    if is_array(variable) && !variable.name.contains("[..]") {
        format!("{}[..]", variable.name)
    } else {
        variable.name.clone()
    }
}

/// The pointer that a sequence is in.
fn holder(variable: &Variable) -> String {
    variable_name(variable).replacen("[..]", "", 1)
}

/// Variables in the order of the file. A sequence whose pointer is not there has a synthetic one before it.
fn columns(point: &ProgramPoint) -> Vec<(bool, &Variable)> {
    let mut names: HashSet<String> = point.variables.iter().map(variable_name).collect();
    let mut columns = Vec::new();
    for variable in &point.variables {
        if is_array(variable) && names.insert(holder(variable)) {
            columns.push((true, variable));
        }
        columns.push((false, variable));
    }
    columns
}

/// The declarations of all points: a whole `.decls` file, or the beginning of a `.dtrace` file.
pub fn write_decls(points: &Points) -> String {
    let mut out = format!("{ORIGIN}\ndecl-version 2.0\nvar-comparability implicit\n\n");
    for (_, point) in points.iter() {
        let kind = match point.side {
            Side::Enter => "enter",
            Side::Exit => "subexit",
            Side::Here => "point",
        };
        put(&mut out, format_args!("ppt {}\nppt-type {kind}\n", point_name(point)));
        let names: HashSet<&str> = point.variables.iter().map(|variable| &*variable.name).collect();
        for (synthetic, variable) in columns(point) {
            if synthetic {
                declare_holder(&mut out, variable);
            } else {
                declare(&mut out, variable, &names);
            }
        }
        out.push('\n');
    }
    out
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("strings take all");
}

/// Numbers of variables that may be compared: those of one group and kind.
fn comparability(variable: &Variable) -> String {
    let kind = match variable.class {
        Type::Int { .. } => 1,
        Type::Bool => 2,
        Type::Enum { .. } => 3,
        Type::Float => 4,
        Type::Pointer => 5,
        Type::Text => 6,
        Type::Opaque => 7,
        Type::Sequence(_) => 8,
    };
    let number = u64::from(variable.group) * 16 + kind;
    if is_array(variable) { format!("{number}[9]") } else { number.to_string() }
}

fn declare(out: &mut String, variable: &Variable, names: &HashSet<&str>) {
    let name = variable_name(variable);
    put(out, format_args!("variable {}\n", escape(&name)));
    let enclosing =
        variable.enclosing.as_deref().filter(|outer| names.contains(outer) && *outer != variable.name);
    if is_array(variable) {
        put(
            out,
            format_args!("  var-kind array\n  enclosing-var {}\n  array 1\n", escape(&holder(variable))),
        );
    } else if let Some(outer) = enclosing {
        let field = name
            .strip_prefix(outer)
            .map_or(&*name, |rest| rest.trim_start_matches("->").trim_start_matches('.'));
        let field = if field.is_empty() { &*name } else { field };
        put(out, format_args!("  var-kind field {}\n  enclosing-var {}\n", escape(field), escape(outer)));
    } else if name == "return" {
        out.push_str("  var-kind return\n");
    } else {
        out.push_str("  var-kind variable\n");
    }
    let (representation, declared) = (representation(&variable.class), declared(&variable.class));
    put(out, format_args!("  rep-type {representation}\n  dec-type {declared}\n"));
    if variable.shared {
        out.push_str("  lang-flags volatile\n");
    }
    put(out, format_args!("  comparability {}\n", comparability(variable)));
}

fn declare_holder(out: &mut String, variable: &Variable) {
    let name = escape(&holder(variable));
    put(out, format_args!("variable {name}\n  var-kind variable\n  rep-type hashcode\n"));
    out.push_str("  dec-type ptr\n  flags synthetic\n  comparability 10\n");
}

/// Writes samples. The declarations must stand in a file of their own, or before them.
#[derive(Debug)]
pub struct TraceWriter<'a, W> {
    out: W,
    points: &'a Points,
    /// Nonces of activations that are open, by run, strand, activation and entry.
    open: HashMap<(u64, u32, u64, PointId), i32>,
    next: i32,
}

impl<'a, W: Write> TraceWriter<'a, W> {
    /// Begins to write samples of these points.
    pub fn new(out: W, points: &'a Points) -> Self {
        Self { out, points, open: HashMap::new(), next: 1 }
    }

    /// Writes a sample. `activation` tells activations of a region by one strand of a run apart. An exit whose entry was not written gets one first.
    ///
    /// # Errors
    /// If writing fails.
    pub fn sample(&mut self, sample: &Sample, activation: u64) -> io::Result<()> {
        let Some(point) = self.points.get(sample.point) else { return Ok(()) };
        let key = |entry| (sample.run, sample.strand, activation, entry);
        match point.side {
            Side::Here => self.record(sample, sample.point, &sample.values, None),
            Side::Enter => {
                let nonce = self.nonce();
                self.open.insert(key(sample.point), nonce);
                self.record(sample, sample.point, &sample.values, Some(nonce))
            }
            Side::Exit => {
                let Some(entry) = self.points.entry_of(sample.point) else {
                    return self.record(sample, sample.point, &sample.values, None);
                };
                let nonce = match self.open.remove(&key(entry)) {
                    Some(nonce) => nonce,
                    None => {
                        let nonce = self.nonce();
                        self.record(sample, entry, &sample.entry, Some(nonce))?;
                        nonce
                    }
                };
                self.record(sample, sample.point, &sample.values, Some(nonce))
            }
        }
    }

    /// Forgets the activations that a run has left open.
    pub fn end_run(&mut self, run: u64) {
        self.open.retain(|key, _| key.0 != run);
    }

    /// The writer below.
    pub fn into_inner(self) -> W {
        self.out
    }

    fn nonce(&mut self) -> i32 {
        // A Java int; one that comes round again belongs to an activation long over.
        let nonce = self.next;
        self.next = if nonce == i32::MAX { 1 } else { nonce + 1 };
        nonce
    }

    fn record(&mut self, of: &Sample, id: PointId, values: &[Value], nonce: Option<i32>) -> io::Result<()> {
        let point = &self.points[id];
        writeln!(self.out, "// run {} strand {} event {}", of.run, of.strand, of.event)?;
        writeln!(self.out, "{}", point_name(point))?;
        if let Some(nonce) = nonce {
            writeln!(self.out, "this_invocation_nonce\n{nonce}")?;
        }
        let mut place = 0;
        for (synthetic, variable) in columns(point) {
            let value = values.get(place).unwrap_or(&Value::Missing);
            let text = write_value(&variable.class, value);
            if synthetic {
                let (value, modified) = if text.is_some() { ("1", 1) } else { ("nonsensical", 2) };
                writeln!(self.out, "{}\n{value}\n{modified}", escape(&holder(variable)))?;
                continue;
            }
            place += 1;
            let name = escape(&variable_name(variable));
            match text {
                Some(text) => writeln!(self.out, "{name}\n{text}\n1")?,
                None => writeln!(self.out, "{name}\nnonsensical\n2")?,
            }
        }
        writeln!(self.out)
    }
}
