//! A stand-in for the runtime and a place to build in, shared by the tests of this crate.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;
use threadbare_toolchain::{Environment, PlacedRuntime, Runtime};

/// The bytes of the stand-in library, built once per test process.
pub(crate) fn library() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("libthreadbare_rt.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stub/runtime.c");
        let built = Command::new("gcc")
            .args(["-shared", "-fPIC", "-O1", "-Wl,-soname,libthreadbare_rt.so", "-o"])
            .args([&output, &source])
            .status()
            .expect("the tests need gcc");
        assert!(built.success());
        fs::read(output).unwrap()
    })
}

/// A folder with a cache of its own, so that tests do not meet.
pub(crate) struct Bench {
    folder: TempDir,
    pub(crate) env: Environment,
    pub(crate) runtime: PlacedRuntime,
}

impl Bench {
    pub(crate) fn new() -> Self {
        // The cache's name has a blank, a comma and a percent sign: each is special to some linker or driver.
        let folder = tempfile::tempdir().unwrap();
        Self::with_cache(folder, "a cache, 100%")
    }

    pub(crate) fn with_cache(folder: TempDir, cache: &str) -> Self {
        let mut env = Environment::of_process();
        for name in ["THREADBARE_CC", "THREADBARE_CXX", "THREADBARE_RUNTIME", "CC", "CXX", "LD_PRELOAD"] {
            env.remove(name);
        }
        env.set("XDG_CACHE_HOME", folder.path().join(cache));
        env.set("LC_ALL", "C");
        let runtime = Runtime { bytes: library(), hash: "0123456789abcdef" }.place(&env).unwrap();
        Self { folder, env, runtime }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Both outputs of a command, for messages.
pub(crate) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Words as arguments.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

/// The `NEEDED` entries of a file, in order.
pub(crate) fn needed(file: &Path) -> Vec<String> {
    let output = tool("readelf", &[OsStr::new("-d"), file.as_os_str()]);
    output
        .lines()
        .filter(|line| line.contains("(NEEDED)"))
        .filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned()))
        .collect()
}

/// The hooks that a file calls.
pub(crate) fn hooks(file: &Path) -> Vec<String> {
    let output = tool("nm", &[OsStr::new("-u"), file.as_os_str()]);
    output
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .filter(|name| name.starts_with("__tsan_"))
        .map(str::to_owned)
        .collect()
}

fn tool(name: &str, arguments: &[&OsStr]) -> String {
    let output =
        Command::new(name).args(arguments).env("LC_ALL", "C").output().expect("the tests need binutils");
    assert!(output.status.success(), "{name}: {}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}
