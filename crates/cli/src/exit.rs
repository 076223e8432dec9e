//! How a command ends: exit codes, and errors for the reader.

use crate::said;
use std::process::ExitCode;
use threadbare_report::Style;
use threadbare_session::Fault;

pub(crate) use threadbare_session::trouble::{Trouble, chain};

/// The exit codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Nothing was found.
    Clean = 0,
    /// A failure was found, or reproduced.
    Failure = 1,
    /// The request or the set-up is wrong.
    Usage = 2,
    /// Threadbare itself failed.
    Internal = 3,
}

impl Exit {
    /// The end of a campaign that has failed or not, or of which nothing can be said.
    pub(crate) fn of(failed: bool, says_nothing: bool) -> Exit {
        match (failed, says_nothing) {
            (true, _) => Exit::Failure,
            (false, true) => Exit::Usage,
            (false, false) => Exit::Clean,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// An option of ours among another program's is wrong.
pub(crate) fn refused(error: &clap::Error) -> Trouble {
    let text = error.render().to_string();
    let said = text.split("\n\n").next().unwrap_or_default();
    let message = said.trim_start_matches("error: ").trim_end().to_owned();
    Trouble::usage(message, "`threadbare run --help` shows Threadbare's options")
}

/// Writes to standard error why a command could not do its work.
pub(crate) fn tell(trouble: &Trouble) -> Exit {
    let style = Style::for_stream(&std::io::stderr());
    if !trouble.message().is_empty() {
        said::note(&format!("{}: {}", style.bad("error"), said::clean(trouble.message())));
    }
    if let Some(help) = trouble.help() {
        said::note(&format!("{}: {}", style.strong("help"), said::clean(help)));
    }
    match trouble.fault() {
        Fault::Request => Exit::Usage,
        Fault::Own => Exit::Internal,
    }
}

/// Ends with what the reader of the command line says: help that was asked for, or what is wrong.
pub(crate) fn refuse(error: &clap::Error, program: &str) -> ExitCode {
    if !error.use_stderr() {
        return match said::written(error.print()) {
            Ok(()) => Exit::Clean.into(),
            Err(trouble) => tell(&trouble).into(),
        };
    }
    let text = error.render().to_string();
    let wrong = text.split("\n\nFor more information").next().unwrap_or_default();
    let message = said::clean(wrong.trim_end());
    said::note(&format!(
        "{message}\nhelp: `{program} help` and `{program} COMMAND --help` show what there is"
    ));
    Exit::Usage.into()
}
