//! `cargo xtask test`: everything a change must pass.

use crate::packages;
use crate::steps::{Outcome, build_tool, cargo, root, run};

/// The chore; `full` asks for every run that the project promises (hours) instead of a sample (minutes).
pub(crate) fn run_tests(full: bool) -> Outcome {
    packages::ensure(&[packages::COMPILERS, packages::TESTS])?;
    let runtime = root().join("crates/rt");
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(cargo(&["fmt", "--check"]).current_dir(&runtime))?;
    let tool = build_tool()?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    run(cargo(&["clippy", "--", "--deny", "warnings"])
        .current_dir(&runtime)
        .env("CARGO_TARGET_DIR", root().join("target/rt")))?;
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    tests.env("THREADBARE_BIN", tool);
    if full {
        tests.env("THREADBARE_FULL", "1");
    }
    run(&mut tests)
}
