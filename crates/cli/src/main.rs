//! `threadbare`: the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    threadbare_cli::main()
}
