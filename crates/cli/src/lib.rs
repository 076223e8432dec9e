//! The command line of Threadbare: one file a command. It reads and prints; what is done in between is the library's
//! (`crates/session`), and the analyses'.
//!
//! Results go to standard output, progress and diagnostics to standard error. Exit codes: 0 nothing found, 1 a
//! failure was found or reproduced, 2 the request or the set-up is wrong, 3 Threadbare itself failed.

// What is said goes through `said`: cleaned, and without a panic where nobody takes it.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod api;
mod asked;
mod commands;
mod conduct;
mod cost;
mod exit;
mod futures;
mod gdb;
mod generate;
mod given;
mod inputs;
mod invariants;
mod noise_options;
mod options;
mod output;
mod said;
mod streams;
mod values;

use clap::{CommandFactory, FromArgMatches, Parser};
use exit::{Exit, Trouble};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use threadbare_session::{coverage, hide, kept, quiet, refine, regress, runtime as embedded};

/// Finds, replays and explains concurrency bugs in unmodified Rust, C and C++ programs.
#[derive(Parser, Debug)]
#[command(name = "threadbare", version, after_long_help = options::EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

/// Cargo packages under Threadbare, on the stable toolchain and without a change to them.
#[derive(Parser, Debug)]
#[command(name = "cargo threadbare", bin_name = "cargo threadbare", version, max_term_width = 100)]
struct CargoCli {
    #[command(subcommand)]
    command: commands::CargoCommand,
}

/// The program `threadbare`, which `cargo-threadbare` calls by its own name.
pub fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    if Path::new(&name).file_name().is_some_and(|name| name == "cargo-threadbare") {
        cargo_main()
    } else {
        tool_main()
    }
}

fn tool_main() -> ExitCode {
    let read = Cli::command().try_get_matches().and_then(|matches| {
        Ok((Cli::from_arg_matches(&matches)?, given::options(&Cli::command(), &matches)))
    });
    match read {
        Ok((cli, given)) => finish(commands::run_of(cli.command, &given)),
        Err(error) => exit::refuse(&error, "threadbare"),
    }
}

/// The program `cargo-threadbare`. Cargo calls it with the name of the command as the first argument; build scripts
/// call it as the compiler, as they would call `threadbare`.
fn cargo_main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "cc" || first == "c++") {
        return tool_main();
    }
    if arguments.get(1).is_some_and(|first| first == "threadbare") {
        arguments.remove(1);
    }
    match CargoCli::try_parse_from(arguments) {
        Ok(cli) => finish(commands::run_of_cargo(cli.command)),
        Err(error) => exit::refuse(&error, "cargo threadbare"),
    }
}

fn finish(result: Result<Exit, Trouble>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(trouble) => exit::tell(&trouble).into(),
    }
}
