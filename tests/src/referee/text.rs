//! Programs as text, for those that are kept: a word and its numbers a statement, bodies in braces.
//!
//! ```text
//! home static
//! variable plain 4 field
//! mutexes 1
//! strand
//!   create 1
//!   join 1
//! strand
//!   locked 0 {
//!     add 0 1
//!   }
//! ```
//!
//! A line that begins with `#` is a remark.

use super::program::{Exit, Home, Place, Program, Statement, Strand, Value, Variable};
use std::fmt::{self, Display, Formatter};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let home = match self.home {
            Home::Static => "static",
            Home::Stack => "stack",
            Home::Heap => "heap",
        };
        writeln!(f, "home {home}")?;
        for variable in &self.variables {
            let kind = if variable.atomic { "atomic" } else { "plain" };
            let place = match variable.place {
                Place::Loose => "loose",
                Place::Field => "field",
                Place::Cell => "cell",
            };
            writeln!(f, "variable {kind} {} {place}", variable.width)?;
        }
        for (word, count) in
            [("mutexes", self.mutexes), ("conditions", self.conditions), ("rwlocks", self.rwlocks)]
        {
            if count > 0 {
                writeln!(f, "{word} {count}")?;
            }
        }
        for (word, values) in [("semaphore", &self.semaphores), ("barrier", &self.barriers)] {
            for value in values {
                writeln!(f, "{word} {value}")?;
            }
        }
        for strand in &self.strands {
            writeln!(f, "strand{}", if strand.detached { " detached" } else { "" })?;
            lines(f, &strand.body, 1)?;
        }
        Ok(())
    }
}

fn lines(f: &mut Formatter<'_>, body: &[Statement], depth: usize) -> fmt::Result {
    for statement in body {
        let (word, numbers) = words(statement);
        write!(f, "{:1$}{word}", "", 2 * depth)?;
        for number in numbers {
            write!(f, " {number}")?;
        }
        if statement.clone().body_mut().is_some() {
            writeln!(f, " {{")?;
            lines(f, statement.body(), depth + 1)?;
            writeln!(f, "{:1$}}}", "", 2 * depth)?;
        } else {
            writeln!(f)?;
        }
    }
    Ok(())
}

fn words(statement: &Statement) -> (&'static str, Vec<u8>) {
    use Statement as S;
    match *statement {
        S::Read(a, b) => ("read", vec![a, b]),
        S::Write(a, Value::Constant(b)) => ("write", vec![a, b]),
        S::Write(a, Value::Slot(b, c)) => ("write-slot", vec![a, b, c]),
        S::Add(a, b) => ("add", vec![a, b]),
        S::Load(a, b) => ("load", vec![a, b]),
        S::Store(a, Value::Constant(b)) => ("store", vec![a, b]),
        S::Store(a, Value::Slot(b, c)) => ("store-slot", vec![a, b, c]),
        S::FetchAdd(a, b, c) => ("fetch-add", vec![a, b, c]),
        S::Exchange(a, b, c) => ("exchange", vec![a, b, c]),
        S::Compare(a, b, c, d) => ("compare", vec![a, b, c, d]),
        S::Locked(a, _) => ("locked", vec![a]),
        S::TryLocked(a, b, _) => ("try-locked", vec![a, b]),
        S::Await(a, b, c) => ("await", vec![a, b, c]),
        S::Wait(a, b) => ("wait", vec![a, b]),
        S::Signal(a) => ("signal", vec![a]),
        S::Broadcast(a) => ("broadcast", vec![a]),
        S::Down(a) => ("down", vec![a]),
        S::Up(a) => ("up", vec![a]),
        S::TryDown(a, b) => ("try-down", vec![a, b]),
        S::Count(a, b) => ("count", vec![a, b]),
        S::Renew(a, b) => ("renew", vec![a, b]),
        S::Destroy(a, b) => ("destroy", vec![a, b]),
        S::Reading(a, _) => ("reading", vec![a]),
        S::Writing(a, _) => ("writing", vec![a]),
        S::TryReading(a, b, _) => ("try-reading", vec![a, b]),
        S::TryWriting(a, b, _) => ("try-writing", vec![a, b]),
        S::Spin(a, b) => ("spin", vec![a, b]),
        S::Stairs(a, b, c) => ("stairs", vec![a, b, c]),
        S::Grabbed(a, _) => ("grabbed", vec![a]),
        S::Poll(a, b, c, d) => ("poll", vec![a, b, c, d]),
        S::Barrier(a) => ("barrier", vec![a]),
        S::Create(a) => ("create", vec![a]),
        S::Join(a) => ("join", vec![a]),
        S::TryJoin(a, b) => ("try-join", vec![a, b]),
        S::Allocate(a) => ("allocate", vec![a]),
        S::If(a, b, _) => ("if", vec![a, b]),
        S::Exit(Exit::Exit) => ("exit", vec![]),
        S::Exit(Exit::Now) => ("exit-now", vec![]),
        S::Exit(Exit::Quick) => ("exit-quick", vec![]),
        S::Leave => ("leave", vec![]),
        S::Fail => ("fail", vec![]),
    }
}

fn statement(word: &str, n: &[u8], body: Vec<Statement>) -> Option<Statement> {
    use Statement as S;
    Some(match (word, n) {
        ("read", &[a, b]) => S::Read(a, b),
        ("write", &[a, b]) => S::Write(a, Value::Constant(b)),
        ("write-slot", &[a, b, c]) => S::Write(a, Value::Slot(b, c)),
        ("add", &[a, b]) => S::Add(a, b),
        ("load", &[a, b]) => S::Load(a, b),
        ("store", &[a, b]) => S::Store(a, Value::Constant(b)),
        ("store-slot", &[a, b, c]) => S::Store(a, Value::Slot(b, c)),
        ("fetch-add", &[a, b, c]) => S::FetchAdd(a, b, c),
        ("exchange", &[a, b, c]) => S::Exchange(a, b, c),
        ("compare", &[a, b, c, d]) => S::Compare(a, b, c, d),
        ("locked", &[a]) => S::Locked(a, body),
        ("try-locked", &[a, b]) => S::TryLocked(a, b, body),
        ("await", &[a, b, c]) => S::Await(a, b, c),
        ("wait", &[a, b]) => S::Wait(a, b),
        ("signal", &[a]) => S::Signal(a),
        ("broadcast", &[a]) => S::Broadcast(a),
        ("down", &[a]) => S::Down(a),
        ("up", &[a]) => S::Up(a),
        ("try-down", &[a, b]) => S::TryDown(a, b),
        ("count", &[a, b]) => S::Count(a, b),
        ("renew", &[a, b]) => S::Renew(a, b),
        ("destroy", &[a, b]) => S::Destroy(a, b),
        ("reading", &[a]) => S::Reading(a, body),
        ("writing", &[a]) => S::Writing(a, body),
        ("try-reading", &[a, b]) => S::TryReading(a, b, body),
        ("try-writing", &[a, b]) => S::TryWriting(a, b, body),
        ("spin", &[a, b]) => S::Spin(a, b),
        ("stairs", &[a, b, c]) => S::Stairs(a, b, c),
        ("grabbed", &[a]) => S::Grabbed(a, body),
        ("poll", &[a, b, c, d]) => S::Poll(a, b, c, d),
        ("barrier", &[a]) => S::Barrier(a),
        ("create", &[a]) => S::Create(a),
        ("join", &[a]) => S::Join(a),
        ("try-join", &[a, b]) => S::TryJoin(a, b),
        ("allocate", &[a]) => S::Allocate(a),
        ("if", &[a, b]) => S::If(a, b, body),
        ("exit", []) => S::Exit(Exit::Exit),
        ("exit-now", []) => S::Exit(Exit::Now),
        ("exit-quick", []) => S::Exit(Exit::Quick),
        ("leave", []) => S::Leave,
        ("fail", []) => S::Fail,
        _ => return None,
    })
}

/// Reads a program.
///
/// # Errors
/// The line that is none of a program.
pub fn parse(text: &str) -> Result<Program, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut lines = lines.collect::<Vec<_>>().into_iter().peekable();
    let mut program = Program {
        home: Home::Static,
        variables: Vec::new(),
        mutexes: 0,
        conditions: 0,
        semaphores: Vec::new(),
        rwlocks: 0,
        barriers: Vec::new(),
        strands: Vec::new(),
    };
    while let Some(line) = lines.next() {
        let wrong = || format!("`{line}` is no line of a program");
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u8>().ok()).ok_or_else(wrong);
        match words[0] {
            "home" => {
                program.home = match words.get(1).copied() {
                    Some("static") => Home::Static,
                    Some("stack") => Home::Stack,
                    Some("heap") => Home::Heap,
                    _ => return Err(wrong()),
                }
            }
            "variable" => {
                let place = match words.get(3).copied() {
                    Some("loose") => Place::Loose,
                    Some("field") => Place::Field,
                    Some("cell") => Place::Cell,
                    _ => return Err(wrong()),
                };
                program.variables.push(Variable { width: number(2)?, atomic: words[1] == "atomic", place });
            }
            "mutexes" => program.mutexes = number(1)?,
            "conditions" => program.conditions = number(1)?,
            "rwlocks" => program.rwlocks = number(1)?,
            "semaphore" => program.semaphores.push(number(1)?),
            "barrier" => program.barriers.push(number(1)?),
            "strand" => {
                let detached = words.get(1) == Some(&"detached");
                let body = body(&mut lines)?;
                program.strands.push(Strand { detached, body });
            }
            _ => return Err(wrong()),
        }
    }
    Ok(program)
}

fn body<'a>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Result<Vec<Statement>, String> {
    let mut list = Vec::new();
    while let Some(line) = lines.peek().copied() {
        if line == "}" || line.starts_with("strand") {
            break;
        }
        lines.next();
        let wrong = || format!("`{line}` is no statement");
        let opens = line.ends_with('{');
        let mut words = line.trim_end_matches('{').split_whitespace();
        let word = words.next().ok_or_else(wrong)?;
        let numbers: Result<Vec<u8>, _> = words.map(str::parse).collect();
        let inside = if opens { body(lines)? } else { Vec::new() };
        if opens && lines.next() != Some("}") {
            return Err(format!("the body of `{line}` does not end"));
        }
        list.push(statement(word, &numbers.map_err(|_| wrong())?, inside).ok_or_else(wrong)?);
    }
    Ok(list)
}
