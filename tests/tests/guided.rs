//! Noise that goes where something is left to cover does cover it, and sooner than chance; and noise that looks at a strand's
//! history leaves long stretches alone.
//!
//! These runs share the processors with other tests: what is asserted holds by a wide margin on an idle machine.

use serde_json::Value;
use std::path::{Path, PathBuf};
use threadbare_tests::campaign;
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Program};

fn program(name: &str) -> Program {
    corpus::programs().into_iter().find(|program| program.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn built(program: &Program) -> PathBuf {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guided");
    compile::instrumented(program, Compiler::Gcc, &builds).unwrap_or_else(|error| panic!("{error}"))
}

/// What a campaign of free runs with this guidance tells; it begins with nothing.
fn free(name: &str, guide: &str, options: &[&str]) -> Value {
    let program = program(name);
    let out = tempfile::tempdir().unwrap();
    let mut all = vec!["--mode", "free", "--keep-going", "--races", "off", "--guide", guide];
    all.extend(options);
    let campaign = campaign::run(&program, &built(&program), out.path(), &all);
    campaign.unwrap_or_else(|error| panic!("{error}")).report
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn every_function_is_interrupted_and_runs_through() {
    let report = free("noise/pairs.c", "model1", &["--runs", "100", "--until-coverage", "model1:100%"]);
    assert_eq!(report["ended_by"], "coverage", "{}", report["tasks"]["counts"]);
    let functions = report["tasks"]["functions"].as_array().unwrap();
    let steps = || functions.iter().filter(|it| it["function"].as_str().is_some_and(|it| it.contains('_')));
    let alone = |it: &&Value| it["interrupted"] == "alone" && it["ran_through"] == "alone";
    assert_eq!(steps().filter(alone).map(|it| it["function"].as_str()).collect::<Vec<_>>(), [Some("set_up")]);
    let both = |it: &&Value| it["interrupted"] == "covered" && it["ran_through"] == "covered";
    assert_eq!(steps().filter(both).count(), 16, "{functions:?}");
}

#[test]
fn more_pairs_meet_than_by_chance() {
    let pairs = |guide: &str| -> u64 {
        let covered = |seed: &str| {
            let report = free("noise/pairs.c", guide, &["--runs", "24", "--seed", seed]);
            number(&report["tasks"]["counts"]["model2"]["covered"])
        };
        ["1", "2", "3", "4", "5", "6"].map(covered).iter().sum()
    };
    let (guided, chance) = (pairs("model2"), pairs("random"));
    assert!(guided > chance, "{guided} pairs by guided noise, {chance} by chance");
}

#[test]
fn a_strand_gets_far_while_others_are_interrupted() {
    let failed =
        |guide: &str, runs: &str| number(&free("noise/stretch.c", guide, &["--runs", runs])["runs_failed"]);
    let (history, chance) = (failed("history", "240"), failed("random", "60"));
    assert!(history > 0 && history > 2 * chance, "{history} of 240 by history, {chance} of 60 by chance");
}

#[test]
fn jumps_signals_and_forks_confuse_nobody() {
    for guide in ["random", "model1", "model2", "history"] {
        let report = free("noise/jumps.c", guide, &["--runs", "40"]);
        assert_eq!(number(&report["runs_failed"]), 0, "{guide}: {}", report["findings"]);
        let functions = report["tasks"]["functions"].as_array().unwrap();
        let deep =
            functions.iter().find(|it| it["function"] == "deep").unwrap_or_else(|| panic!("{functions:?}"));
        // Every call of it ends by a jump.
        assert_eq!(deep["ran_through"], "never_returned", "{guide}");
    }
}
