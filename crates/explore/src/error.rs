//! What can go wrong around a run, in words for the reader.

use std::io;
use std::path::PathBuf;

/// An error of the driver.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program was built with another compiler command.
    #[error("`{}` was not built with Threadbare: it has no instrumented code", .0.display())]
    NotInstrumented(PathBuf),
    /// Something the system refused.
    #[error("cannot {what}")]
    System {
        /// What was tried.
        what: String,
        /// Why.
        source: io::Error,
    },
    /// The program ended before its `main`.
    #[error("`{}` ended before its main was reached ({end}){output}", program.display())]
    DiedEarly {
        /// Its file.
        program: PathBuf,
        /// How it ended.
        end: String,
        /// What it wrote, indented, or nothing.
        output: String,
    },
    /// The program hangs before its `main`.
    #[error("`{}` did not reach its main within {seconds} s{output}", program.display())]
    StartTimeout {
        /// Its file.
        program: PathBuf,
        /// How long it was waited for.
        seconds: u64,
        /// What it wrote, indented, or nothing.
        output: String,
    },
    /// The runtime in the program speaks another layout.
    #[error("the runtime in the program speaks layout version {theirs}, this threadbare speaks {ours}")]
    Version {
        /// What the runtime said.
        theirs: u64,
        /// What the driver has.
        ours: u32,
    },
    /// The fork server went away.
    #[error("the fork server of `{}` died during run {run} ({end})", program.display())]
    ServerDied {
        /// The program.
        program: PathBuf,
        /// The run.
        run: u64,
        /// How the server ended.
        end: String,
    },
    /// The fork server could not fork.
    #[error("run {run} could not be started")]
    ForkFailed {
        /// The run.
        run: u64,
        /// Why.
        source: io::Error,
    },
    /// The run was given up because the campaign ends.
    #[error("the run was given up")]
    Cancelled,
    /// A campaign's journal cannot be used.
    #[error("the campaign in `{}` cannot go on: {why}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Another process makes the campaign.
    #[error("this campaign is under way already{} (`{}`)", process.map(|id| format!(" in process {id}")).unwrap_or_default(), path.display())]
    Busy {
        /// The journal.
        path: PathBuf,
        /// The process, if the system tells.
        process: Option<u32>,
    },
    /// The output folder cannot be used.
    #[error("cannot write to the output folder `{}`", path.display())]
    Store {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |source| Error::System { what, source }
    }

    /// What to do next.
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Error::NotInstrumented(_) => {
                "build it with `threadbare cc`, `threadbare c++`, `threadbare rustc` or `cargo threadbare build`"
            }
            Error::DiedEarly { .. } => "does it run by itself? the runtime takes control just before `main`",
            Error::StartTimeout { .. } => {
                "does it run by itself? static constructors that wait are not controlled"
            }
            Error::Version { .. } => "build the program again with this version of threadbare",
            Error::ForkFailed { .. } => "the system is out of processes or memory: try fewer `--jobs`",
            Error::Journal { .. } => {
                "begin it anew with `threadbare run -- PROG ARGS`; its findings are kept"
            }
            Error::Busy { .. } => "wait for its end, or keep this one apart with `--out DIR`",
            Error::Store { .. } => "choose another folder with `--out DIR`",
            Error::System { .. } | Error::ServerDied { .. } | Error::Cancelled => {
                return None;
            }
        };
        Some(text.to_owned())
    }

    /// Whether somebody may have killed the program's processes: what was tried may work the next time.
    pub(crate) fn is_by_a_kill(&self) -> bool {
        const KILL: i32 = 9;
        match self {
            Error::ServerDied { .. } => true,
            Error::DiedEarly { end, .. } => *end == crate::verdict::signal_name(KILL),
            _ => false,
        }
    }

    /// Whether Threadbare is at fault, not the request.
    pub fn is_internal(&self) -> bool {
        matches!(self, Error::ServerDied { .. })
    }
}
