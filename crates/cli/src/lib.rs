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

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use exit::{Exit, Trouble};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use threadbare_session::{coverage, hide, kept, quiet, refine, regress, runtime as embedded};
use threadbare_toolchain::Language;

/// Finds, replays and explains concurrency bugs in unmodified Rust, C and C++ programs.
#[derive(Parser, Debug)]
#[command(name = "threadbare", version, after_long_help = options::EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Run(Box<commands::run::Args>),
    Replay(commands::replay::Args),
    Shrink(commands::shrink::Args),
    Trace(commands::trace::Args),
    Report(commands::report::Args),
    List(commands::list::Args),
    Coverage(commands::coverage::Args),
    Invariants(Box<commands::invariants::Args>),
    Futures(Box<commands::futures::Args>),
    Generate(Box<commands::generate::Args>),
    Inputs(Box<commands::inputs::Args>),
    Cc(commands::cc::Args),
    /// Compile and link C++ for Threadbare: `threadbare c++` takes what g++ and clang++ take.
    #[command(name = "c++", long_about = None, disable_help_flag = true)]
    Cxx(commands::cc::Args),
    Rustc(commands::rustc::Args),
    RuntimePath(commands::runtime_path::Args),
}

/// Cargo packages under Threadbare, on the stable toolchain and without a change to them.
#[derive(Parser, Debug)]
#[command(name = "cargo threadbare", bin_name = "cargo threadbare", version, max_term_width = 100)]
struct CargoCli {
    #[command(subcommand)]
    command: CargoCommand,
}

#[derive(Subcommand, Debug)]
#[command(after_long_help = commands::cargo::EXAMPLES)]
enum CargoCommand {
    /// Make a campaign of every test of a package.
    ///
    /// Takes Threadbare's options (see `threadbare run --help`) and those of `cargo test`.
    #[command(after_long_help = commands::cargo::EXAMPLES)]
    Test(commands::cargo::Args),
    /// Make a campaign of the program that `cargo run` would run.
    ///
    /// Takes Threadbare's options (see `threadbare run --help`) and those of `cargo run`.
    #[command(after_long_help = commands::cargo::EXAMPLES)]
    Run(commands::cargo::Args),
    /// Build a package with instrumentation, for `threadbare run`.
    ///
    /// Takes the options of `cargo build`, and prints the programs made.
    #[command(after_long_help = commands::cargo::EXAMPLES)]
    Build(commands::cargo::Args),
    Generate(Box<commands::cargo_generate::Args>),
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
        Ok((cli, given)) => finish(run(cli.command, &given)),
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
        Ok(cli) => finish(match cli.command {
            CargoCommand::Test(args) => commands::cargo_test::run(&args),
            CargoCommand::Run(args) => commands::cargo_run::run(&args),
            CargoCommand::Build(args) => commands::cargo_build::run(&args),
            CargoCommand::Generate(args) => commands::cargo_generate::run(&args),
        }),
        Err(error) => exit::refuse(&error, "cargo threadbare"),
    }
}

fn run(command: Command, given: &[OsString]) -> Result<Exit, Trouble> {
    match command {
        Command::Run(args) => commands::run::run(&args, given),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Shrink(args) => commands::shrink::run(&args),
        Command::Trace(args) => commands::trace::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::List(args) => commands::list::run(&args),
        Command::Coverage(args) => commands::coverage::run(&args),
        Command::Invariants(args) => commands::invariants::run(&args, given),
        Command::Futures(args) => commands::futures::run(&args),
        Command::Generate(args) => commands::generate::run(&args),
        Command::Inputs(args) => commands::inputs::run(&args),
        Command::Cc(args) => commands::cc::run(Language::C, &args),
        Command::Cxx(args) => commands::cc::run(Language::Cxx, &args),
        Command::Rustc(args) => commands::rustc::run(&args),
        Command::RuntimePath(args) => commands::runtime_path::run(&args),
    }
}

fn finish(result: Result<Exit, Trouble>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(trouble) => exit::tell(&trouble).into(),
    }
}
