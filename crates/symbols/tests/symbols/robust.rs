//! What cannot be read gives less of an answer, never a failure.

use crate::program::{Program, run};
use object::{Object, ObjectSection};
use std::path::Path;
use threadbare_symbols::{
    Limits, Machine, Module, Origin, Pc, ProgramId, Symbols, build_id, first_user_frame,
};

#[test]
fn without_debug_info_the_symbol_table_answers() {
    let program = Program::build("g++", "bank.cc", &["-O1"], |_| ());
    assert!(!program.symbols.has_debug_info(0));
    let frames = program.symbols.frames(Pc::Return(program.pcs["deposit"]));
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].function(), "bank::Account<int>::deposit(int)");
    assert!(frames[0].offset.unwrap() > 0);
    assert_eq!((&frames[0].file, frames[0].line), (&None, None));
    assert_eq!(frames[0].origin(), Origin::User);
    let variable = program.symbols.variable(program.data["accounts[2].balance"]).unwrap();
    assert_eq!(variable.name, "bank::accounts");
    assert_eq!(variable.path, format!("+{:#x}", variable.offset));
    assert_eq!(variable.type_name, None);
}

#[test]
fn line_tables_without_variables_are_enough_for_frames() {
    let program = Program::build("rustc", "bank.rs", &["-Cdebuginfo=line-tables-only"], |_| ());
    let frames = program.symbols.frames(Pc::Return(program.pcs["open"]));
    let open = frames.iter().find(|frame| frame.line == Some(program.line_of("open"))).unwrap();
    assert_eq!(open.short_name(), "bank::vault::Vault::open");
    let variable = program.symbols.variable(program.data["COUNTER"]).unwrap();
    assert_eq!(variable.to_string(), "bank::COUNTER");
    assert_eq!(variable.type_name, None);
}

#[test]
fn without_symbols_debug_info_still_names_variables() {
    // Only the symbol table is taken out: all units are searched then.
    let flags = ["-O1", "-g", "-Wl,--build-id"];
    let program = Program::build("gcc", "bank.c", &flags, |folder| {
        let sections: Vec<String> =
            ["info", "abbrev", "line", "str", "line_str", "aranges", "rnglists", "loclists"]
                .iter()
                .map(|name| format!("--keep-section=.debug_{name}"))
                .collect();
        let mut arguments = vec!["--strip-all"];
        arguments.extend(sections.iter().map(String::as_str));
        arguments.push("bank");
        run(folder, "objcopy", &arguments);
    });
    let name =
        |label: &str| program.symbols.variable(program.data[label]).map(|variable| variable.to_string());
    assert_eq!(name("table[3].lock").as_deref(), Some("table[3].lock"));
    assert_eq!(name("calls").as_deref(), Some("deposit::calls"));
    assert_eq!(name("stack"), None);
    assert_eq!(program.symbols.frames(Pc::Return(program.pcs["inlined"]))[0].function(), "audit");
}

#[test]
fn an_access_shows_what_holds_all_of_it() {
    let program = Program::build("gcc", "bank.c", &["-O1", "-g"], |_| ());
    let name = |label: &str, offset: u64, size| {
        program
            .symbols
            .variable_access(program.data[label] + offset, size)
            .map(|variable| variable.to_string())
    };
    assert_eq!(name("account", 0, 4).as_deref(), Some("account.id"));
    assert_eq!(name("account", 0, 16).as_deref(), Some("account"), "a copy of several fields");
    assert_eq!(name("account", 4, 1).as_deref(), Some("account"), "the padding after the first field");
    assert_eq!(name("account.raw.whole", 0, 8).as_deref(), Some("account.raw.whole"));
    assert_eq!(name("account.raw.whole", 3, 1).as_deref(), Some("account.raw.whole"));
    assert_eq!(name("account.balance", 8, 1).as_deref(), Some("account.frozen"), "a bit field");
    assert_eq!(name("grid[2][1]", 0, 8).as_deref(), Some("grid"), "two elements");
    assert_eq!(name("table[3].lock", 16, 4).as_deref(), Some("table[3].lock"), "inside the lock");
    let whole = program.symbols.variable_access(program.data["table[3].lock"], 4).unwrap();
    assert_eq!((whole.size, whole.type_name.as_deref()), (40, Some("pthread_mutex_t")));
}

#[test]
fn addresses_outside_all_modules_stay_addresses() {
    let symbols = Symbols::new([Module::new("/nonexistent/bank", 0x1000, 0x1000)]);
    for (pc, module) in [(0u64, None), (0x1000, None), (0x1001, Some(0)), (0x2000, Some(0)), (0x2001, None)] {
        let frames = symbols.frames(Pc::Return(pc));
        assert_eq!(frames.len(), 1);
        assert_eq!((frames[0].module, frames[0].function(), frames[0].address), (module, "??", pc));
    }
    assert_eq!(symbols.frames(Pc::At(u64::MAX)).len(), 1);
    assert_eq!(symbols.variable(0x1800), None);
    assert!(symbols.problem(0).unwrap().contains("No such file"));
    assert_eq!(symbols.problem(1), None);
    assert_eq!(symbols.locate(0x1fff), Some((0, 0xfff)));
}

/// A fixed generator keeps failures repeatable.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Files made of a good one, asked everything.
struct Damaged {
    folder: tempfile::TempDir,
    good: Program,
    bytes: Vec<u8>,
    /// Where the sections with debug info are in the file.
    debug: Vec<std::ops::Range<usize>>,
}

impl Damaged {
    fn new(compiler: &str, source: &str, flags: &[&str]) -> Damaged {
        let folder = tempfile::tempdir().unwrap();
        let good = Program::build(compiler, source, flags, |built| {
            std::fs::copy(built.join("bank"), folder.path().join("bank")).unwrap();
        });
        let bytes = std::fs::read(folder.path().join("bank")).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let debug = file
            .sections()
            .filter(|section| {
                let name = section.name().unwrap();
                name.starts_with(".debug_") || name.starts_with(".eh_frame")
            })
            .filter_map(|section| section.file_range())
            .map(|(start, size)| start as usize..(start + size) as usize)
            .filter(|range| !range.is_empty())
            .collect();
        Damaged { folder, good, bytes, debug }
    }

    fn ask(&self, bytes: &[u8]) {
        let path = self.folder.path().join("damaged");
        std::fs::write(&path, bytes).unwrap();
        let module = self.good.symbols.modules().next().unwrap();
        let symbols = Symbols::new([Module::new(&path, module.base, module.size)]);
        // Memory where a pointer leads back to itself.
        let memory = |address: u64, bytes: &mut [u8]| {
            bytes.iter_mut().zip(address.to_le_bytes().into_iter().cycle()).for_each(|(to, from)| *to = from);
            true
        };
        let registers = (0..33).map(|number| (number, 0x7ff0_0000_0000 + 8 * u64::from(number))).collect();
        let thread_locals = |_, offset| Some(offset);
        let machine = Machine { thread_locals: Some(&thread_locals), ..Machine::new(registers, &memory) };
        let codes = self.good.pcs.values().chain(self.good.blocks.values().map(|(pc, ..)| pc));
        for pc in codes.map(|pc| Pc::Return(*pc)) {
            assert!(!symbols.frames(pc).is_empty());
            for local in symbols.locals(pc) {
                let _ = symbols.value(&local, &machine, Limits::default()).map(|value| value.to_string());
            }
            symbols.field_of(&[pc], 88, 8);
            symbols.caller(pc, &machine);
        }
        for data in self.good.data.values() {
            symbols.variable(*data);
            let _ = symbols.value_at(*data, 1, &machine, Limits::default());
        }
        symbols.function_at(Path::new("bank.c"), 34);
        symbols.function_at(Path::new("bank.c"), 1);
        symbols.thread_local(0, 4, 4);
        symbols.thread_local_base(0x7000_0000);
        ProgramId::of(&path).unwrap();
    }

    /// Changes `times` small runs of bytes, mostly in the debug info.
    fn mutate(&self, random: &mut Random, times: usize) -> Vec<u8> {
        let mut copy = self.bytes.clone();
        for _ in 0..times {
            let range = match random.below(8) {
                0 => 0..copy.len(),
                _ => self.debug[random.below(self.debug.len())].clone(),
            };
            let at = range.start + random.below(range.len());
            let end = (at + 1 + random.below(4)).min(copy.len());
            let kind = random.below(4);
            for byte in &mut copy[at..end] {
                *byte = match kind {
                    0 => 0,
                    1 => 0xff,
                    2 => byte.wrapping_add(1),
                    _ => random.below(256) as u8,
                };
            }
        }
        copy
    }
}

#[test]
fn damaged_files_are_survived() {
    let damaged = Damaged::new("gcc", "bank.c", &["-O1", "-g"]);
    damaged.ask(b"");
    damaged.ask(b"#!/bin/sh\n");
    damaged.ask(&damaged.bytes[..64]);
    (1..256).for_each(|part| damaged.ask(&damaged.bytes[..damaged.bytes.len() * part / 256]));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..mutations() {
        damaged.ask(&damaged.mutate(&mut random, 1 + round % 40));
    }
}

#[test]
fn damaged_debug_info_of_other_compilers_is_survived() {
    for (compiler, source, flags) in [
        ("clang-19", "bank.c", &["-O2", "-gdwarf-5"][..]),
        ("gcc", "values.c", &["-O2", "-gdwarf-4"]),
        ("gcc", "heap.c", &["-O0", "-g"]),
        ("g++", "heap.cc", &["-O0", "-g", "-fdebug-types-section"]),
    ] {
        if !crate::program::has(compiler) {
            continue;
        }
        let damaged = Damaged::new(compiler, source, flags);
        let mut random = Random(7);
        for round in 0..mutations() / 20 {
            damaged.ask(&damaged.mutate(&mut random, 1 + round % 40));
        }
    }
}

/// How many damaged files each test makes; `SYMBOLS_MUTATIONS` asks for more.
fn mutations() -> usize {
    std::env::var("SYMBOLS_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000)
}

#[test]
fn libraries_of_the_program_are_libraries() {
    let program = Program::build("gcc", "bank.c", &["-O1", "-g"], |_| ());
    let libc = program.symbols.modules().position(|module| module.path.to_string_lossy().contains("libc.so"));
    let libc = libc.unwrap();
    let module = program.symbols.modules().nth(libc).unwrap();
    let middle = program.symbols.frames(Pc::At(module.base + module.size / 3));
    assert_eq!(middle[0].module, Some(libc));
    assert!(middle[0].is_library());
    let user = program.symbols.frames(Pc::Return(program.pcs["main"]));
    let stack: Vec<_> = middle.iter().chain(user.iter()).cloned().collect();
    assert_eq!(first_user_frame(&stack).unwrap().function(), "main");
}

#[test]
fn modules_can_come_later() {
    let program = Program::build("gcc", "bank.c", &["-O1", "-g"], |_| ());
    let mut symbols = Symbols::new([]);
    let pc = Pc::Return(program.pcs["main"]);
    assert_eq!(symbols.frames(pc)[0].function(), "??");
    symbols.add(program.symbols.modules().next().unwrap().clone());
    assert_eq!(symbols.frames(pc)[0].function(), "main");
}

#[test]
fn programs_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let probe = crate::program::sources().join("probe.c");
    let probe = probe.to_str().unwrap();
    let id = |name: &str, flags: &[&str]| {
        let arguments: Vec<&str> =
            flags.iter().copied().chain(["-shared", "-fPIC", probe, "-o", name]).collect();
        run(folder.path(), "gcc", &arguments);
        ProgramId::of(&folder.path().join(name)).unwrap()
    };
    let one = id("one.so", &["-Wl,--build-id"]);
    assert!(matches!(&one, ProgramId::Build(bytes) if bytes.len() == 20));
    assert_eq!(id("again.so", &["-Wl,--build-id"]), one);
    assert_ne!(id("other.so", &["-Wl,--build-id", "-O2"]), one);
    let content = id("plain.so", &["-Wl,--build-id=none"]);
    assert!(matches!(content, ProgramId::Content(_)));
    assert_eq!(id("plain2.so", &["-Wl,--build-id=none"]), content);
    assert_eq!(build_id(&folder.path().join("plain.so")).unwrap(), None);
    assert!(build_id(Path::new("/nonexistent")).is_err());
}

/// This test's own binary: big, with many units, and with code whose place is known for sure.
#[test]
fn the_test_binary_knows_itself() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let exe = std::env::current_exe().unwrap();
    let ranges: Vec<(u64, u64)> = maps
        .lines()
        .filter(|line| line.ends_with(exe.to_str().unwrap()))
        .map(|line| {
            let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
            (u64::from_str_radix(start, 16).unwrap(), u64::from_str_radix(end, 16).unwrap())
        })
        .collect();
    let base = ranges.iter().map(|range| range.0).min().unwrap();
    // The last pages of `.bss` have no file behind them and no path in the list.
    let end = ranges.iter().map(|range| range.1).max().unwrap() + 0x10000;
    let symbols = Symbols::new([Module::new(&exe, base, end - base)]);

    static LANDMARK: [std::sync::atomic::AtomicU32; 3] = [const { std::sync::atomic::AtomicU32::new(7) }; 3];
    let variable = symbols.variable(&raw const LANDMARK[1] as u64).unwrap();
    assert_eq!(variable.to_string(), "symbols::robust::the_test_binary_knows_itself::LANDMARK[1]");
    let frames = symbols.frames(Pc::At(the_test_binary_knows_itself as fn() as usize as u64));
    let own = frames.last().unwrap();
    assert_eq!(own.function(), "symbols::robust::the_test_binary_knows_itself");
    assert!(own.file.as_ref().unwrap().ends_with("tests/symbols/robust.rs"));
}
