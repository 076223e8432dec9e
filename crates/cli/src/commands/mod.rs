//! The commands, one file each: their names are here and nowhere else.

pub(crate) mod cargo;
pub(crate) mod cargo_build;
pub(crate) mod cargo_generate;
pub(crate) mod cargo_run;
pub(crate) mod cargo_test;
pub(crate) mod cc;
pub(crate) mod coverage;
pub(crate) mod futures;
pub(crate) mod generate;
pub(crate) mod inputs;
pub(crate) mod invariants;
pub(crate) mod list;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runtime_path;
pub(crate) mod rustc;
pub(crate) mod shrink;
pub(crate) mod trace;

use crate::exit::{Exit, Trouble};
use clap::Subcommand;
use std::ffi::OsString;
use threadbare_toolchain::Language;

/// The commands of `threadbare`.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Run(Box<run::Args>),
    Replay(replay::Args),
    Shrink(shrink::Args),
    Trace(trace::Args),
    Report(report::Args),
    List(list::Args),
    Coverage(coverage::Args),
    Invariants(Box<invariants::Args>),
    Futures(Box<futures::Args>),
    Generate(Box<generate::Args>),
    Inputs(Box<inputs::Args>),
    Cc(cc::Args),
    /// Compile and link C++ for Threadbare: `threadbare c++` takes what g++ and clang++ take.
    #[command(name = "c++", long_about = None, disable_help_flag = true)]
    Cxx(cc::Args),
    Rustc(rustc::Args),
    RuntimePath(runtime_path::Args),
}

/// The commands of `cargo threadbare`.
#[derive(Subcommand, Debug)]
#[command(after_long_help = cargo::EXAMPLES)]
pub(crate) enum CargoCommand {
    /// Make a campaign of every test of a package.
    ///
    /// Takes Threadbare's options (see `threadbare run --help`) and those of `cargo test`.
    #[command(after_long_help = cargo::EXAMPLES)]
    Test(cargo::Args),
    /// Make a campaign of the program that `cargo run` would run.
    ///
    /// Takes Threadbare's options (see `threadbare run --help`) and those of `cargo run`.
    #[command(after_long_help = cargo::EXAMPLES)]
    Run(cargo::Args),
    /// Build a package with instrumentation, for `threadbare run`.
    ///
    /// Takes the options of `cargo build`, and prints the programs made.
    #[command(after_long_help = cargo::EXAMPLES)]
    Build(cargo::Args),
    Generate(Box<cargo_generate::Args>),
}

/// Does what was asked for.
pub(crate) fn run_of(command: Command, given: &[OsString]) -> Result<Exit, Trouble> {
    match command {
        Command::Run(args) => run::run(&args, given),
        Command::Replay(args) => replay::run(&args),
        Command::Shrink(args) => shrink::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Report(args) => report::run(&args),
        Command::List(args) => list::run(&args),
        Command::Coverage(args) => coverage::run(&args),
        Command::Invariants(args) => invariants::run(&args, given),
        Command::Futures(args) => futures::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Inputs(args) => inputs::run(&args),
        Command::Cc(args) => cc::run(Language::C, &args),
        Command::Cxx(args) => cc::run(Language::Cxx, &args),
        Command::Rustc(args) => rustc::run(&args),
        Command::RuntimePath(args) => runtime_path::run(&args),
    }
}

/// The same for cargo's.
pub(crate) fn run_of_cargo(command: CargoCommand) -> Result<Exit, Trouble> {
    match command {
        CargoCommand::Test(args) => cargo_test::run(&args),
        CargoCommand::Run(args) => cargo_run::run(&args),
        CargoCommand::Build(args) => cargo_build::run(&args),
        CargoCommand::Generate(args) => cargo_generate::run(&args),
    }
}
