//! What free runs cover: functions are told apart by what can happen to them, campaigns go on from each other, and one that has covered
//! enough ends.
//!
//! These runs share the processors with other tests, so of what noise brings about only what nearly every run shows is asserted.

use serde_json::Value;
use std::path::{Path, PathBuf};
use threadbare_tests::campaign::{self, Campaign};
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Language, Program};
use threadbare_tests::tool;

fn program(name: &str) -> Program {
    corpus::programs().into_iter().find(|program| program.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn built(program: &Program) -> PathBuf {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tasks");
    let compiler = if program.language == Language::Rust { Compiler::Rustc } else { Compiler::Gcc };
    compile::instrumented(program, compiler, &builds).unwrap_or_else(|error| panic!("{error}"))
}

fn free(name: &str, out: &Path, options: &[&str]) -> Campaign {
    let program = program(name);
    let mut all = vec!["--mode", "free"];
    all.extend(options);
    campaign::run(&program, &built(&program), out, &all).unwrap_or_else(|error| panic!("{error}"))
}

/// What `threadbare coverage` tells of a folder, all in one line.
fn coverage(out: &Path, options: &[&str]) -> String {
    let mut command = tool::command(["coverage"]);
    command.args(options).arg(out);
    let told = tool::finish(&mut command, tool::PATIENCE);
    assert_eq!(told.code, Some(0), "{}", told.describe());
    told.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The tasks of a function: its place in the list, interrupted, ran through.
fn function<'a>(tasks: &'a Value, name: &str) -> (u64, &'a str, &'a str) {
    let functions = tasks["functions"].as_array().unwrap_or_else(|| panic!("{tasks}"));
    let is_it =
        |it: &&Value| it["function"].as_str().is_some_and(|full| full.rsplit("::").next() == Some(name));
    let found: Vec<_> = functions.iter().filter(is_it).collect();
    let [only] = found[..] else { panic!("{name}: {found:?} in {tasks}") };
    let place = functions.iter().position(|it| it == only).unwrap() as u64;
    assert!(only["line"].is_u64() && only["file"].as_str().is_some(), "{only}");
    (place, only["interrupted"].as_str().unwrap(), only["ran_through"].as_str().unwrap())
}

fn pairs(tasks: &Value, which: &str) -> Vec<(u64, u64)> {
    let pairs = tasks["pairs"][which].as_array().unwrap_or_else(|| panic!("{tasks}"));
    pairs.iter().map(|pair| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap())).collect()
}

#[test]
fn functions_of_every_sort_are_told_apart() {
    for (name, leaves) in [("noise/tasks.c", "leave"), ("noise/tasks.rs", "stay")] {
        let out = tempfile::tempdir().unwrap();
        let campaign = free(name, out.path(), &["--runs", "40"]);
        let tasks = &campaign.report["tasks"];
        let states = |name: &str| {
            let (_, interrupted, through) = function(tasks, name);
            (interrupted, through)
        };
        assert_eq!(states("set_up"), ("alone", "alone"), "{name}");
        assert_eq!(states(leaves).1, "never_returned", "{name}");
        // Noise does not reach it; a busy machine may interrupt it all the same, and that counts.
        let (interrupted, through) = states("mix");
        assert!(
            ["no_events", "covered"].contains(&interrupted) && through == "covered",
            "{name}: {interrupted}"
        );
        assert_eq!(states("deposit"), ("covered", "covered"), "{name}");
        let (covered, open) = (pairs(tasks, "covered"), pairs(tasks, "open"));
        // Several strands are in one; only one strand is in the other.
        let (deposit, audit) = (function(tasks, "deposit").0, function(tasks, "audit").0);
        assert!(covered.contains(&(deposit, deposit)), "{name}: {covered:?}");
        assert!(!covered.contains(&(audit, audit)) && !open.contains(&(audit, audit)), "{name}");
        for model in ["model1", "interrupted", "ran_through", "model2"] {
            let counts = &tasks["counts"][model];
            let number = |field: &str| counts[field].as_u64().unwrap_or_else(|| panic!("{counts}"));
            let out: u64 =
                counts["uncoverable"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
            assert_eq!(number("tasks"), number("coverable") + out, "{name}: {counts}");
        }
        let counts = &tasks["counts"]["model2"];
        assert_eq!(counts["covered"], covered.len(), "{name}");
        assert_eq!(counts["coverable"], covered.len() + open.len(), "{name}");
        let last = tasks["curve"].as_array().and_then(|curve| curve.last()).unwrap();
        assert_eq!((&last["runs"], &last["pairs"]), (&Value::from(40), &counts["covered"]), "{name}");
    }
    let out = tempfile::tempdir().unwrap();
    let campaign = free("noise/tasks.c", out.path(), &["--runs", "2"]);
    assert_eq!(function(&campaign.report["tasks"], "tear_down").1, "alone");
}

#[test]
fn what_a_library_has_taken_in_is_the_programs_own() {
    // Optimised, a strand's code is in the library's function that begins it.
    let out = tempfile::tempdir().unwrap();
    let options = ["--mode", "free", "--runs", "8", "--keep-going", "--races", "off"];
    for flags in [vec![], vec!["-O".to_owned()]] {
        let program = Program { flags, ..program("noise/move_money.rs") };
        let campaign = campaign::run(&program, &built(&program), out.path(), &options);
        let campaign = campaign.unwrap_or_else(|error| panic!("{error}"));
        let functions = campaign.report["tasks"]["functions"].as_array().unwrap();
        let names: Vec<&str> = functions.iter().filter_map(|it| it["function"].as_str()).collect();
        assert!(names.iter().all(|name| name.starts_with("move_money::")), "{names:?}");
        let strands = functions
            .iter()
            .filter(|it| it["function"] != "move_money::main" && it["interrupted"] == "covered");
        assert!(strands.count() >= 1, "{functions:?}");
    }
}

#[test]
fn campaigns_go_on_from_what_is_covered() {
    let out = tempfile::tempdir().unwrap();
    let covered = |tasks: &Value, what: &str| tasks["counts"][what]["covered"].as_u64().unwrap();
    let first = free("noise/tasks.c", out.path(), &["--runs", "30"]);
    // Without noise two runs alone would not cover so much.
    let options = ["--runs", "2", "--noise", "none", "--guide", "history", "--jobs", "2"];
    let second = free("noise/tasks.c", out.path(), &options);
    let (one, two) = (&first.report["tasks"], &second.report["tasks"]);
    for what in ["interrupted", "ran_through", "model2"] {
        assert!(covered(two, what) >= covered(one, what), "{what}: {one} {two}");
    }
    let added = &two["added"];
    assert_eq!(added["pairs"].as_u64(), Some(covered(two, "model2") - covered(one, "model2")), "{added}");
    let json: Value = serde_json::from_str(&coverage(out.path(), &["--format", "json"])).unwrap();
    let [program] = &json["programs"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!(program["runs"], 32);
    assert_eq!(program["campaigns"].as_array().map(Vec::len), Some(2));
    assert_eq!(program["tasks"]["counts"], two["counts"]);
    let text = coverage(out.path(), &["--all"]);
    for part in [": 2 campaigns, 32 free runs ", "the 2nd added ", " set_up ", " alone alone none "] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("`--all`"), "{text}");
    // Controlled campaigns are another matter.
    let program = self::program("noise/tasks.c");
    campaign::run(&program, &built(&program), out.path(), &["--runs", "20"])
        .unwrap_or_else(|error| panic!("{error}"));
    let text = coverage(out.path(), &[]);
    assert!(text.contains(" free runs ") && text.contains(": 20 runs "), "{text}");
}

#[test]
fn a_campaign_ends_when_enough_is_covered() {
    let out = tempfile::tempdir().unwrap();
    for (goal, model, least) in [("75%", "model1", 0.75), ("model2:30%", "model2", 0.3)] {
        let campaign = free("noise/tasks.rs", out.path(), &["--until-coverage", goal]);
        assert_eq!(campaign.text("ended_by"), Ok("coverage"), "{goal}");
        assert_eq!(campaign.text("strategy"), Ok("noise:mixed:history"), "{goal}");
        let counts = &campaign.report["tasks"]["counts"][model];
        let share = counts["covered"].as_f64().unwrap() / counts["coverable"].as_f64().unwrap();
        assert!(share >= least, "{goal}: {counts}");
        assert_eq!(campaign.report["tasks"]["goal"]["model"], model);
    }
    // Bounds hold beside it.
    let campaign = free("noise/tasks.rs", out.path(), &["--until-coverage", "100%", "--runs", "1"]);
    assert_eq!((campaign.text("ended_by"), campaign.number("runs")), (Ok("runs"), Ok(1)));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let program = built(&program("noise/tasks.c")).display().to_string();
    let refused = |options: &[&str], why: &str| {
        let mut all = vec!["run"];
        all.extend(options);
        all.extend(["--", program.as_str()]);
        let told = tool::run(all);
        assert_eq!(told.code, Some(2), "{options:?}: {}", told.describe());
        assert!(told.stderr.contains(why), "{options:?}: {}", told.describe());
    };
    refused(&["--until-coverage", "95%"], "`--until-coverage` is for the free mode");
    refused(&["--guide", "model1"], "`--guide` is for the free mode");
    refused(&["--mode", "free", "--until-coverage", "0%"], "such as 95% or model2:60%");
    refused(&["--mode", "free", "--until-coverage", "model3:5%"], "none of model1 and model2");
    refused(&["--mode", "free", "--guide", "luck"], "one of random, model1, model2, history");
    refused(&["--mode", "free", "--until", "1%"], "`--until-coverage 95%`");
}
