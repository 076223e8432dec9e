//! Programs as C source, many in one file: `main` chooses one by its first argument.
//!
//! What a strand finds out is put down at a fixed address (`slate.c`) by instructions that the compiler does not instrument, so that
//! the engine sees nothing of it. It happens in the same step as the operation.

use super::program::{Exit, FAILED, Home, MEMORY, Place, Program, STRIDE, Statement, Value, Variable};
use std::fmt::Write;

const HEAD: &str = r#"#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
void slate_begin(void);
#define KEEP(at, value) __asm__ volatile("movb %b0, %c1" ::"qi"((unsigned char)(value)), "i"(0x10000000 + (at)) : "memory")
#define COPY(at, from) __asm__ volatile("movb (%0), %%al; movb %%al, %c1" ::"r"(from), "i"(0x10000000 + (at)) : "memory", "al")
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long u64;
"#;

/// A file with these programs, numbered from 0.
pub fn source(programs: &[Program]) -> String {
    let mut text = HEAD.to_owned();
    for (number, program) in programs.iter().enumerate() {
        Emitter { text: &mut text, program, number, strand: 0, marks: 0, depth: 1, touches: 0, note: None }
            .program();
    }
    text.push_str("typedef int (*run)(void);\nstatic const run programs[] = {");
    for number in 0..programs.len() {
        let _ = write!(text, "p{number}_0,");
    }
    text.push_str(
        "};\nint main(int count, char **words) {\n    (void)count;\n    int chosen = atoi(words[1]);\n",
    );
    text.push_str("    slate_begin();\n    return programs[chosen]();\n}\n");
    text
}

struct Emitter<'a> {
    text: &'a mut String,
    program: &'a Program,
    number: usize,
    strand: usize,
    marks: usize,
    depth: usize,
    /// Statements of the strand that touch a variable, so far.
    touches: usize,
    /// The number of the one whose line comes next.
    note: Option<usize>,
}

impl Emitter<'_> {
    fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(line);
        if let Some(note) = self.note.take() {
            let _ = write!(self.text, " // @{}.{note}", self.strand);
        }
        self.text.push('\n');
    }

    fn name(&self, what: &str) -> String {
        format!("p{}_{what}", self.number)
    }

    fn declared(variable: &Variable, name: &str) -> String {
        let atomic = if variable.atomic { "_Atomic " } else { "" };
        format!("{atomic}u{} {name}", 8 * variable.width)
    }

    fn variable(&self, at: u8) -> String {
        match self.program.variables[at as usize].place {
            Place::Loose => self.name(&format!("v{at}")),
            Place::Field => format!("s->v{at}"),
            Place::Cell => format!("s->a{}[{at}]", u8::from(self.program.variables[at as usize].atomic)),
        }
    }

    fn program(&mut self) {
        let program = self.program;
        let mut fields = String::new();
        let mut cells = [false; 2];
        for (at, variable) in program.variables.iter().enumerate() {
            match variable.place {
                Place::Loose => {
                    let name = self.name(&format!("v{at}"));
                    let line = Self::declared(variable, &name);
                    let _ = writeln!(self.text, "static {line};");
                }
                Place::Field => {
                    let _ = write!(fields, "{}; ", Self::declared(variable, &format!("v{at}")));
                }
                Place::Cell => cells[usize::from(variable.atomic)] = true,
            }
        }
        for (atomic, _) in cells.iter().enumerate().filter(|(_, used)| **used) {
            let cell = Variable { width: 1, atomic: atomic == 1, place: Place::Cell };
            let name = format!("a{atomic}[{}]", program.variables.len());
            let _ = write!(fields, "{}; ", Self::declared(&cell, &name));
        }
        let shared = self.name("shared");
        let _ = writeln!(self.text, "struct {shared} {{ {fields}u64 last; }};");
        if program.home == Home::Static {
            let _ = writeln!(self.text, "static struct {shared} {shared};");
        }
        for (kind, letter, count) in [
            ("pthread_mutex_t", "m", program.mutexes as usize),
            ("pthread_cond_t", "c", program.conditions as usize),
            ("sem_t", "q", program.semaphores.len()),
            ("pthread_rwlock_t", "w", program.rwlocks as usize),
            ("pthread_barrier_t", "b", program.barriers.len()),
        ] {
            if count > 0 {
                let name = self.name(letter);
                // Zeroes are what glibc's static initialisers are made of.
                let _ = writeln!(self.text, "static {kind} {name}[{count}];");
            }
        }
        for strand in (0..program.strands.len()).rev() {
            self.strand(strand);
        }
    }

    fn strand(&mut self, at: usize) {
        let program = self.program;
        (self.strand, self.marks, self.depth, self.touches) = (at, 0, 1, 0);
        let name = self.name(&at.to_string());
        let shared = self.name("shared");
        let head = match at {
            0 => format!("static int {name}(void) {{\n"),
            _ => format!("static void *{name}(void *shared) {{\n"),
        };
        self.text.push_str(&head);
        if at == 0 {
            match program.home {
                Home::Static => self.line(&format!("struct {shared} *s = &{shared};")),
                Home::Stack => {
                    self.line(&format!("struct {shared} own = {{0}};"));
                    self.line(&format!("struct {shared} *s = &own;"));
                }
                Home::Heap => self.line(&format!("struct {shared} *s = calloc(1, sizeof *s);")),
            }
            for (semaphore, value) in program.semaphores.iter().enumerate() {
                let name = self.name("q");
                self.line(&format!("sem_init(&{name}[{semaphore}], 0, {value});"));
            }
            for (barrier, count) in program.barriers.iter().enumerate() {
                let name = self.name("b");
                self.line(&format!("pthread_barrier_init(&{name}[{barrier}], 0, {count});"));
            }
        } else {
            self.line(&format!("struct {shared} *s = shared;"));
        }
        self.line("(void)s;");
        let mut slots = [false; super::program::SLOTS];
        let mut creates = Vec::new();
        super::program::walk(&program.strands[at].body, &mut |statement| {
            slots_of(statement, &mut |slot| slots[slot as usize] = true);
            if let Statement::Create(strand) = statement {
                creates.push(*strand);
            }
        });
        for slot in (0..slots.len()).filter(|&slot| slots[slot]) {
            self.line(&format!("u32 r{slot} = 0;"));
        }
        for strand in creates {
            self.line(&format!("pthread_t t{strand};"));
        }
        self.body(&program.strands[at].body);
        self.line("return 0;");
        self.text.push_str("}\n");
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

    fn mark(&mut self) {
        self.marks += 1;
        let (at, mark) = (self.strand * STRIDE, self.marks);
        self.line(&format!("KEEP({at}, {mark});"));
    }

    fn keep(&mut self, slot: u8) {
        let at = self.strand * STRIDE + 1 + slot as usize;
        self.line(&format!("KEEP({at}, r{slot} + 1);"));
    }

    /// Puts down what the variable holds now.
    fn copy(&mut self, variable: u8) {
        let (at, name) = (MEMORY + variable as usize, self.variable(variable));
        self.line(&format!("COPY({at}, &{name});"));
    }

    fn marked(&mut self, line: &str) {
        self.line(line);
        self.mark();
    }

    fn kept(&mut self, slot: u8, value: &str) {
        self.line(&format!("r{slot} = {value};"));
        self.keep(slot);
    }

    fn tried(&mut self, slot: u8, call: &str, give: &str, body: &[Statement]) {
        self.kept(slot, &format!("{call} == 0"));
        self.inside(&format!("if (r{slot} == 1)"), |this| {
            this.body(body);
            this.marked(give);
        });
    }

    fn held(&mut self, take: &str, give: &str, body: &[Statement]) {
        self.marked(take);
        self.body(body);
        self.marked(give);
    }

    fn statement(&mut self, statement: &Statement) {
        use Statement as S;
        if matches!(
            statement,
            S::Read(..)
                | S::Write(..)
                | S::Add(..)
                | S::Load(..)
                | S::Store(..)
                | S::FetchAdd(..)
                | S::Exchange(..)
                | S::Compare(..)
        ) {
            self.note = Some(self.touches);
            self.touches += 1;
        }
        let object = |this: &Self, letter: &str, at: u8| format!("&{}[{at}]", this.name(letter));
        match *statement {
            S::Read(variable, slot) => self.kept(slot, &self.variable(variable)),
            S::Write(variable, value) => {
                self.line(&format!("{} = {};", self.variable(variable), expression(value)));
                self.copy(variable);
                self.mark();
            }
            S::Add(variable, by) => {
                self.line(&format!("{} += {by};", self.variable(variable)));
                self.copy(variable);
                self.mark();
            }
            S::Load(variable, slot) => {
                self.kept(slot, &format!("atomic_load(&{})", self.variable(variable)));
            }
            S::Store(variable, value) => {
                self.line(&format!("atomic_store(&{}, {});", self.variable(variable), expression(value)));
                self.copy(variable);
                self.mark();
            }
            S::FetchAdd(variable, by, slot) => {
                self.line(&format!("r{slot} = atomic_fetch_add(&{}, {by});", self.variable(variable)));
                self.copy(variable);
                self.keep(slot);
            }
            S::Exchange(variable, new, slot) => {
                self.line(&format!("r{slot} = atomic_exchange(&{}, {new});", self.variable(variable)));
                self.copy(variable);
                self.keep(slot);
            }
            S::Compare(variable, old, new, slot) => {
                let (name, width) =
                    (self.variable(variable), self.program.variables[variable as usize].width);
                let kind = format!("u{}", 8 * width);
                self.line(&format!(
                    "{{ {kind} old = {old}; r{slot} = atomic_compare_exchange_strong(&{name}, &old, {new}); }}"
                ));
                self.copy(variable);
                self.keep(slot);
            }
            S::Locked(at, ref body) => {
                let mutex = object(self, "m", at);
                let (take, give) =
                    (format!("pthread_mutex_lock({mutex});"), format!("pthread_mutex_unlock({mutex});"));
                self.held(&take, &give, body);
            }
            S::TryLocked(at, slot, ref body) => {
                let mutex = object(self, "m", at);
                let (take, give) =
                    (format!("pthread_mutex_trylock({mutex})"), format!("pthread_mutex_unlock({mutex});"));
                self.tried(slot, &take, &give, body);
            }
            S::Await(condition, mutex, variable) => {
                let (condition, mutex) = (object(self, "c", condition), object(self, "m", mutex));
                self.marked(&format!(
                    "while (!{}) pthread_cond_wait({condition}, {mutex});",
                    self.variable(variable)
                ));
            }
            S::Wait(condition, mutex) => {
                let (condition, mutex) = (object(self, "c", condition), object(self, "m", mutex));
                self.marked(&format!("pthread_cond_wait({condition}, {mutex});"));
            }
            S::Signal(at) => self.marked(&format!("pthread_cond_signal({});", object(self, "c", at))),
            S::Broadcast(at) => self.marked(&format!("pthread_cond_broadcast({});", object(self, "c", at))),
            S::Down(at) => self.marked(&format!("sem_wait({});", object(self, "q", at))),
            S::Up(at) => self.marked(&format!("sem_post({});", object(self, "q", at))),
            S::TryDown(at, slot) => self.kept(slot, &format!("sem_trywait({}) == 0", object(self, "q", at))),
            S::Count(at, slot) => {
                self.line(&format!(
                    "{{ int value; sem_getvalue({}, &value); r{slot} = value; }}",
                    object(self, "q", at)
                ));
                self.keep(slot);
            }
            S::Renew(at, value) => self.marked(&format!("sem_init({}, 0, {value});", object(self, "q", at))),
            S::Destroy(at, slot) => {
                self.kept(slot, &format!("pthread_mutex_destroy({}) == 0", object(self, "m", at)));
            }
            S::Reading(at, ref body) | S::Writing(at, ref body) => {
                let lock = object(self, "w", at);
                let letters = if matches!(statement, S::Reading(..)) { "rd" } else { "wr" };
                let take = format!("pthread_rwlock_{letters}lock({lock});");
                self.held(&take, &format!("pthread_rwlock_unlock({lock});"), body);
            }
            S::TryReading(at, slot, ref body) | S::TryWriting(at, slot, ref body) => {
                let lock = object(self, "w", at);
                let letters = if matches!(statement, S::TryReading(..)) { "rd" } else { "wr" };
                let take = format!("pthread_rwlock_try{letters}lock({lock})");
                self.tried(slot, &take, &format!("pthread_rwlock_unlock({lock});"), body);
            }
            S::Spin(variable, value) => {
                self.marked(&format!("while (atomic_load(&{}) != {value}) {{}}", self.variable(variable)));
            }
            S::Stairs(variable, from, times) => {
                let name = self.variable(variable);
                self.inside(&format!("for (int i = {from}; i < {from} + {times}; i++)"), |this| {
                    this.line(&format!("while (atomic_load(&{name}) == i) {{}}"));
                });
                self.mark();
            }
            S::Grabbed(variable, ref body) => {
                let name = self.variable(variable);
                self.line(&format!("while (atomic_exchange(&{name}, 1)) {{}}"));
                self.copy(variable);
                self.mark();
                self.body(body);
                self.line(&format!("atomic_store(&{name}, 0);"));
                self.copy(variable);
                self.mark();
            }
            S::Poll(variable, value, times, slot) => {
                let name = self.variable(variable);
                self.line(&format!("r{slot} = 0;"));
                self.inside(&format!("for (int i = 0; i < {times}; i++)"), |this| {
                    this.line(&format!("r{slot} = atomic_load(&{name}) == {value};"));
                    this.keep(slot);
                    this.line(&format!("if (r{slot}) break;"));
                });
                self.mark();
            }
            S::Barrier(at) => self.line(&format!("pthread_barrier_wait({});", object(self, "b", at))),
            S::Create(strand) => {
                let function = self.name(&strand.to_string());
                self.marked(&format!("pthread_create(&t{strand}, 0, {function}, s);"));
                if self.program.strands[strand as usize].detached {
                    self.line(&format!("pthread_detach(t{strand});"));
                }
            }
            S::Join(strand) => self.marked(&format!("pthread_join(t{strand}, 0);")),
            S::TryJoin(strand, slot) => self.kept(slot, &format!("pthread_tryjoin_np(t{strand}, 0) == 0")),
            S::Allocate(size) => self.line(&format!("free(malloc({size}));")),
            S::If(slot, value, ref body) => {
                self.inside(&format!("if (r{slot} == {value})"), |this| this.body(body));
            }
            S::Exit(Exit::Exit) => self.line("exit(0);"),
            S::Exit(Exit::Now) => self.line("_exit(0);"),
            S::Exit(Exit::Quick) => self.line("quick_exit(0);"),
            S::Leave => self.line("pthread_exit(0);"),
            S::Fail => {
                self.line(&format!("KEEP({}, 1);", self.strand * STRIDE + FAILED));
                self.line("abort();");
            }
        }
    }
}

fn expression(value: Value) -> String {
    match value {
        Value::Constant(value) => value.to_string(),
        Value::Slot(slot, 0) => format!("r{slot}"),
        Value::Slot(slot, more) => format!("r{slot} + {more}"),
    }
}

/// The slots that a statement itself names.
pub(super) fn slots_of(statement: &Statement, each: &mut dyn FnMut(u8)) {
    use Statement as S;
    match *statement {
        S::Read(_, slot)
        | S::Load(_, slot)
        | S::FetchAdd(_, _, slot)
        | S::Exchange(_, _, slot)
        | S::Compare(_, _, _, slot)
        | S::TryLocked(_, slot, _)
        | S::TryDown(_, slot)
        | S::Count(_, slot)
        | S::Destroy(_, slot)
        | S::TryReading(_, slot, _)
        | S::TryWriting(_, slot, _)
        | S::Poll(_, _, _, slot)
        | S::TryJoin(_, slot)
        | S::If(slot, _, _) => each(slot),
        S::Write(_, Value::Slot(slot, _)) | S::Store(_, Value::Slot(slot, _)) => each(slot),
        _ => {}
    }
}
