//! `threadbare cc` and `threadbare c++`: drop-in compilers.
//!
//! The real compiler gets the user's arguments, untouched and in order, plus what is needed: the pass of
//! `-fsanitize=thread` in every compilation, and in every link our library first and the sanitizer's own runtime
//! not at all. Then it takes the place of this process, so that its exit code, its signals and its output are its own.
//!
//! - gcc takes the additions from a specs file (see [`crate::specs`]).
//! - clang takes them as arguments: the pass through `-Xclang`, which the driver does not look into and so links no
//!   runtime for, and still links the one of `-fsanitize=undefined` when the user has that.
//!
//! The user's own `-fsanitize=thread` is undone for the driver; his `-fno-sanitize=thread` is obeyed, that file gets
//! no instrumentation. Debug information is the user's choice: without `-g` a finding has addresses and function
//! names only. Frame pointers are not forced: the pass reports calls and returns itself.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::{Arguments, Stage};
use crate::compiler::{Compiler, Family, Language};
use crate::error::{Error, Result};
use crate::runtime::{LIBRARY_NAME, PlacedRuntime};
use crate::specs::{self, Additions};
use crate::{Environment, atomic_file, cargo};

/// What a C or C++ test may ask of Threadbare.
const HEADER: &[u8] = include_bytes!("../../threadbare/include/threadbare.h");

/// One call of `threadbare cc` or `threadbare c++`.
#[derive(Debug, Clone)]
pub struct CompilerCall<'a> {
    /// Which of the two.
    pub language: Language,
    /// The arguments after `cc` or `c++`.
    pub arguments: &'a [OsString],
    /// The folder the compiler works in.
    pub folder: &'a Path,
    /// The variables it sees; they choose the compiler.
    pub env: &'a Environment,
    /// The library that programs are linked against.
    pub runtime: &'a PlacedRuntime,
}

impl CompilerCall<'_> {
    /// Becomes the real compiler. Comes back only when that fails.
    pub fn exec(&self) -> Error {
        match self.command() {
            Ok(mut command) => {
                let program = command.get_program().to_string_lossy().into_owned();
                Error::Start { program, source: command.exec() }
            }
            Err(error) => error,
        }
    }

    /// The command that [`exec`](Self::exec) would become.
    pub fn command(&self) -> Result<Command> {
        let compiler = Compiler::choose(self.language, self.env)?;
        let mut command = compiler.command(self.env);
        command.current_dir(self.folder);
        let asked = Arguments::read(self.arguments, self.folder);
        if asked.stage == Stage::Query || cargo::is_for_build_script(self.env) {
            command.args(self.arguments);
            return Ok(command);
        }
        refuse_impossible(&asked)?;

        let additions =
            Additions { instrument: asked.thread_sanitizer != Some(false), link: asked.stage == Stage::Link };
        match compiler.family(self.env)? {
            Family::Gcc => {
                let mut flag = OsString::from("-specs=");
                flag.push(specs::place(self.runtime, additions)?);
                command.arg(flag).arg("-idirafter").arg(self.headers()?);
            }
            Family::Clang => {
                command.args(clang_additions(self.runtime.link_folder(), additions));
                command.args(["--start-no-unused-arguments", "-idirafter"]).arg(self.headers()?);
                command.arg("--end-no-unused-arguments");
            }
        }
        command.args(options(self.arguments));
        if asked.thread_sanitizer == Some(true) {
            command.arg("-fno-sanitize=thread");
        }
        command.args(after_options(self.arguments));
        Ok(command)
    }
}

impl CompilerCall<'_> {
    /// The folder in which `threadbare.h` is found, if the program has none of its own.
    fn headers(&self) -> Result<PathBuf> {
        let folder = self.runtime.cache().join("include");
        let path = folder.join("threadbare.h");
        match atomic_file::place(&path, HEADER, 0o644) {
            Ok(()) => Ok(folder),
            Err(source) => Err(Error::File { action: "write", path, source }),
        }
    }
}

fn refuse_impossible(asked: &Arguments) -> Result<()> {
    if let Some(sanitizer) = &asked.other_sanitizer {
        return Err(Error::OtherSanitizer { sanitizer: sanitizer.clone() });
    }
    if let Some(flag) = &asked.width_flag {
        return Err(Error::WordSize { flag: flag.clone() });
    }
    match &asked.static_flag {
        Some(flag) if asked.stage == Stage::Link => Err(Error::StaticLink { flag: flag.clone() }),
        _ => Ok(()),
    }
}

fn clang_additions(link_folder: &Path, additions: Additions) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["--start-no-unused-arguments".into()];
    if additions.instrument {
        arguments.extend(["-Xclang".into(), "-fsanitize=thread".into()]);
        // Without it a read right before a write of the same memory has no call: nobody could come in between.
        arguments.extend(["-mllvm".into(), "-tsan-instrument-read-before-write".into()]);
    }
    if additions.link {
        let library: PathBuf = link_folder.join(LIBRARY_NAME);
        arguments.push("-Wl,--push-state,--no-as-needed".into());
        arguments.push(library.into());
        arguments.push("-Wl,--pop-state".into());
        // Not -Wl,-rpath,DIR: the folder's name may hold a comma.
        let rpath =
            ["-Xlinker".into(), "-rpath".into(), "-Xlinker".into(), link_folder.as_os_str().to_owned()];
        arguments.extend(rpath);
    }
    arguments.push("--end-no-unused-arguments".into());
    arguments
}

/// The arguments before `--`, after which clang takes every word for a file.
fn options(arguments: &[OsString]) -> &[OsString] {
    &arguments[..separator(arguments)]
}

fn after_options(arguments: &[OsString]) -> &[OsString] {
    &arguments[separator(arguments)..]
}

fn separator(arguments: &[OsString]) -> usize {
    arguments.iter().position(|argument| argument == OsStr::new("--")).unwrap_or(arguments.len())
}

/// Runs the compiler that `arguments` (those after `cc` or `c++`) ask for in the place of this process, with this
/// process's folder and variables. Comes back only when that fails.
pub fn become_compiler(language: Language, arguments: &[OsString], runtime: &PlacedRuntime) -> Error {
    let env = Environment::of_process();
    match env::current_dir() {
        Ok(folder) => CompilerCall { language, arguments, folder: &folder, env: &env, runtime }.exec(),
        Err(source) => Error::File { action: "enter the current folder", path: ".".into(), source },
    }
}
