//! Findings that the user does not want to hear of, in the file syntax of ThreadSanitizer.
//!
//! A line is `TYPE:PATTERN`; `#` begins a comment line. A pattern is looked for in the function, the file and the module
//! of every frame: as a part of the name, `*` stands for anything, `^` and `$` for the ends. Deviations from
//! ThreadSanitizer:
//!
//! 1. The module is the file's name without its folder.
//! 2. `PATTERN$` fits wherever the name ends with the pattern, also if the pattern is in it twice.
//! 3. Of `called_from_lib:` the innermost frame counts: there are no interceptors to be switched off.
//! 4. `mutex:`, `thread:` and `signal:` are understood and match nothing: there are no findings of these types.

use crate::finding::Finding;
use crate::places::Place;
use std::fmt;

/// What a suppression is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Type {
    Race,
    RaceTop,
    Deadlock,
    CalledFromLib,
    Mutex,
    Thread,
    Signal,
}

const TYPES: [(&str, Type); 7] = [
    ("race", Type::Race),
    ("race_top", Type::RaceTop),
    ("deadlock", Type::Deadlock),
    ("called_from_lib", Type::CalledFromLib),
    ("mutex", Type::Mutex),
    ("thread", Type::Thread),
    ("signal", Type::Signal),
];

/// One line of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suppression {
    of: Type,
    pattern: String,
    file: String,
    line: usize,
}

impl fmt::Display for Suppression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = TYPES.iter().find(|(_, of)| *of == self.of).map_or("", |(name, _)| name);
        write!(f, "`{name}:{}` ({}:{})", self.pattern, self.file, self.line)
    }
}

/// A line that is no suppression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.problem)
    }
}

impl std::error::Error for BadLine {}

/// All suppressions of a campaign.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Suppressions {
    list: Vec<Suppression>,
}

impl Suppressions {
    /// None.
    pub fn new() -> Suppressions {
        Suppressions::default()
    }

    /// Adds those of a file.
    pub fn parse(&mut self, file: &str, text: &str) -> Result<(), BadLine> {
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = |problem: String| BadLine { file: file.to_owned(), line: index + 1, problem };
            let names = || TYPES.map(|(name, _)| format!("`{name}`")).join(", ");
            let Some((name, pattern)) = line.split_once(':') else {
                return Err(bad(format!(
                    "expected `TYPE:PATTERN`, found `{line}`; the types are {}",
                    names()
                )));
            };
            let Some((_, of)) = TYPES.iter().find(|(known, _)| *known == name) else {
                return Err(bad(format!("there is no type `{name}`; the types are {}", names())));
            };
            if pattern.is_empty() {
                return Err(bad(format!("there is no pattern behind `{name}:`; `{name}:*` matches all")));
            }
            let pattern = pattern.to_owned();
            self.list.push(Suppression { of: *of, pattern, file: file.to_owned(), line: index + 1 });
        }
        Ok(())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them, in the order they were read.
    pub fn all(&self) -> &[Suppression] {
        &self.list
    }

    /// The indices of those that a finding fits; it is not to be told if there is one.
    pub fn matching(&self, finding: &Finding) -> Vec<usize> {
        self.list.iter().enumerate().filter(|(_, one)| one.fits(finding)).map(|(index, _)| index).collect()
    }
}

impl Suppression {
    fn fits(&self, finding: &Finding) -> bool {
        let races = matches!(finding.kind.as_str(), "race" | "use-after-free");
        let stacks = finding.accesses.iter().map(|access| &access.stack[..]);
        match self.of {
            Type::Race if races => {
                let variable = finding.object.as_ref().and_then(|object| object.name.as_deref());
                variable.is_some_and(|name| matches(&self.pattern, name))
                    || stacks.flatten().any(|frame| self.fits_frame(frame))
            }
            Type::RaceTop if races => stacks.filter_map(<[Place]>::first).any(|frame| self.fits_frame(frame)),
            Type::CalledFromLib if races => {
                stacks.filter_map(<[Place]>::first).any(|frame| matches(&self.pattern, module(frame)))
            }
            Type::Deadlock if finding.kind == "deadlock" => {
                finding.strands.iter().flat_map(|strand| &strand.stack).any(|frame| self.fits_frame(frame))
            }
            _ => false,
        }
    }

    fn fits_frame(&self, frame: &Place) -> bool {
        let names = [frame.function.as_deref(), frame.file.as_deref(), Some(module(frame))];
        names.into_iter().flatten().any(|name| matches(&self.pattern, name))
    }
}

/// The module of a frame: what its address counts from.
fn module(frame: &Place) -> &str {
    frame.address.rsplit_once('+').map_or("", |(module, _)| module)
}

/// Whether a pattern fits a name, as ThreadSanitizer's `TemplateMatch` says.
fn matches(pattern: &str, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let (mut anchored, mut pattern) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let mut rest = name;
    let mut open_end = false;
    while let Some(first) = pattern.chars().next() {
        match first {
            '*' => {
                (anchored, open_end) = (false, true);
                pattern = &pattern[1..];
            }
            '$' => return rest.is_empty() || open_end,
            _ => {
                let end = pattern.find(['*', '$']).unwrap_or(pattern.len());
                let (word, next) = pattern.split_at(end);
                let last = next.starts_with('$');
                let at = match (anchored, last) {
                    (true, _) => rest.starts_with(word).then_some(0),
                    (false, true) => rest.rfind(word),
                    (false, false) => rest.find(word),
                };
                let Some(at) = at else { return false };
                rest = &rest[at + word.len()..];
                (pattern, anchored, open_end) = (next, false, false);
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{AccessDetail, ObjectDetail, StrandDetail};
    use proptest::prelude::*;

    #[test]
    fn patterns_fit_as_in_tsan() {
        for (pattern, name, fits) in [
            ("foo", "a::foo<int>", true),
            ("foo", "bar", false),
            ("foo", "", false),
            ("*", "x", true),
            ("^foo", "foobar", true),
            ("^foo", "afoo", false),
            ("foo$", "afoo", true),
            ("foo$", "foox", false),
            ("foo$", "foofoo", true),
            ("^foo$", "foo", true),
            ("^foo$", "foofoo", false),
            ("f*o", "from to", true),
            ("f*z", "from to", false),
            ("^*o$", "foo", true),
            ("a*b*c", "xaybzcw", true),
            ("a*b*c", "xcybza", false),
            ("foo*$", "food", true),
            ("lib/*/x.c", "/home/lib/deep/er/x.c", true),
            ("é*ü", "aéßüb", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    fn frame(function: &str, file: &str, address: &str) -> Place {
        let (function, file) = (Some(function.into()), Some(file.into()));
        Place { function, file, address: address.into(), ..Place::default() }
    }

    fn race() -> Finding {
        let access = |inner: &str, outer: &str| AccessDetail {
            stack: vec![frame(inner, "src/queue.c", "libq.so.1+0x10"), frame(outer, "main.c", "bank+0x20")],
            ..AccessDetail::default()
        };
        let object = Some(ObjectDetail { name: Some("counters[3]".into()), ..ObjectDetail::default() });
        let accesses = vec![access("push", "producer"), access("pop", "consumer")];
        Finding { kind: "race".into(), accesses, object, ..Finding::default() }
    }

    fn matching(text: &str, finding: &Finding) -> Vec<usize> {
        let mut suppressions = Suppressions::new();
        suppressions.parse("file", text).unwrap();
        suppressions.matching(finding)
    }

    #[test]
    fn a_race_is_matched_by_either_stack() {
        let fits = |line: &str| !matching(line, &race()).is_empty();
        for line in
            ["race:push", "race:^consumer$", "race:queue.c", "race:libq.so", "race:^counters", "race_top:pop"]
        {
            assert!(fits(line), "{line}");
        }
        for line in
            ["race_top:producer", "race:elsewhere", "deadlock:push", "mutex:*", "called_from_lib:bank"]
        {
            assert!(!fits(line), "{line}");
        }
        assert!(fits("called_from_lib:libq.so.1"));
        let text = "# comment\n\n  race:none \nrace:push\n\trace_top:pop\n";
        assert_eq!(matching(text, &race()), [1, 2]);
    }

    #[test]
    fn a_deadlock_is_matched_by_any_strand() {
        let stack = vec![frame("lock", "l.c", "bank+1"), frame("transfer", "bank.c", "bank+2")];
        let strands = vec![StrandDetail::default(), StrandDetail { stack, ..StrandDetail::default() }];
        let deadlock = Finding { kind: "deadlock".into(), strands, ..Finding::default() };
        assert_eq!(matching("race:transfer\ndeadlock:transfer", &deadlock), [1]);
        let assertion = Finding { kind: "assertion".into(), ..race() };
        assert!(matching("race:push\ndeadlock:*", &assertion).is_empty());
    }

    #[test]
    fn bad_lines_are_told_with_their_place() {
        let said = |text: &str| Suppressions::new().parse("s.txt", text).unwrap_err().to_string();
        assert!(said("race:a\nfoo").starts_with("s.txt:2: expected `TYPE:PATTERN`, found `foo`"));
        assert!(said("leak:x").starts_with("s.txt:1: there is no type `leak`; the types are `race`, "));
        assert!(said("# x\n\nrace:").starts_with("s.txt:3: there is no pattern behind `race:`"));
        let mut two = Suppressions::new();
        two.parse("a", "race:x:y").unwrap();
        two.parse("b", "#\nthread:z").unwrap();
        let all: Vec<String> = two.all().iter().map(ToString::to_string).collect();
        assert_eq!(all, ["`race:x:y` (a:1)", "`thread:z` (b:2)"]);
    }

    proptest! {
        #[test]
        fn any_pattern_is_tried_without_panic(pattern in "[ab*^$é]{0,8}", name in "[abcé]{0,8}") {
            let fits = matches(&pattern, &name);
            // What fits with its ends fixed fits without.
            let loose = pattern.trim_start_matches('^').trim_end_matches('$');
            prop_assert!(!fits || pattern.matches(['^', '$']).count() > 2 || loose.contains(['^', '$']) || matches(loose, &name));
        }

        #[test]
        fn any_text_is_read_without_panic(text in "\\PC{0,80}") {
            let _ = Suppressions::new().parse("x", &text);
        }
    }
}
