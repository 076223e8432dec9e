//! `cargo threadbare`: the name under which cargo looks for the tool. It is the program beside this one, which goes by the name that it
//! is called with; so the tool and the runtime in it are there once.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let beside = std::env::current_exe().map(|own| own.with_file_name("threadbare"));
    let call = |tool| Command::new(tool).arg0("cargo-threadbare").args(std::env::args_os().skip(1)).exec();
    let error = beside.map_or_else(|error| error, call);
    eprintln!("error: cannot start the program `threadbare` beside `cargo-threadbare`: {error}");
    eprintln!(
        "help: `cargo install --locked --path crates/cli` in Threadbare's checkout puts both into one folder"
    );
    ExitCode::from(2)
}
