//! `cargo threadbare`: the same for cargo packages.

use std::process::ExitCode;

fn main() -> ExitCode {
    threadbare_cli::cargo_main()
}
