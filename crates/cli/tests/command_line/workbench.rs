//! A folder to work in, and the tool.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A lost update: fails in some runs.
pub(crate) const BANK: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static int balance;
static void *deposit(void *amount) {
    int old = balance;
    balance = old + *(int *)amount;
    return 0;
}
int main(void) {
    int amounts[2] = {50, 150};
    pthread_t strands[2];
    for (int i = 0; i < 2; i++) pthread_create(&strands[i], 0, deposit, &amounts[i]);
    for (int i = 0; i < 2; i++) pthread_join(strands[i], 0);
    fprintf(stderr, "balance %d\n", balance);
    assert(balance == 200);
    return 0;
}
"#;

/// The same without the bug.
pub(crate) fn sound_bank() -> String {
    BANK.replace("static int balance", "static _Atomic int balance").replace(
        "    int old = balance;\n    balance = old + *(int *)amount;",
        "    balance += *(int *)amount;",
    )
}

/// A folder that goes when the test ends.
pub(crate) struct Workbench {
    folder: tempfile::TempDir,
}

impl Workbench {
    pub(crate) fn new() -> Workbench {
        Workbench { folder: tempfile::tempdir().unwrap() }
    }

    /// One with a built program `bank`.
    pub(crate) fn with_bank(source: &str) -> Workbench {
        let bench = Workbench::new();
        bench.write("bank.c", source);
        bench.ok(&["cc", "-g", "-O1", "-pthread", "bank.c", "-o", "bank"]);
        bench
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn command(&self, program: impl AsRef<Path>, args: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command.args(args).current_dir(self.folder.path()).env("RUST_BACKTRACE", "0").env("NO_COLOR", "1");
        command
    }

    pub(crate) fn tool(&self, args: &[&str]) -> Said {
        Said(self.command(env!("CARGO_BIN_EXE_threadbare"), args).output().unwrap())
    }

    /// Runs the tool, which must succeed.
    pub(crate) fn ok(&self, args: &[&str]) {
        let said = self.tool(args);
        assert_eq!(said.code(), 0, "{args:?}: {}", said.stderr());
    }
}

/// What the tool said.
pub(crate) struct Said(pub(crate) Output);

impl Said {
    pub(crate) fn code(&self) -> i32 {
        self.0.status.code().unwrap_or(-1)
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout()).unwrap_or_else(|error| panic!("{error}: {}", self.stdout()))
    }
}
