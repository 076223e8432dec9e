//! Programs as Rust source, many in one file.
//!
//! As in C (see [`super::c`]), but with what std has: no semaphores, nothing that is made anew, no tries of joins. Much of std is precompiled, so
//! a statement may be several steps: how far a strand has come is not compared ([`super::judge`]).

use super::c::slots_of;
use super::program::{
    Exit, FAILED, Home, MEMORY, Place, Program, SLOTS, STRIDE, Statement, Value, Variable, walk,
};
use std::fmt::Write;

const HEAD: &str = r#"#![allow(warnings, static_mut_refs)]
use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, AtomicU8, Ordering::SeqCst};
use std::sync::{Barrier, Condvar, LazyLock, Mutex, RwLock};
unsafe extern "C" {
    fn slate_begin();
    fn _exit(code: i32) -> !;
    fn quick_exit(code: i32) -> !;
}
macro_rules! keep {
    ($at:expr, $value:expr) => {
        core::arch::asm!("mov byte ptr [{at}], {value}", at = in(reg) 0x10000000usize + $at, value = in(reg_byte) ($value) as u8, options(nostack, preserves_flags))
    };
}
macro_rules! copy {
    ($at:expr, $from:expr) => {
        core::arch::asm!("mov {value}, byte ptr [{from}]", "mov byte ptr [{at}], {value}", from = in(reg) $from, at = in(reg) 0x10000000usize + $at, value = out(reg_byte) _, options(nostack, preserves_flags))
    };
}
"#;

/// Whether a program can be written with std.
pub fn fits(program: &Program) -> bool {
    use Statement as S;
    // Between the lock that a try takes and its answer std looks at the lock's mark of panics: the process may end there.
    let tries = |statement: &Statement| matches!(statement, S::TryLocked(..) | S::TryWriting(..));
    // The last one at a barrier lets the others go on before it comes back from there itself, to fail.
    let leaves = |statement: &Statement| matches!(statement, S::Barrier(_));
    let fails = program.has(|statement| matches!(statement, S::Fail));
    if program.ends_early() && (program.has(tries) || fails && program.has(leaves)) {
        return false;
    }
    !program.has(|statement| {
        matches!(
            statement,
            S::Down(_) | S::Up(_) | S::TryDown(..) | S::Count(..) | S::Renew(..) | S::Destroy(..) | S::TryJoin(..)
                // A reader may fail because a writer waits.
                | S::TryReading(..)
                // A wait may end without a wake.
                | S::Wait(..)
                | S::Leave
        )
    })
}

/// A file with these programs, numbered from 0.
pub fn source(programs: &[Program]) -> String {
    let mut text = HEAD.to_owned();
    for (number, program) in programs.iter().enumerate() {
        Emitter { text: &mut text, program, number, strand: 0, depth: 1 }.program();
    }
    let _ = write!(text, "static PROGRAMS: [unsafe fn(); {}] = [", programs.len());
    for number in 0..programs.len() {
        let _ = write!(text, "p{number}_0,");
    }
    text.push_str(
        "];\nfn main() {\n    let chosen: usize = std::env::args().nth(1).unwrap().parse().unwrap();\n",
    );
    text.push_str("    unsafe {\n        slate_begin();\n        PROGRAMS[chosen]();\n    }\n}\n");
    text
}

struct Emitter<'a> {
    text: &'a mut String,
    program: &'a Program,
    number: usize,
    strand: usize,
    depth: usize,
}

fn kind(variable: &Variable) -> String {
    let bits = 8 * variable.width;
    if variable.atomic { format!("AtomicU{bits}") } else { format!("u{bits}") }
}

fn zero(variable: &Variable) -> String {
    if variable.atomic { format!("{}::new(0)", kind(variable)) } else { "0".to_owned() }
}

impl Emitter<'_> {
    fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn variable(&self, at: u8) -> String {
        match self.program.variables[at as usize].place {
            Place::Loose => format!("P{}_V{at}", self.number),
            Place::Field => format!("(*s).v{at}"),
            Place::Cell => format!("(*s).a{}[{at}]", u8::from(self.program.variables[at as usize].atomic)),
        }
    }

    fn program(&mut self) {
        let (program, number) = (self.program, self.number);
        let (mut fields, mut zeroes) = (String::new(), String::new());
        let mut cells = [false; 2];
        for (at, variable) in program.variables.iter().enumerate() {
            let (kind, zero) = (kind(variable), zero(variable));
            match variable.place {
                Place::Loose => {
                    let _ = writeln!(self.text, "static mut P{number}_V{at}: {kind} = {zero};");
                }
                Place::Field => {
                    let _ = write!(fields, "v{at}: {kind}, ");
                    let _ = write!(zeroes, "v{at}: {zero}, ");
                }
                Place::Cell => cells[usize::from(variable.atomic)] = true,
            }
        }
        for (atomic, _) in cells.iter().enumerate().filter(|(_, used)| **used) {
            let cell = Variable { width: 1, atomic: atomic == 1, place: Place::Cell };
            let count = program.variables.len();
            let _ = write!(fields, "a{atomic}: [{}; {count}], ", kind(&cell));
            let _ = write!(zeroes, "a{atomic}: [const {{ {} }}; {count}], ", zero(&cell));
        }
        // Fields lie in the order in which they are named, as in C.
        let _ = writeln!(self.text, "#[repr(C)]\nstruct P{number} {{ {fields} last: u64 }}");
        let _ = writeln!(
            self.text,
            "impl P{number} {{ const ZERO: P{number} = P{number} {{ {zeroes} last: 0 }}; }}"
        );
        if program.home == Home::Static {
            let _ = writeln!(self.text, "static mut P{number}_S: P{number} = P{number}::ZERO;");
        }
        for (kind, letter, count) in [
            ("Mutex<()>", 'M', program.mutexes),
            ("Condvar", 'C', program.conditions),
            ("RwLock<()>", 'W', program.rwlocks),
        ] {
            let name = kind.trim_end_matches("<()>");
            let inside = if kind.ends_with('>') { "()" } else { "" };
            for at in 0..count {
                let _ = writeln!(self.text, "static P{number}_{letter}{at}: {kind} = {name}::new({inside});");
            }
        }
        for (at, count) in program.barriers.iter().enumerate() {
            let _ = writeln!(self.text, "static mut P{number}_B{at}: Option<Barrier> = None;");
            let _ = count;
        }
        for strand in (0..program.strands.len()).rev() {
            self.strand(strand);
        }
    }

    fn strand(&mut self, at: usize) {
        let (program, number) = (self.program, self.number);
        (self.strand, self.depth) = (at, 1);
        let head = match at {
            0 => format!("unsafe fn p{number}_0() {{ unsafe {{\n"),
            _ => format!("unsafe fn p{number}_{at}(s: usize) {{ unsafe {{\n"),
        };
        self.text.push_str(&head);
        match (at, program.home) {
            (0, Home::Static) => self.line(&format!("let s = &raw mut P{number}_S;")),
            (0, Home::Stack) => {
                self.line(&format!("let mut own = P{number}::ZERO;"));
                self.line("let s = &raw mut own;");
            }
            (0, Home::Heap) => self.line(&format!("let s = Box::into_raw(Box::new(P{number}::ZERO));")),
            _ => self.line(&format!("let s = s as *mut P{number};")),
        }
        if at == 0 {
            for (barrier, count) in program.barriers.iter().enumerate() {
                self.line(&format!("P{number}_B{barrier} = Some(Barrier::new({count}));"));
            }
        }
        let mut slots = [false; SLOTS];
        walk(&program.strands[at].body, &mut |statement| {
            slots_of(statement, &mut |slot| slots[slot as usize] = true);
        });
        for slot in (0..slots.len()).filter(|&slot| slots[slot]) {
            self.line(&format!("let mut r{slot}: u64 = 0;"));
        }
        self.body(&program.strands[at].body);
        self.text.push_str("} }\n");
    }

    fn body(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn inside(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.line("}");
    }

    fn keep(&mut self, slot: u8) {
        let at = self.strand * STRIDE + 1 + slot as usize;
        self.line(&format!("keep!({at}, r{slot} + 1);"));
    }

    fn kept(&mut self, slot: u8, value: &str) {
        self.line(&format!("r{slot} = {value};"));
        self.keep(slot);
    }

    /// Puts down what the variable holds now.
    fn copy(&mut self, variable: u8) {
        let (at, name) = (MEMORY + variable as usize, self.variable(variable));
        self.line(&format!("copy!({at}, &raw const {name});"));
    }

    fn written(&mut self, variable: u8, line: &str) {
        self.line(line);
        self.copy(variable);
    }

    fn expression(&self, variable: u8, value: Value) -> String {
        let bits = 8 * self.program.variables[variable as usize].width;
        match value {
            Value::Constant(value) => value.to_string(),
            Value::Slot(slot, more) => format!("(r{slot} + {more}) as u{bits}"),
        }
    }

    fn held(&mut self, guard: &str, call: &str, body: &[Statement]) {
        self.inside("", |this| {
            this.line(&format!("let mut {guard} = {call}.unwrap();"));
            this.body(body);
            this.line(&format!("drop({guard});"));
        });
    }

    fn tried(&mut self, guard: &str, call: &str, slot: u8, body: &[Statement]) {
        self.inside("", |this| {
            this.line(&format!("let {guard} = {call};"));
            this.kept(slot, &format!("{guard}.is_ok() as u64"));
            this.inside(&format!("if let Ok(mut {guard}) = {guard}"), |this| {
                this.body(body);
                this.line(&format!("drop({guard});"));
            });
        });
    }

    fn statement(&mut self, statement: &Statement) {
        use Statement as S;
        let number = self.number;
        match *statement {
            S::Read(variable, slot) => self.kept(slot, &format!("{} as u64", self.variable(variable))),
            S::Write(variable, value) => {
                let line = format!("{} = {};", self.variable(variable), self.expression(variable, value));
                self.written(variable, &line);
            }
            S::Add(variable, by) => {
                let line = format!("{} += {by};", self.variable(variable));
                self.written(variable, &line);
            }
            S::Load(variable, slot) => {
                self.kept(slot, &format!("{}.load(SeqCst) as u64", self.variable(variable)))
            }
            S::Store(variable, value) => {
                let line = format!(
                    "{}.store({}, SeqCst);",
                    self.variable(variable),
                    self.expression(variable, value)
                );
                self.written(variable, &line);
            }
            S::FetchAdd(variable, by, slot) => {
                let line = format!("r{slot} = {}.fetch_add({by}, SeqCst) as u64;", self.variable(variable));
                self.written(variable, &line);
                self.keep(slot);
            }
            S::Exchange(variable, new, slot) => {
                let line = format!("r{slot} = {}.swap({new}, SeqCst) as u64;", self.variable(variable));
                self.written(variable, &line);
                self.keep(slot);
            }
            S::Compare(variable, old, new, slot) => {
                let line = format!(
                    "r{slot} = {}.compare_exchange({old}, {new}, SeqCst, SeqCst).is_ok() as u64;",
                    self.variable(variable)
                );
                self.written(variable, &line);
                self.keep(slot);
            }
            S::Locked(at, ref body) => self.held(&format!("g{at}"), &format!("P{number}_M{at}.lock()"), body),
            S::TryLocked(at, slot, ref body) => {
                self.tried(&format!("g{at}"), &format!("P{number}_M{at}.try_lock()"), slot, body);
            }
            S::Await(condition, mutex, variable) => {
                let name = self.variable(variable);
                self.line(&format!(
                    "while {name} == 0 {{ g{mutex} = P{number}_C{condition}.wait(g{mutex}).unwrap(); }}"
                ));
            }
            S::Signal(at) => self.line(&format!("P{number}_C{at}.notify_one();")),
            S::Broadcast(at) => self.line(&format!("P{number}_C{at}.notify_all();")),
            S::Reading(at, ref body) => {
                self.held(&format!("w{at}"), &format!("P{number}_W{at}.read()"), body)
            }
            S::Writing(at, ref body) => {
                self.held(&format!("w{at}"), &format!("P{number}_W{at}.write()"), body)
            }
            S::TryWriting(at, slot, ref body) => {
                self.tried(&format!("w{at}"), &format!("P{number}_W{at}.try_write()"), slot, body);
            }
            S::Spin(variable, value) => {
                self.line(&format!("while {}.load(SeqCst) != {value} {{}}", self.variable(variable)));
            }
            S::Stairs(variable, from, times) => {
                let name = self.variable(variable);
                self.inside(&format!("for i in {from}..{from} + {times}"), |this| {
                    this.line(&format!("while {name}.load(SeqCst) == i {{}}"));
                });
            }
            S::Grabbed(variable, ref body) => {
                let name = self.variable(variable);
                self.written(variable, &format!("while {name}.swap(1, SeqCst) != 0 {{}}"));
                self.body(body);
                self.written(variable, &format!("{name}.store(0, SeqCst);"));
            }
            S::Poll(variable, value, times, slot) => {
                let name = self.variable(variable);
                self.line(&format!("r{slot} = 0;"));
                self.inside(&format!("for _ in 0..{times}"), |this| {
                    this.kept(slot, &format!("({name}.load(SeqCst) == {value}) as u64"));
                    this.line(&format!("if r{slot} == 1 {{ break; }}"));
                });
            }
            S::Barrier(at) => {
                self.line(&format!("(*&raw const P{number}_B{at}).as_ref().unwrap_unchecked().wait();"));
            }
            S::Create(strand) => {
                self.line("let shared = s as usize;");
                let name = if self.program.strands[strand as usize].detached {
                    "_".to_owned()
                } else {
                    format!("t{strand}")
                };
                self.line(&format!("let {name} = std::thread::spawn(move || p{number}_{strand}(shared));"));
            }
            S::Join(strand) => self.line(&format!("t{strand}.join();")),
            S::Allocate(size) => {
                self.line(&format!("drop(std::hint::black_box(Vec::<u8>::with_capacity({size})));"))
            }
            S::If(slot, value, ref body) => {
                self.inside(&format!("if r{slot} == {value}"), |this| this.body(body));
            }
            S::Exit(Exit::Exit) => self.line("std::process::exit(0);"),
            S::Exit(Exit::Now) => self.line("_exit(0);"),
            S::Exit(Exit::Quick) => self.line("quick_exit(0);"),
            S::Fail => {
                self.line(&format!("keep!({}, 1u8);", self.strand * STRIDE + FAILED));
                self.line("std::process::abort();");
            }
            // `fits` leaves them out.
            S::Wait(..)
            | S::Down(_)
            | S::Up(_)
            | S::TryDown(..)
            | S::Count(..)
            | S::Renew(..)
            | S::Destroy(..)
            | S::TryReading(..)
            | S::TryJoin(..)
            | S::Leave => unreachable!("it is not written with std"),
        }
    }
}
