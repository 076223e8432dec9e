//! How often strategies with a guarantee show what they guarantee, counted through the engine. The strategies' own tests do the
//! same on simulated programs, where more is known of the chances.

use serde_json::Value;
use std::path::Path;
use threadbare_tests::campaign;
use threadbare_tests::compile;
use threadbare_tests::corpus;
use threadbare_tests::extent::either;

/// A campaign that goes on after failures.
fn counted(name: &str, arg: Option<&str>, strategy: &str, runs: u64) -> Value {
    let mut program = corpus::programs().into_iter().find(|it| it.name == name).expect("it is a program");
    program.args = arg.map(str::to_owned).into_iter().collect();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let executable = compile::instrumented(&program, compile::compilers(&program)[0], &builds)
        .unwrap_or_else(|message| panic!("{message}"));
    let out = tempfile::tempdir().expect("a folder");
    let runs = runs.to_string();
    let options = ["--strategy", strategy, "--runs", &runs, "--keep-going", "--races", "off", "--no-predict"];
    campaign::run(&program, &executable, out.path(), &options)
        .unwrap_or_else(|message| panic!("{name} with {strategy}: {message}"))
        .report
}

/// The least number of hits in so many runs with at least this chance each, but for one case in a million: the largest `least`
/// with P(hits < `least`) below 10^-6 under the binomial distribution.
fn least_hits(runs: u64, chance: f64) -> u64 {
    // The probability of no hit, and of each further one from the one before: (n - h)/(h + 1) · p/(1 - p).
    let mut exactly = (runs as f64 * (1.0 - chance).ln()).exp();
    let (mut below, mut hits) = (exactly, 0);
    while below < 1e-6 {
        exactly *= (runs - hits) as f64 / (hits + 1) as f64 * chance / (1.0 - chance);
        below += exactly;
        hits += 1;
    }
    hits
}

#[test]
fn the_bound_is_the_binomial_distributions() {
    // 100 runs with chance 1/2: P(X < 27) = 1e-6 by the tables; with chance 1/1000, no hit at all is likely.
    assert!((26..=28).contains(&least_hits(100, 0.5)), "{}", least_hits(100, 0.5));
    assert_eq!(least_hits(100, 0.001), 0);
}

/// The guarantee of `pct`: with n strands and at most k steps, a bug of depth d shows in a run with probability at least
/// 1/(n·k^(d-1)). There are n = 3 strands with the main one. Steps are choices, of which there are at most as many as
/// points; k is the mean number of points, which differ by a few only where a strand leaves early, and those runs are the
/// ones that failed.
#[test]
fn pct_shows_bugs_as_often_as_it_guarantees() {
    for (depth, runs) in [(1, 1000), (2, 4000), (3, either(12_000, 60_000))] {
        let report = counted("search/depth.c", Some(&depth.to_string()), &format!("pct:{depth}"), runs);
        let number = |field: &str| report[field].as_u64().expect("it is a number");
        let k = number("points").div_ceil(runs) as f64;
        let chance = 1.0 / (3.0 * k.powi(depth - 1));
        let (shown, least) = (number("runs_failed"), least_hits(runs, chance));
        assert!(shown >= least, "depth {depth}: {shown} of {runs} runs, at least {least} (k = {k})");
        println!("depth {depth}: {shown} of {runs} runs, at least {least} (k = {k})");
    }
}

/// `surw` makes every interleaving of what is interesting equally likely. The only object that both strands use is the one variable, so
/// its six operations are what is interesting in every run but the first: 6!/(3!·3!) = 20 orders.
#[test]
fn surw_shows_every_order_equally_often() {
    let runs = 4000;
    let report = counted("search/orders.c", None, "surw", runs);
    let findings = report["findings"].as_array().expect("a list");
    let counts: Vec<f64> = findings.iter().map(|it| it["count"].as_f64().expect("a number")).collect();
    assert_eq!(counts.len(), 20, "{counts:?}");
    // Chi-square with 19 degrees of freedom is above 64.9 in one case of a million.
    let expected = runs as f64 / 20.0;
    let deviation: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(deviation < 64.9, "{deviation} {counts:?}");
    println!("surw: chi-square {deviation:.1} of 19 degrees of freedom");
}
