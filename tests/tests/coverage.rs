//! Classes of runs: programs whose number of classes is known show exactly so many, and what is told of what is left to
//! see is right as often as it says.

use std::path::Path;
use threadbare_coverage::resample::{Source, share};
use threadbare_coverage::{Estimate, Kept};
use threadbare_strategy::rng::Rng;
use threadbare_tests::campaign;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::{compile, tool};

/// Runs that see every class of these programs.
const RUNS: &str = "1500";
/// Simulated campaigns of each length.
const CAMPAIGNS: u64 = 200;

fn build(program: &Program) -> std::path::PathBuf {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    compile::instrumented(program, compile::compilers(program)[0], &builds)
        .unwrap_or_else(|message| panic!("{message}"))
}

#[test]
fn campaigns_see_as_many_classes_as_there_are_and_say_what_is_left() {
    let mut rng = Rng::new(1);
    let mut tried = 0;
    for program in corpus::programs().into_iter().filter(|program| program.classes.is_some()) {
        let executable = build(&program);
        let out = tempfile::tempdir().expect("a folder");
        let campaign =
            campaign::run(&program, &executable, out.path(), &["--runs", RUNS, "--faults", "none"])
                .unwrap_or_else(|message| panic!("{}: {message}", program.name));
        let seen = campaign.report["coverage"]["classes"].as_u64();
        assert_eq!(seen, program.classes, "{}", campaign.complain(&program.name));
        let text = std::fs::read_to_string(out.path().join("coverage.json")).expect("coverage is kept");
        let kept = Kept::parse(&text).expect("it can be read again");
        let weights: Vec<f64> = kept.campaigns[0].classes.all().map(|(_, count)| f64::from(count)).collect();
        let source = Source::new(&weights);
        for runs in [20, 60, 200] {
            let share = share(&source, runs, CAMPAIGNS, &mut rng, Estimate::independent);
            assert!(share >= 0.9, "{}: of {runs} runs the interval holds in {share}", program.name);
        }
        tried += 1;
    }
    assert!(tried >= 8, "only {tried} programs say how many classes they have");
}

#[test]
fn a_campaign_ends_when_it_is_enough() {
    let program = corpus::programs()
        .into_iter()
        .find(|program| program.name == "classes/three_sections.c")
        .expect("it is in the corpus");
    let executable = build(&program);
    let out = tempfile::tempdir().expect("a folder");
    let campaign =
        campaign::run(&program, &executable, out.path(), &["--until", "2%", "--strategy", "random"])
            .unwrap_or_else(|message| panic!("{message}"));
    assert_eq!(campaign.text("ended_by"), Ok("until"));
    let estimate = &campaign.report["coverage"]["estimate"];
    assert!(estimate["high"].as_f64().is_some_and(|high| high < 0.02), "{estimate}");
    let mut command = tool::command(["coverage", "--format", "json"]);
    command.arg(out.path());
    let told = tool::finish(&mut command, tool::PATIENCE);
    let json: serde_json::Value = serde_json::from_str(&told.stdout).expect("one object");
    assert_eq!(json["programs"][0]["counts"]["classes"], 6, "{}", told.describe());
    assert_eq!(json["programs"][0]["runs"], campaign.report["runs"]);
}
