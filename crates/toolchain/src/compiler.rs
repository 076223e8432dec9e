//! The real compiler behind `threadbare cc` and `threadbare c++`.
//!
//! gcc and clang take different flags for the same wish, so the family matters. It is told by the program's name,
//! then by the name behind a symbolic link (Debian's `cc`), and only then by asking the program: a compiler is started
//! thousands of times in a build.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::{Environment, words};

/// Which of the two front doors was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `threadbare cc`.
    C,
    /// `threadbare c++`.
    Cxx,
}

impl Language {
    /// The variable that names the real compiler.
    pub fn variable(self) -> &'static str {
        match self {
            Self::C => "THREADBARE_CC",
            Self::Cxx => "THREADBARE_CXX",
        }
    }

    /// The subcommand of `threadbare`.
    pub fn subcommand(self) -> &'static str {
        match self {
            Self::C => "cc",
            Self::Cxx => "c++",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cxx => "C++",
        }
    }

    fn usual_programs(self) -> [&'static str; 3] {
        match self {
            Self::C => ["gcc", "clang", "cc"],
            Self::Cxx => ["g++", "clang++", "c++"],
        }
    }
}

/// The kind of command line a compiler takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Gcc,
    Clang,
}

/// A compiler that exists, with the arguments that always come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compiler {
    /// The word that named it: what the compiler calls itself in its messages.
    pub(crate) name: OsString,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
}

impl Compiler {
    /// The compiler that the environment chooses for `language`.
    pub(crate) fn choose(language: Language, env: &Environment) -> Result<Self> {
        let variable = language.variable();
        let Some(chosen) = env.get(variable) else { return Self::usual(language, env) };
        let missing = |program: &OsStr| Error::CompilerMissing {
            variable,
            program: program.to_string_lossy().into_owned(),
        };
        // A path with blanks is one program; a program with arguments is several words.
        let compiler = if let Some(program) = find_on_path(chosen, env) {
            Self { name: chosen.to_owned(), program, arguments: Vec::new() }
        } else {
            let mut words = words::split(chosen).into_iter();
            let first = words.next().ok_or_else(|| missing(chosen))?;
            let program = find_on_path(&first, env).ok_or_else(|| missing(&first))?;
            Self { name: first, program, arguments: words.collect() }
        };
        if is_this_program(&compiler.program) {
            return Err(Error::CompilerIsThreadbare { variable });
        }
        Ok(compiler)
    }

    fn usual(language: Language, env: &Environment) -> Result<Self> {
        let names = language.usual_programs();
        let found = names
            .iter()
            .filter_map(|name| Some((name, find_on_path(OsStr::new(name), env)?)))
            .find(|(_, program)| !is_this_program(program));
        let (name, program) = found.ok_or_else(|| Error::NoCompiler {
            language: language.name(),
            tried: names.join(", "),
            variable: language.variable(),
        })?;
        Ok(Self { name: name.into(), program, arguments: Vec::new() })
    }

    pub(crate) fn command(&self, env: &Environment) -> Command {
        let mut command = Command::new(&self.program);
        command.arg0(&self.name).args(&self.arguments).env_clear().envs(env.iter());
        command
    }

    pub(crate) fn family(&self, env: &Environment) -> Result<Family> {
        if self.arguments.is_empty() {
            let named = family_of_name(&self.program);
            let behind = || fs::canonicalize(&self.program).ok().and_then(|path| family_of_name(&path));
            if let Some(family) = named.or_else(behind) {
                return Ok(family);
            }
        }
        let program = self.program.display().to_string();
        let output = self
            .command(env)
            .arg("--version")
            .output()
            .map_err(|source| Error::Start { program: program.clone(), source })?;
        let version = String::from_utf8_lossy(&output.stdout);
        if version.contains("clang") {
            Ok(Family::Clang)
        } else if version.contains("Free Software Foundation") || version.contains("gcc") {
            Ok(Family::Gcc)
        } else {
            Err(Error::CompilerUnknown { program })
        }
    }
}

/// Reads `x86_64-linux-gnu-gcc-12`, `clang++-19` and the like.
fn family_of_name(program: &Path) -> Option<Family> {
    let name = program.file_name()?.to_str()?;
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let last = stem.rsplit('-').next()?;
    match last {
        "clang" | "clang++" => Some(Family::Clang),
        "gcc" | "g++" => Some(Family::Gcc),
        _ => None,
    }
}

/// The executable file that `name` means, as the shell would find it.
pub(crate) fn find_on_path(name: &OsStr, env: &Environment) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    let path = env.get("PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|path| is_executable(path))
}

/// Whether `path` is this very tool, so that calling it would come back here.
pub(crate) fn is_this_program(path: &Path) -> bool {
    let own = std::env::current_exe().and_then(fs::canonicalize);
    own.is_ok_and(|own| fs::canonicalize(path).is_ok_and(|path| path == own))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_by_name() {
        let family = |name: &str| family_of_name(Path::new(name));
        for name in ["gcc", "/usr/bin/gcc-12", "g++", "x86_64-linux-gnu-g++-12", "c99-gcc"] {
            assert_eq!(family(name), Some(Family::Gcc), "{name}");
        }
        for name in
            ["clang", "clang-19", "clang++-14", "/opt/llvm/bin/clang++", "aarch64-linux-gnu-clang-17.0"]
        {
            assert_eq!(family(name), Some(Family::Clang), "{name}");
        }
        for name in ["cc", "c++", "ccache", "tcc", "gcc-wrapper"] {
            assert_eq!(family(name), None, "{name}");
        }
    }

    fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
        // Written by a process of its own: a fork of another test would hold a file of ours open, and it could not be
        // executed.
        let path = folder.join(name);
        let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"";
        let status = Command::new("/bin/sh").args(["-c", write, "sh"]).arg(&path).arg(text).status().unwrap();
        assert!(status.success());
        path
    }

    fn env(pairs: &[(&str, &OsStr)]) -> Environment {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_variable_may_hold_arguments_or_a_path_with_blanks() {
        let folder = tempfile::tempdir().unwrap();
        let cache = script(folder.path(), "cache", "exec echo clang version 17");
        let spaced = script(folder.path(), "my gcc", "");
        let path = folder.path().as_os_str();

        let env1 = env(&[("PATH", path), ("THREADBARE_CC", OsStr::new("cache clang -m64"))]);
        let compiler = Compiler::choose(Language::C, &env1).unwrap();
        assert_eq!(compiler.program, cache);
        assert_eq!(compiler.arguments, ["clang", "-m64"]);
        let with_shell = env(&[("PATH", OsStr::new("/usr/bin:/bin"))]);
        assert_eq!(compiler.family(&with_shell).unwrap(), Family::Clang, "a launcher is asked");

        let env2 = env(&[("PATH", path), ("THREADBARE_CXX", spaced.as_os_str())]);
        assert_eq!(Compiler::choose(Language::Cxx, &env2).unwrap().program, spaced);
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().as_os_str();
        let error = Compiler::choose(Language::C, &env(&[("PATH", path)])).unwrap_err();
        assert_eq!(error.to_string(), "no C compiler found: looked for gcc, clang, cc");
        assert!(error.help().unwrap().contains("THREADBARE_CC"));
        let error = Compiler::choose(
            Language::Cxx,
            &env(&[("PATH", path), ("THREADBARE_CXX", OsStr::new("nope -x"))]),
        )
        .unwrap_err();
        assert_eq!(error.to_string(), "the compiler `nope` that THREADBARE_CXX names was not found");
        let tcc = script(folder.path(), "tcc", "echo tcc version 0.9");
        let compiler = Compiler { name: "tcc".into(), program: tcc, arguments: Vec::new() };
        let error = compiler.family(&env(&[("PATH", OsStr::new("/bin"))])).unwrap_err();
        assert!(matches!(error, Error::CompilerUnknown { .. }), "{error:?}");
    }

    #[test]
    fn calling_itself_is_refused() {
        let own = std::env::current_exe().unwrap();
        let text = format!("{} cc", own.display());
        let error = Compiler::choose(Language::C, &env(&[("THREADBARE_CC", OsStr::new(&text))])).unwrap_err();
        assert!(matches!(error, Error::CompilerIsThreadbare { .. }), "{error:?}");
    }
}
