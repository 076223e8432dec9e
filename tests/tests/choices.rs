//! Choices of the program's own: planners try every one, a shrunk schedule keeps those that matter, a replay takes the same, and a plain run takes
//! the first. (The corpus' own test runs the programs with the default.)

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::{campaign, compile, tool};

fn program(name: &str) -> Program {
    corpus::programs().into_iter().find(|program| program.name == name).expect("it is in the corpus")
}

fn ask(name: &str, out: &Path, options: &[&str]) -> Value {
    let program = program(name);
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let executable =
        compile::instrumented(&program, compile::compilers(&program)[0], &builds).expect("it compiles");
    let options = [&["--races", "off"], options].concat();
    campaign::run(&program, &executable, out, &options).unwrap_or_else(|message| panic!("{message}")).report
}

/// 5 options and 256 values are chosen before the second strand exists, with one order each.
#[test]
fn planners_try_every_option() {
    for planner in ["dpor", "dfs"] {
        let out = tempfile::tempdir().expect("a folder");
        let report = ask("choices/assume.c", out.path(), &["--strategy", planner, "--runs", "5000"]);
        assert_eq!(report["claim"]["kind"], "complete", "{planner}: {report}");
        assert_eq!(report["planner"]["classes"], 5 * 256, "{planner}: {report}");
        assert_eq!(report["reached"][0], "the main part", "{planner}: {report}");
    }
    // Six values with two orders each at the most: the fifth one fails.
    let out = tempfile::tempdir().expect("a folder");
    let report = ask("choices/value.c", out.path(), &["--strategy", "dpor", "--runs", "20"]);
    assert_eq!(report["verdict"], "failure", "{report}");
}

/// What nobody can come in the midst of is one step, whose orders with others are tried.
#[test]
fn planners_know_what_is_done_in_one_go() {
    for planner in ["dpor", "dfs", "pcb"] {
        let out = tempfile::tempdir().expect("a folder");
        let report = ask("choices/atomic.c", out.path(), &["--strategy", planner, "--keep-going"]);
        let messages: Vec<&str> = report["findings"]
            .as_array()
            .map(|list| list.iter().filter_map(|finding| finding["message"].as_str()).collect())
            .unwrap_or_default();
        assert!(matches!(messages[..], [message] if message.contains("plain")), "{planner}: {report}");
        assert_eq!(report["planner"]["finished"], true, "{planner}: {report}");
        let bounds = report["planner"]["bounds"].to_string();
        assert!(!bounds.contains("could not be made"), "{planner}: {bounds}");
    }
}

/// The value that fails stays, and the replay takes it again; others become the first option.
#[test]
fn a_shrunk_schedule_has_the_values_that_matter() {
    for name in ["choices/value.c", "choices/value.rs"] {
        for seed in ["1", "2", "3", "4"] {
            let out = tempfile::tempdir().expect("a folder");
            let options = ["--shrink", "10s", "--seed", seed, "--runs", "1000", "--strategy", "random"];
            let report = ask(name, out.path(), &options);
            let schedule = PathBuf::from(report["findings"][0]["schedule"].as_str().expect("a path"));
            let text = fs::read_to_string(&schedule).expect("a schedule");
            let steps = text.split("steps:\n").nth(1).and_then(|text| text.split("\nend ").next());
            let steps = steps.expect("steps");
            assert!(steps.split_whitespace().any(|word| word == "c4/6"), "{name}: {text}");
            let replay = tool::run(["replay".as_ref(), schedule.as_os_str()]);
            assert_eq!(replay.code, Some(1), "{name}: {}", replay.describe());
        }
    }
}
