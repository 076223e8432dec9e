//! `check(|| …)` and `#[threadbare::test]`: each run begins at the check, options are defaults of the campaign, and what is found can be made again. The package is
//! `tests/packages/checks`.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use threadbare_tests::tool::{self, Outcome};

fn package(command: &mut Command) -> Outcome {
    command.current_dir(tool::root().join("tests/packages/checks"));
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages"));
    tool::plain_environment(command);
    tool::without_cargos_own(command);
    tool::finish(command, tool::PATIENCE)
}

/// The campaigns of a test binary by name.
fn campaigns(binary: &str, out: &Path, options: &[&str], code: i32) -> BTreeMap<String, Value> {
    let mut command = Command::new(tool::cargo_threadbare());
    command
        .args(["threadbare", "test", "--test", binary, "--format", "json", "--out"])
        .arg(out)
        .args(options);
    let outcome = package(&mut command);
    assert_eq!(outcome.code, Some(code), "{}", outcome.describe());
    let report: Value = serde_json::from_str(&outcome.stdout).expect("a report");
    let tests = report["tests"].as_array().expect("tests");
    let named =
        |test: &Value| (test["name"].as_str().unwrap_or_default().to_owned(), test["campaign"].clone());
    tests.iter().map(named).collect()
}

#[test]
fn a_plain_run_passes() {
    for binary in ["passing", "failing"] {
        let outcome = package(Command::new("cargo").args(["test", "--test", binary]));
        assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
    }
}

#[test]
fn options_of_a_test_are_its_defaults() {
    let out = tempfile::tempdir().expect("a folder");
    let all = campaigns("passing", out.path(), &[], 0);
    assert_eq!(all.len(), 8, "{all:?}");
    let of = |name: &str| &all[name];
    for (name, runs) in
        [("with_options", 70), ("asynchronous", 40), ("another_waker", 100), ("without_a_check", 1000)]
    {
        let complete = of(name)["claim"]["kind"] == "complete";
        assert!(of(name)["runs"] == runs || complete && name == "without_a_check", "{name}: {}", of(name));
    }
    assert_eq!(of("with_options")["strategy"], "random");
    assert_eq!(of("with_a_planner")["claim"]["kind"], "complete", "{}", of("with_a_planner"));
    // What a strand is handed when it is created, and what the test harness waits for, takes no point: it was 164 of them a run.
    let planned = of("with_a_planner");
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    assert!(number(&planned["points"]) < 60 * number(&planned["runs"]), "{planned}");
    assert_eq!(planned["claim"]["orders"], 5, "{planned}");
    assert_eq!(of("what_comes_before_is_done_once")["reached"].as_array().map(Vec::len), Some(2));
    assert_eq!(of("two_checks_are_one_run")["reached"][0], "both");
    // The command line counts more.
    let all = campaigns("passing", out.path(), &["--runs", "9", "--strategy", "pct:2", "--check-replay"], 0);
    for (name, campaign) in &all {
        assert_eq!((&campaign["runs"], &campaign["replays"]), (&9.into(), &9.into()), "{name}: {campaign}");
        assert_eq!(campaign["strategy"], "pct:2", "{name}: {campaign}");
    }
}

#[test]
fn what_fails_in_a_check_can_be_made_again() {
    let out = tempfile::tempdir().expect("a folder");
    let all = campaigns("failing", out.path(), &["--shrink", "5s"], 1);
    assert_eq!(all.len(), 7, "{all:?}");
    for (name, campaign) in &all {
        let finding = &campaign["findings"][0];
        assert_eq!(campaign["verdict"], "failure", "{name}: {campaign}");
        let schedule = PathBuf::from(finding["schedule"].as_str().expect("a path"));
        for _ in 0..2 {
            let replay = tool::run([Path::new("replay"), &schedule]);
            assert_eq!(replay.code, Some(1), "{name}: {}", replay.describe());
        }
        assert!(finding["shrunk"].is_object(), "{name}: {finding:#}");
    }
}

/// In C the run begins there, too: of what came before, the strand that was started and joined is not part of a run.
#[test]
fn a_program_in_c_may_have_a_check() {
    const SOURCE: &str = r#"
        #include <assert.h>
        #include <pthread.h>
        #include <stdatomic.h>
        #include <stdlib.h>
        #include <threadbare.h>
        static atomic_int count;
        static int *table;
        static void *add(void *unused) {
            int seen = atomic_load(&count);
            atomic_store(&count, seen + table[1]);
            return unused;
        }
        static void *fill(void *unused) {
            for (int i = 0; i < 1000; i++)
                table[i] = i;
            return unused;
        }
        int main(void) {
            pthread_t strands[2];
            table = malloc(1000 * sizeof *table);
            pthread_create(&strands[0], NULL, fill, NULL);
            pthread_join(strands[0], NULL);
            threadbare_check("runs=77\nstrategy=random");
            for (int i = 0; i < 2; i++)
                pthread_create(&strands[i], NULL, add, NULL);
            for (int i = 0; i < 2; i++)
                pthread_join(strands[i], NULL);
            assert(WRONG || atomic_load(&count) == 2);
        }"#;
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("counted.c");
    std::fs::write(&source, SOURCE).expect("a source");
    for (wrong, code) in [("1", 0), ("0", 1)] {
        let program = folder.path().join(format!("counted{wrong}"));
        let mut command = tool::command(["cc", "-g", "-O1", "-pthread"]);
        command.arg(format!("-DWRONG={wrong}")).arg(&source).arg("-o").arg(&program);
        let outcome = tool::finish(&mut command, tool::PATIENCE);
        assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
        let mut command = tool::command(["run", "--format", "json", "--check-replay", "--out"]);
        command.arg(folder.path().join("out")).arg("--").arg(&program);
        let outcome = tool::finish(&mut command, tool::PATIENCE);
        assert_eq!(outcome.code, Some(code), "{}", outcome.describe());
        let report: Value = serde_json::from_str(&outcome.stdout).expect("a report");
        assert_eq!(report["strategy"], "random", "{report}");
        if code == 0 {
            let points = report["points"].as_u64().expect("a count");
            assert!(report["runs"] == 77 && points < 77 * 60, "{report}");
        }
    }
}
