//! A lock made wider, as a diff: where lines that have to be one step are partly under a lock already.
//!
//! It goes by the text alone, line by line, and only where that leaves no doubt: statements that take and give back one lock in lines of their own, guards of C++
//! and Rust that are declared in one, and `lock().unwrap()` of Rust within statements. Where control may leave the lines in between, where strands are waited for, or where
//! the parts are in other blocks, there is no diff.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Lines around a change.
const CONTEXT: usize = 3;
/// Statements that take a lock, and those that give it back.
const CALLS: [(&str, &str); 5] = [
    ("pthread_mutex_lock", "pthread_mutex_unlock"),
    ("pthread_spin_lock", "pthread_spin_unlock"),
    ("pthread_rwlock_wrlock", "pthread_rwlock_unlock"),
    ("mtx_lock", "mtx_unlock"),
    ("omp_set_lock", "omp_unset_lock"),
];
/// How Rust takes a lock.
const LOCKED: &str = ".lock().unwrap()";
/// What leaves the lines in between, or waits there.
const LEAVES: [&str; 6] = ["return", "goto", "break", "continue", "longjmp", "throw"];
const WAITS: [&str; 4] = ["join(", "wait(", "sleep(", "recv("];

/// What a line does to a lock, if that is all it does.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Does {
    Take(String),
    Give(String),
    /// Takes it until the end of its block; the guard's name.
    Guard(String, String),
    Other,
}

/// The body of a function: its lines by number from 0, with how many blocks each is in at its beginning.
struct Body<'a> {
    lines: &'a [String],
    depths: Vec<i32>,
    first: usize,
    last: usize,
}

/// What is changed, by line from 0.
#[derive(Debug, Default, PartialEq, Eq)]
struct Edits {
    gone: BTreeSet<usize>,
    before: BTreeMap<usize, String>,
    instead: BTreeMap<usize, String>,
}

/// The diff that puts all of these lines (from 1) of a file under the lock that some of them are under.
pub(crate) fn diff(file: &str, lines: &[String], (first, last): (u32, u32)) -> Option<String> {
    let region = ((first as usize).checked_sub(1)?, (last as usize).checked_sub(1)?);
    let body = Body::around(lines, region)?;
    let edits = body.calls(region).or_else(|| body.guards(region)).or_else(|| body.temporaries(region))?;
    Some(edits.text(file, lines))
}

impl<'a> Body<'a> {
    /// The function that a region is in.
    fn around(lines: &'a [String], (first, last): (usize, usize)) -> Option<Self> {
        let mut depth = 0;
        let mut depths = Vec::with_capacity(lines.len());
        let mut heads: Vec<(usize, i32)> = Vec::new();
        let (mut head, mut end) = (None, None);
        for (at, line) in lines.iter().enumerate() {
            depths.push(depth);
            if at == first {
                head = heads.last().copied();
            }
            let code = code(line);
            if is_head(code) {
                heads.push((at, depth));
            }
            depth += braces(code);
            while heads.last().is_some_and(|(_, of)| depth <= *of) {
                heads.pop();
            }
            if end.is_none() && at >= last && head.is_some_and(|(_, of)| depth <= of) {
                end = Some(at);
            }
        }
        let (head, last_line) = head.zip(end)?;
        (last < last_line).then_some(Self { lines, depths, first: head.0 + 1, last: last_line })
    }

    fn does(&self, at: usize) -> Does {
        does(code(&self.lines[at]))
    }

    fn is_calm(&self, from: usize, to: usize) -> bool {
        (from..=to).all(|at| {
            let code = code(&self.lines[at]);
            let words = || code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            !words().any(|word| LEAVES.contains(&word)) && !WAITS.iter().any(|wait| code.contains(wait))
        })
    }

    /// Whether lines call a function of the file that takes a lock, itself or by what it calls: it may be this one by another name.
    fn calls_taker(&self, lock: &str, from: usize, to: usize) -> bool {
        let bare = lock.trim_start_matches(['&', '*']);
        let takes = |line: &str| match does(code(line)) {
            Does::Take(_) | Does::Guard(..) => true,
            _ => code(line).contains(LOCKED) || is_taken(code(line), bare),
        };
        let mut takers: BTreeSet<&str> = BTreeSet::new();
        loop {
            let known = takers.len();
            let mut name = None;
            for (at, line) in self.lines.iter().enumerate() {
                if is_head(code(line)) {
                    name = called(code(line)).next();
                } else if self.depths[at] > 0
                    && (takes(line) || called(code(line)).any(|it| takers.contains(it)))
                {
                    takers.extend(name);
                }
            }
            if takers.len() == known {
                break;
            }
        }
        (from..=to).any(|at| called(code(&self.lines[at])).any(|it| takers.contains(it)))
    }

    fn indent(&self, at: usize) -> &str {
        let line = &self.lines[at];
        &line[..line.len() - line.trim_start().len()]
    }

    /// Calls that take and give back: those in between go, or the outer ones move.
    fn calls(&self, (first, last): (usize, usize)) -> Option<Edits> {
        let mut locks: Vec<String> = Vec::new();
        for at in self.first..self.last {
            if let Does::Take(lock) = self.does(at)
                && !locks.contains(&lock)
            {
                locks.push(lock);
            }
        }
        locks.into_iter().find_map(|lock| self.wider(&lock, (first, last)))
    }

    fn wider(&self, lock: &str, (first, last): (usize, usize)) -> Option<Edits> {
        let mut sections: Vec<(usize, usize)> = Vec::new();
        let mut open = None;
        for at in self.first..self.last {
            match self.does(at) {
                Does::Take(other) if other == lock && open.is_none() => open = Some(at),
                Does::Take(other) if other == lock => return None,
                Does::Give(other) if other == lock => sections.push((open.take()?, at)),
                _ => {}
            }
        }
        let has = |&(from, to): &(usize, usize), at: usize| from <= at && at <= to;
        sections.retain(|it| has(it, first) || has(it, last) || first < it.0 && it.1 < last);
        let (start, end) = (*sections.first()?, *sections.last()?);
        let covered = sections.iter().any(|it| has(it, first) && has(it, last));
        let some = sections.iter().any(|it| has(it, first) || has(it, last));
        if covered || !some {
            return None;
        }
        let mut edits = Edits::default();
        edits.gone.extend(sections.iter().flat_map(|it| [it.0, it.1]));
        let (mut from, mut to) = (first, last);
        if has(&start, first) {
            edits.gone.remove(&start.0);
            from = start.0;
        } else {
            edits.before.insert(first, format!("{}{}", self.indent(first), self.lines[start.0].trim()));
        }
        if has(&end, last) {
            edits.gone.remove(&end.1);
            to = end.1;
        } else {
            edits.before.insert(last + 1, format!("{}{}", self.indent(first), self.lines[end.1].trim()));
        }
        let level = self.depths[from];
        let same = [first, last, to].into_iter().chain(edits.gone.iter().copied());
        let calm = self.is_calm(from, to) && !self.calls_taker(lock, from, to);
        (same.into_iter().all(|at| self.depths[at] == level) && calm).then_some(edits)
    }

    /// Guards of blocks: one in front of them all.
    fn guards(&self, (first, last): (usize, usize)) -> Option<Edits> {
        let mut found: BTreeMap<(String, String), Vec<(usize, usize)>> = BTreeMap::new();
        for at in self.first..self.last {
            if let Does::Guard(lock, name) = self.does(at) {
                let ends = |to: &usize| self.depths[*to + 1] < self.depths[at];
                let to = (at..self.last).find(ends).unwrap_or(self.last);
                found.entry((lock, name)).or_default().push((at, to));
            }
        }
        let has = |&(from, to): &(usize, usize), at: usize| from <= at && at <= to;
        found.into_iter().find_map(|((lock, _), mut blocks)| {
            blocks.retain(|it| has(it, first) || has(it, last) || first < it.0 && it.1 < last);
            let some = blocks.iter().any(|it| has(it, first) || has(it, last));
            if !some || blocks.iter().any(|it| has(it, first) && has(it, last)) {
                return None;
            }
            let (start, end) = (blocks.first()?.0.min(first), last.max(blocks.last()?.0));
            let level = (start..=end).map(|at| self.depths[at]).min()?;
            // The beginning of the block that the first of them is in.
            let place = (self.first..=start).rev().find(|at| self.depths[*at] == level)?;
            let scope = (end..self.last).find(|at| self.depths[at + 1] < level).unwrap_or(self.last);
            let mut edits = Edits::default();
            let taking = blocks.iter().map(|it| self.lines[it.0].trim());
            let text = taking.max_by_key(|text| text.contains("mut "))?;
            edits.before.insert(place, format!("{}{text}", self.indent(place)));
            edits.gone.extend(blocks.iter().map(|it| it.0));
            // Whoever takes it a second time waits for itself.
            let again =
                (place..=scope).any(|at| !edits.gone.contains(&at) && is_taken(code(&self.lines[at]), &lock));
            let again = again || self.calls_taker(&lock, place, scope);
            (!again && self.is_calm(place, scope)).then_some(edits)
        })
    }

    /// Rust's guards that live for a statement: one for all of them.
    fn temporaries(&self, (first, last): (usize, usize)) -> Option<Edits> {
        let lock = taken(code(&self.lines[first]))?;
        let level = self.depths[first];
        let text = format!("{lock}{LOCKED}");
        let all: Vec<usize> = (first..=last).filter(|at| self.lines[*at].contains(&text)).collect();
        let known = (self.first..self.last).any(|at| code(&self.lines[at]).contains("guard"));
        if first == last || !all.contains(&last) || self.depths[last] != level || known {
            return None;
        }
        let mut edits = Edits::default();
        let indent = self.indent(first);
        edits.before.insert(first, format!("{indent}let mut guard = {text};"));
        edits.before.insert(last + 1, format!("{indent}drop(guard);"));
        for at in all {
            edits.instead.insert(at, self.lines[at].replace(&text, "guard"));
        }
        self.is_calm(first, last).then_some(edits)
    }
}

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or(line).trim()
}

fn braces(code: &str) -> i32 {
    code.chars().map(|c| i32::from(c == '{') - i32::from(c == '}')).sum()
}

/// The names that a `(` follows.
fn called(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices('(').filter_map(move |(at, _)| {
        let before = code[..at].trim_end();
        let from = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        Some(&before[from..]).filter(|name| !name.is_empty())
    })
}

/// Whether a function begins here.
fn is_head(code: &str) -> bool {
    let word = code.split(|c: char| !(c.is_alphanumeric() || c == '_')).find(|word| !word.is_empty());
    let other = ["if", "for", "while", "switch", "else", "do", "match", "loop", "catch", "unsafe"];
    code.ends_with('{')
        && code.contains('(')
        && !code.contains('=')
        && !code.contains('|')
        && !word.is_some_and(|word| other.contains(&word))
}

fn does(code: &str) -> Does {
    let Some(statement) = code.strip_suffix(';').map(str::trim) else { return Does::Other };
    let called = |name: &str| {
        let inside = statement.strip_prefix(name)?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
        (!inside.contains([',', ';'])).then(|| inside.trim().to_owned())
    };
    for (take, give) in CALLS {
        if let Some(lock) = called(take) {
            return Does::Take(lock);
        }
        if let Some(lock) = called(give) {
            return Does::Give(lock);
        }
    }
    let is_path = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_.:->[]()*&".contains(c))
    };
    if let Some(rest) = statement.strip_prefix("let ") {
        let rest = rest.strip_prefix("mut ").unwrap_or(rest);
        if let Some((name, taking)) = rest.split_once(" = ")
            && let Some(lock) = taking.strip_suffix(LOCKED)
            && is_path(lock)
            && !lock.starts_with('*')
        {
            return Does::Guard(lock.to_owned(), name.trim().to_owned());
        }
        return Does::Other;
    }
    let kinds = ["lock_guard", "scoped_lock", "unique_lock"];
    let declared = statement.strip_prefix("std::").unwrap_or(statement);
    if let Some(rest) = kinds.iter().find_map(|kind| declared.strip_prefix(kind)) {
        let rest = rest.find("> ").map_or(rest, |at| &rest[at + 1..]).trim();
        let Some(open) = rest.find(['(', '{']) else { return Does::Other };
        let (name, lock) = (rest[..open].trim(), &rest[open + 1..rest.len() - 1]);
        let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        return match plain && is_path(lock) {
            true => Does::Guard(lock.to_owned(), name.to_owned()),
            false => Does::Other,
        };
    }
    for (call, takes) in [("lock()", true), ("unlock()", false)] {
        let object = statement
            .strip_suffix(call)
            .and_then(|rest| rest.strip_suffix('.').or_else(|| rest.strip_suffix("->")));
        if let Some(lock) = object.filter(|lock| is_path(lock)) {
            return if takes { Does::Take(lock.to_owned()) } else { Does::Give(lock.to_owned()) };
        }
    }
    Does::Other
}

/// Whether a line has to do with a lock.
fn is_taken(code: &str, lock: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(lock)
        .any(|(at, _)| !code[..at].ends_with(is_name) && !code[at + lock.len()..].starts_with(is_name))
}

/// The lock that a statement of Rust's takes in passing.
fn taken(code: &str) -> Option<&str> {
    let before = &code[..code.find(LOCKED)?];
    let from = before.rfind(|c: char| !(c.is_alphanumeric() || "_.:".contains(c))).map_or(0, |at| at + 1);
    Some(&before[from..]).filter(|lock| !lock.is_empty())
}

impl Edits {
    /// One hunk of a unified diff.
    fn text(&self, file: &str, lines: &[String]) -> String {
        let touched = || {
            let before = self.before.keys().map(|at| at.saturating_sub(1));
            self.gone.iter().copied().chain(self.instead.keys().copied()).chain(before)
        };
        let from = touched().min().unwrap_or(0).saturating_sub(CONTEXT - 1);
        let to = (touched().max().unwrap_or(0) + CONTEXT + 1).min(lines.len());
        let (mut hunk, mut old, mut new) = (String::new(), 0, 0);
        let mut say = |sign: char, text: &str| {
            old += usize::from(sign != '+');
            new += usize::from(sign != '-');
            // Writing to a string does not fail.
            let _ = writeln!(hunk, "{sign}{text}");
        };
        for (at, line) in lines.iter().enumerate().take(to).skip(from) {
            if let Some(text) = self.before.get(&at) {
                say('+', text);
            }
            match self.instead.get(&at) {
                Some(text) => {
                    say('-', line);
                    say('+', text);
                }
                None if self.gone.contains(&at) => say('-', line),
                None => say(' ', line),
            }
        }
        let (file, from) = (file.trim_start_matches('/'), from + 1);
        format!("--- a/{file}\n+++ b/{file}\n@@ -{from},{old} +{from},{new} @@\n{hunk}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are added and taken out, in order; the region is between the lines with `//<` and `//>`.
    fn changed(source: &str) -> Option<Vec<String>> {
        let lines: Vec<String> = source.lines().map(str::to_owned).collect();
        let line = |mark: &str| lines.iter().position(|line| line.contains(mark)).unwrap() as u32 + 1;
        let text = diff("a.c", &lines, (line("//<"), line("//>")))?;
        let changes = text.lines().skip(3).filter(|line| line.starts_with(['+', '-']));
        Some(changes.map(|line| line.split("//").next().unwrap().trim_end().to_owned()).collect())
    }

    #[test]
    fn what_gives_it_back_in_between_goes() {
        let source = "void f(void) {\n    pthread_mutex_lock(&m);\n    int b = x; //<\n    pthread_mutex_unlock(&m);\n    b++;\n    pthread_mutex_lock(&m);\n    x = b; //>\n    pthread_mutex_unlock(&m);\n}\n";
        let gone = ["-    pthread_mutex_unlock(&m);", "-    pthread_mutex_lock(&m);"];
        assert_eq!(changed(source).unwrap(), gone);
        assert_eq!(
            changed(&source.replace("    b++;", "    if (b) return;")),
            None,
            "it may leave in between"
        );
        assert_eq!(
            changed(&source.replace("    b++;", "    pthread_join(t, 0);")),
            None,
            "it waits in between"
        );
        assert_eq!(changed(&source.replacen("(&m)", "(&n)", 2)).unwrap().len(), 2, "the other lock is moved");
    }

    #[test]
    fn a_lock_that_comes_too_late_or_goes_too_early_moves() {
        let late = "int f(int a) {\n    int b = x; //<\n    m.lock();\n    x = b + a; //>\n    m.unlock();\n    return 0;\n}\n";
        assert_eq!(changed(late).unwrap(), ["+    m.lock();", "-    m.lock();"]);
        let early =
            "void f() {\n    mtx_lock(&m);\n    int b = x; //<\n    mtx_unlock(&m);\n    x = b; //>\n}\n";
        assert_eq!(changed(early).unwrap(), ["-    mtx_unlock(&m);", "+    mtx_unlock(&m);"]);
    }

    #[test]
    fn one_guard_is_put_in_front_of_all_blocks() {
        let source = "void add(int a) {\n    int s;\n    {\n        std::lock_guard<std::mutex> hold(m);\n        s = x; //<\n    }\n    s += a;\n    {\n        std::lock_guard<std::mutex> hold(m);\n        x = s; //>\n    }\n}\n";
        let guard = "std::lock_guard<std::mutex> hold(m);";
        let gone = format!("-        {guard}");
        assert_eq!(changed(source).unwrap(), [format!("+    {guard}"), gone.clone(), gone]);
        let rust = "fn f(m: &Mutex<u64>) {\n    let old = {\n        let now = m.lock().unwrap();\n        *now //<\n    };\n    let mut now = m.lock().unwrap();\n    *now = old + 1; //>\n}\n";
        let lines = [
            "+    let mut now = m.lock().unwrap();",
            "-        let now = m.lock().unwrap();",
            "-    let mut now = m.lock().unwrap();",
        ];
        assert_eq!(changed(rust).unwrap(), lines);
        let to_the_lock = rust
            .replace(" //>", "")
            .replace("    let mut now = m.lock().unwrap();", "    let mut now = m.lock().unwrap(); //>");
        assert_eq!(changed(&to_the_lock).unwrap(), lines);
        let again = rust.replace("old + 1;", "old + *m.lock().unwrap();");
        assert_eq!(changed(&again), None, "it would wait for itself");
    }

    #[test]
    fn a_function_that_takes_the_lock_is_not_called_with_it() {
        let source = "static bool has(int k) {\n    std::lock_guard<std::mutex> hold(m);\n    return x == k;\n}\n\nstatic bool lacks(int k) {\n    return !has(k);\n}\n\nstatic void enter(int k) {\n    if (lacks(k)) { //<\n        std::lock_guard<std::mutex> hold(m);\n        x = k; //>\n    }\n}\n";
        assert_eq!(changed(source), None);
        assert!(changed(&source.replace("lacks(k)) {", "x != k) {")).is_some());
        let calls = "void f(int k) {\n    pthread_mutex_lock(&m);\n    x += k;\n    pthread_mutex_unlock(&m);\n}\n\nvoid g(void) {\n    int b = x; //<\n    f(b);\n    pthread_mutex_lock(&m);\n    x = b; //>\n    pthread_mutex_unlock(&m);\n}\n";
        assert_eq!(changed(calls), None);
        assert!(changed(&calls.replace("    f(b);\n", "")).is_some());
    }

    #[test]
    fn guards_of_a_statement_become_one() {
        let source = "fn f(m: &Mutex<u64>) {\n    let b = *m.lock().unwrap(); //<\n    *m.lock().unwrap() = b + 1; //>\n}\n";
        let lines = [
            "+    let mut guard = m.lock().unwrap();",
            "-    let b = *m.lock().unwrap();",
            "+    let b = *guard;",
            "-    *m.lock().unwrap() = b + 1;",
            "+    *guard = b + 1;",
            "+    drop(guard);",
        ];
        assert_eq!(changed(source).unwrap(), lines);
    }

    #[test]
    fn without_a_lock_there_is_nothing_to_widen() {
        assert_eq!(changed("void f(void) {\n    int b = x; //<\n    x = b; //>\n}\n"), None);
        let whole = "void f(void) {\n    pthread_mutex_lock(&m);\n    int b = x; //<\n    x = b; //>\n    pthread_mutex_unlock(&m);\n}\n";
        assert_eq!(changed(whole), None);
    }
}
