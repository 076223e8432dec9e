//! A plot in its dress: the source of a program.

use super::patterns::{Pattern, Plot, Step, Var};
use super::{Access, Distraction, Dress, Home};
use crate::corpus::Language;
use std::fmt::Write;

/// The source.
pub(super) fn source(pattern: Pattern, dress: Dress) -> String {
    let mut page = Page { dress, plot: pattern.plot(), text: String::new() };
    page.head(pattern);
    match dress.language {
        Language::C => page.line(C_HEAD),
        Language::Cxx => page.line(CXX_HEAD),
        Language::Rust => page.line(RUST_HEAD),
    }
    page.numbers();
    page.distraction();
    page.helpers();
    page.strands();
    page.main();
    page.text
}

const C_HEAD: &str =
    "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n";
const CXX_HEAD: &str = "#include <atomic>\n#include <cassert>\n#include <mutex>\n#include <thread>\n";
const RUST_HEAD: &str = "#![allow(unused, static_mut_refs)]\nuse std::sync::atomic::{AtomicI32, Ordering::SeqCst};\nuse std::sync::{Arc, Mutex};\nuse std::thread;\n";

struct Page {
    dress: Dress,
    plot: Plot,
    text: String,
}

impl Page {
    fn line(&mut self, text: impl AsRef<str>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{}", text.as_ref());
    }

    fn rust(&self) -> bool {
        self.dress.language == Language::Rust
    }

    fn heap(&self) -> bool {
        self.dress.home == Home::Heap
    }

    fn head(&mut self, pattern: Pattern) {
        let Dress { language, clang, level, .. } = self.dress;
        self.line(format!("// {}: {:?}", pattern.name(), self.dress));
        match language {
            Language::Rust => {
                self.line("//@ expect: panic|exit|assertion");
                self.line(format!("//@ flags: -Copt-level={level}"));
            }
            _ => {
                self.line("//@ expect: assertion");
                self.line(format!("//@ flags: -O{level}"));
                self.line(format!("//@ compilers: {}", if clang { "clang" } else { "gcc" }));
            }
        }
    }

    /// The type of a shared number.
    fn kind(&self) -> &'static str {
        match (self.dress.language, self.dress.access) {
            (Language::Rust, Access::Locked) => "Mutex<i32>",
            (Language::Rust, _) => "AtomicI32",
            (Language::C, Access::Atomic) => "_Atomic int",
            (Language::Cxx, Access::Atomic) => "std::atomic<int>",
            _ => "int",
        }
    }

    fn value(&self, value: i32) -> String {
        match (self.rust(), self.dress.access) {
            (true, Access::Locked) => format!("Mutex::new({value})"),
            (true, _) => format!("AtomicI32::new({value})"),
            _ => value.to_string(),
        }
    }

    /// Declares the numbers. Elements have a neighbour in between, structures one in front.
    fn numbers(&mut self) {
        let kind = self.kind();
        let all: Vec<(&str, String)> =
            self.plot.numbers.iter().map(|(name, value)| (*name, self.value(*value))).collect();
        let zero = self.value(0);
        let braced: Vec<&str> = all.iter().map(|(_, value)| value.as_str()).collect();
        let spaced: Vec<String> = all.iter().flat_map(|(_, value)| [zero.clone(), value.clone()]).collect();
        match (self.rust(), self.dress.home) {
            (false, Home::Globals) => {
                for (name, value) in &all {
                    self.line(match self.dress.language {
                        Language::C => format!("static {kind} the_{name} = {value};"),
                        _ => format!("static {kind} the_{name}{{{value}}};"),
                    });
                }
            }
            (false, Home::Elements) => {
                self.line(format!("static {kind} cells[{}] = {{{}}};", spaced.len(), spaced.join(", ")));
            }
            (false, _) => {
                self.line("struct shared {\n    long id;");
                for (name, _) in &all {
                    self.line(format!("    {kind} {name};"));
                }
                self.line("};");
                if !self.heap() {
                    self.line(format!("static struct shared shared = {{7, {}}};", braced.join(", ")));
                }
            }
            (true, Home::Globals) => {
                for (name, value) in &all {
                    self.line(format!("static {}: {kind} = {value};", name.to_uppercase()));
                }
            }
            (true, Home::Elements) => {
                self.line(format!("static CELLS: [{kind}; {}] = [{}];", spaced.len(), spaced.join(", ")));
            }
            (true, _) => {
                self.line("struct Shared {\n    id: i64,");
                for (name, _) in &all {
                    self.line(format!("    {name}: {kind},"));
                }
                self.line("}");
                if !self.heap() {
                    let fields: Vec<String> =
                        all.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                    self.line(format!("static SHARED: Shared = Shared {{ id: 7, {} }};", fields.join(", ")));
                }
            }
        }
        if self.dress.access == Access::Locked {
            match self.dress.language {
                Language::C => self.line("static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;"),
                Language::Cxx => self.line("static std::mutex guard;"),
                Language::Rust => {}
            }
        }
    }

    fn distraction(&mut self) {
        let text = match (self.dress.language, self.dress.distraction) {
            (_, Distraction::None) => "",
            (Language::C, Distraction::Counter) => "static atomic_int steps;",
            (Language::Cxx, Distraction::Counter) => "static std::atomic<int> steps;",
            (Language::Rust, Distraction::Counter) => "static STEPS: AtomicI32 = AtomicI32::new(0);",
            (Language::C, Distraction::Log) => {
                "static struct {\n    pthread_mutex_t lock;\n    int lines;\n} journal = {PTHREAD_MUTEX_INITIALIZER, 0};\n\nstatic void note(void) {\n    pthread_mutex_lock(&journal.lock);\n    ++journal.lines;\n    pthread_mutex_unlock(&journal.lock);\n}"
            }
            (Language::Cxx, Distraction::Log) => {
                "static struct {\n    std::mutex lock;\n    int lines = 0;\n} journal;\n\nstatic void note() {\n    std::lock_guard<std::mutex> hold(journal.lock);\n    ++journal.lines;\n}"
            }
            (Language::Rust, Distraction::Log) => {
                "static LINES: Mutex<i32> = Mutex::new(0);\n\nfn note() {\n    *LINES.lock().unwrap() += 1;\n}"
            }
            (Language::C, Distraction::Private) => "static _Thread_local int own;",
            (Language::Cxx, Distraction::Private) => "static thread_local int own;",
            (Language::Rust, Distraction::Private) => {
                "thread_local! {\n    static OWN: std::cell::Cell<i32> = const { std::cell::Cell::new(0) };\n}"
            }
        };
        self.line(text);
    }

    /// Where a number is, as the code says it.
    fn name(&self, var: Var) -> String {
        let name = self.plot.numbers[var].0;
        match (self.rust(), self.dress.home) {
            // Locals have the bare names.
            (false, Home::Globals) => format!("the_{name}"),
            (true, Home::Globals) => name.to_uppercase(),
            (false, Home::Fields) => format!("shared.{name}"),
            (true, Home::Fields) => format!("SHARED.{name}"),
            (false, Home::Heap) => format!("object->{name}"),
            (true, Home::Heap) => format!("object.{name}"),
            (false, Home::Elements) => format!("cells[{}]", 2 * var + 1),
            (true, Home::Elements) => format!("CELLS[{}]", 2 * var + 1),
        }
    }

    /// The lines of an access; `into` takes what is read.
    fn access(&mut self, indent: &str, var: Var, into: Into<'_>, label: &str) {
        let name = self.name(var);
        let locked = self.dress.access == Access::Locked;
        if self.rust() {
            let text = match (into, locked) {
                (Into::Local(local), false) => format!("let {local} = {name}.load(SeqCst);"),
                (Into::Local(local), true) => format!("let {local} = *{name}.lock().unwrap();"),
                (Into::Return, false) => format!("{name}.load(SeqCst)"),
                (Into::Return, true) => format!("*{name}.lock().unwrap()"),
                (Into::Number(value), false) => format!("{name}.store({value}, SeqCst);"),
                (Into::Number(value), true) => format!("*{name}.lock().unwrap() = {value};"),
            };
            return self.line(format!("{indent}{text}{label}"));
        }
        let (open, close) = match (locked, self.dress.language) {
            (false, _) => ("", ""),
            (true, Language::C) => ("pthread_mutex_lock(&lock);", "pthread_mutex_unlock(&lock);"),
            _ => ("{ std::lock_guard<std::mutex> hold(guard);", "}"),
        };
        let text = match into {
            Into::Local(local) => {
                self.line(format!("{indent}int {local};"));
                format!("{local} = {name};")
            }
            Into::Return => {
                self.line(format!("{indent}int now;"));
                format!("now = {name};")
            }
            Into::Number(value) => format!("{name} = {value};"),
        };
        if locked {
            self.line(format!("{indent}{open}"));
        }
        self.line(format!("{indent}{text}{label}"));
        if locked {
            self.line(format!("{indent}{close}"));
        }
        if matches!(into, Into::Return) {
            self.line(format!("{indent}return now;"));
        }
    }

    fn helpers(&mut self) {
        if !self.dress.helpers {
            return;
        }
        let numbers = self.plot.numbers;
        for (var, (name, _)) in numbers.iter().enumerate() {
            let heap = self.heap();
            let (get, set) = match (self.rust(), heap) {
                (true, true) => (
                    format!("#[inline(never)]\nfn get_{name}(object: &Shared) -> i32 {{"),
                    format!("#[inline(never)]\nfn set_{name}(object: &Shared, value: i32) {{"),
                ),
                (true, false) => (
                    format!("#[inline(never)]\nfn get_{name}() -> i32 {{"),
                    format!("#[inline(never)]\nfn set_{name}(value: i32) {{"),
                ),
                (false, true) => (
                    format!("static int get_{name}(struct shared *object) {{"),
                    format!("static void set_{name}(struct shared *object, int value) {{"),
                ),
                (false, false) => (
                    format!("static int get_{name}(void) {{"),
                    format!("static void set_{name}(int value) {{"),
                ),
            };
            self.line(get);
            self.access("    ", var, Into::Return, &format!(" //~ get_{name}"));
            self.line("}\n");
            self.line(set);
            self.access("    ", var, Into::Number("value"), &format!(" //~ set_{name}"));
            self.line("}\n");
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        let mut indent = "    ".to_owned();
        let object = match (self.heap(), self.rust()) {
            (false, _) => "",
            (true, false) => "object",
            (true, true) => "&object",
        };
        let keyword = if self.rust() { "let" } else { "int" };
        for step in steps {
            let label = |label: &Option<&str>| label.map_or(String::new(), |label| format!(" //~ {label}"));
            match step {
                Step::Load(local, var, mark) if self.dress.helpers => {
                    let name = self.plot.numbers[*var].0;
                    let mark = mark.map(|mark| format!("at_{mark}"));
                    let mark = label(&mark.as_deref());
                    self.line(format!("{indent}{keyword} {local} = get_{name}({object});{mark}"));
                }
                Step::Store(var, value, mark) if self.dress.helpers => {
                    let name = self.plot.numbers[*var].0;
                    let mark = mark.map(|mark| format!("at_{mark}"));
                    let mark = label(&mark.as_deref());
                    let comma = if object.is_empty() { "" } else { ", " };
                    self.line(format!("{indent}set_{name}({object}{comma}{value});{mark}"));
                }
                Step::Load(local, var, mark) => self.access(&indent, *var, Into::Local(local), &label(mark)),
                Step::Store(var, value, mark) => {
                    self.access(&indent, *var, Into::Number(value), &label(mark))
                }
                Step::If(condition) => {
                    let text = if self.rust() {
                        format!("if {condition} {{")
                    } else {
                        format!("if ({condition}) {{")
                    };
                    self.line(format!("{indent}{text}"));
                    indent.push_str("    ");
                }
                Step::End => {
                    indent.truncate(indent.len() - 4);
                    self.line(format!("{indent}}}"));
                }
                Step::Check(condition) => {
                    let name = if self.rust() { "assert!" } else { "assert" };
                    self.line(format!("{indent}{name}({condition}); //~ end"));
                }
                Step::Distract => {
                    let text = match (self.dress.language, self.dress.distraction) {
                        (_, Distraction::None) => continue,
                        (_, Distraction::Log) => "note();",
                        (Language::C, Distraction::Counter) => "atomic_fetch_add(&steps, 1);",
                        (Language::Cxx, Distraction::Counter) => "steps++;",
                        (Language::Rust, Distraction::Counter) => "STEPS.fetch_add(1, SeqCst);",
                        (Language::Rust, Distraction::Private) => "OWN.set(OWN.get() + 1);",
                        (_, Distraction::Private) => "++own;",
                    };
                    self.line(format!("{indent}{text}"));
                }
            }
        }
    }

    fn strands(&mut self) {
        for (number, (_, steps)) in self.plot.strands.clone().iter().enumerate() {
            let head = match (self.dress.language, self.heap()) {
                (Language::C, false) => format!("static void *strand_{number}(void *arg) {{"),
                (Language::C, true) => {
                    format!("static void *strand_{number}(void *arg) {{\n    struct shared *object = arg;")
                }
                (Language::Cxx, false) => format!("static void strand_{number}() {{"),
                (Language::Cxx, true) => format!("static void strand_{number}(shared *object) {{"),
                (Language::Rust, false) => format!("fn strand_{number}() {{"),
                (Language::Rust, true) => format!("fn strand_{number}(object: &Shared) {{"),
            };
            self.line(head);
            self.steps(steps);
            if self.dress.language == Language::C {
                self.line("    return arg;");
            }
            self.line("}\n");
        }
    }

    fn main(&mut self) {
        let starts: Vec<usize> = self
            .plot
            .strands
            .iter()
            .enumerate()
            .flat_map(|(number, (count, _))| vec![number; *count])
            .collect();
        let (language, heap) = (self.dress.language, self.heap());
        self.line(match language {
            Language::C => "int main(void) {",
            Language::Cxx => "int main() {",
            Language::Rust => "fn main() {",
        });
        if heap {
            self.made();
        }
        if language == Language::C {
            self.line(format!("    pthread_t t[{}];", starts.len()));
        }
        for (at, number) in starts.iter().enumerate() {
            self.line(match (language, heap) {
                (Language::C, true) => format!("    pthread_create(&t[{at}], 0, strand_{number}, object);"),
                (Language::C, false) => format!("    pthread_create(&t[{at}], 0, strand_{number}, 0);"),
                (Language::Cxx, true) => format!("    std::thread t{at}(strand_{number}, object);"),
                (Language::Cxx, false) => format!("    std::thread t{at}(strand_{number});"),
                (Language::Rust, true) => format!(
                    "    let theirs = Arc::clone(&object);\n    let t{at} = thread::spawn(move || strand_{number}(&theirs));"
                ),
                (Language::Rust, false) => format!("    let t{at} = thread::spawn(strand_{number});"),
            });
        }
        let (meanwhile, after) = (self.plot.meanwhile.clone(), self.plot.after.clone());
        self.steps(&meanwhile);
        for at in 0..starts.len() {
            self.line(match language {
                Language::C => format!("    pthread_join(t[{at}], 0);"),
                Language::Cxx => format!("    t{at}.join();"),
                Language::Rust => format!("    t{at}.join().unwrap();"),
            });
        }
        self.steps(&after);
        if language != Language::Rust {
            self.line("    return 0;");
        }
        self.line("}");
    }

    /// Makes the object of the heap.
    fn made(&mut self) {
        let numbers = self.plot.numbers;
        if self.rust() {
            let fields: Vec<String> =
                numbers.iter().map(|(name, value)| format!("{name}: {}", self.value(*value))).collect();
            return self
                .line(format!("    let object = Arc::new(Shared {{ id: 7, {} }});", fields.join(", ")));
        }
        self.line(if self.dress.language == Language::C {
            "    struct shared *object = calloc(1, sizeof *object);"
        } else {
            "    auto *object = new shared();"
        });
        for (name, value) in numbers {
            self.line(format!("    object->{name} = {value};"));
        }
    }
}

/// What becomes of an access.
#[derive(Clone, Copy)]
enum Into<'a> {
    /// It is read into a new local.
    Local(&'a str),
    /// It is read and given back.
    Return,
    /// It gets this value.
    Number(&'a str),
}
