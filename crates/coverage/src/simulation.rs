//! Campaigns over classes whose chances are known: the intervals hold as often as they say.

use crate::estimate::Estimate;
use crate::resample::{Source, share};
use crate::species::Species;
use threadbare_strategy::rng::Rng;

const CAMPAIGNS: u64 = 200;
/// An interval of 95% that holds in 90% of 200 campaigns is as good as can be told.
const HOLDS: f64 = 0.90;

/// Chances of classes, by what makes them hard to estimate.
fn distributions() -> Vec<(&'static str, Vec<f64>)> {
    let uniform = |classes: usize| vec![1.0; classes];
    let geometric = |ratio: f64| (0..2000).map(|at| ratio.powi(at)).collect();
    let zipf = |power: f64| (1..4000).map(|at| f64::from(at).powf(-power)).collect();
    let mut mixed = vec![0.5];
    mixed.extend([0.49 / 50.0; 50]);
    mixed.extend([0.01 / 1000.0; 1000]);
    vec![
        ("one class", uniform(1)),
        ("2 alike", uniform(2)),
        ("20 alike", uniform(20)),
        ("100 alike", uniform(100)),
        ("10,000 alike", uniform(10_000)),
        ("each half as likely", geometric(0.5)),
        ("each a little less likely", geometric(0.95)),
        ("zipf 0.8", zipf(0.8)),
        ("zipf 1", zipf(1.0)),
        ("zipf 2", zipf(2.0)),
        ("one rare", vec![0.999, 0.001]),
        ("three rare", vec![0.97, 0.01, 0.01, 0.01]),
        ("common, rare, very rare", mixed),
    ]
}

#[test]
fn the_interval_of_independent_runs_holds() {
    let mut rng = Rng::new(3);
    for (name, weights) in distributions() {
        let source = Source::new(&weights);
        for runs in [30, 100, 300, 1000] {
            let share = share(&source, runs, CAMPAIGNS, &mut rng, Estimate::independent);
            assert!(share >= HOLDS, "{name}, {runs} runs: {share}");
        }
    }
}

#[test]
fn the_interval_of_recent_runs_holds() {
    let mut rng = Rng::new(5);
    for (name, weights) in distributions() {
        let source = Source::new(&weights);
        for runs in [100, 1000] {
            let share = share(&source, runs, CAMPAIGNS, &mut rng, Estimate::recent);
            assert!(share >= HOLDS, "{name}, {runs} runs: {share}");
        }
    }
}

#[test]
fn the_estimate_is_right_on_average() {
    let mut rng = Rng::new(9);
    let source = Source::new(&(1..500).map(|at| 1.0 / f64::from(at)).collect::<Vec<_>>());
    let (mut estimated, mut real, mut left, mut remaining) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..CAMPAIGNS {
        let mut species = Species::default();
        for _ in 0..1000 {
            species.see(source.draw(&mut rng));
        }
        let Some(estimate) = Estimate::independent(&species) else { continue };
        estimated += estimate.chance;
        real += source.unseen(&species);
        left += (source.classes() - species.classes()) as f64;
        remaining += estimate.remaining.map_or(0.0, |it| it.classes);
    }
    assert!((estimated / real - 1.0).abs() < 0.05, "{estimated} {real}");
    // A lower bound, and no bad one.
    assert!((0.6..1.05).contains(&(remaining / left)), "{remaining} {left}");
}

#[test]
fn words_say_what_the_numbers_say() {
    let estimate = |chance: f64, low: f64, high: f64| {
        let method = crate::estimate::Method::GoodTuring;
        Estimate { chance, low, high, method, runs: 1000, classes: 9, remaining: None }.words()
    };
    assert_eq!(
        estimate(0.0025, 0.0011, 0.004),
        "about 1 in 400 runs still shows something new (95%: 1 in 250 to 1 in 910)"
    );
    assert_eq!(
        estimate(0.001, 0.0, 0.0065),
        "about 1 in 1,000 runs still shows something new (95%: 1 in 150 to none)"
    );
    assert_eq!(estimate(0.0, 0.0, 0.0038), "less than 1 in 260 runs still shows something new (95%)");
    assert_eq!(estimate(0.9, 0.8, 1.0), "about 9 in 10 runs still show something new (95%: 8 to 10 in 10)");
    assert_eq!(estimate(1.0, 0.95, 1.0), "nearly every run still shows something new");
    assert_eq!(
        Estimate::complete(7).words(),
        "no run can show anything new: proved for this input and memory model"
    );
}
