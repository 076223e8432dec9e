//! What three compilers write in many forms of debug info must all read the same.

use crate::program::{Program, has, run};
use std::path::Path;
use std::process::Command;
use threadbare_symbols::{Origin, Pc, Storage};

/// A label, and the functions there, innermost first.
type Marks = [(&'static str, &'static [&'static str])];
/// A label, the variable there, and a part of its type's name.
type Shows = [(&'static str, &'static str, &'static str)];

fn check_program(program: &Program, marks: &Marks, shows: &Shows, what: &str) {
    for (label, functions) in marks {
        let frames = program.symbols.frames(Pc::Return(program.pcs[*label]));
        let names: Vec<_> = frames.iter().map(|frame| frame.short_name()).collect();
        let fits = names.len() >= functions.len()
            && names.iter().zip(*functions).all(|(name, f)| name.starts_with(f));
        assert!(fits, "{what}: {label} is in {names:?}");
        let inlined: Vec<_> = frames.iter().map(|frame| frame.inlined).collect();
        let (last, before) = inlined.split_last().unwrap();
        assert!(!last && before.iter().all(|inlined| *inlined), "{what}: {label}: {inlined:?}");
        assert_eq!(frames[0].origin(), Origin::User, "{what}: {label}");
        // Rust's labels are in the caller of an inlined function.
        let called = frames.iter().find(|frame| frame.short_name() != "bank::here").unwrap();
        assert_eq!(called.line, Some(program.line_of(label)), "{what}: {label}");
        let file = program.symbols.shown_path(called.file.as_deref().unwrap());
        assert!(["bank.c", "bank.cc", "bank.rs"].contains(&&*file), "{what}: {label}: {file}");
        // And back from the line to the function.
        let back = program.symbols.function_at(Path::new(&file), program.line_of(label));
        match back {
            Some(back) => assert_eq!(back.short_name(), called.short_name(), "{what}: {label}"),
            // All code of the line may be that of an inlined function.
            None => assert!(frames[0].inlined, "{what}: {label}: no code at the line"),
        }
        assert!(program.symbols.function_at(Path::new("elsewhere.c"), program.line_of(label)).is_none());
        let text =
            program.symbols.source_line(called.file.as_deref().unwrap(), called.line.unwrap()).unwrap();
        assert!(text.contains(&format!("\"{label}\"")), "{what}: {label}: {text}");
        let column = called.column.unwrap_or_else(|| panic!("{what}: {label} has no column")) as usize;
        let at_column = &text[column - 1..];
        // g++ means a call by its bracket.
        let call = ["mark(", "here(", "(\""].iter().any(|call| at_column.starts_with(call));
        assert!(call, "{what}: {label}: column {column} is at `{at_column}`");
    }
    for (label, name, type_name) in shows {
        let variable = program.symbols.variable(program.data[*label]);
        let variable = variable.unwrap_or_else(|| panic!("{what}: {label} is no variable"));
        assert_eq!(variable.to_string(), *name, "{what}: {label}");
        let found = variable.type_name.as_deref().unwrap();
        assert!(found.contains(type_name), "{what}: {label} is {found}");
        let file = program.symbols.shown_path(variable.file.as_deref().unwrap());
        assert!(["bank.c", "bank.cc", "bank.rs"].contains(&&*file), "{what}: {label}: {file}");
        let line =
            program.symbols.source_line(variable.file.as_deref().unwrap(), variable.line.unwrap()).unwrap();
        let last_name = variable.name.rsplit("::").next().unwrap();
        assert!(line.contains(last_name), "{what}: {label} is declared in `{line}`");
    }
}

const C_MARKS: &Marks = &[("deposit", &["deposit"]), ("inlined", &["audit", "deposit"]), ("main", &["main"])];
const C_SHOWS: &Shows = &[
    ("calls", "deposit::calls", "long"),
    ("account", "account.id", "int"),
    ("account.balance", "account.balance", "long"),
    ("account.lock", "account.lock", "pthread_mutex_t"),
    ("account.raw.whole", "account.raw.whole", "long"),
    ("table[3].lock", "table[3].lock", "pthread_mutex_t"),
    ("table[7].balance", "table[7].balance", "long"),
    ("grid[2][1]", "grid[2][1]", "int"),
    ("hits", "hits", "int"),
    ("deadline.tv_nsec", "deadline.tv_nsec", "long"),
    ("plain", "plain", "volatile long"),
    ("handler", "handler", "void(*)(int, char *)"),
];

const CPP_MARKS: &Marks = &[
    ("deposit", &["bank::Account::deposit"]),
    ("operator", &["Less::operator<"]),
    ("lambda", &["bank::Ledger::open::{lambda}"]),
    ("main", &["main"]),
];
const CPP_SHOWS: &Shows = &[
    ("largest", "bank::Account<int>::deposit::largest", "int"),
    ("tries", "bank::Ledger::open::tries", "int"),
    ("accounts[2].balance", "bank::accounts[2].balance", "int"),
    ("accounts[1].id", "bank::accounts[1].id", "long"),
    ("accounts[3].lock", "bank::accounts[3].lock", "std::mutex"),
    ("total", "bank::Account<int>::total", "int"),
    ("opened", "bank::Ledger::opened", "int"),
    ("ledger.entries[2]", "(anonymous namespace)::ledger.entries[2]", "int"),
    ("ledger.last.second", "(anonymous namespace)::ledger.last.second", "long"),
    ("ledger.version", "(anonymous namespace)::ledger.version", "std::atomic<int>"),
    ("hidden", "(anonymous namespace)::hidden", "int"),
    ("numbers", "numbers", "std::vector<int>"),
    ("title", "title", "std::string"),
];

const RUST_MARKS: &Marks = &[
    ("closure", &["bank::here", "bank::main::{closure"]),
    ("fmt", &["bank::here", "bank::vault::Vault::fmt"]),
    ("open", &["bank::here", "bank::vault::Vault::open"]),
    ("main", &["bank::here", "bank::main"]),
];
const RUST_SHOWS: &Shows = &[
    ("COUNTER", "bank::COUNTER", "core::sync::atomic::Atomic"),
    ("DOORS[2]", "bank::vault::DOORS[2]", "core::sync::atomic::Atomic"),
    ("OPENED", "bank::vault::open::OPENED", "core::sync::atomic::Atomic"),
    ("TABLE[1]", "bank::TABLE[1]", "std::sync::poison::mutex::Mutex<bank::Account>"),
    ("TABLE[2].balance", "bank::TABLE[2].balance", "i64"),
    ("TABLE[2].history[4]", "bank::TABLE[2].history[4]", "u16"),
    ("PAIR.1", "bank::PAIR.1", "u64"),
];

fn check(compiler: &str, source: &str, flags: &[&str], after: impl FnOnce(&Path)) {
    let (marks, shows) = match source {
        "bank.c" => (C_MARKS, C_SHOWS),
        "bank.cc" => (CPP_MARKS, CPP_SHOWS),
        _ => (RUST_MARKS, RUST_SHOWS),
    };
    let program = Program::build(compiler, source, flags, after);
    check_program(&program, marks, shows, &format!("{compiler} {flags:?}"));
    let what = format!("{compiler} {flags:?}");
    let storage = program.symbols.thread_local_base(program.strand).unwrap();
    let mut thread_locals = 0;
    for (label, address) in &program.data {
        if label == "stack" || label.starts_with("tls:") {
            assert_eq!(program.symbols.variable(*address), None, "{what}: {label}");
        }
        if let Some(name) = label.strip_prefix("tls:") {
            let variable = program.symbols.thread_local(0, address - storage, 4).unwrap();
            assert_eq!(variable.to_string(), name, "{what}");
            assert!(variable.line.is_some() && variable.type_name.is_some(), "{what}: {variable:?}");
            thread_locals += 1;
        }
    }
    assert!(thread_locals > 0);
}

const COMMON: &[&[&str]] = &[
    &["-O0", "-g"],
    &["-O2", "-g"],
    &["-O1", "-gdwarf-4"],
    &["-O2", "-gdwarf-5"],
    &["-O0", "-gdwarf-4", "-gsplit-dwarf"],
    &["-O2", "-gdwarf-5", "-gsplit-dwarf"],
    &["-O2", "-g", "-fdebug-types-section"],
    &["-O1", "-gdwarf-4", "-fdebug-types-section"],
    &["-O1", "-g", "-gz=zlib"],
    &["-O1", "-g", "-no-pie", "-fno-pie"],
];

#[test]
fn gcc_c() {
    COMMON.iter().for_each(|flags| check("gcc", "bank.c", flags, |_| ()));
    check("gcc", "bank.c", &["-O2", "-g", "-flto", "-fno-fat-lto-objects"], |_| ());
}

#[test]
fn gcc_cpp() {
    COMMON.iter().for_each(|flags| check("g++", "bank.cc", flags, |_| ()));
}

#[test]
fn clang_c() {
    if has("clang-19") {
        COMMON.iter().for_each(|flags| check("clang-19", "bank.c", flags, |_| ()));
        check("clang-19", "bank.c", &["-O2", "-gdwarf-5", "-gsplit-dwarf=single"], |_| ());
    }
}

#[test]
fn clang_cpp() {
    if has("clang++-19") {
        COMMON.iter().for_each(|flags| check("clang++-19", "bank.cc", flags, |_| ()));
    }
}

#[test]
fn rust() {
    for flags in [
        &["-g"][..],
        &["-g", "-O"],
        &["-g", "-Copt-level=1", "-Csplit-debuginfo=packed"],
        &["-g", "-Csplit-debuginfo=unpacked"],
        &["-g", "-Csymbol-mangling-version=v0"],
    ] {
        check("rustc", "bank.rs", flags, |_| ());
    }
}

#[test]
fn locals_have_names_types_and_places() {
    for (compiler, flags) in [
        ("gcc", &["-O0", "-g"][..]),
        ("gcc", &["-O2", "-g"]),
        ("gcc", &["-O1", "-gdwarf-4"]),
        ("gcc", &["-O2", "-g", "-gsplit-dwarf"]),
        ("clang-19", &["-O0", "-g"]),
        ("clang-19", &["-O2", "-g", "-gsplit-dwarf"]),
    ] {
        if !has(compiler) {
            continue;
        }
        let what = format!("{compiler} {flags:?}");
        let program = Program::build(compiler, "bank.c", flags, |_| ());
        let locals = program.symbols.locals(Pc::Return(program.pcs["inlined"]));
        let told: Vec<_> =
            locals.iter().map(|local| (&*local.name, local.parameter, local.type_name.as_deref())).collect();
        let parameters = [("a", true, Some("account_t *")), ("amount", true, Some("int"))];
        assert!(parameters.iter().all(|parameter| told.contains(parameter)), "{what}: {told:?}");
        let calls = locals.iter().find(|local| local.name == "calls").unwrap();
        assert_eq!(calls.place, Storage::Static(program.data["calls"]), "{what}");
        assert_eq!((calls.size, calls.parameter), (Some(8), false), "{what}");
        if flags[0] == "-O0" {
            // The inlined function's first, then those of the one around it; an optimiser may drop some.
            assert_eq!(told[..3], [parameters[0], parameters[0], parameters[1]], "{what}");
            for local in locals.iter().filter(|local| local.parameter) {
                assert!(
                    matches!(local.place, Storage::Stack(_) | Storage::Memory { .. }),
                    "{what}: {local:?}"
                );
            }
        }
    }
    let program = Program::build("rustc", "bank.rs", &["-g"], |_| ());
    let locals = program.symbols.locals(Pc::Return(program.pcs["open"]));
    let label = locals.iter().find(|local| local.name == "label").unwrap();
    assert_eq!(label.type_name.as_deref(), Some("&core::ffi::c_str::CStr"));
    let vault = locals.iter().find(|local| local.name == "self").unwrap();
    assert_eq!(vault.type_name.as_deref(), Some("&bank::vault::Vault<i32>"));
    assert!(vault.place.to_string().starts_with("at "), "{}", vault.place);
}

#[test]
fn debug_info_in_a_file_of_its_own() {
    let stripped = |folder: &Path| {
        run(folder, "objcopy", &["--only-keep-debug", "bank", "bank.debug"]);
        run(folder, "objcopy", &["--strip-all", "--add-gnu-debuglink=bank.debug", "bank"]);
    };
    check("gcc", "bank.c", &["-O2", "-g"], stripped);
    check("gcc", "bank.c", &["-O2", "-g", "-Wl,--build-id=none"], stripped);
    check("g++", "bank.cc", &["-O1", "-g"], |folder| {
        stripped(folder);
        std::fs::create_dir(folder.join(".debug")).unwrap();
        std::fs::rename(folder.join("bank.debug"), folder.join(".debug/bank.debug")).unwrap();
    });
}

#[test]
fn a_debug_file_found_by_its_build_id() {
    const FOLDER: &str = "DEBUGINFOD_CACHE_PATH";
    if std::env::var_os("SYMBOLS_BUILD_ID_TEST").is_none() {
        // The folder is the environment's, so the test runs again in a process of its own.
        let folder = tempfile::tempdir().unwrap();
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "languages::a_debug_file_found_by_its_build_id"])
            .env("SYMBOLS_BUILD_ID_TEST", "1")
            .env(FOLDER, folder.path())
            .status();
        assert!(status.unwrap().success());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        return;
    }
    check("gcc", "bank.c", &["-O2", "-g", "-Wl,--build-id"], |built| {
        let id = threadbare_symbols::build_id(&built.join("bank")).unwrap().unwrap();
        let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let folder = Path::new(&std::env::var_os(FOLDER).unwrap()).join(id);
        std::fs::create_dir(&folder).unwrap();
        let debug = folder.join("debuginfo");
        run(built, "objcopy", &["--only-keep-debug", "bank", debug.to_str().unwrap()]);
        run(built, "objcopy", &["--strip-all", "bank"]);
    });
}

#[test]
fn debug_info_shared_by_several_files() {
    if !has("dwz") {
        return;
    }
    check("gcc", "bank.c", &["-O2", "-gdwarf-4", "-Wl,--build-id"], |folder| {
        std::fs::copy(folder.join("bank"), folder.join("other")).unwrap();
        run(folder, "dwz", &["-m", "shared.debug", "bank", "other"]);
        assert!(folder.join("shared.debug").exists());
    });
}

#[test]
fn a_debug_file_of_another_build_is_not_taken() {
    for flags in [&["-O2", "-g"][..], &["-O2", "-g", "-Wl,--build-id=none"]] {
        let program = Program::build("gcc", "bank.c", flags, |folder| {
            run(folder, "objcopy", &["--only-keep-debug", "bank", "bank.debug"]);
            run(folder, "objcopy", &["--strip-debug", "--add-gnu-debuglink=bank.debug", "bank"]);
            let probe = crate::program::sources().join("probe.c");
            run(folder, "gcc", &["-g", "-shared", "-fPIC", probe.to_str().unwrap(), "-o", "bank.debug"]);
        });
        assert!(!program.symbols.has_debug_info(0), "{flags:?}");
    }
}

#[test]
fn split_debug_info_in_a_package() {
    // Each tool with what it understands; rustc's own packages are in the test of Rust.
    for (compiler, version, tool) in [("gcc", "-gdwarf-4", "dwp"), ("clang-19", "-gdwarf-5", "llvm-dwp-19")] {
        if has(compiler) && has(tool) {
            check(compiler, "bank.c", &["-O2", version, "-gsplit-dwarf"], |folder| {
                run(folder, tool, &["-e", "bank", "-o", "bank.dwp"]);
                std::fs::remove_file(folder.join("bank.dwo")).unwrap();
            });
        }
    }
}

#[test]
fn split_debug_info_that_moved_with_the_program() {
    // The folder the compiler wrote to is no longer there; the file beside the program is.
    let flags = ["-O2", "-g", "-gsplit-dwarf", "-fdebug-prefix-map=/=/gone/"];
    let program = Program::build("gcc", "bank.c", &flags, |_| ());
    let frames = program.symbols.frames(Pc::Return(program.pcs["inlined"]));
    let names: Vec<_> = frames.iter().map(|frame| frame.function()).collect();
    assert_eq!(names, ["audit", "deposit"]);
    assert!(frames[0].file.as_ref().unwrap().starts_with("/gone/"));
    assert_eq!(program.symbols.source_line(frames[0].file.as_deref().unwrap(), 1), None);
    let variable = program.symbols.variable(program.data["table[3].lock"]).unwrap();
    assert_eq!(variable.to_string(), "table[3].lock");
}
