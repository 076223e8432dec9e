//! Values of variables in a program that waits.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};

use crate::program::{Program, Told, has};
use threadbare_symbols::{Limits, Machine, NoValue, Pc, Registers, Symbols, Value};

/// A program that waits in a call of `stop`.
struct Stopped {
    child: Child,
    symbols: Symbols,
    pc: Pc,
    registers: Registers,
    memory: File,
    strand: u64,
    _program: Program,
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Stopped {
    /// Runs a program up to the label.
    fn at(program: Program, label: &str) -> Stopped {
        let mut child =
            Command::new(program.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut told = Told::default();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let registers = loop {
            let line = lines.next().unwrap().unwrap();
            told.line(&line);
            let words: Vec<&str> = line.split(' ').collect();
            if words[0] == "stop" {
                if words[1] == label {
                    break words[2..].iter().map(|word| Told::number(word)).collect::<Vec<_>>();
                }
                std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"\n").unwrap();
            }
        };
        // The DWARF numbers of what `stop` prints: rbx, rbp, r12 to r15, rsp.
        let numbers = [3, 6, 12, 13, 14, 15, 7];
        let memory = File::open(format!("/proc/{}/mem", child.id())).unwrap();
        Stopped {
            symbols: told.symbols(),
            pc: Pc::Return(registers[0]),
            registers: numbers.into_iter().zip(registers[1..].iter().copied()).collect(),
            memory,
            strand: told.strand,
            child,
            _program: program,
        }
    }

    /// The value of a local variable as text.
    fn thread_local(&self, address_of: impl Fn(u64) -> Option<u64>) -> Option<String> {
        let read = |address: u64, bytes: &mut [u8]| self.memory.read_exact_at(bytes, address).is_ok();
        let find = |module: usize, offset: u64| if module == 0 { address_of(offset) } else { None };
        let machine = Machine { thread_locals: Some(&find), ..Machine::new(self.registers, &read) };
        let locals = self.symbols.locals(self.pc);
        let local = locals.iter().find(|local| local.name == "strand_own")?;
        self.symbols.value(local, &machine, Limits::default()).ok().map(|value| value.to_string())
    }

    fn values(&self) -> HashMap<String, Result<Value, NoValue>> {
        let read = |address: u64, bytes: &mut [u8]| self.memory.read_exact_at(bytes, address).is_ok();
        let machine = Machine::new(self.registers, &read);
        let locals = self.symbols.locals(self.pc);
        let value = |local| self.symbols.value(local, &machine, Limits::default());
        locals.iter().map(|local| (local.name.clone(), value(local))).collect()
    }
}

fn check(stopped: &Stopped, expected: &[(&str, &str)], what: &str) {
    let values = stopped.values();
    let mut wrong = Vec::new();
    for (name, shown) in expected {
        let value = match values.get(*name) {
            Some(Ok(value)) => value.to_string(),
            Some(Err(why)) => format!("<{why}>"),
            None => "no such variable".to_owned(),
        };
        // Addresses differ from run to run.
        let value = value.replace("(0x", "( 0x");
        let stripped: Vec<&str> = value.split_whitespace().filter(|word| !word.starts_with("0x")).collect();
        let stripped = stripped.join(" ");
        if stripped != *shown {
            wrong.push(format!("{name}: {stripped}"));
        }
    }
    assert!(wrong.is_empty(), "{what}:\n{}", wrong.join("\n"));
}

const ALL: &str = "-> all { flag: true, letter: 'x', small: -5, byte: 200, s: -300, u: 4000000000, ll: -5000000000, \
                   f: 1.5, d: -0.25, ld: 2.5, color: GREEN, none: 3, p: point { x: 1, y: -1 }, \
                   grid: [1, 2, 3, 4, 5, 6], text: name: \"bank\", low: 5, mid: -3, bit: true, nothing: null, \
                   at: whole: 258, first: 2 }";

#[test]
fn c() {
    for compiler in ["gcc", "clang-19"] {
        for flags in [&["-O0", "-g"][..], &["-O0", "-gdwarf-4"], &["-O0", "-g", "-gsplit-dwarf"]] {
            if !has(compiler) {
                continue;
            }
            let stopped = Stopped::at(Program::build(compiler, "values.c", flags, |_| ()), "work");
            let expected = [
                ("a", ALL),
                ("n", "21"),
                ("ratio", "2.0"),
                ("local", "42"),
                ("pair", "point { x: 21, y: 22 }"),
                ("calls", "4"),
            ];
            check(&stopped, &expected, &format!("{compiler} {flags:?}"));
            let storage = stopped.symbols.thread_local_base(stopped.strand).unwrap();
            let own = stopped.thread_local(|offset| Some(storage + offset));
            assert_eq!(own.as_deref(), Some("24"), "{compiler} {flags:?}");
            assert_eq!(stopped.thread_local(|_| None), None);
        }
    }
}

#[test]
fn what_was_passed_is_known_from_the_caller() {
    for flags in [&["-O2", "-gdwarf-5"][..], &["-O2", "-gdwarf-4"]] {
        let stopped = Stopped::at(Program::build("gcc", "values.c", flags, |_| ()), "deep");
        let values = stopped.values();
        let passed = &values["passed"];
        assert_eq!(passed.as_ref().map(Value::as_integer), Ok(Some(1234)), "{flags:?}");
    }
}

#[test]
fn callers_are_found_without_debug_info() {
    for flags in [&["-O2"][..], &["-O2", "-fomit-frame-pointer"], &["-O0"]] {
        let stopped = Stopped::at(Program::build("gcc", "values.c", flags, |_| ()), "work");
        let read = |address: u64, bytes: &mut [u8]| stopped.memory.read_exact_at(bytes, address).is_ok();
        let mut machine = Machine::new(stopped.registers, &read);
        let mut pc = stopped.pc;
        let mut names = Vec::new();
        for _ in 0..50 {
            names.push(stopped.symbols.frames(pc).last().unwrap().short_name().to_owned());
            let Some((caller, registers)) = stopped.symbols.caller(pc, &machine) else { break };
            let frame_address = stopped.symbols.frame_address(pc, &machine).unwrap();
            assert_eq!(registers.get(7), Some(frame_address));
            (pc, machine.registers) = (caller, registers);
        }
        assert_eq!(names[..2], ["work", "main"], "{flags:?}");
        assert_eq!(names.last().unwrap(), "_start", "{flags:?}: {names:?}");
    }
}

#[test]
fn globals() {
    let stopped = Stopped::at(Program::build("gcc", "values.c", &["-O1", "-g"], |_| ()), "work");
    let read = |address: u64, bytes: &mut [u8]| stopped.memory.read_exact_at(bytes, address).is_ok();
    let machine = Machine::of_memory(&read);
    let module = stopped.symbols.modules().next().unwrap().clone();
    let nm = crate::program::run(std::path::Path::new("/"), "nm", &[module.path.to_str().unwrap()]);
    let line = nm.lines().find(|line| line.ends_with(" global")).unwrap();
    let address = module.base + Told::number(line.split(' ').next().unwrap());
    let at = |offset: u64, size| {
        stopped.symbols.value_at(address + offset, size, &machine, Limits::default()).map(|v| v.to_string())
    };
    let offset = |name: &str| {
        let variables = (0..module.size).map(|offset| stopped.symbols.variable_access(address + offset, 2));
        variables.take(200).position(|v| v.is_some_and(|v| v.path == name)).unwrap() as u64
    };
    assert_eq!(at(offset(".s"), 2).as_deref(), Ok("-3"));
    assert_eq!(at(offset(".p.y"), 4).as_deref(), Ok("2"));
    assert_eq!(at(offset(".p.x"), 8).as_deref(), Ok("point { x: 1, y: 2 }"));
    assert_eq!(at(offset(".grid[1][1]"), 4).as_deref(), Ok("5"));
    let nowhere = |_: u64, _: &mut [u8]| false;
    let missing = stopped.symbols.value_at(address, 1, &Machine::of_memory(&nowhere), Limits::default());
    assert!(matches!(missing, Err(NoValue::Memory(_))), "{missing:?}");
}

#[test]
fn cpp() {
    for compiler in ["g++", "clang++-19"] {
        if !has(compiler) {
            continue;
        }
        let stopped = Stopped::at(Program::build(compiler, "values.cc", &["-O0", "-g"], |_| ()), "work");
        let text = format!("\"{}\"", "y".repeat(100));
        let expected = [
            ("name", "-> \"short\""),
            ("view", "\"a view\""),
            ("numbers", "[1, 2, 3]"),
            ("points", "[Point { id: 3, x: 1.5, y: 2.5 }]"),
            ("longer", &text),
            ("owned", "-> 9"),
            ("pair", "pair<int, bool> { first: 4, second: true }"),
            ("hits", "6"),
            ("array", "[7, 8, 9]"),
            ("point", "Point { id: 3, x: 1.5, y: 2.5 }"),
            ("kind", "Square"),
        ];
        check(&stopped, &expected, compiler);
    }
}

#[test]
fn rust() {
    for flags in [&["-g"][..], &["-g", "-Csplit-debuginfo=packed"]] {
        let stopped = Stopped::at(Program::build("rustc", "values.rs", flags, |_| ()), "work");
        let expected = [
            ("number", "-42"),
            ("text", "\"borrowed\""),
            ("list", "[1, 2, 3]"),
            ("shape", "-> Circle { radius: 12 }"),
            ("owned", "\"owned é\""),
            ("points", "[Point { x: 1, y: 2 }, Point { x: 3, y: 4 }]"),
            ("some", "Some(-42)"),
            ("none", "None"),
            ("reference", "Some( -> Point { x: 3, y: 4 })"),
            ("nothing", "None"),
            ("result", "Err(\"bad\")"),
            ("line", "Line(Point { x: 1, y: 2 }, Point { x: 3, y: 4 })"),
            ("empty", "Empty"),
            ("color", "Green"),
            ("tuple", "(1, 'z', true)"),
            ("array", "[1.5, 2.5]"),
            ("boxed", "-> Point { x: 5, y: 6 }"),
            ("counted", "-> ArcInner<u64> { strong: 1, weak: 1, data: 8 }"),
            ("atomic", "9"),
            ("meters", "Meters(2.5)"),
        ];
        check(&stopped, &expected, &format!("{flags:?}"));
        let huge = stopped.values()["huge"].clone().map(|value| value.as_integer().unwrap().cast_unsigned());
        assert_eq!(huge, Ok(u128::MAX - 1));
        let locked = stopped.values()["locked"].clone().unwrap();
        assert_eq!(locked.field("data").and_then(|data| data.field("y")), Some(&Value::Integer(11)));
    }
}
