//! Time: deadlines that keep their order, clocks that many events do not use up, watchdogs that wait for everybody.

use serde_json::Value;
use std::path::{Path, PathBuf};
use threadbare_tests::tool;

/// A program, built, and a folder for what is found in it.
struct Built {
    executable: PathBuf,
    folder: tempfile::TempDir,
}

fn built(source: &str) -> Built {
    let folder = tempfile::tempdir().expect("a folder");
    let source = tool::root().join("tests").join(source);
    let executable = tool::build(&source, folder.path());
    Built { executable: executable.unwrap_or_else(|| panic!("{}", source.display())), folder }
}

impl Built {
    fn run(&self, options: &[&str]) -> (Option<i32>, Value) {
        let mut command = tool::command(["run", "--shrink", "off", "--format", "json", "--out"]);
        command.arg(self.folder.path().join("out")).args(options).arg("--").arg(&self.executable);
        let made = tool::finish(&mut command, tool::PATIENCE);
        let json = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()));
        (made.code, json)
    }

    fn assert_clean(&self, options: &[&str]) -> Value {
        let (code, json) = self.run(options);
        assert_eq!(code, Some(0), "{} {options:?}: {json:#}", self.executable.display());
        json
    }
}

const IN_ORDER: [&str; 2] = ["--deadlines", "in-order"];

/// A sleep that is long enough is long enough for every strategy, and what planners claim says so.
#[test]
fn deadlines_in_order_hold_for_every_strategy() {
    let strategies =
        ["portfolio", "random", "pct:3", "surw", "rff", "stall", "idioms", "dpor", "pcb:2", "hapset", "dfs"];
    for source in ["programs/timed/sleep_sync.c", "programs/timed/sleep_sync.rs", "deadlines/three-sleeps.c"]
    {
        let program = built(source);
        assert_eq!(program.run(&["--runs", "1000"]).0, Some(1), "{source}: a deadline may come early");
        for strategy in strategies {
            let options = [&IN_ORDER[..], &["--strategy", strategy, "--runs", "300"]].concat();
            let json = program.assert_clean(&options);
            if strategy == "dpor" && source.ends_with(".c") {
                let claim = &json["claim"];
                assert_eq!(claim["kind"], "complete", "{source}: {claim:#}");
                let holds_for = claim["holds_for"].as_array().cloned().unwrap_or_default();
                assert!(holds_for.contains(&Value::from("deadlines in their order")), "{claim:#}");
            }
        }
    }
}

/// A second is not over because much has happened in it.
#[test]
fn many_events_use_up_no_deadline() {
    for source in ["deadlines/mailbox.c", "deadlines/mailbox.rs"] {
        let program = built(source);
        let options = [&IN_ORDER[..], &["--runs", "2", "--races", "off"]].concat();
        let json = program.assert_clean(&options);
        let events = json["points"].as_u64().unwrap_or(0) / 2;
        assert!(events > 1 << 20, "{source}: {events} points a run");
    }
}

/// A timer that would end the process waits for everybody who can go on, and no longer.
#[test]
fn a_watchdog_is_the_last_to_move() {
    let works = built("deadlines/watchdog.c");
    works.assert_clean(&["--runs", "8", "--races", "off"]);
    let (code, json) = built("deadlines/hangs.c").run(&["--runs", "3"]);
    assert_eq!(code, Some(1), "{json:#}");
    let message = json["findings"][0]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("SIGALRM"), "{json:#}");
}

/// What goes on until some time has come ends, though it does much until then.
#[test]
fn loops_that_wait_for_a_time_end() {
    for name in ["duration.c", "waits-for-sleeper.c"] {
        let program = built(&Path::new("deadlines").join(name).display().to_string());
        for options in [&[][..], &IN_ORDER] {
            program.assert_clean(&[&["--runs", "4", "--races", "off"], options].concat());
        }
    }
}

/// Where nobody else can go on, time jumps to the next look of who looks every millisecond: ten seconds are ten thousand looks, of a few points each.
#[test]
fn who_looks_every_millisecond_costs_little() {
    let json = built("deadlines/poller.c")
        .assert_clean(&[&IN_ORDER[..], &["--runs", "4", "--races", "off"]].concat());
    let points = json["points"].as_u64().unwrap_or(0) / json["runs"].as_u64().unwrap_or(0).max(1);
    assert!((10_000..=40_000).contains(&points), "{points} points a run");
}

/// A failure that needs a wait to end early says so, with the wait's place and what leaves such runs out; others do not.
#[test]
fn a_failure_that_needs_an_early_deadline_says_so() {
    let notes = |program: &Built, strategy: &str| -> Vec<String> {
        let (code, json) = program.run(&["--runs", "1000", "--races", "off", "--strategy", strategy]);
        assert_eq!(code, Some(1), "{strategy}: {json:#}");
        let notes = json["findings"][0]["notes"].as_array().cloned().unwrap_or_default();
        notes.iter().filter_map(|note| note.as_str().map(str::to_owned)).collect()
    };
    let is_one = |note: &String| note.contains("ended by its deadline while strand");
    for (source, place) in [
        ("programs/timed/sleep_sync.c", "sleep_sync.c:"),
        ("programs/timed/sleep_sync.rs", "sleep_sync.rs:"),
        ("deadlines/three-sleeps.c", "three-sleeps.c:"),
    ] {
        let program = built(source);
        for strategy in ["portfolio", "random", "dpor"] {
            let notes = notes(&program, strategy);
            let told: Vec<&String> = notes.iter().filter(|note| is_one(note)).collect();
            let last = told.last().unwrap_or_else(|| panic!("{source} {strategy}: {notes:?}"));
            assert!(told[0].starts_with("the sleep of strand 0") && told[0].contains(place), "{notes:?}");
            assert!(last.ends_with("`--deadlines in-order` leaves such runs out"), "{notes:?}");
        }
    }
    for source in ["programs/lost-update/counter.c", "programs/condvar/if_not_while.c"] {
        let notes = notes(&built(source), "portfolio");
        assert!(!notes.iter().any(is_one), "{source}: {notes:?}");
    }
}
