//! What cannot be read gives less of an answer, never a failure.

use crate::program::{Program, run};
use std::path::Path;
use threadbare_symbols::{Module, Origin, Pc, ProgramId, Symbols, build_id, first_user_frame};

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

#[test]
fn damaged_files_are_survived() {
    let folder = tempfile::tempdir().unwrap();
    let good = Program::build("gcc", "bank.c", &["-O1", "-g"], |built| {
        std::fs::copy(built.join("bank"), folder.path().join("bank")).unwrap();
    });
    let base = good.symbols.modules().next().unwrap().base;
    let size = good.symbols.modules().next().unwrap().size;
    let (pc, data) = (good.pcs["inlined"], good.data["table[3].lock"]);
    let bytes = std::fs::read(folder.path().join("bank")).unwrap();
    let damaged = folder.path().join("damaged");
    let ask = |bytes: &[u8]| {
        std::fs::write(&damaged, bytes).unwrap();
        let symbols = Symbols::new([Module::new(&damaged, base, size)]);
        assert!(!symbols.frames(Pc::Return(pc)).is_empty());
        symbols.variable(data);
        ProgramId::of(&damaged).unwrap();
    };
    ask(b"");
    ask(b"#!/bin/sh\n");
    ask(&bytes[..64]);
    (1..64).for_each(|part| ask(&bytes[..bytes.len() * part / 64]));
    // One byte in a thousand changed, differently each time; a fixed generator keeps failures repeatable.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..200 {
        let mut copy = bytes.clone();
        for _ in 0..bytes.len() / 1000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % copy.len();
            copy[at] = (state >> 24) as u8;
        }
        ask(&copy);
    }
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
