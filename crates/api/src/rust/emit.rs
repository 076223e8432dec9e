//! Tests as source: for the harness, and as a person would write them.

use super::Api;
use crate::test::{ApiCall, Test, Told};
use std::fmt::Write;
use std::ops::Range;

/// The part of the harness that is the same for all APIs.
pub const HARNESS: &str = include_str!("../../harness/harness.rs");

const NAMES: [&str; 3] = ["first", "second", "third"];

/// The program with all tests, and the lines of each.
pub fn harness(api: &Api, tests: &[Test]) -> (String, Vec<(u32, Range<usize>)>) {
    let mut text = prelude(api);
    let mut lines = Vec::new();
    for test in tests {
        let from = text.lines().count() + 1;
        one(&mut text, test);
        lines.push((test.number, from..text.lines().count() + 1));
    }
    text.push_str("static CASES: &[(u32, Case)] = &[\n");
    for test in tests {
        let strands: Vec<String> = (0..test.strands.len())
            .map(|strand| {
                let steps = test.whole(strand);
                let steps: Vec<String> =
                    steps.iter().map(|step| step.may_be_left_out().to_string()).collect();
                format!("&[{}]", steps.join(", "))
            })
            .collect();
        let (number, strands) = (test.number, strands.join(", "));
        let _ = writeln!(text, "    ({number}, Case {{ run: test_{number}, strands: &[{strands}] }}),");
    }
    text.push_str("];\nfn main() {\n    harness::main(CASES)\n}\n");
    (text, lines)
}

/// What stands before tests and probes.
pub(super) fn prelude(api: &Api) -> String {
    let mut text = "#![allow(warnings)]\nmod harness;\nuse harness::*;\n".to_owned();
    for path in imports(api) {
        let _ = writeln!(text, "use {path};");
    }
    text
}

/// The path that a line of a program imports.
pub fn import_at(api: &Api, line: usize) -> Option<String> {
    let text = prelude(api);
    let path = text.lines().nth(line.checked_sub(1)?)?.strip_prefix("use ")?.strip_suffix(';')?;
    (!path.contains('*')).then(|| path.to_owned())
}

/// The program of probes: each has a line of its own, the first has this number.
pub fn probe_program(api: &Api, probes: &[super::Probe]) -> (String, usize) {
    let mut text = prelude(api);
    let first = text.lines().count() + 1;
    for probe in probes {
        text.push_str(&probe.line);
        text.push('\n');
    }
    text.push_str("fn main() {}\n");
    (text, first)
}

/// Paths that tests may name.
fn imports(api: &Api) -> Vec<String> {
    let types = api.types.values().filter(|ty| api.is_short(&ty.name)).filter_map(|ty| ty.path.clone());
    let functions = api.functions.iter().filter(|function| api.is_short(&function.name));
    types.chain(functions.filter_map(|function| function.path.clone())).collect()
}

fn mark(line: &str, is_written: &dyn Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('⟨') {
        text.push_str(before);
        let Some((name, after)) = after.split_once('⟩') else { break };
        if is_written(name) {
            text.push_str("mut ");
        }
        text.push_str(name);
        rest = after;
    }
    text.push_str(rest);
    text
}

fn writes(steps: &[ApiCall], name: &str) -> bool {
    steps.iter().any(|step| step.writes && step.uses.first().is_some_and(|used| used == name))
}

fn one(text: &mut String, test: &Test) {
    let _ = writeln!(
        text,
        "fn test_{}(g: Gate) -> Outcome {{\n    let mut all = Outcome::begin();\n    {{",
        test.number
    );
    for line in &test.make {
        let _ = writeln!(text, "    {}", mark(line, &|_| true));
    }
    for step in &test.setup {
        let _ = writeln!(text, "    {}", before(step));
    }
    for name in &test.shared {
        let _ = writeln!(text, "    let {name} = std::sync::Arc::new({name});");
    }
    for strand in 0..test.strands.len() {
        let _ = writeln!(text, "    let strand_{strand} = {{");
        for line in &test.handles[strand] {
            let _ = writeln!(text, "        {}", mark(line, &|_| true));
        }
        let _ = writeln!(text, "        g.strand({strand}, move |said| {{");
        for step in test.whole(strand) {
            let _ = writeln!(text, "            {}", gated(&step, strand));
        }
        text.push_str("        })\n    };\n");
    }
    for strand in 0..test.strands.len() {
        let _ = writeln!(text, "    all.join(strand_{strand});");
    }
    text.push_str("    let mut said: Vec<String> = Vec::new();\n");
    for step in &test.end {
        let _ = writeln!(text, "    {{ let r = {}; {} }}", step.call, said(step));
    }
    text.push_str("    all.end(said);\n    }\n    all.finish()\n}\n");
}

/// A step before the strands.
fn before(step: &ApiCall) -> String {
    if step.call.starts_with("for ") { step.call.clone() } else { format!("let _ = {};", step.call) }
}

/// A step with its turn.
fn gated(step: &ApiCall, strand: usize) -> String {
    let said = said(step);
    if let Some(kept) = &step.keeps {
        let name = &kept.name;
        let unwrap = kept.unwrap.unwrap_or_default();
        let touch = touch(kept.touch, name, kept.unwrap.is_some());
        if step.may_be_left_out() {
            return format!(
                "let mut {name} = if g.turn({strand}) {{ said.push(\"~\".to_owned()); None }} else {{ let r = {}; {said} r{unwrap} }}; {touch} g.done();",
                step.call
            );
        }
        return format!(
            "g.turn({strand}); let r = {}; {said} let mut {name} = r{unwrap}; {touch} g.done();",
            step.call
        );
    }
    let call = match &step.needs {
        Some(need) => format!(
            "match {0}{1} {{ Some({0}) => {{ let r = {2}; {said} }} None => said.push(\"-\".to_owned()) }}",
            need.name, need.how, step.call
        ),
        None => format!("let r = {}; {said}", step.call),
    };
    if step.may_be_left_out() {
        return format!("if g.turn({strand}) {{ said.push(\"~\".to_owned()); }} else {{ {call} }} g.done();");
    }
    // A moved variable is dropped before the turn is over, too.
    format!("g.turn({strand}); {{ {call} }} g.done();")
}

fn touch(touch: Option<&str>, name: &str, optional: bool) -> String {
    match (touch, optional) {
        (None, _) => String::new(),
        (Some("next"), true) => {
            format!("drop(format!(\"{{:?}}\", {name}.as_mut().map(|{name}| {name}.next())));")
        }
        (Some("next"), false) => format!("drop(format!(\"{{:?}}\", {name}.next()));"),
        (Some("write"), true) => format!("if let Some({name}) = {name}.as_mut() {{ (**{name}).write(); }}"),
        (Some(how), true) => format!("if let Some({name}) = {name}.as_ref() {{ (**{name}).{how}(); }}"),
        (Some(how), false) => format!("(*{name}).{how}();"),
    }
}

/// What tells a result that is called `r`.
fn said(step: &ApiCall) -> String {
    let text = match step.told {
        Told::Nothing => return "said.push(\"_\".to_owned());".to_owned(),
        Told::Value => "(&&Show(&r)).show()".to_owned(),
        Told::IfSome => "if r.is_some() { \"Some\".to_owned() } else { \"None\".to_owned() }".to_owned(),
        Told::IfOk => {
            "match &r { Ok(_) => \"Ok\".to_owned(), Err(e) => format!(\"Err({})\", (&&Show(e)).show()) }"
                .to_owned()
        }
    };
    if step.tries { format!("said.push(relaxed({text}));") } else { format!("said.push({text});") }
}

/// What a kept test asserts at its end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Asserts {
    /// Every value is dropped.
    pub drops: bool,
    /// The outcomes that orders of the calls show.
    pub outcomes: Vec<String>,
}

/// A test that failed, to be kept.
#[derive(Clone, Debug)]
pub struct Plain<'a> {
    /// The test.
    pub test: &'a Test,
    /// The name of its function.
    pub name: String,
    /// What it shows, for its comment.
    pub shows: String,
    /// What it asserts.
    pub asserts: Asserts,
}

/// The file of the kept tests.
pub fn plain(api: &Api, tests: &[Plain<'_>]) -> String {
    let mut body = String::new();
    let drops = tests.iter().any(|test| test.asserts.drops);
    for test in tests {
        plain_one(&mut body, test, drops);
    }
    let mut text = "//! Tests that `cargo threadbare generate` found to fail. `cargo threadbare test` runs them in many orders.\n\n#![allow(unused_mut, reason = \"one form serves all methods\")]\n\n".to_owned();
    for path in imports(api) {
        let name = path.rsplit("::").next().unwrap_or_default();
        if has_word(&body, name) {
            let _ = writeln!(text, "use {path};");
        }
    }
    if has_word(&body, "Arc") {
        text.push_str("use std::sync::Arc;\n");
    }
    text.push_str("use std::thread;\n");
    if has_word(&body, "Counted") {
        text.push_str(COUNTED);
    }
    if drops {
        text.push_str("\n/// The tests count values, so one runs at a time.\nstatic ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());\n");
    }
    if ["block_on", "block_on_again", "poll_once"].iter().any(|name| has_word(&body, name)) {
        text.push_str(FUTURES);
    }
    text.push_str(&body);
    text
}

fn plain_one(text: &mut String, kept: &Plain<'_>, one_at_a_time: bool) {
    let test = kept.test;
    let tells = !kept.asserts.outcomes.is_empty();
    let _ = writeln!(text, "\n/// {}\n#[test]\nfn {}() {{", kept.shows, kept.name);
    if one_at_a_time {
        text.push_str("    let _one = ONE.lock().unwrap_or_else(|error| error.into_inner());\n");
    }
    let inner = if kept.asserts.drops { "        " } else { "    " };
    if kept.asserts.drops {
        text.push_str("    ALIVE.store(0, std::sync::atomic::Ordering::Relaxed);\n    {\n");
    }
    let moved = |name: &str| {
        let in_strand = |strand: usize| {
            !test.handles[strand].iter().any(|line| line.contains(&format!("⟨{name}⟩")))
                && writes(&test.strands[strand], name)
        };
        writes(&test.setup, name) || writes(&test.end, name) || (0..test.strands.len()).any(in_strand)
    };
    let mut line = |depth: usize, words: &str| {
        let _ = writeln!(text, "{inner}{:1$}{words}", "", depth * 4);
    };
    for make in &test.make {
        line(0, &short(&mark(make, &moved)));
    }
    for step in &test.setup {
        line(0, &short(&before(step)));
    }
    for name in &test.shared {
        line(0, &format!("let {name} = Arc::new({name});"));
    }
    for (strand, steps) in test.strands.iter().enumerate() {
        let name = NAMES.get(strand).unwrap_or(&"other");
        let block = !test.handles[strand].is_empty();
        let depth = usize::from(block);
        if block {
            line(0, &format!("let {name} = {{"));
            for handle in &test.handles[strand] {
                line(1, &short(&mark(handle, &|name| writes(steps, name))));
            }
            line(1, "thread::spawn(move || {");
        } else {
            line(0, &format!("let {name} = thread::spawn(move || {{"));
        }
        if tells {
            line(depth + 1, "let mut said = Vec::new();");
        }
        for step in test.whole(strand) {
            // What is never named would not be moved into the strand.
            let named = |name: &String| steps.iter().any(|step| step.uses.contains(name));
            let kept_here = steps
                .iter()
                .any(|other| other.keeps.as_ref().is_some_and(|kept| step.uses.contains(&kept.name)));
            if step.silent && (step.uses.iter().all(named) || kept_here) {
                continue;
            }
            for words in plain_step(&step, tells) {
                line(depth + 1, &short(&words));
            }
        }
        if tells {
            line(depth + 1, "said.join(\", \")");
        }
        if block {
            line(1, "})");
            line(0, "};");
        } else {
            line(0, "});");
        }
    }
    let names = &NAMES[..test.strands.len()];
    if tells {
        let joined: Vec<String> = names.iter().map(|name| format!("{name}.join().unwrap()")).collect();
        line(0, &format!("let mut outcome = vec![{}];", joined.join(", ")));
        line(0, "let mut said: Vec<String> = Vec::new();");
    } else {
        for name in names {
            line(0, &format!("{name}.join().unwrap();"));
        }
    }
    for step in &test.end {
        for words in plain_step(step, tells) {
            line(0, &short(&words));
        }
    }
    if tells {
        line(0, "outcome.push(said.join(\", \"));");
        line(0, "// What the calls give one at a time, in some order.");
        line(0, "let orders = [");
        for outcome in &kept.asserts.outcomes {
            line(1, &format!("{outcome:?},"));
        }
        line(0, "];");
        line(0, "let outcome = outcome.join(\" | \");");
        line(0, "assert!(orders.contains(&outcome.as_str()), \"{outcome}\");");
    }
    if kept.asserts.drops {
        text.push_str("    }\n    assert_eq!(ALIVE.load(std::sync::atomic::Ordering::Relaxed), 0, \"values were never dropped\");\n");
    }
    text.push_str("}\n");
}

fn plain_step(step: &ApiCall, tells: bool) -> Vec<String> {
    if tells {
        let said = said(step)
            .replace("(&&Show(&r)).show()", "format!(\"{r:?}\")")
            .replace("(&&Show(e)).show()", "format!(\"{e:?}\")");
        let said = if step.tries { relaxed_plain(&said) } else { said };
        return match (&step.keeps, &step.needs) {
            (Some(kept), _) => {
                let mut lines = vec![format!("let r = {};", step.call), said];
                lines.push(format!("let mut {} = r{};", kept.name, kept.unwrap.unwrap_or_default()));
                lines.push(touch(kept.touch, &kept.name, kept.unwrap.is_some()));
                lines
            }
            (None, Some(need)) => vec![format!(
                "match {0}{1} {{ Some({0}) => {{ let r = {2}; {said} }} None => said.push(\"-\".to_owned()) }}",
                need.name, need.how, step.call
            )],
            (None, None) if step.told == Told::Nothing => vec![format!("{};", step.call), said],
            (None, None) => vec![format!("let r = {};", step.call), said],
        };
    }
    if let Some(kept) = &step.keeps {
        let name = &kept.name;
        let mut lines = vec![format!("let mut {name} = {}{};", step.call, kept.unwrap.unwrap_or_default())];
        let touch = touch(kept.touch, name, kept.unwrap.is_some());
        if touch.is_empty() {
            return lines;
        }
        lines.push(touch);
        return lines;
    }
    if let Some(need) = &step.needs {
        return vec![
            format!("if let Some({0}) = {0}{1} {{", need.name, need.how),
            format!("    let _ = {};", step.call),
            "}".to_owned(),
        ];
    }
    match step.told {
        Told::Nothing => vec![format!("{};", step.call)],
        _ => vec![format!("let _ = {};", step.call)],
    }
}

fn relaxed_plain(said: &str) -> String {
    let inner =
        said.strip_prefix("said.push(relaxed(").and_then(|rest| rest.strip_suffix("));")).unwrap_or(said);
    format!(
        "let text = {inner}; said.push(if [\"None\", \"Err\", \"false\", \"Pending\", \"Ready(None\", \"Ready(Err\"].iter().any(|start| text.starts_with(start)) {{ \"~\".to_owned() }} else {{ text }});"
    )
}

/// Paths that the file imports.
fn short(line: &str) -> String {
    line.replace("std::sync::Arc::", "Arc::")
}

/// Whether code names it; comments do not count.
fn has_word(text: &str, word: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_'))).any(|other| other == word)
}

const COUNTED: &str = include_str!("../../harness/counted.rs");
const FUTURES: &str = include_str!("../../harness/futures.rs");
