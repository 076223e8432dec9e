//! `threadbare rustc`: rustc with the instrumentation and the runtime added, for a single file without cargo.

use crate::embedded;
use crate::exit::{Exit, Trouble};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;
use threadbare_toolchain::Environment;
use threadbare_toolchain::cargo::{KEEPS_NAMES, PASSES};

/// Compile a Rust file for Threadbare: `threadbare rustc` takes what rustc takes.
///
/// RUSTC names the real compiler. For packages use `cargo threadbare build`.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// The compiler's arguments.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes the compiler.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let env = Environment::of_process();
    let runtime = embedded::place(&env)?;
    let rustc = env.get("RUSTC").map_or_else(|| OsString::from("rustc"), ToOwned::to_owned);
    let folder = runtime.link_folder();
    let with_folder = |flag: &str| {
        let mut flag = OsString::from(flag);
        flag.push(folder);
        flag
    };
    let error = Command::new(&rustc)
        .args(PASSES)
        .arg(KEEPS_NAMES)
        .arg(with_folder("-Lnative="))
        .arg("-ldylib=threadbare_rt")
        .args(["-Clink-arg=-Xlinker", "-Clink-arg=-rpath", "-Clink-arg=-Xlinker"])
        .arg(with_folder("-Clink-arg="))
        .args(&args.arguments)
        .exec();
    Err(Trouble::usage(
        format!("cannot start `{}`: {error}", rustc.to_string_lossy()),
        "install Rust (https://rustup.rs), or name the compiler in RUSTC",
    ))
}
