//! Every kind of file that cannot be run under control is told apart, with a next step.

mod stub;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use stub::{Bench, hooks, needed, text, words};
use threadbare_toolchain::cc::CompilerCall;
use threadbare_toolchain::{Language, ProgramProblem, check_program, find_program};

const SOURCE: &str = "int g; int main(void) { int *volatile p = &g; *p = 1; return 0; }\n";

fn bench() -> Bench {
    let bench = Bench::new();
    fs::write(bench.path("a.c"), SOURCE).unwrap();
    bench
}

/// Builds without threadbare.
fn plain(bench: &Bench, line: &str) {
    let output =
        Command::new("gcc").args(line.split_whitespace()).current_dir(bench.path("")).output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output));
}

fn ours(bench: &Bench, line: &str) {
    let (arguments, folder) = (words(line), bench.path(""));
    let call = CompilerCall {
        language: Language::C,
        arguments: &arguments,
        folder: &folder,
        env: &bench.env,
        runtime: &bench.runtime,
    };
    let output = call.command().unwrap().output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output));
}

fn problem(bench: &Bench, name: &str) -> ProgramProblem {
    let problem = check_program(&bench.path(name), &bench.env).unwrap_err();
    assert!(problem.to_string().contains(name), "{problem}");
    assert!(!problem.help().is_empty());
    problem
}

fn executable(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn programs_of_ours_pass_however_they_are_stripped() {
    let bench = bench();
    for flags in ["", "-s", "-no-pie -fno-pie", "-O2 -flto"] {
        ours(&bench, &format!("{flags} a.c -o prog"));
        check_program(&bench.path("prog"), &bench.env).unwrap();
    }
}

#[test]
fn plain_static_and_sanitized_programs() {
    let bench = bench();
    plain(&bench, "a.c -o plain");
    assert!(matches!(problem(&bench, "plain"), ProgramProblem::NotInstrumented(_)));
    for flags in ["-static", "-static-pie"] {
        plain(&bench, &format!("{flags} a.c -o static"));
        assert!(matches!(problem(&bench, "static"), ProgramProblem::Static(_)), "{flags}");
    }
    plain(&bench, "-fsanitize=thread a.c -o sanitized");
    let found = problem(&bench, "sanitized");
    assert!(
        matches!(&found, ProgramProblem::RealSanitizer { evidence, .. } if evidence.contains("libtsan")),
        "{found:?}"
    );
    plain(&bench, "-fsanitize=thread -static-libtsan -rdynamic a.c -o inside");
    let found = problem(&bench, "inside");
    assert!(
        matches!(&found, ProgramProblem::RealSanitizer { evidence, .. } if evidence.contains("__tsan_init")),
        "{found:?}"
    );
}

#[test]
fn a_plain_program_with_an_instrumented_library_passes() {
    let bench = bench();
    fs::write(bench.path("lib.c"), "int g; int work(int *p) { return *p += 1; }\n").unwrap();
    fs::write(bench.path("uses.c"), "int work(int *); int main(void) { int x = 0; return work(&x) - 1; }\n")
        .unwrap();
    ours(&bench, "-shared -fPIC lib.c -o libwork.so");
    plain(&bench, "uses.c libwork.so -Wl,-rpath,$ORIGIN -o linked");
    assert!(hooks(&bench.path("linked")).is_empty());
    check_program(&bench.path("linked"), &bench.env).unwrap();

    // Without a search path of its own the library is found by the variable.
    plain(&bench, "uses.c libwork.so -o unlinked");
    assert_eq!(needed(&bench.path("unlinked"))[0], "libwork.so");
    assert!(matches!(problem(&bench, "unlinked"), ProgramProblem::NotInstrumented(_)));
    let mut env = bench.env.clone();
    env.set("LD_LIBRARY_PATH", bench.path(""));
    check_program(&bench.path("unlinked"), &env).unwrap();

    let error = check_program(&bench.path("libwork.so"), &bench.env).unwrap_err();
    assert!(matches!(error, ProgramProblem::Library(_)), "{error:?}");
}

#[test]
fn files_that_are_no_programs() {
    let bench = bench();
    assert!(matches!(problem(&bench, "missing"), ProgramProblem::NotFound(_)));
    fs::create_dir(bench.path("folder")).unwrap();
    assert!(matches!(problem(&bench, "folder"), ProgramProblem::NotAFile(_)));
    assert!(matches!(problem(&bench, "a.c"), ProgramProblem::NotAProgram(_)));
    plain(&bench, "-c a.c -o a.o");
    assert!(matches!(problem(&bench, "a.o"), ProgramProblem::NotLinked(_)));
    executable(&bench.path("script"), b"#!/usr/bin/env python3 -u\nprint()\n");
    let found = problem(&bench, "script");
    assert!(
        matches!(&found, ProgramProblem::Script { interpreter, .. } if interpreter == "/usr/bin/env python3 -u")
    );
    executable(&bench.path("text"), b"hello");
    assert!(matches!(problem(&bench, "text"), ProgramProblem::NotAProgram(_)));
    executable(&bench.path("empty"), b"");
    assert!(matches!(problem(&bench, "empty"), ProgramProblem::NotAProgram(_)));
}

#[test]
fn other_machines_and_damaged_files() {
    let bench = bench();
    ours(&bench, "a.c -o prog");
    let bytes = fs::read(bench.path("prog")).unwrap();
    let mut other = bytes.clone();
    other[18] = 243;
    executable(&bench.path("riscv"), &other);
    let found = problem(&bench, "riscv");
    assert!(
        matches!(&found, ProgramProblem::OtherMachine { machine, .. } if machine == "RISC-V"),
        "{found:?}"
    );
    let mut narrow = bytes.clone();
    narrow[4] = 1;
    executable(&bench.path("narrow"), &narrow);
    let found = problem(&bench, "narrow");
    assert!(
        matches!(&found, ProgramProblem::OtherMachine { machine, .. } if machine == "32-bit x86"),
        "{found:?}"
    );
    // However much is missing, the answer is a problem or none, never a crash.
    for length in (0..bytes.len()).step_by(97) {
        executable(&bench.path("cut"), &bytes[..length]);
        _ = check_program(&bench.path("cut"), &bench.env);
    }
    executable(&bench.path("cut"), &bytes[..40]);
    assert!(matches!(problem(&bench, "cut"), ProgramProblem::NotAProgram(_)));
    fs::set_permissions(bench.path("prog"), fs::Permissions::from_mode(0o4755)).unwrap();
    assert!(matches!(problem(&bench, "prog"), ProgramProblem::SetUser(_)));
}

#[test]
fn names_are_found_as_the_shell_finds_them() {
    let bench = bench();
    let mut env = bench.env.clone();
    env.set("PATH", bench.path(""));
    executable(&bench.path("tool"), b"#!/bin/sh\n");
    assert_eq!(find_program(Path::new("tool"), &env).unwrap(), bench.path("tool"));
    assert_eq!(find_program(Path::new("./x/y"), &env).unwrap(), PathBuf::from("./x/y"));
    let error = find_program(Path::new(OsStr::new("nothing")), &env).unwrap_err();
    assert_eq!(error.to_string(), "nothing was not found");
}
