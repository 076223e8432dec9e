//! `cargo xtask demo`: the README's quick starts, from nothing to bugs found, replayed and shown.

use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run_for_code};
use std::path::Path;

fn expect(code: i32, came: i32, what: &str) -> Outcome {
    if code == came { Ok(()) } else { Err(format!("{what} was to end with {code}, but did with {came}")) }
}

/// The chore.
pub(crate) fn run_demo() -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let work = std::env::temp_dir().join(format!("threadbare-demo-{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|error| format!("cannot make {}: {error}", work.display()))?;
    let outcome = show(&tool, &work);
    let _ = std::fs::remove_dir_all(&work);
    outcome
}

/// The commands of the README, in its order.
fn show(tool: &Path, work: &Path) -> Outcome {
    for source in ["bank.c", "bank-locked.c", "transfer.cc"] {
        let from = root().join("examples").join(source);
        std::fs::copy(&from, work.join(source))
            .map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
    }
    let call = |arguments: &[&str]| {
        println!();
        run_for_code(command(tool, arguments).current_dir(work))
    };

    println!("\n--- C: a data race, and what it leads to ---");
    expect(0, call(&["cc", "-g", "-O1", "-pthread", "bank.c", "-o", "bank"])?, "the compiler")?;
    expect(1, call(&["run", "--", "./bank"])?, "the campaign")?;
    expect(1, call(&["run", "--races", "off", "--", "./bank"])?, "the campaign")?;
    let finding = kept(work, "assertion")?;
    expect(1, call(&["replay", &finding, "--trace"])?, "the replay")?;

    println!("\n--- C: the same with a lock ---");
    expect(0, call(&["cc", "-g", "-O1", "-pthread", "bank-locked.c", "-o", "bank-locked"])?, "the compiler")?;
    expect(0, call(&["run", "--", "./bank-locked"])?, "the campaign")?;

    println!("\n--- C++: a deadlock ---");
    expect(0, call(&["c++", "-g", "-O1", "-pthread", "transfer.cc", "-o", "transfer"])?, "the compiler")?;
    expect(1, call(&["run", "--", "./transfer"])?, "the campaign")?;

    println!("\n--- a Rust package ---");
    let out = work.join("findings");
    let code = run_for_code(
        command(tool.with_file_name("cargo-threadbare"), &["threadbare", "test", "--out"])
            .arg(&out)
            .current_dir(root().join("examples/bank-rs"))
            .env("CARGO_TARGET_DIR", work.join("target")),
    )?;
    expect(1, code, "`cargo threadbare test`")?;
    println!("\nall bugs were found, and the lost update was replayed");
    Ok(())
}

/// The id of a finding of this kind.
fn kept(work: &Path, kind: &str) -> Outcome<String> {
    std::fs::read_dir(work.join(".threadbare"))
        .map_err(|error| format!("no findings were kept: {error}"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with(kind))
        .find_map(|name| name.strip_suffix(".schedule").map(str::to_owned))
        .ok_or_else(|| format!("no schedule of kind {kind} was kept"))
}
