//! A plot in its dress: the source of a program.

use super::plots::{Plot, Step, Var};
use super::{Distraction, Dress, Home, Shows};
use crate::corpus::Language;
use std::fmt::Write;

/// The source.
pub(super) fn source(stem: &str, plot: Plot, mut dress: Dress) -> String {
    let frees = plot.meanwhile.iter().any(|step| matches!(step, Step::Free(_)));
    if frees {
        dress.home = Home::Heap;
    }
    let mut page =
        Page { stem, dress, plot, frees, text: String::new(), marks: 0, turn: 0, holds: Vec::new() };
    page.head();
    page.declare();
    page.distractions();
    page.helpers();
    page.strands();
    page.main();
    page.text
}

const C_HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <sched.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n";
const CXX_HEAD: &str = "#include <atomic>\n#include <cassert>\n#include <condition_variable>\n#include <cstdlib>\n#include <mutex>\n#include <thread>\n";
const RUST_HEAD: &str = "#![allow(unused)]\nuse std::sync::atomic::{AtomicI32, Ordering::SeqCst};\nuse std::sync::{Arc, Condvar, Mutex};\nuse std::thread;\n";

struct Page<'a> {
    stem: &'a str,
    dress: Dress,
    plot: Plot,
    /// The object is given back by hand.
    frees: bool,
    text: String,
    /// Lines of locks and checks that were labelled.
    marks: usize,
    /// Distractions that were written.
    turn: usize,
    /// Names of the guards in hand.
    holds: Vec<(usize, usize)>,
}

impl Page<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{}", text.as_ref());
    }

    fn rust(&self) -> bool {
        self.dress.language == Language::Rust
    }

    /// The text of each language.
    fn say<'t>(&self, c: &'t str, cxx: &'t str, rust: &'t str) -> &'t str {
        match self.dress.language {
            Language::C => c,
            Language::Cxx => cxx,
            Language::Rust => rust,
        }
    }

    fn mark(&mut self, name: &str) -> String {
        self.marks += 1;
        format!(" //~ {name}_{}", self.marks)
    }

    fn head(&mut self) {
        self.line(format!("// {:?}", self.dress));
        self.line(format!("//@ expect: {}", self.plot.expect));
        let level = self.dress.level;
        if self.rust() {
            self.line(format!("//@ flags: -Copt-level={level}"));
        } else {
            self.line(format!("//@ flags: -O{level}"));
            self.line(format!("//@ compilers: {}", if self.dress.clang { "clang" } else { "gcc" }));
        }
        for (one, other) in self.plot.pairs.clone() {
            let (one, other) = if self.dress.helpers {
                let all = [self.helper(one), self.helper(other)];
                // A line that reads and writes has both helpers.
                (all[0].0.clone(), all[1].1.clone())
            } else {
                (one.to_owned(), other.to_owned())
            };
            self.line(format!("//@ pair: {one} {other}"));
        }
        if self.dress.helpers && !self.plot.callers.is_empty() {
            let callers: Vec<String> = self.plot.callers.iter().map(|label| format!("at_{label}")).collect();
            self.line(format!("//@ caller: {}", callers.join(" ")));
        }
        self.line(format!("//@ pattern: {}", self.plot.patterns));
        let names: Vec<String> = self.plot.named.iter().flat_map(|&var| self.names(var)).collect();
        self.line(format!(
            "//@ object: {}",
            if names.is_empty() { "any".to_owned() } else { names.join("|") }
        ));
        self.line(self.say(C_HEAD, CXX_HEAD, RUST_HEAD));
    }

    /// The labels of the helpers that a labelled line calls: the first and the last of them.
    fn helper(&self, label: &str) -> (String, String) {
        let strands = self.plot.strands.iter().flat_map(|(_, steps)| steps);
        let all = strands.chain(&self.plot.meanwhile).chain(&self.plot.after);
        for step in all {
            match step {
                Step::Load(_, var, at) if *at == label => {
                    let get = format!("get_{}", self.plot.numbers[*var].0);
                    return (get.clone(), get);
                }
                Step::Store(var, _, at) if *at == label => {
                    let set = format!("set_{}", self.plot.numbers[*var].0);
                    return (set.clone(), set);
                }
                Step::Add(var, _, at) if *at == label => {
                    let name = self.plot.numbers[*var].0;
                    return (format!("get_{name}"), format!("set_{name}"));
                }
                _ => {}
            }
        }
        (label.to_owned(), label.to_owned())
    }

    /// What an explanation may call a number.
    fn names(&self, var: Var) -> Vec<String> {
        let name = self.plot.numbers[var].0;
        let upper = name.to_uppercase();
        let stem = self.stem;
        let of = |texts: &[String]| texts.to_vec();
        match (self.rust(), self.dress.home) {
            (false, Home::Globals) => of(&[format!("the_{name}")]),
            (true, Home::Globals) => of(&[upper.clone(), format!("{stem}::{upper}")]),
            (false, Home::Fields) => of(&[format!("shared.{name}")]),
            (true, Home::Fields) => of(&[format!("SHARED.{name}"), format!("{stem}::SHARED.{name}")]),
            (false, Home::Cells) => of(&[format!("cells[2].{name}")]),
            (true, Home::Cells) => of(&[format!("CELLS[2].{name}"), format!("{stem}::CELLS[2].{name}")]),
            // A type of Rust is told with its crate, as it is in races.
            (true, Home::Heap) => ["object.", "Shared.", "theirs.", "*object.", ""]
                .map(|of| format!("{of}{name}"))
                .into_iter()
                .chain([format!("{stem}::Shared.{name}")])
                .collect(),
            (_, Home::Heap) => ["object.", "object->", "shared.", "Shared.", "theirs.", "*object.", ""]
                .map(|of| format!("{of}{name}"))
                .to_vec(),
        }
    }

    fn kind(&self) -> &'static str {
        match (self.dress.language, self.dress.atomic, self.dress.level) {
            (Language::Rust, ..) => "AtomicI32",
            (Language::C, true, _) => "_Atomic int",
            (Language::Cxx, true, _) => "std::atomic<int>",
            (_, _, 0) => "int",
            _ => "volatile int",
        }
    }

    fn declare(&mut self) {
        let (kind, numbers) = (self.kind(), self.plot.numbers.clone());
        let rust = self.rust();
        if self.dress.home == Home::Globals {
            for (name, value) in &numbers {
                let text = match self.dress.language {
                    Language::C => format!("static {kind} the_{name} = {value};"),
                    Language::Cxx => format!("static {kind} the_{name}{{{value}}};"),
                    Language::Rust => {
                        format!("static {}: {kind} = {kind}::new({value});", name.to_uppercase())
                    }
                };
                self.line(text);
            }
        } else {
            self.line(if rust { "struct Shared {\n    id: i64," } else { "struct shared {\n    long id;" });
            for (name, _) in &numbers {
                self.line(if rust { format!("    {name}: {kind},") } else { format!("    {kind} {name};") });
            }
            self.line(if rust { "}" } else { "};" });
            let values: Vec<String> = numbers.iter().map(|(_, value)| value.to_string()).collect();
            let one = match rust {
                true => self.made(),
                false => format!("{{7, {}}}", values.join(", ")),
            };
            match (self.dress.home, rust) {
                (Home::Fields, false) => self.line(format!("static struct shared shared = {one};")),
                (Home::Fields, true) => self.line(format!("static SHARED: Shared = {one};")),
                (Home::Cells, false) => {
                    self.line(format!("static struct shared cells[3] = {{{one}, {one}, {one}}};"));
                }
                (Home::Cells, true) => {
                    self.line(format!("static CELLS: [Shared; 3] = [{one}, {one}, {one}];"));
                }
                _ => {}
            }
        }
        let locks = self.plot.locks;
        if locks > 0 {
            let all = vec!["PTHREAD_MUTEX_INITIALIZER"; locks].join(", ");
            let c = format!(
                "static pthread_mutex_t guards[{locks}] = {{{all}}};\nstatic pthread_cond_t changed = PTHREAD_COND_INITIALIZER;"
            );
            let cxx = format!("static std::mutex guards[{locks}];\nstatic std::condition_variable changed;");
            let rust = format!(
                "static GUARDS: [Mutex<()>; {locks}] = [const {{ Mutex::new(()) }}; {locks}];\nstatic CHANGED: Condvar = Condvar::new();"
            );
            let text = self.say(&c, &cxx, &rust).to_owned();
            self.line(text);
        }
    }

    /// An object of Rust.
    fn made(&self) -> String {
        let field = |(name, value): &(&str, i32)| format!("{name}: AtomicI32::new({value})");
        let fields: Vec<String> = self.plot.numbers.iter().map(field).collect();
        format!("Shared {{ id: 7, {} }}", fields.join(", "))
    }

    fn distractions(&mut self) {
        self.line(self.say(
            "static atomic_int steps, busy, arrived;\nstatic volatile int own[8];\nstatic struct {\n    pthread_mutex_t lock;\n    int lines;\n} journal = {PTHREAD_MUTEX_INITIALIZER, 0};\n\nstatic void note(void) {\n    pthread_mutex_lock(&journal.lock);\n    ++journal.lines;\n    pthread_mutex_unlock(&journal.lock);\n}\n",
            "static std::atomic<int> steps, busy, arrived;\nstatic volatile int own[8];\nstatic struct {\n    std::mutex lock;\n    int lines = 0;\n} journal;\n\nstatic void note() {\n    std::lock_guard<std::mutex> hold(journal.lock);\n    ++journal.lines;\n}\n",
            "static STEPS: AtomicI32 = AtomicI32::new(0);\nstatic BUSY: AtomicI32 = AtomicI32::new(0);\nstatic ARRIVED: AtomicI32 = AtomicI32::new(0);\nstatic OWN: [AtomicI32; 8] = [const { AtomicI32::new(0) }; 8];\nstatic LINES: Mutex<i32> = Mutex::new(0);\n\nfn note() {\n    *LINES.lock().unwrap() += 1;\n}\n",
        ));
    }

    fn distract(&self, what: Distraction, strand: usize) -> String {
        let own = (
            format!("own[{strand}] = own[{strand}] + 1;"),
            format!("OWN[{strand}].store(OWN[{strand}].load(SeqCst) + 1, SeqCst);"),
        );
        match what {
            Distraction::Counter => {
                self.say("atomic_fetch_add(&steps, 1);", "steps++;", "STEPS.fetch_add(1, SeqCst);")
            }
            Distraction::Log => "note();",
            Distraction::Flag => self.say("atomic_store(&busy, 1);", "busy = 1;", "BUSY.store(1, SeqCst);"),
            Distraction::Own => self.say(&own.0, &own.0, &own.1),
        }
        .to_owned()
    }

    /// Where a number is, as the code says it.
    fn name(&self, var: Var) -> String {
        let name = self.plot.numbers[var].0;
        match (self.rust(), self.dress.home) {
            (false, Home::Globals) => format!("the_{name}"),
            (true, Home::Globals) => name.to_uppercase(),
            (false, Home::Fields) => format!("shared.{name}"),
            (true, Home::Fields) => format!("SHARED.{name}"),
            (false, Home::Heap) => format!("object->{name}"),
            (true, Home::Heap) => format!("object.{name}"),
            (false, Home::Cells) => format!("cells[2].{name}"),
            (true, Home::Cells) => format!("CELLS[2].{name}"),
        }
    }

    fn read(&self, var: Var) -> String {
        let name = self.name(var);
        if self.rust() { format!("{name}.load(SeqCst)") } else { name }
    }

    fn write(&self, var: Var, value: &str) -> String {
        let name = self.name(var);
        if self.rust() { format!("{name}.store({value}, SeqCst);") } else { format!("{name} = {value};") }
    }

    fn helpers(&mut self) {
        if !self.dress.helpers {
            return;
        }
        let heap = self.dress.home == Home::Heap;
        for (var, (name, _)) in self.plot.numbers.clone().into_iter().enumerate() {
            let object = match (heap, self.rust()) {
                (false, _) => "",
                (true, true) => "object: &Shared",
                (true, false) => "struct shared *object",
            };
            let comma = if heap { ", " } else { "" };
            let (read, write) = (self.read(var), self.write(var, "value"));
            if self.rust() {
                self.line(format!("fn get_{name}({object}) -> i32 {{\n    {read} //~ get_{name}\n}}\n"));
                self.line(format!(
                    "fn set_{name}({object}{comma}value: i32) {{\n    {write} //~ set_{name}\n}}\n"
                ));
            } else {
                let none = if heap { object } else { "void" };
                self.line(format!(
                    "static int get_{name}({none}) {{\n    return {read}; //~ get_{name}\n}}\n"
                ));
                self.line(format!(
                    "static void set_{name}({object}{comma}int value) {{\n    {write} //~ set_{name}\n}}\n"
                ));
            }
        }
    }

    /// A read or a write as a strand says it, with the front of its label.
    fn got(&self, var: Var) -> String {
        let name = self.plot.numbers[var].0;
        let object = if self.dress.home == Home::Heap { "object" } else { "" };
        if self.dress.helpers { format!("get_{name}({object})") } else { self.read(var) }
    }

    fn put(&self, var: Var, value: &str) -> String {
        let name = self.plot.numbers[var].0;
        let object = if self.dress.home == Home::Heap { "object, " } else { "" };
        if self.dress.helpers { format!("set_{name}({object}{value});") } else { self.write(var, value) }
    }

    fn label(&self, label: &str) -> String {
        format!(" //~ {}{label}", if self.dress.helpers { "at_" } else { "" })
    }

    fn steps(&mut self, steps: &[Step], strand: usize) {
        let mut indent = "    ".to_owned();
        let keyword = if self.rust() { "let" } else { "int" };
        for step in steps {
            let text = match step {
                Step::Load(local, var, label) => {
                    format!("{keyword} {local} = {};{}", self.got(*var), self.label(label))
                }
                Step::Store(var, value, label) => format!("{}{}", self.put(*var, value), self.label(label)),
                Step::Add(var, by, label) => {
                    let value = format!("{} + {by}", self.got(*var));
                    format!("{}{}", self.put(*var, &value), self.label(label))
                }
                Step::Times(count) => {
                    if self.rust() {
                        format!("for _ in 0..{count} {{")
                    } else {
                        format!("for (int i = 0; i < {count}; i++) {{")
                    }
                }
                Step::If(condition) => {
                    if self.rust() {
                        format!("if {condition} {{")
                    } else {
                        format!("if ({condition}) {{")
                    }
                }
                Step::End => {
                    indent.truncate(indent.len() - 4);
                    "}".to_owned()
                }
                Step::Check(condition) => {
                    let mark = self.mark("end");
                    format!("{}{mark}", self.check(condition))
                }
                Step::Lock(lock) => {
                    let mark = self.mark("lock");
                    let guard = self.marks;
                    self.holds.push((*lock, guard));
                    let c = format!("pthread_mutex_lock(&guards[{lock}]);");
                    let cxx = format!("std::unique_lock<std::mutex> hold{guard}(guards[{lock}]);");
                    let rust = format!("let mut hold{guard} = GUARDS[{lock}].lock().unwrap();");
                    format!("{}{mark}", self.say(&c, &cxx, &rust))
                }
                Step::Unlock(lock) => {
                    let guard = self.holds.pop().map_or(0, |(_, guard)| guard);
                    let c = format!("pthread_mutex_unlock(&guards[{lock}]);");
                    let (cxx, rust) = (format!("hold{guard}.unlock();"), format!("drop(hold{guard});"));
                    self.say(&c, &cxx, &rust).to_owned()
                }
                Step::Wait(label) => {
                    let guard = self.holds.last().map_or(0, |(_, guard)| *guard);
                    let cxx = format!("changed.wait(hold{guard});");
                    let rust = format!("hold{guard} = CHANGED.wait(hold{guard}).unwrap();");
                    format!(
                        "{} //~ {label}",
                        self.say("pthread_cond_wait(&changed, &guards[0]);", &cxx, &rust)
                    )
                }
                Step::Signal(label) => {
                    let text = self.say(
                        "pthread_cond_signal(&changed);",
                        "changed.notify_one();",
                        "CHANGED.notify_one();",
                    );
                    format!("{text} //~ {label}")
                }
                Step::Free(label) => {
                    let text = self.say(
                        "free(object);",
                        "delete object;",
                        "drop(unsafe { Box::from_raw(std::ptr::from_ref(object).cast_mut()) });",
                    );
                    format!("{text} //~ {label}")
                }
                Step::Distract => {
                    let near = &self.dress.near;
                    if near.is_empty() {
                        continue;
                    }
                    self.turn += 1;
                    self.distract(self.dress.near[self.turn % self.dress.near.len()], strand)
                }
            };
            self.line(format!("{indent}{text}"));
            if matches!(step, Step::Times(_) | Step::If(_)) {
                indent.push_str("    ");
            }
        }
    }

    /// A condition that is to hold.
    fn check(&self, condition: &str) -> String {
        match (self.rust(), self.dress.shows) {
            (true, Shows::Assert) => format!("assert!({condition});"),
            (true, Shows::Abort) => format!("if !({condition}) {{ std::process::abort(); }}"),
            (true, Shows::Exit) => format!("if !({condition}) {{ std::process::exit(3); }}"),
            (true, Shows::Crash) => format!("Some(()).filter(|()| {condition}).unwrap();"),
            (false, Shows::Assert) => format!("assert({condition});"),
            (false, Shows::Abort) => format!("if (!({condition})) abort();"),
            (false, Shows::Exit) => format!("if (!({condition})) exit(3);"),
            (false, Shows::Crash) => format!("if (!({condition})) *(volatile int *)8 = 1;"),
        }
    }

    fn begin(&mut self, name: &str, strand: usize, all: usize) {
        let heap = self.dress.home == Home::Heap;
        let sort = if self.frees { "&'static Shared" } else { "&Shared" };
        self.line(match (self.dress.language, heap) {
            (Language::C, false) => format!("static void *{name}(void *arg) {{"),
            (Language::C, true) => {
                format!("static void *{name}(void *arg) {{\n    struct shared *object = arg;")
            }
            (Language::Cxx, false) => format!("static void {name}() {{"),
            (Language::Cxx, true) => format!("static void {name}(shared *object) {{"),
            (Language::Rust, false) => format!("fn {name}() {{"),
            (Language::Rust, true) => format!("fn {name}(object: {sort}) {{"),
        });
        if self.dress.together {
            let c = format!(
                "    atomic_fetch_add(&arrived, 1);\n    while (atomic_load(&arrived) < {all})\n        sched_yield();"
            );
            let cxx =
                format!("    arrived++;\n    while (arrived < {all})\n        std::this_thread::yield();");
            let rust = format!(
                "    ARRIVED.fetch_add(1, SeqCst);\n    while ARRIVED.load(SeqCst) < {all} {{\n        thread::yield_now();\n    }}"
            );
            let text = self.say(&c, &cxx, &rust).to_owned();
            self.line(text);
        }
        for round in 0..self.dress.far {
            let all = [Distraction::Counter, Distraction::Log, Distraction::Own];
            let text = self.distract(all[(round + strand) % all.len()], strand);
            self.line(format!("    {text}"));
        }
    }

    fn finish(&mut self) {
        if self.dress.language == Language::C {
            self.line("    return arg;");
        }
        self.line("}\n");
    }

    /// The functions of the strands.
    fn strands(&mut self) {
        let all = self.starts().len();
        for (number, (_, steps)) in self.plot.strands.clone().iter().enumerate() {
            self.begin(&format!("strand_{number}"), number, all);
            self.steps(steps, number);
            self.finish();
        }
        if self.dress.bystanders > 0 {
            self.begin("bystander", 7, all);
            for what in [Distraction::Counter, Distraction::Flag, Distraction::Log] {
                let text = self.distract(what, 7);
                self.line(format!("    {text}"));
            }
            self.finish();
        }
    }

    /// The functions that strands begin with, in the order of their creation.
    fn starts(&self) -> Vec<String> {
        let sorts = self.plot.strands.iter().enumerate();
        let parts = sorts.flat_map(|(number, (count, _))| vec![format!("strand_{number}"); *count]);
        parts.chain(vec!["bystander".to_owned(); self.dress.bystanders]).collect()
    }

    fn main(&mut self) {
        let (starts, heap) = (self.starts(), self.dress.home == Home::Heap);
        self.line(self.say("int main(void) {", "int main() {", "fn main() {"));
        if heap {
            self.object();
        }
        if self.dress.language == Language::C {
            self.line(format!("    pthread_t t[{}];", starts.len()));
        }
        for (at, name) in starts.iter().enumerate() {
            let (object, lent) = if heap { ("object", ", object") } else { ("0", "") };
            self.line(match (self.dress.language, heap) {
                (Language::C, _) => format!("    pthread_create(&t[{at}], 0, {name}, {object});"),
                (Language::Cxx, _) => format!("    std::thread t{at}({name}{lent});"),
                (Language::Rust, true) if self.frees => {
                    format!("    let t{at} = thread::spawn(move || {name}(object));")
                }
                (Language::Rust, true) => format!(
                    "    let theirs = Arc::clone(&object);\n    let t{at} = thread::spawn(move || {name}(&theirs));"
                ),
                (Language::Rust, false) => format!("    let t{at} = thread::spawn({name});"),
            });
        }
        if heap && self.rust() && !self.frees {
            self.line("    let object: &Shared = &object;");
        }
        let (meanwhile, after) = (self.plot.meanwhile.clone(), self.plot.after.clone());
        self.steps(&meanwhile, 6);
        for at in 0..starts.len() {
            let (c, cxx) = (format!("    pthread_join(t[{at}], 0);"), format!("    t{at}.join();"));
            let rust = format!("    t{at}.join().unwrap(); //~ join_{at}");
            let text = self.say(&c, &cxx, &rust).to_owned();
            self.line(text);
        }
        self.steps(&after, 6);
        if !self.rust() {
            self.line("    return 0;");
        }
        self.line("}");
    }

    /// Makes the object of the heap.
    fn object(&mut self) {
        if self.rust() {
            let made = self.made();
            return self.line(match self.frees {
                true => format!("    let object: &'static Shared = Box::leak(Box::new({made}));"),
                false => format!("    let object = Arc::new({made});"),
            });
        }
        self.line(self.say(
            "    struct shared *object = calloc(1, sizeof *object);",
            "    auto *object = new shared();",
            "",
        ));
        for (name, value) in self.plot.numbers.clone() {
            self.line(format!("    object->{name} = {value};"));
        }
    }
}
