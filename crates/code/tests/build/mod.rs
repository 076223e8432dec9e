//! Programs for the tests, built as the tool builds them (the flags of `crates/toolchain`), but against the referee's hooks
//! (`tests/referee/hooks.c`): they are read, and some are run to see what reads see.

#![expect(unreachable_pub, reason = "every test has its own copy of this module")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// What compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compiler {
    Gcc,
    Clang,
    Rustc,
}

/// Functions that gcc would make accesses of which its pass announces nothing (`crates/toolchain/src/specs.rs`).
const CALLS: [&str; 12] = [
    "memcpy", "memmove", "mempcpy", "memset", "memcmp", "bcmp", "bzero", "bcopy", "strcpy", "stpcpy",
    "strncpy", "strcat",
];

/// What instruments Rust (`crates/toolchain/src/cargo/flags.rs`).
const PASSES: [&str; 7] = [
    "-Cpasses=forceattrs",
    "-Cpasses=dce",
    "-Cpasses=tsan-module",
    "-Cpasses=tsan",
    "-Cllvm-args=-force-attribute=sanitize_thread",
    "-Cllvm-args=-tsan-instrument-read-before-write",
    "-Cstrip=none",
];

struct Hooks {
    folder: tempfile::TempDir,
}

fn hooks() -> &'static Path {
    static HOOKS: OnceLock<Hooks> = OnceLock::new();
    let hooks = HOOKS.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/referee/hooks.c");
        let library = folder.path().join("libthreadbare_rt.so");
        run(Command::new("gcc")
            .args(["-shared", "-fPIC", "-O1", "-fno-builtin", "-o"])
            .arg(library)
            .arg(source)
            .arg("-ldl"));
        Hooks { folder }
    });
    hooks.folder.path()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
}

/// The program of a clang, if the machine has one.
fn clang(cxx: bool) -> Option<String> {
    let base = if cxx { "clang++" } else { "clang" };
    let names =
        std::iter::once(base.to_owned()).chain((14..30).rev().map(|version| format!("{base}-{version}")));
    names
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// Builds a source file; `None` if the machine has no such compiler.
pub fn build(source: &Path, compiler: Compiler, level: u8, folder: &Path, more: &[&str]) -> Option<PathBuf> {
    let hooks = hooks();
    let stem = source.file_stem().expect("a name").to_string_lossy();
    let object = folder.join(format!("{stem}-{compiler:?}-{level}.o"));
    let program = folder.join(format!("{stem}-{compiler:?}-{level}"));
    if compiler == Compiler::Rustc {
        let mut command = Command::new("rustc");
        command.args(["--edition=2024", "-g", &format!("-Copt-level={level}")]).args(PASSES).args(more);
        command.arg(format!("-Lnative={}", hooks.display())).arg("-ldylib=threadbare_rt");
        command.arg(format!("-Clink-arg=-Wl,-rpath,{}", hooks.display()));
        run(command.arg("-o").arg(&program).arg(source));
        return Some(program);
    }
    let cxx = source.extension().is_some_and(|extension| extension == "cc");
    let name = match compiler {
        Compiler::Clang => clang(cxx)?,
        _ => if cxx { "g++" } else { "gcc" }.to_owned(),
    };
    let mut command = Command::new(&name);
    command.args(["-g", "-c", &format!("-O{level}")]).args(more);
    if cxx {
        command.arg("-std=c++20");
    }
    if compiler == Compiler::Clang {
        command.args(["-Xclang", "-fsanitize=thread", "-mllvm", "-tsan-instrument-read-before-write"]);
    } else {
        command
            .args(["-fsanitize=thread", "-Wno-tsan"])
            .args(CALLS.map(|name| format!("-fno-builtin-{name}")));
    }
    run(command.arg("-o").arg(&object).arg(source));
    let mut link = Command::new(&name);
    link.args(more).arg("-o").arg(&program).arg(&object);
    run(link.arg(hooks.join("libthreadbare_rt.so")).args(["-lpthread", "-Wl,-rpath"]).arg(hooks));
    Some(program)
}
