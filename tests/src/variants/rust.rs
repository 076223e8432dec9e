//! The variants in Rust.

use super::{Busy, Cell, Experiment, Through, Variant, Work, filled};

const HEAD: &str = r#"#![allow(dead_code, unused_macros, unused_variables, clippy::all)]
use std::cell::UnsafeCell;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::*};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

const MOST: usize = 16;

struct Plain(UnsafeCell<i64>);
unsafe impl Sync for Plain {}
static SCRATCH: [Plain; 8] = [const { Plain(UnsafeCell::new(0)) }; 8];
static COUNTERS: [AtomicI64; 8] = [const { AtomicI64::new(0) }; 8];
static GUARDED: Mutex<i64> = Mutex::new(0);

macro_rules! busy_shared { ($n:expr) => { for b in 0..$n / 2 { let at = SCRATCH[b & 7].0.get(); unsafe { at.write_volatile(at.read_volatile() + 1) } } } }
macro_rules! busy_counters { ($n:expr) => { for b in 0..$n { COUNTERS[b & 7].fetch_add(1, Relaxed); } } }
macro_rules! busy_locked { ($n:expr) => { for _ in 0..$n / 4 { *GUARDED.lock().unwrap() += 1; } } }
macro_rules! busy_private { ($n:expr) => { let mut own = [0usize; 8]; for b in 0..$n { own[b & 7] = b; black_box(&mut own); } } }
#[inline(never)]
fn busy_shared(n: usize) { busy_shared!(n); }
#[inline(never)]
fn busy_counters(n: usize) { busy_counters!(n); }
#[inline(never)]
fn busy_locked(n: usize) { busy_locked!(n); }
#[inline(never)]
fn busy_private(n: usize) { busy_private!(n); }

#[derive(Default)]
struct Spin { taken: AtomicBool, value: AtomicI64 }
impl Spin {
    fn lock(&self) { while self.taken.compare_exchange(false, true, Acquire, Relaxed).is_err() { spin_loop(); } }
    fn unlock(&self) { self.taken.store(false, Release); }
}
"#;

/// A cell's type, a new one, and what reads and sets it.
fn cell(cell: Cell) -> (&'static str, &'static str, &'static str, &'static str) {
    match cell {
        Cell::Plain => (
            "Plain",
            "Plain(UnsafeCell::new(0))",
            "unsafe { cell.0.get().read_volatile() }",
            "unsafe { cell.0.get().write_volatile(value) }",
        ),
        Cell::Atomic => ("AtomicI64", "AtomicI64::new(0)", "cell.load(SeqCst)", "cell.store(value, SeqCst)"),
        Cell::Relaxed => {
            ("AtomicI64", "AtomicI64::new(0)", "cell.load(Relaxed)", "cell.store(value, Relaxed)")
        }
        Cell::Mutex => {
            ("Mutex<i64>", "Mutex::new(0)", "*cell.lock().unwrap()", "*cell.lock().unwrap() = value")
        }
        Cell::ReadWrite => {
            ("RwLock<i64>", "RwLock::new(0)", "*cell.read().unwrap()", "*cell.write().unwrap() = value")
        }
        Cell::Spin => (
            "Spin",
            "Spin { taken: AtomicBool::new(false), value: AtomicI64::new(0) }",
            "{ cell.lock(); let value = cell.value.load(Relaxed); cell.unlock(); value }",
            "{ cell.lock(); cell.value.store(value, Relaxed); cell.unlock(); }",
        ),
    }
}

fn work(busy: Busy) -> String {
    let name = match busy.work {
        Work::Shared => "shared",
        Work::Counters => "counters",
        Work::Locked => "locked",
        Work::Private => "private",
    };
    match busy.accesses {
        0 => String::new(),
        accesses if busy.apart => format!("busy_{name}({accesses});"),
        accesses => format!("busy_{name}!({accesses});"),
    }
}

/// What a strand does, what the main one does while the strands run, and after them.
fn bodies(experiment: Experiment, cell: Cell) -> (&'static str, &'static str, &'static str) {
    match experiment {
        Experiment::Flag => (
            "$BEFORE if GET$(0) == 0 { $INSIDE SET$(0, 1); CLAIMS$.fetch_add(1, Relaxed); } $AFTER",
            "",
            "assert_eq!(CLAIMS$.load(SeqCst), 1);",
        ),
        Experiment::Money => (
            "for _ in 0..4 { $BEFORE SET$(2 * own, GET$(2 * own) - 5); $INSIDE SET$(2 * own + 1, GET$(2 * own + 1) + 5); $AFTER }",
            "for _ in 0..5 { thread::sleep(std::time::Duration::from_micros(100)); let mut sum = 0; for i in 0..2 * $N { sum += GET$(i); } assert_eq!(sum, 0); }",
            "",
        ),
        Experiment::Notify => (
            "$BEFORE while GET$(0) == 0 { thread::yield_now(); } assert_ne!(GET$(1), 0); $AFTER",
            "$BEFORE SET$(0, 1); $INSIDE SET$(1, 7); $AFTER",
            "",
        ),
        Experiment::Parameter => ("$BEFORE assert_ne!(GET$(own), 0); $AFTER", "", ""),
        Experiment::Philosophers => (
            match cell {
                Cell::Spin => {
                    "for _ in 0..3 { $BEFORE let (left, right) = (&state.0[own], &state.0[(own + 1) % $N]); left.lock(); $INSIDE right.lock(); right.unlock(); left.unlock(); $AFTER }"
                }
                Cell::ReadWrite => {
                    "for _ in 0..3 { $BEFORE let left = state.0[own].write().unwrap(); $INSIDE let right = state.0[(own + 1) % $N].write().unwrap(); drop(right); drop(left); $AFTER }"
                }
                _ => {
                    "for _ in 0..3 { $BEFORE let left = state.0[own].lock().unwrap(); $INSIDE let right = state.0[(own + 1) % $N].lock().unwrap(); drop(right); drop(left); $AFTER }"
                }
            },
            "",
            "",
        ),
        Experiment::Worker => (
            "$BEFORE SET$(own, 1 + own as i64); $INSIDE SET$(own, 0); $AFTER",
            "for _ in 0..4 { $BEFORE for i in 0..$N { if GET$(i) != 0 { assert_ne!(GET$(i), 0, \"the connection is gone\"); } } }",
            "",
        ),
    }
}

fn one(variant: &Variant) -> String {
    let (kind, new, get, set) = cell(variant.cell);
    let (strand, during, over) = bodies(variant.experiment, variant.cell);
    let mut text = format!("\n// {}\nstruct State$([{kind}; MOST]);\n", variant.describe());
    text += &format!(
        "static GLOBAL$: State$ = State$([const {{ {new} }}; MOST]);\nstatic CLAIMS$: AtomicI64 = AtomicI64::new(0);\n"
    );
    let attribute = if variant.through == Through::Call { "#[inline(never)]" } else { "#[inline(always)]" };
    if variant.through != Through::Macro {
        text += &format!("{attribute}\nfn get$(cell: &{kind}) -> i64 {{ {get} }}\n");
        text += &format!("{attribute}\nfn put$(cell: &{kind}, value: i64) {{ {set} }}\n");
    } else {
        text += &format!("macro_rules! get$ {{ ($cell:expr) => {{{{ let cell = $cell; {get} }}}} }}\n");
        text += &format!(
            "macro_rules! put$ {{ ($cell:expr, $value:expr) => {{{{ let (cell, value) = ($cell, $value); {set} }}}} }}\n"
        );
    }
    let parameter = variant.experiment == Experiment::Parameter;
    let (state, shared) = match variant.heap {
        true => ("Arc::new(State$([const { $NEW }; MOST]))", "Arc::clone(&state)"),
        false => ("&GLOBAL$", "state"),
    };
    let set_it = if parameter { "$INSIDE SET$(i, 1);" } else { "" };
    text += &format!(
        "fn run$() {{\n  let state = {state};\n  let mut strands = Vec::new();\n  for i in 0..$N {{\n    let shared = {shared};\n    strands.push(thread::spawn(move || {{ let (state, own) = (&shared, i); {strand} }}));\n    {set_it}\n  }}\n  let state = &state;\n  {during}\n  for strand in strands {{ strand.join().unwrap(); }}\n  {over}\n}}\n",
    );
    let [before, inside, after] = variant.busy.map(work);
    let bang = if variant.through == Through::Macro { "!" } else { "" };
    let text = text.replace("$cell", "@cell").replace("$value", "@value");
    let text = filled(
        &text,
        &[
            ("BEFORE", before),
            ("INSIDE", inside),
            ("AFTER", after),
            ("NEW", new.to_owned()),
            ("N", variant.strands.to_string()),
        ],
    );
    let text = accesses(&text, "GET$(", &format!("get${bang}(&state.0["), ")", "])");
    let text = accesses(&text, "SET$(", &format!("put${bang}(&state.0["), ",", "],");
    filled(&text, &[("", format!("_{}", variant.number))])
        .replace("@cell", "$cell")
        .replace("@value", "$value")
}

/// Writes accesses `GET$(index)` and `SET$(index, value)` out; an index has no such sign in it.
fn accesses(text: &str, begin: &str, instead: &str, end: &str, after: &str) -> String {
    let mut parts = text.split(begin);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (index, rest) = part.split_once(end).unwrap_or((part, ""));
        out += &format!("{instead}{index}{after}{rest}");
    }
    out
}

pub(super) fn source(variants: &[&Variant]) -> String {
    let mut text = HEAD.to_owned();
    for variant in variants {
        text += &one(variant);
    }
    text += "\nfn main() {\n    match std::env::args().nth(1).as_deref() {\n";
    for variant in variants {
        text += &format!("        Some(\"{0}\") => run_{0}(),\n", variant.number);
    }
    text + "        _ => std::process::exit(2),\n    }\n}\n"
}
