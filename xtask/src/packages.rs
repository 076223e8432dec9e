//! What the chores need from the system: installed when we may, named exactly when we may not.

use crate::steps::Outcome;
use std::process::{Command, Stdio};

/// A program or a library, and the Debian package it comes from.
pub(crate) struct Need {
    /// What it is called.
    program: &'static str,
    /// A command of the shell's that succeeds where it is; without one, the program tells its version.
    is_there: Option<&'static str>,
    package: &'static str,
    /// Without it the chore cannot do its work at all.
    required: bool,
}

const fn program(program: &'static str, package: &'static str, required: bool) -> Need {
    Need { program, is_there: None, package, required }
}

/// A C and C++ compiler.
pub(crate) const COMPILERS: &[Need] = &[program("gcc", "gcc", true), program("g++", "g++", true)];

/// What the tests use besides: another compiler, build tools, the debugger.
pub(crate) const TESTS: &[Need] = &[
    program("make", "make", true),
    program("cmake", "cmake", false),
    program("clang-19", "clang-19", false),
    // Debian has the libraries of clang's own sanitizers apart.
    Need {
        program: "libclang_rt.ubsan",
        is_there: Some(r#"ls "$(clang-19 -print-resource-dir)"/lib/*/libclang_rt.ubsan_standalone*"#),
        package: "libclang-rt-19-dev",
        required: false,
    },
    program("gdb", "gdb", false),
    program("valgrind", "valgrind", false),
];

/// What tells a process's largest memory.
pub(crate) const RESIDENT: &[Need] = &[program("time", "time", true)];

/// What looks up addresses besides us.
pub(crate) const SYMBOL_TOOLS: &[Need] = &[program("addr2line", "binutils", true)];

fn runs(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

impl Need {
    fn is_met(&self) -> bool {
        match self.is_there {
            Some(command) => runs("sh", &["-c", command]),
            None => runs(self.program, &["--version"]),
        }
    }
}

/// Installs what is missing, or says what to install.
pub(crate) fn ensure(lists: &[&[Need]]) -> Outcome {
    let needs = || lists.iter().copied().flatten();
    let missing = || needs().filter(|need| !need.is_met());
    let packages: Vec<&str> = missing().map(|need| need.package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    if runs("apt-get", &["--version"]) && runs("sh", &["-c", "test $(id -u) = 0"]) {
        println!("$ apt-get install -y {list}");
        runs("apt-get", &["update"]);
        for package in &packages {
            runs("apt-get", &["install", "-y", "--no-install-recommends", package]);
        }
    }
    for need in missing() {
        if need.required {
            return Err(format!(
                "`{}` is missing\nhelp: install it first, on Debian: sudo apt-get install {list}",
                need.program
            ));
        }
        println!(
            "note: `{}` is missing, so the tests that need it are left out (Debian package {})",
            need.program, need.package
        );
    }
    Ok(())
}
