//! `cargo xtask test`: everything a change must pass.

use crate::packages;
use crate::steps::{Outcome, build_tool, cargo, root, run};
use std::path::Path;
use std::process::Command;

/// The chore; `full` asks for every run that the project promises (hours) instead of a sample (minutes).
pub(crate) fn run_tests(full: bool) -> Outcome {
    packages::ensure(&[packages::COMPILERS, packages::TESTS])?;
    let runtime = root().join("crates/rt");
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(cargo(&["fmt", "--check"]).current_dir(&runtime))?;
    let tool = build_tool()?;
    let runtime_library = once_built(&tool);
    let mut clippy = cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"]);
    clippy.envs(runtime_library.clone());
    run(&mut clippy)?;
    run(cargo(&["clippy", "--", "--deny", "warnings"])
        .current_dir(&runtime)
        .env("CARGO_TARGET_DIR", root().join("target/rt")))?;
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    tests.env("THREADBARE_BIN", tool).envs(runtime_library);
    if full {
        tests.env("THREADBARE_FULL", "1");
    }
    run(&mut tests)
}

/// Where nobody builds again, the runtime that is in the tool need not be built a second time for the tests' own library. (Elsewhere the next plain
/// `cargo test` would build all that depends on it anew.)
fn once_built(tool: &Path) -> Option<(&'static str, String)> {
    std::env::var_os("CI")?;
    let told = Command::new(tool).arg("runtime-path").output().ok().filter(|told| told.status.success())?;
    Some(("THREADBARE_RT_PREBUILT", String::from_utf8(told.stdout).ok()?.trim().to_owned()))
}
