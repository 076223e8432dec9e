//! Running commands from the root of the checkout.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a chore gives back: a message for the reader when it failed.
pub(crate) type Outcome<T = ()> = Result<T, String>;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// A command in the root folder.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// The cargo that runs us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments)
}

fn words(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let arguments = command.get_args().map(|word| word.to_string_lossy().into_owned());
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Shows a command, runs it, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Outcome {
    match run_for_code(command)? {
        0 => Ok(()),
        code => Err(format!("`{}` ended with {code}", words(command))),
    }
}

/// Shows a command, runs it, and gives its exit code.
pub(crate) fn run_for_code(command: &mut Command) -> Outcome<i32> {
    let shown = words(command);
    println!("$ {shown}");
    let status = command.status().map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    Ok(status.code().unwrap_or(128))
}

/// Builds the tool, optimised, and gives its path. `THREADBARE_BIN` names one that is built already.
pub(crate) fn build_tool() -> Outcome<PathBuf> {
    if let Some(built) = std::env::var_os("THREADBARE_BIN") {
        return Ok(root().join(built));
    }
    run(&mut cargo(&["build", "--release", "--package", "threadbare"]))?;
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    };
    Ok(target.join("release").join("threadbare"))
}
