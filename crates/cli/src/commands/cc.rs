//! `threadbare cc` and `threadbare c++`: the C and C++ compilers, with what Threadbare needs added.

use crate::embedded;
use crate::exit::{Exit, Trouble};
use std::ffi::OsString;
use threadbare_toolchain::{Environment, Language, cc};

/// Compile and link C for Threadbare: `threadbare cc` takes what gcc and clang take.
///
/// `CC="threadbare cc" make` works. THREADBARE_CC names the real compiler.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// The compiler's arguments.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes the compiler.
pub(crate) fn run(language: Language, args: &Args) -> Result<Exit, Trouble> {
    let env = Environment::of_process();
    let runtime = embedded::place(&env)?;
    Err(cc::become_compiler(language, &args.arguments, &runtime).into())
}
