//! `cargo xtask test`: everything a change must pass.

use crate::packages;
use crate::steps::{Outcome, build_tool, cargo, root, run};

/// The chore.
pub(crate) fn run_tests() -> Outcome {
    packages::ensure(&[packages::COMPILERS, packages::TESTS])?;
    let runtime = root().join("crates/rt");
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(cargo(&["fmt", "--check"]).current_dir(&runtime))?;
    let tool = build_tool()?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]))?;
    run(cargo(&["clippy", "--", "--deny", "warnings"])
        .current_dir(&runtime)
        .env("CARGO_TARGET_DIR", root().join("target/rt")))?;
    run(cargo(&["test", "--workspace", "--no-fail-fast"]).env("THREADBARE_BIN", tool))
}
