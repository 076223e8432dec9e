//! The built `threadbare`, and commands that cannot hang a test.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// The variable that names the tool.
pub const VARIABLE: &str = "THREADBARE_BIN";

/// Longer than any command of the tests takes, on any machine: only a command that hangs takes this long.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The root of the checkout.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are a folder of the checkout")
}

/// The path of `threadbare`, or what to do to get one.
///
/// # Panics
/// If there is none: the message says which command builds it.
pub fn threadbare() -> &'static Path {
    static PATH: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match PATH.get_or_init(find) {
        Ok(path) => path,
        Err(message) => panic!("{message}"),
    }
}

/// The path of `cargo-threadbare`, which is built beside `threadbare`.
pub fn cargo_threadbare() -> PathBuf {
    threadbare().with_file_name("cargo-threadbare")
}

fn find() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        let path = root().join(path);
        return match fs::canonicalize(&path) {
            Ok(found) => Ok(found),
            Err(error) => Err(format!("{VARIABLE} is `{}`: {error}", path.display())),
        };
    }
    let own = std::env::current_exe().map_err(|error| format!("the test's own path: {error}"))?;
    // target/PROFILE/deps/TEST, or target/PROFILE/xtask
    let deep = if own.parent().is_some_and(|folder| folder.ends_with("deps")) { 3 } else { 2 };
    let target = own.ancestors().nth(deep).ok_or("the test is not in a target folder")?;
    let candidates = ["release", "debug"].map(|profile| target.join(profile).join("threadbare"));
    candidates.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        format!(
            "there is no `threadbare` in {}\nhelp: run `cargo build --release --package threadbare` first, or \
             `cargo xtask test`, or set {VARIABLE}",
            target.display()
        )
    })
}

/// What a command came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The exit code; none if a signal ended it or it was ended for taking too long.
    pub code: Option<i32>,
    /// It was still running at the end of its time and was ended.
    pub hung: bool,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Outcome {
    /// Both streams and the code, for a message.
    pub fn describe(&self) -> String {
        let end = match (self.hung, self.code) {
            (true, _) => "was ended because it hung".to_owned(),
            (false, Some(code)) => format!("ended with code {code}"),
            (false, None) => "was ended by a signal".to_owned(),
        };
        format!("it {end}\n--- stdout\n{}\n--- stderr\n{}", self.stdout.trim_end(), self.stderr.trim_end())
    }
}

/// `threadbare` with these arguments.
pub fn command(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(threadbare());
    command.args(arguments);
    plain_environment(&mut command);
    command
}

/// Takes away what would make the outcome depend on the caller's taste: colours, and backtraces, which take most of
/// the time of a run that panics.
pub fn plain_environment(command: &mut Command) {
    command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
}

/// Takes away what cargo set for the tests themselves, and is not for a cargo that is called by them.
pub fn without_cargos_own(command: &mut Command) {
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        let own = ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start));
        if own || name == "LD_LIBRARY_PATH" {
            command.env_remove(&variable);
        }
    }
}

/// Runs `threadbare` with these arguments.
pub fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Outcome {
    finish(&mut command(arguments), PATIENCE)
}

/// Runs a command to its end, or ends it when its time is over.
///
/// # Panics
/// If it cannot be started.
pub fn finish(command: &mut Command, patience: Duration) -> Outcome {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot run {:?}: {error}", command.get_program()));
    collect(child, patience)
}

/// Runs a command whose reader goes away when it has seen the first bytes.
///
/// # Panics
/// If it cannot be started.
pub fn abandon(command: &mut Command) -> Outcome {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot run {:?}: {error}", command.get_program()));
    let _ = child.stdout.take().map(|mut stream| stream.read(&mut [0; 16]));
    collect(child, PATIENCE)
}

/// Waits for a child whose streams are pipes.
///
/// # Panics
/// If the system refuses to wait for it.
pub fn collect(mut child: Child, patience: Duration) -> Outcome {
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let (status, hung) = wait(&mut child, patience).expect("a child can be waited for");
    // A program that was ended may leave children of its own that keep the pipes open.
    let text = |reader: Option<thread::JoinHandle<Vec<u8>>>| match reader {
        Some(reader) if !hung => String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned(),
        _ => String::new(),
    };
    Outcome { code: status.code(), hung, stdout: text(stdout), stderr: text(stderr) }
}

fn drain(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

fn wait(child: &mut Child, patience: Duration) -> io::Result<(ExitStatus, bool)> {
    let end = Instant::now() + patience;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status, false));
        }
        if Instant::now() >= end {
            child.kill()?;
            return Ok((child.wait()?, true));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Compiles a program of one file into this folder, a little optimised; `None` if that cannot be.
pub fn build(source: &Path, folder: &Path) -> Option<PathBuf> {
    let program = folder.join("program");
    let wrapper = match source.extension()?.to_str()? {
        "c" => "cc",
        "cc" => "c++",
        _ => "rustc",
    };
    let mut command = command([wrapper]);
    match wrapper {
        "cc" => command.args(["-O1", "-pthread"]),
        "c++" => command.args(["-O1", "-pthread", "-std=c++20"]),
        _ => command.args(["--edition", "2024"]),
    };
    command.arg("-g").arg(source).arg("-o").arg(&program);
    (finish(&mut command, PATIENCE).code == Some(0)).then_some(program)
}
