//! Source text, and paths as a reader wants them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Bigger files are generated, and nobody reads an excerpt of them.
const MAX_FILE: u64 = 64 << 20;

/// Lines after the first that a statement is followed over.
const MAX_STATEMENT: u32 = 4;

/// Reads source files, each once.
pub struct Sources {
    folder: PathBuf,
    files: Mutex<HashMap<PathBuf, Option<Arc<SourceFile>>>>,
    rust: OnceLock<Option<RustSource>>,
    /// Files of packages by the short paths they were shown with.
    packages: Mutex<HashMap<PathBuf, PathBuf>>,
}

struct SourceFile {
    text: String,
    /// Where each line begins.
    starts: Vec<usize>,
}

/// The installed standard library's source.
struct RustSource {
    commit: String,
    root: PathBuf,
}

impl Sources {
    /// Paths are shown relative to `folder` when they are inside it.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Sources {
            folder: folder.into(),
            files: Mutex::default(),
            rust: OnceLock::new(),
            packages: Mutex::default(),
        }
    }

    /// A line of a file (from 1), without its end; `None` if the file or the line is not there.
    pub fn line(&self, file: &Path, line: u32) -> Option<String> {
        let file = self.file(file)?;
        Some(file.line(line)?.to_owned())
    }

    /// The lines `first..=last` of a file that exist, each with its number.
    pub fn lines(&self, file: &Path, first: u32, last: u32) -> Vec<(u32, String)> {
        let Some(file) = self.file(file) else { return Vec::new() };
        let last = last.min(u32::try_from(file.starts.len()).unwrap_or(u32::MAX));
        (first.max(1)..=last).filter_map(|number| Some((number, file.line(number)?.to_owned()))).collect()
    }

    /// The code from the beginning of a line to the end of its statement, without comments.
    pub(crate) fn statement(&self, file: &Path, line: u32) -> Option<String> {
        let mut code = String::new();
        for (_, text) in self.lines(file, line, line.checked_add(MAX_STATEMENT)?) {
            let text = code_of(&text);
            code.push_str(&text);
            code.push('\n');
            if text.contains([';', '{', '}']) {
                break;
            }
        }
        (!code.is_empty()).then_some(code)
    }

    /// Where a file that the debug info names is on this machine.
    pub fn locate(&self, file: &Path) -> PathBuf {
        if let Some((commit, rest)) = rust_library(file)
            && let Some(rust) = self.rust_source()
            && rust.commit == commit
        {
            return rust.root.join(rest);
        }
        let packages = self.packages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(whole) = packages.get(file) {
            return whole.clone();
        }
        drop(packages);
        let found = self.folder.join(file);
        // As [`Sources::shown`] writes it.
        if file.starts_with("library")
            && !found.exists()
            && let Some(rust) = self.rust_source()
        {
            return rust.root.join(file);
        }
        found
    }

    /// The path as a report shows it: relative when inside the folder, the standard library's without its prefix, a
    /// package's from its name and version on.
    pub fn shown(&self, file: &Path) -> String {
        let file = normalized(file);
        if let Some((_, rest)) = rust_library(&file) {
            return rest.display().to_string();
        }
        if let Some(short) = in_package(&file) {
            let mut packages = self.packages.lock().unwrap_or_else(PoisonError::into_inner);
            packages.insert(PathBuf::from(&short), file);
            return short;
        }
        match file.strip_prefix(&self.folder) {
            Ok(inside) if !inside.as_os_str().is_empty() => inside.display().to_string(),
            _ => file.display().to_string(),
        }
    }

    fn file(&self, file: &Path) -> Option<Arc<SourceFile>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.get(file) {
            return known.clone();
        }
        let read = SourceFile::read(&self.locate(file)).map(Arc::new);
        files.insert(file.to_owned(), read.clone());
        read
    }

    fn rust_source(&self) -> Option<&RustSource> {
        self.rust.get_or_init(RustSource::find).as_ref()
    }
}

impl SourceFile {
    fn read(path: &Path) -> Option<SourceFile> {
        let about = std::fs::metadata(path).ok()?;
        if !about.is_file() || about.len() > MAX_FILE {
            return None;
        }
        let text = match String::from_utf8(std::fs::read(path).ok()?) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        let starts =
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        Some(SourceFile { text, starts })
    }

    fn line(&self, number: u32) -> Option<&str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        if start == self.text.len() {
            return None;
        }
        let line = &self.text[start..end];
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

impl RustSource {
    fn find() -> Option<RustSource> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let ask = |arguments: &[&str]| {
            let output = Command::new(&rustc).args(arguments).output().ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let root = Path::new(ask(&["--print", "sysroot"])?.trim()).join("lib/rustlib/src/rust");
        if !root.is_dir() {
            return None;
        }
        let version = ask(&["-vV"])?;
        let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: "))?.trim().to_owned();
        Some(RustSource { commit, root })
    }
}

/// A line of C, C++ or Rust without what is in quotes and behind `//`.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => drop(rest.next()),
            '/' if !quoted && rest.peek() == Some(&'/') => break,
            _ if quoted => {}
            c => code.push(c),
        }
    }
    code
}

/// `list-1.2.3/src/lib.rs` of a file in cargo's registry or in one of its checkouts.
fn in_package(file: &Path) -> Option<String> {
    let text = file.to_str()?;
    let behind = |folder: &str| text.split_once(folder).map(|(_, rest)| rest);
    if let Some(rest) = behind("/registry/src/") {
        return rest.split_once('/').map(|(_, rest)| rest.to_owned());
    }
    // A checkout has its repository's name with a hash, then the revision.
    let (repository, rest) = behind("/git/checkouts/")?.split_once('/')?;
    let (name, _) = repository.rsplit_once('-').unwrap_or((repository, ""));
    rest.split_once('/').map(|(_, rest)| format!("{name}/{rest}"))
}

/// `/rustc/<commit>/library/std/src/lib.rs` into the commit and `library/std/src/lib.rs`.
fn rust_library(file: &Path) -> Option<(&str, &Path)> {
    let rest = file.strip_prefix("/rustc").ok()?;
    let mut parts = rest.components();
    let Component::Normal(commit) = parts.next()? else { return None };
    Some((commit.to_str()?, parts.as_path()))
}

/// The path without `.` and with `a/..` taken out.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            Component::ParentDir if out.has_root() => {}
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.c");
        std::fs::write(&file, "one\r\ntwo\n\nfour").unwrap();
        let sources = Sources::new(dir.path());
        let line = |number| sources.line(&file, number);
        assert_eq!(line(0), None);
        assert_eq!(line(1).as_deref(), Some("one"));
        assert_eq!(line(2).as_deref(), Some("two"));
        assert_eq!(line(3).as_deref(), Some(""));
        assert_eq!(line(4).as_deref(), Some("four"));
        assert_eq!(line(5), None);
        assert_eq!(sources.line(Path::new("a.c"), 2).as_deref(), Some("two"), "relative to the folder");
        let numbers: Vec<u32> = sources.lines(&file, 0, 99).into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        std::fs::write(dir.path().join("b.c"), "x\n").unwrap();
        assert_eq!(sources.line(Path::new("b.c"), 2), None, "nothing follows the last line's end");
        std::fs::write(dir.path().join("latin1.c"), b"caf\xe9\n").unwrap();
        assert_eq!(sources.line(Path::new("latin1.c"), 1).as_deref(), Some("caf\u{fffd}"));
        assert_eq!(sources.line(Path::new("missing.c"), 1), None);
        assert_eq!(sources.line(dir.path(), 1), None);
    }

    #[test]
    fn a_statement_is_code_only() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.c"), "f(\"\\\"x\", y, // z\n  w)\n  ;\nv;\n").unwrap();
        let sources = Sources::new(dir.path());
        let statement = |line| sources.statement(Path::new("a.c"), line);
        assert_eq!(statement(1).as_deref(), Some("f(, y, \n  w)\n  ;\n"));
        assert_eq!(statement(4).as_deref(), Some("v;\n"));
        assert_eq!(statement(5), None);
    }

    #[test]
    fn paths_are_short_inside_the_folder() {
        let sources = Sources::new("/home/me/bank");
        for (given, shown) in [
            ("/home/me/bank/src/main.c", "src/main.c"),
            ("/home/me/bank/build/../src/./main.c", "src/main.c"),
            ("/home/me/bankrupt/main.c", "/home/me/bankrupt/main.c"),
            ("/home/me/bank", "/home/me/bank"),
            ("src/main.c", "src/main.c"),
            ("../main.c", "../main.c"),
            ("/../x.c", "/x.c"),
            ("/rustc/0123abc/library/std/src/sync/mutex.rs", "library/std/src/sync/mutex.rs"),
        ] {
            assert_eq!(sources.shown(Path::new(given)), shown);
        }
    }

    #[test]
    fn another_commits_library_is_not_shown_as_this_ones() {
        let sources = Sources::new("/");
        let file = Path::new("/rustc/0000000000000000000000000000000000000000/library/std/src/lib.rs");
        assert_eq!(sources.locate(file), file);
    }
}
