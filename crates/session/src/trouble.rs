//! Why something could not be done: what is wrong, whose fault it is, and what to do about it.

use std::error::Error as StdError;
use std::{fmt, io};

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The request or the set-up is wrong.
    Request,
    /// Threadbare itself failed.
    Own,
}

/// Why something could not be done.
#[derive(Debug)]
pub struct Trouble {
    fault: Fault,
    message: String,
    help: Option<String>,
}

impl Trouble {
    /// The request or the set-up is wrong.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Trouble {
        Trouble { fault: Fault::Request, message: message.into(), help: Some(help.into()) }
    }

    /// Threadbare failed.
    pub fn internal(message: impl Into<String>, help: impl Into<String>) -> Trouble {
        Trouble { fault: Fault::Own, message: message.into(), help: Some(help.into()) }
    }

    /// The same, with what was being done.
    #[must_use]
    pub fn during(mut self, what: &str) -> Trouble {
        self.message = format!("{what}: {}", self.message);
        self
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        self.fault
    }

    /// What is wrong, with its causes; empty where somebody else has said it already.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Trouble {}

/// A system error with what was tried.
pub fn cannot(what: &str, error: &io::Error) -> Trouble {
    Trouble::usage(format!("cannot {what}: {}", chain(error)), "check the path and its permissions")
}

/// A message with its causes.
pub fn chain(error: &dyn StdError) -> String {
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
        let fault = if error.is_internal() { Fault::Own } else { Fault::Request };
        Trouble { fault, message: chain(&error), help: error.help() }
    }
}

impl From<threadbare_toolchain::Error> for Trouble {
    fn from(error: threadbare_toolchain::Error) -> Trouble {
        if matches!(&error, threadbare_toolchain::Error::CargoFailed { status } if status.code().is_some_and(|code| code != 0))
        {
            // cargo has told why; what is left to say is whose word it was.
            let help = "that was cargo's word, before Threadbare ran anything: mend it, then try again";
            return Trouble::usage("", help);
        }
        Trouble { fault: Fault::Request, message: chain(&error), help: error.help() }
    }
}

impl From<threadbare_toolchain::ProgramProblem> for Trouble {
    fn from(problem: threadbare_toolchain::ProgramProblem) -> Trouble {
        Trouble { fault: Fault::Request, message: chain(&problem), help: Some(problem.help()) }
    }
}
