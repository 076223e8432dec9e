//! What the chores need from the system: installed when we may, named exactly when we may not.

use crate::steps::Outcome;
use std::process::{Command, Stdio};

/// A program and the Debian package it comes from.
pub(crate) struct Need {
    program: &'static str,
    package: &'static str,
    /// Without it the chore cannot do its work at all.
    required: bool,
}

/// A C and C++ compiler.
pub(crate) const COMPILERS: &[Need] = &[
    Need { program: "gcc", package: "gcc", required: true },
    Need { program: "g++", package: "g++", required: true },
];

/// What the tests use besides: another compiler, build tools, the debugger.
pub(crate) const TESTS: &[Need] = &[
    Need { program: "make", package: "make", required: true },
    Need { program: "cmake", package: "cmake", required: false },
    Need { program: "clang-19", package: "clang-19", required: false },
    Need { program: "gdb", package: "gdb", required: false },
    Need { program: "valgrind", package: "valgrind", required: false },
];

/// What looks up addresses besides us.
pub(crate) const SYMBOL_TOOLS: &[Need] =
    &[Need { program: "addr2line", package: "binutils", required: true }];

fn runs(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Installs what is missing, or says what to install.
pub(crate) fn ensure(lists: &[&[Need]]) -> Outcome {
    let needs = || lists.iter().copied().flatten();
    let missing = || needs().filter(|need| !runs(need.program, &["--version"]));
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
