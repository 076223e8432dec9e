//! Programs whose lines say what must be found: `//~ address=NAME|NAME lock=NAME`, for every access that the line makes, by every
//! compiler at every level.

mod build;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use build::Compiler;
use threadbare_code::{Address, Code, Names, Root, Size};
use threadbare_symbols::{Module, Pc, Symbols};

/// The optimisation levels.
const LEVELS: [u8; 4] = [0, 1, 2, 3];

/// What a line says.
struct Label {
    address: Vec<String>,
    lock: String,
}

fn labels(source: &Path) -> BTreeMap<u32, Label> {
    let text = std::fs::read_to_string(source).expect("the program");
    let mut found = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, label)) = line.split_once("//~ address=") else { continue };
        let (address, lock) = label.split_once(" lock=").expect("a lock");
        let address = address.split('|').map(str::to_owned).collect();
        found.insert(number, Label { address, lock: lock.trim().to_owned() });
    }
    found
}

/// The address in words: the variable, `argN+OFFSET`, `load(VARIABLE)`.
fn shown(code: &Code, address: &Address) -> Vec<String> {
    address
        .ways()
        .iter()
        .map(|way| match &way.root {
            Root::Global => match code.object_at(way.offset.cast_unsigned()) {
                Some(object) => code.objects[object].name.clone(),
                None => format!("{way}"),
            },
            Root::ThreadLocal => "tls".to_owned(),
            Root::Stack => "frame".to_owned(),
            Root::Allocated { .. } => "block".to_owned(),
            Root::Argument(number) if way.offset == 0 => format!("arg{number}"),
            Root::Argument(number) => format!("arg{number}+{:#x}", way.offset),
            Root::Loaded { from, .. } => match shown(code, from).as_slice() {
                // However often a loop goes on, it began somewhere.
                [one] if !one.starts_with("again") => format!("load({one})"),
                _ => "again".to_owned(),
            },
            _ => format!("{way}"),
        })
        .filter(|way| way != "again")
        .collect()
}

fn check(source: &str, compilers: &[Compiler]) {
    let folder = tempfile::tempdir().expect("a folder");
    let source: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source);
    let labels = labels(&source);
    assert!(!labels.is_empty());
    let mut wrong = Vec::new();
    for &compiler in compilers {
        for level in LEVELS {
            let Some(program) = build::build(&source, compiler, level, folder.path(), &[]) else { continue };
            let code = Code::read(&program).expect("a program");
            let symbols = Symbols::new([Module::new(&program, 0, u64::MAX)]);
            let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
            for (at, access) in code.accesses() {
                let frames = symbols.frames(Pc::Return(access.place));
                let Some(line) = frames.first().and_then(|frame| frame.line) else { continue };
                let Some(label) = labels.get(&line) else { continue };
                // An inlined function has the addresses of the one it is in.
                if frames.len() > 1 {
                    continue;
                }
                *seen.entry(line).or_default() += 1;
                let ways = shown(&code, &access.address);
                let known = ways.iter().all(|way| label.address.contains(way));
                let locks: Vec<String> =
                    access.locks.iter().flat_map(|held| shown(&code, &held.lock)).collect();
                let held = match label.lock.as_str() {
                    "none" => locks.is_empty(),
                    lock => locks == [lock],
                };
                if !known || !held || ways.is_empty() {
                    let function = code.functions[at].shown();
                    wrong.push(format!("{compiler:?} -O{level} {function}:{line}: {ways:?} under {locks:?}"));
                }
            }
            if level == 0 {
                let missing: Vec<_> = labels.keys().filter(|line| !seen.contains_key(line)).collect();
                assert!(missing.is_empty(), "{compiler:?}: no access on lines {missing:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn addresses_and_locks_of_c() {
    check("bank.c", &[Compiler::Gcc, Compiler::Clang]);
}

#[test]
fn addresses_and_locks_of_cxx() {
    check("queue.cc", &[Compiler::Gcc, Compiler::Clang]);
}

#[test]
fn addresses_and_locks_of_rust() {
    check("shared.rs", &[Compiler::Rustc]);
}

#[test]
fn strands_begin_where_they_are_made_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let cases = [
        ("bank.c", Compiler::Gcc, "work"),
        ("queue.cc", Compiler::Gcc, "_M_run"),
        ("shared.rs", Compiler::Rustc, "begin_short"),
    ];
    for (source, compiler, name) in cases {
        for level in [0, 3] {
            let program = build::build(&programs.join(source), compiler, level, folder.path(), &[])
                .expect("a compiler");
            let code = Code::read(&program).expect("a program");
            let names: Vec<_> =
                code.entries.iter().map(|&entry| code.functions[entry].name.clone()).collect();
            assert!(names.iter().any(|found| found.contains(name)), "{source} -O{level}: {names:?}");
            assert!(!names.iter().any(|found| found == "main"), "{source} -O{level}: {names:?}");
        }
    }
}

#[test]
fn debug_info_names_what_is_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/bank.c");
    for (compiler, level) in
        [(Compiler::Gcc, 0), (Compiler::Gcc, 2), (Compiler::Clang, 0), (Compiler::Clang, 2)]
    {
        let Some(program) = build::build(&source, compiler, level, folder.path(), &[]) else { continue };
        let code = Code::read(&program).expect("a program");
        let names = Names::of(&program);
        let all: Vec<String> = code
            .accesses()
            .filter_map(|(at, access)| names.address(&code, at, &access.address, access.size))
            .collect();
        for wanted in ["account->balance", "head->balance", "head->next", "total", "mine", "audits"] {
            assert!(all.iter().any(|name| name == wanted), "{compiler:?} -O{level}: no {wanted} in {all:?}");
        }
        let calls = code
            .functions
            .iter()
            .enumerate()
            .flat_map(|(at, function)| function.calls.iter().map(move |call| (at, call)));
        let given: Vec<String> = calls
            .flat_map(|(at, call)| call.arguments.iter().take(1).map(move |argument| (at, argument)))
            .filter_map(|(at, argument)| names.address(&code, at, argument, Size::Bytes(1)))
            .collect();
        assert!(given.iter().any(|name| name.starts_with("bank[")), "{compiler:?} -O{level}: {given:?}");
    }
}
