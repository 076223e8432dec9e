//! Makes a program smaller while something about it stays.

use super::generate::Case;
use super::model;
use super::program::{Home, Place, Program, Statement};

/// The most beginnings that the model looks at.
const PREFIXES: usize = 20_000;

/// Programs with one thing less, the smaller ones first. A program that means something else to the model than to a language is left out.
pub fn smaller(program: &Program) -> Vec<Program> {
    let mut list = Vec::new();
    for strand in (1..program.strands.len()).rev() {
        list.extend(without_strand(program, strand));
    }
    for strand in 0..program.strands.len() {
        for at in 0..count(&program.strands[strand].body) {
            for unwrap in [false, true] {
                let mut next = program.clone();
                let mut left = at;
                edit(&mut next.strands[strand].body, &mut left, unwrap);
                list.push(next);
            }
        }
    }
    if program.home != Home::Static {
        list.push(Program { home: Home::Static, ..program.clone() });
    }
    for at in 0..program.variables.len() {
        let mut next = program.clone();
        next.variables[at].place = Place::Loose;
        next.variables[at].width = 4;
        list.push(next);
    }
    for strand in 0..program.strands.len() {
        let mut next = program.clone();
        next.strands[strand].detached = false;
        list.push(next);
        let mut next = program.clone();
        shorten(&mut next.strands[strand].body);
        list.push(next);
    }
    list.retain(|next| next != program && next.is_sound());
    list
}

/// The case of a program that was made smaller.
pub fn case(program: Program, like: &Case) -> Option<Case> {
    let account = model::account(&program, PREFIXES)?;
    if program.ends_early() && !account.companied {
        return None;
    }
    Some(Case { seed: like.seed, features: like.features.clone(), program, account })
}

fn count(body: &[Statement]) -> usize {
    body.iter().map(|statement| 1 + count(statement.body())).sum()
}

/// Takes away the statement of this number, or only what is around its body.
fn edit(body: &mut Vec<Statement>, left: &mut usize, unwrap: bool) -> bool {
    for at in 0..body.len() {
        if *left == 0 {
            // Without a join it would be another sort of program.
            if matches!(body[at], Statement::Join(_)) {
                return false;
            }
            let statement = body.remove(at);
            if unwrap {
                for (place, inside) in statement.body().iter().cloned().enumerate() {
                    body.insert(at + place, inside);
                }
            }
            return true;
        }
        *left -= 1;
        if body[at].body_mut().is_some_and(|body| edit(body, left, unwrap)) {
            return true;
        }
    }
    false
}

/// Makes bounds of loops smaller.
fn shorten(body: &mut [Statement]) {
    for statement in body {
        if let Statement::Poll(_, _, times, _) = statement {
            *times = (*times - 1).max(1);
        }
        if let Some(body) = statement.body_mut() {
            shorten(body);
        }
    }
}

fn without_strand(program: &Program, gone: usize) -> Option<Program> {
    let mut next = program.clone();
    let mut creates = false;
    super::program::walk(&next.strands[gone].body, &mut |statement| {
        creates |= matches!(statement, Statement::Create(_));
    });
    if creates {
        return None;
    }
    next.strands.remove(gone);
    for strand in &mut next.strands {
        renumber(&mut strand.body, gone as u8);
    }
    for barrier in &mut next.barriers {
        *barrier = barrier.saturating_sub(1).max(1);
    }
    Some(next)
}

fn renumber(body: &mut Vec<Statement>, gone: u8) {
    use Statement::{Create, Join, TryJoin};
    body.retain(|statement| !matches!(*statement, Create(at) | Join(at) | TryJoin(at, _) if at == gone));
    for statement in body {
        match statement {
            Create(at) | Join(at) | TryJoin(at, _) if *at > gone => *at -= 1,
            _ => {}
        }
        if let Some(body) = statement.body_mut() {
            renumber(body, gone);
        }
    }
}
