//! `cargo xtask demo`: from nothing to a bug found, replayed and shown, in C and in Rust.

use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run, run_for_code};

fn expect(code: i32, what: &str) -> Outcome {
    if code == 1 {
        Ok(())
    } else {
        Err(format!("{what} was to exit with 1 (a failure found), but did with {code}"))
    }
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

fn show(tool: &std::path::Path, work: &std::path::Path) -> Outcome {
    let source = root().join("examples/bank.c");
    let source = source.to_string_lossy();

    println!("\n--- a C program ---");
    run(command(tool, &["cc", "-g", "-O1", "-pthread", &source, "-o", "bank"]).current_dir(work))?;
    let code = run_for_code(command(tool, &["run", "--runs", "1000", "--", "./bank"]).current_dir(work))?;
    expect(code, "the campaign")?;
    let finding = std::fs::read_dir(work.join(".threadbare"))
        .map_err(|error| format!("no findings were kept: {error}"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .find_map(|name| name.strip_suffix(".schedule").map(str::to_owned))
        .ok_or("no schedule was kept")?;
    println!();
    expect(run_for_code(command(tool, &["replay", &finding]).current_dir(work))?, "the replay")?;
    println!();
    expect(run_for_code(command(tool, &["replay", &finding, "--trace"]).current_dir(work))?, "the replay")?;

    println!("\n--- a Rust package ---");
    let package = root().join("examples/bank-rs");
    let cargo_tool = tool.with_file_name("cargo-threadbare");
    let out = work.join("findings");
    let code = run_for_code(
        command(cargo_tool, &["threadbare", "test", "--out", &out.to_string_lossy()])
            .current_dir(package)
            .env("CARGO_TARGET_DIR", work.join("target")),
    )?;
    expect(code, "`cargo threadbare test`")?;
    println!("\nboth bugs were found and replayed");
    Ok(())
}
