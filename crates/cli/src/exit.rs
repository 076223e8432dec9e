//! How a command ends: exit codes, and errors for the reader.

use crate::said;
use std::error::Error as StdError;
use std::process::ExitCode;
use threadbare_report::Style;

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

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Trouble {
    exit: Exit,
    message: String,
    help: Option<String>,
}

impl Trouble {
    /// The request or the set-up is wrong.
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Trouble {
        Trouble { exit: Exit::Usage, message: message.into(), help: Some(help.into()) }
    }

    /// Threadbare failed.
    pub(crate) fn internal(message: impl Into<String>, help: impl Into<String>) -> Trouble {
        Trouble { exit: Exit::Internal, message: message.into(), help: Some(help.into()) }
    }

    /// An option of ours among another program's is wrong.
    pub(crate) fn refused(error: &clap::Error) -> Trouble {
        let text = error.render().to_string();
        let said = text.split("\n\n").next().unwrap_or_default();
        let message = said.trim_start_matches("error: ").trim_end().to_owned();
        Trouble::usage(message, "`threadbare run --help` shows Threadbare's options")
    }

    /// The same, with what was being done.
    pub(crate) fn during(mut self, what: &str) -> Trouble {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Writes it to standard error.
    pub(crate) fn tell(&self) -> Exit {
        let style = Style::for_stream(&std::io::stderr());
        if !self.message.is_empty() {
            said::note(&format!("{}: {}", style.bad("error"), said::clean(&self.message)));
        }
        if let Some(help) = &self.help {
            said::note(&format!("{}: {}", style.strong("help"), said::clean(help)));
        }
        self.exit
    }
}

/// Ends with what the reader of the command line says: help that was asked for, or what is wrong.
pub(crate) fn refuse(error: &clap::Error, program: &str) -> ExitCode {
    if !error.use_stderr() {
        return match said::written(error.print()) {
            Ok(()) => Exit::Clean.into(),
            Err(trouble) => trouble.tell().into(),
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

/// A message with its causes.
pub(crate) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl From<threadbare_explore::Error> for Trouble {
    fn from(error: threadbare_explore::Error) -> Trouble {
        let exit = if error.is_internal() { Exit::Internal } else { Exit::Usage };
        Trouble { exit, message: chain(&error), help: error.help() }
    }
}

impl From<threadbare_toolchain::Error> for Trouble {
    fn from(error: threadbare_toolchain::Error) -> Trouble {
        if matches!(&error, threadbare_toolchain::Error::CargoFailed { status } if status.code().is_some_and(|code| code != 0))
        {
            // cargo has told why; what is left to say is whose word it was.
            let help =
                "that was cargo's word, before Threadbare ran anything: mend it, then try again".to_owned();
            return Trouble { exit: Exit::Usage, message: String::new(), help: Some(help) };
        }
        Trouble { exit: Exit::Usage, message: chain(&error), help: error.help() }
    }
}

impl From<threadbare_toolchain::ProgramProblem> for Trouble {
    fn from(problem: threadbare_toolchain::ProgramProblem) -> Trouble {
        Trouble { exit: Exit::Usage, message: chain(&problem), help: Some(problem.help()) }
    }
}
