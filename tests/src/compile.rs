//! Building programs of the corpus, with Threadbare and without, each once.

use crate::corpus::{Language, Program};
use crate::tool;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A compiler of the corpus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Compiler {
    /// gcc and g++.
    Gcc,
    /// clang 19 and clang++ 19.
    Clang,
    /// rustc.
    Rustc,
}

impl Compiler {
    /// The word in directives and test names.
    pub fn name(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc",
            Compiler::Clang => "clang",
            Compiler::Rustc => "rustc",
        }
    }

    /// The real compiler's command.
    fn command(self, language: Language) -> &'static str {
        match (self, language) {
            (Compiler::Rustc, _) | (_, Language::Rust) => "rustc",
            (Compiler::Gcc, Language::C) => "gcc",
            (Compiler::Gcc, Language::Cxx) => "g++",
            (Compiler::Clang, Language::C) => "clang-19",
            (Compiler::Clang, Language::Cxx) => "clang++-19",
        }
    }
}

/// The compilers that this machine has for a program, and the program's directives allow.
pub fn compilers(program: &Program) -> Vec<Compiler> {
    if program.language == Language::Rust {
        return vec![Compiler::Rustc];
    }
    let allowed = |compiler: &Compiler| {
        program.compilers.is_empty() || program.compilers.iter().any(|name| name == compiler.name())
    };
    let here = if has_clang() { &[Compiler::Gcc, Compiler::Clang][..] } else { &[Compiler::Gcc] };
    here.iter().copied().filter(allowed).collect()
}

/// Whether clang 19 is there.
pub fn has_clang() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| Command::new("clang++-19").arg("--version").output().is_ok())
}

/// Builds a program with Threadbare, unless that was done before, and gives the executable.
///
/// # Errors
/// In words, with what the compiler said.
pub fn instrumented(program: &Program, compiler: Compiler, folder: &Path) -> Result<PathBuf, String> {
    let wrapper = match program.language {
        Language::C => "cc",
        Language::Cxx => "c++",
        Language::Rust => "rustc",
    };
    let mut command = tool::command([wrapper]);
    let variable = if program.language == Language::C { "THREADBARE_CC" } else { "THREADBARE_CXX" };
    if program.language != Language::Rust {
        command.env(variable, compiler.command(program.language));
    }
    let built = fs::metadata(tool::threadbare()).and_then(|file| file.modified()).ok();
    build(program, command, folder, (compiler, built))
}

/// Builds a program without Threadbare, unless that was done before, and gives the executable.
///
/// # Errors
/// In words, with what the compiler said.
pub fn plain(program: &Program, folder: &Path) -> Result<PathBuf, String> {
    let compiler = if program.language == Language::Rust { Compiler::Rustc } else { Compiler::Gcc };
    build(program, Command::new(compiler.command(program.language)), folder, "plain")
}

/// Builds a program with the compiler's own ThreadSanitizer, unless that was done before, and gives the executable.
///
/// # Errors
/// In words, with what the compiler said.
pub fn sanitized(program: &Program, compiler: Compiler, folder: &Path) -> Result<PathBuf, String> {
    let mut command = Command::new(compiler.command(program.language));
    command.arg("-fsanitize=thread");
    build(program, command, folder, ("sanitized", compiler))
}

fn build(program: &Program, mut command: Command, folder: &Path, with: impl Hash) -> Result<PathBuf, String> {
    let source = fs::read(&program.path).map_err(|error| format!("{}: {error}", program.name))?;
    let mut hasher = DefaultHasher::new();
    (&program.name, &program.flags, source, with).hash(&mut hasher);
    let stem = program.name.replace(['/', '.'], "-");
    let executable = folder.join(format!("{stem}-{:016x}", hasher.finish()));
    if executable.exists() {
        return Ok(executable);
    }
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // Built in a folder of its own: a build that is broken off leaves nothing that looks finished, and tests that
    // build the same program at the same time do not meet.
    let building = tempfile::tempdir_in(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let scratch = building.path().join(&stem);
    match program.language {
        Language::C => command.args(["-g", "-O1", "-pthread"]),
        Language::Cxx => command.args(["-g", "-O1", "-std=c++20", "-pthread"]),
        Language::Rust => command.args(["--edition", "2024", "-g"]),
    };
    command.arg(&program.path).arg("-o").arg(&scratch).args(&program.flags);
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    if outcome.code != Some(0) {
        return Err(format!("{} could not be built with {command:?}: {}", program.name, outcome.describe()));
    }
    fs::rename(&scratch, &executable).map_err(|error| format!("{}: {error}", executable.display()))?;
    Ok(executable)
}
