//! Can this program be run under control? If not, why, and what to do.
//!
//! The check is made before anything is started: a program that ignores the runtime would run bare, finish green and
//! prove nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::Environment;
use crate::compiler::find_on_path;
use crate::elf::{Image, Unreadable};
use crate::runtime::LIBRARY_NAME;

/// Why a program cannot be run under control.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramProblem {
    /// There is no such file.
    #[error("{} was not found", .0.display())]
    NotFound(PathBuf),
    /// A folder, a device or the like.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The file may not be executed.
    #[error("{} is not executable", .0.display())]
    NotExecutable(PathBuf),
    /// The file may not be read.
    #[error("{} cannot be read: {reason}", .program.display())]
    Unreadable {
        /// The program.
        program: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A script, which only starts other programs.
    #[error("{} is a script for {interpreter}", .program.display())]
    Script {
        /// The script.
        program: PathBuf,
        /// What its first line names.
        interpreter: String,
    },
    /// Neither an ELF program nor a script.
    #[error("{} is not an ELF program", .0.display())]
    NotAProgram(PathBuf),
    /// An object file.
    #[error("{} is an object file, not a linked program", .0.display())]
    NotLinked(PathBuf),
    /// A shared library without an interpreter.
    #[error("{} is a shared library, not a program", .0.display())]
    Library(PathBuf),
    /// Linked statically, so no runtime can be loaded into it.
    #[error("{} is statically linked", .0.display())]
    Static(PathBuf),
    /// For another machine.
    #[error("{} is a program for another machine ({machine})", .program.display())]
    OtherMachine {
        /// The program.
        program: PathBuf,
        /// The machine's name.
        machine: String,
    },
    /// Built without the compilers' pass.
    #[error("{} was not built with threadbare", .0.display())]
    NotInstrumented(PathBuf),
    /// Built with the sanitizer's own runtime.
    #[error("{} was built with ThreadSanitizer itself ({evidence})", .program.display())]
    RealSanitizer {
        /// The program.
        program: PathBuf,
        /// How that is known.
        evidence: String,
    },
    /// The loader takes no preloaded library into a set-user-id program.
    #[error("{} is a set-user-id program", .0.display())]
    SetUser(PathBuf),
}

impl ProgramProblem {
    /// The next step, for the `help:` line.
    pub fn help(&self) -> String {
        const BUILD: &str =
            "`threadbare cc`, `threadbare c++`, `threadbare rustc` or `cargo threadbare build`";
        match self {
            Self::NotFound(path) if path.components().count() == 1 && Path::new(path).exists() => {
                format!("the program in this folder is `./{}`", path.display())
            }
            Self::NotFound(_) => "check the path; a name without `/` is looked for in PATH".into(),
            Self::NotAFile(_) => "name the program file itself".into(),
            Self::NotExecutable(path) => format!("make it executable: `chmod +x {}`", path.display()),
            Self::Unreadable { program, .. } => format!("make it readable: `chmod +r {}`", program.display()),
            Self::Script { .. } => {
                "name the program that the script starts, with the arguments it gets there".into()
            }
            Self::NotAProgram(_) => format!("name a program built with {BUILD}"),
            Self::NotLinked(path) => format!("link it first: `threadbare cc {} -o PROGRAM`", path.display()),
            Self::Library(_) => "name a program that uses the library".into(),
            Self::Static(_) => format!("build it without -static, with {BUILD}"),
            Self::OtherMachine { .. } => format!("build it on this machine with {BUILD}"),
            Self::NotInstrumented(_) => format!("build it again with {BUILD}"),
            Self::RealSanitizer { .. } => {
                format!("build it again with {BUILD} in the place of -fsanitize=thread, linking included")
            }
            Self::SetUser(path) => format!("take the bit off: `chmod u-s,g-s {}`", path.display()),
        }
    }
}

/// The file that `name` means: a path when it has a `/`, else the first of that name in PATH.
pub fn find_program(name: &Path, env: &Environment) -> Result<PathBuf, ProgramProblem> {
    if name.as_os_str().as_encoded_bytes().contains(&b'/') {
        return Ok(name.to_owned());
    }
    if name == Path::new(".") || name == Path::new("..") {
        return Err(ProgramProblem::NotAFile(name.to_owned()));
    }
    find_on_path(name.as_os_str(), env).ok_or_else(|| ProgramProblem::NotFound(name.to_owned()))
}

/// Checks that `program` can be run under control. `env` is what the program will see: its `LD_LIBRARY_PATH`
/// helps to find the libraries that may be the instrumented part.
pub fn check_program(program: &Path, env: &Environment) -> Result<(), ProgramProblem> {
    check_file(program)?;
    let owned = || program.to_owned();
    let image = Image::read(program).map_err(|problem| match problem {
        Unreadable::Io(error) => ProgramProblem::Unreadable { program: owned(), reason: error.to_string() },
        Unreadable::NotElf => script_or(program, ProgramProblem::NotAProgram(owned())),
        Unreadable::NotLoadable => ProgramProblem::NotLinked(owned()),
        Unreadable::OtherMachine(machine) => ProgramProblem::OtherMachine { program: owned(), machine },
    })?;
    if let Some(evidence) = real_sanitizer(&image) {
        return Err(ProgramProblem::RealSanitizer { program: owned(), evidence });
    }
    if !image.has_interpreter {
        let library = !image.needed.is_empty();
        return Err(if library { ProgramProblem::Library(owned()) } else { ProgramProblem::Static(owned()) });
    }
    check_libraries(program, image, env)
}

fn check_file(program: &Path) -> Result<(), ProgramProblem> {
    let found = fs::metadata(program).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            ProgramProblem::NotFound(program.to_owned())
        }
        _ => ProgramProblem::Unreadable { program: program.to_owned(), reason: error.to_string() },
    })?;
    let mode = found.permissions().mode();
    if !found.is_file() {
        Err(ProgramProblem::NotAFile(program.to_owned()))
    } else if mode & 0o111 == 0 {
        // An object file is the likelier mistake than a lost permission.
        match Image::read(program) {
            Err(Unreadable::NotLoadable) => Err(ProgramProblem::NotLinked(program.to_owned())),
            // Nor is a source file a program.
            Err(Unreadable::NotElf) => {
                Err(script_or(program, ProgramProblem::NotAProgram(program.to_owned())))
            }
            _ => Err(ProgramProblem::NotExecutable(program.to_owned())),
        }
    } else if mode & 0o6000 != 0 {
        Err(ProgramProblem::SetUser(program.to_owned()))
    } else {
        Ok(())
    }
}

fn script_or(program: &Path, otherwise: ProgramProblem) -> ProgramProblem {
    let mut head = Vec::new();
    let read = fs::File::open(program).and_then(|file| file.take(256).read_to_end(&mut head));
    match head.strip_prefix(b"#!") {
        Some(line) if read.is_ok() => {
            let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let interpreter = String::from_utf8_lossy(line).trim().to_owned();
            ProgramProblem::Script { program: program.to_owned(), interpreter }
        }
        _ => otherwise,
    }
}

/// Looks for the pass's traces in the program and in every library it loads, breadth first.
fn check_libraries(program: &Path, image: Image, env: &Environment) -> Result<(), ProgramProblem> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![image];
    let mut instrumented = false;
    while let Some(image) = waiting.pop() {
        instrumented |= image.calls_hooks || image.needed.iter().any(|name| name == LIBRARY_NAME);
        for name in &image.needed {
            if name == LIBRARY_NAME || !seen.insert(name.clone()) {
                continue;
            }
            let Some((path, library)) = load(name, &image.search, env) else { continue };
            if let Some(evidence) = real_sanitizer(&library) {
                let evidence = format!("{}: {evidence}", path.display());
                return Err(ProgramProblem::RealSanitizer { program: program.to_owned(), evidence });
            }
            waiting.push(library);
        }
    }
    if instrumented { Ok(()) } else { Err(ProgramProblem::NotInstrumented(program.to_owned())) }
}

fn real_sanitizer(image: &Image) -> Option<String> {
    let library = image
        .needed
        .iter()
        .find(|name| name.starts_with("libtsan.so") || name.starts_with("libclang_rt.tsan"))
        .map(|name| format!("needs {name}"));
    library.or_else(|| image.defines_hooks.then(|| "defines __tsan_init".to_owned()))
}

fn load(name: &str, search: &[PathBuf], env: &Environment) -> Option<(PathBuf, Image)> {
    const SYSTEM: [&str; 7] = [
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
        "/usr/local/lib",
    ];
    if name.contains('/') {
        let path = PathBuf::from(name);
        return Image::read(&path).ok().map(|image| (path, image));
    }
    let from_env = env.get("LD_LIBRARY_PATH").map(|list| std::env::split_paths(list).collect::<Vec<_>>());
    let folders = search.iter().cloned().chain(from_env.unwrap_or_default());
    folders.chain(SYSTEM.iter().map(PathBuf::from)).find_map(|folder| {
        let path = folder.join(name);
        Image::read(&path).ok().map(|image| (path, image))
    })
}
