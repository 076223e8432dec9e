//! What can be wrong with a request to build, and what the reader can do next.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::program::ProgramProblem;

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A request or a set-up that is wrong. Every one of them ends the tool with exit code 2.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No cache folder can be written.
    #[error("cannot put the runtime library into {}", .folder.display())]
    CacheUnwritable {
        /// The folder that was tried first.
        folder: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The environment names no place for a cache.
    #[error("no folder for the runtime library: neither XDG_CACHE_HOME nor HOME is an absolute path")]
    CacheNowhere,
    /// `THREADBARE_RUNTIME` names something else than a runtime library.
    #[error("cannot use the runtime library {}: {reason}", .path.display())]
    RuntimeOverride {
        /// The value of the variable.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// None of the usual compilers is installed.
    #[error("no {language} compiler found: looked for {tried}")]
    NoCompiler {
        /// `C` or `C++`.
        language: &'static str,
        /// The names looked for.
        tried: String,
        /// The variable that chooses one.
        variable: &'static str,
    },
    /// The chosen compiler is not there.
    #[error("the compiler `{program}` that {variable} names was not found")]
    CompilerMissing {
        /// The variable that named it.
        variable: &'static str,
        /// What it named.
        program: String,
    },
    /// The chosen compiler is this tool itself.
    #[error("{variable} names threadbare itself")]
    CompilerIsThreadbare {
        /// The variable that named it.
        variable: &'static str,
    },
    /// The compiler is neither gcc nor clang.
    #[error("`{program}` is neither gcc nor clang")]
    CompilerUnknown {
        /// The compiler.
        program: String,
    },
    /// A static link was asked for.
    #[error("cannot link statically ({flag}): the runtime is a shared library")]
    StaticLink {
        /// The flag that asked for it.
        flag: String,
    },
    /// A program for another word size was asked for.
    #[error("cannot build for another word size ({flag}): the runtime is 64-bit")]
    WordSize {
        /// The flag that asked for it.
        flag: String,
    },
    /// Another sanitizer was asked for.
    #[error("cannot build with the {sanitizer} sanitizer: its runtime and ours do not fit in one program")]
    OtherSanitizer {
        /// The sanitizer's name, as in the compiler's flag.
        sanitizer: String,
    },
    /// A program could not be started.
    #[error("cannot run `{program}`")]
    Start {
        /// The program.
        program: String,
        /// Why it failed.
        source: io::Error,
    },
    /// Reading or writing a file failed.
    #[error("cannot {action} {}", .path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// cargo said no; it has told the reader why.
    #[error("cargo failed ({status})")]
    CargoFailed {
        /// How cargo ended.
        status: ExitStatus,
    },
    /// cargo did not describe the package.
    #[error("cargo cannot describe the package")]
    CargoMetadata {
        /// cargo's own words.
        source: cargo_metadata::Error,
    },
    /// cargo's messages could not be read.
    #[error("cannot read cargo's messages")]
    CargoMessages {
        /// Why it failed.
        source: io::Error,
    },
    /// cargo's configuration could not be read.
    #[error("cannot read cargo's configuration")]
    CargoConfig {
        /// Why it failed.
        source: cargo_config2::Error,
    },
    /// `--target` names another machine than this one.
    #[error("cannot build for {wanted}: programs are run on this machine, which is {host}")]
    OtherTarget {
        /// The triple asked for.
        wanted: String,
        /// The triple of this machine.
        host: String,
    },
    /// The runtime does not exist for this kind of machine.
    #[error("cannot build on {host}: the runtime needs Linux with glibc")]
    UnsupportedHost {
        /// The triple of this machine.
        host: String,
    },
    /// Only doctests were asked for.
    #[error("doctests cannot be run under control")]
    DocTests,
    /// cargo built the package but had nothing to run.
    #[error("cargo has no program to run")]
    NothingToRun,
    /// A test binary did not list its tests.
    #[error("{} did not list its tests ({status}){}", .program.display(), shown(.output))]
    Listing {
        /// The test binary.
        program: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// What it wrote to stderr.
        output: String,
    },
    /// The program cannot be run under control.
    #[error(transparent)]
    Program(#[from] ProgramProblem),
}

fn shown(output: &str) -> String {
    match output.trim_end() {
        "" => String::new(),
        text => format!(":\n{text}"),
    }
}

impl Error {
    /// The next step, for the `help:` line. cargo's own failures need none: cargo has spoken.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::CacheUnwritable { .. } | Self::CacheNowhere => {
                "set XDG_CACHE_HOME to a folder that you can write".into()
            }
            Self::RuntimeOverride { .. } => {
                "unset THREADBARE_RUNTIME to use the library that threadbare carries".into()
            }
            Self::NoCompiler { variable, language, .. } => {
                let package = if *language == "C" { "gcc" } else { "g++" };
                format!("install one (Debian: `apt-get install {package}`) or name it with {variable}")
            }
            Self::CompilerMissing { variable, .. } => {
                format!("install it, or unset {variable} to use the system's compiler")
            }
            Self::CompilerIsThreadbare { variable } => {
                format!("set {variable} to the real compiler, for example {variable}=gcc")
            }
            Self::CompilerUnknown { .. } => {
                "use gcc 12 or clang 14, or newer: `THREADBARE_CC=gcc THREADBARE_CXX=g++`".into()
            }
            Self::StaticLink { flag } => format!("link without {flag}"),
            Self::WordSize { flag } => format!("build without {flag}"),
            Self::OtherSanitizer { sanitizer } => {
                format!("build without the {sanitizer} sanitizer; `undefined` may stay")
            }
            Self::Start { program, .. } => format!("check that `{program}` is installed and may be run"),
            Self::File { .. } => "check the folder's permissions and the free space".into(),
            Self::CargoFailed { .. } | Self::CargoMetadata { .. } | Self::CargoMessages { .. } => {
                return None;
            }
            Self::CargoConfig { .. } => {
                "`cargo build` reads the same files: make it work first (.cargo/config.toml, --config)".into()
            }
            Self::OtherTarget { host, .. } => format!("leave --target out, or use `--target {host}`"),
            Self::UnsupportedHost { .. } => {
                "use a toolchain for Linux with glibc, for example x86_64-unknown-linux-gnu".into()
            }
            Self::DocTests => {
                "run them with `cargo test --doc`; the other tests: `cargo threadbare test`".into()
            }
            Self::NothingToRun => "name a program with --bin or --example".into(),
            Self::Listing { program, .. } => format!("see why with `{} --list`", program.display()),
            Self::Program(problem) => problem.help(),
        };
        Some(help)
    }
}
