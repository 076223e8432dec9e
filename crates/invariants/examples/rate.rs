//! How many samples a second one core takes: `cargo run --release -p threadbare-invariants --example rate`.
//!
//! The time is that spent on a processor, as the kernel counts it, so that other programs disturb it less.

use threadbare_invariants::{Inference, Points, ProgramPoint, Region, Sample, Side, Type, Value, Variable};

const VARIABLES: usize = 20;
const DIFFERENT: usize = 20_000;
const SAMPLES: usize = 2_000_000;

fn main() {
    println!(
        "{:<44} {:>12} {:>12} {:>8} {:>10}",
        "stream of 20 variables", "samples/s", "bytes kept", "told", "ms to tell"
    );
    measure("entry, unrelated numbers", false, 0, |at, random| (random(at as u64) % 1_000) as i128);
    measure("entry, wide unrelated numbers", false, 0, |at, random| (random(at as u64)) as i128);
    measure("entry, counters that follow each other", false, 0, |at, _| at as i128);
    measure("exit, x == orig(x) + 1 for all", true, 0, |at, random| (random(at as u64) % 100_000) as i128);
    measure("exit, constants", true, 0, |at, _| at as i128);
    measure("exit, two flags among them", true, 2, |at, random| (random(at as u64) % 1_000) as i128);
    measure("exit, four flags among them", true, 4, |at, random| (random(at as u64) % 1_000) as i128);
}

fn measure(name: &str, exit: bool, flags: usize, value: fn(usize, &mut dyn FnMut(u64) -> u64) -> i128) {
    let mut points = Points::default();
    let class = |at| if at < flags { Type::Bool } else { Type::I64 };
    let variables: Vec<_> =
        (0..VARIABLES).map(|at| Variable::shared(format!("v{at:02}"), class(at))).collect();
    let region = Region::Function("f".to_owned());
    let add = |points: &mut Points, side| {
        points
            .add(ProgramPoint { region: region.clone(), side, variables: variables.clone() })
            .expect("a new point")
    };
    let enter = add(&mut points, Side::Enter);
    let leave = add(&mut points, Side::Exit);
    let mut seed = 1_u64;
    let mut random = |salt: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(salt | 1);
        seed >> 20
    };
    let samples: Vec<Sample> = (0..DIFFERENT)
        .map(|number| {
            let mut number_of = |at: usize| {
                if at < flags {
                    i128::from(random(3) >> 7 & 1)
                } else if name.contains("follow") {
                    (number * (at + 1)) as i128
                } else {
                    value(at, &mut random)
                }
            };
            let entry: Vec<i128> = (0..VARIABLES).map(&mut number_of).collect();
            let now = entry
                .iter()
                .enumerate()
                .map(|(at, &was)| if at < flags || name.contains("constants") { was } else { was + 1 });
            Sample {
                point: if exit { leave } else { enter },
                run: 1,
                strand: 0,
                event: number as u64,
                values: now.map(Value::Int).collect(),
                entry: if exit { entry.into_iter().map(Value::Int).collect() } else { Vec::new() },
            }
        })
        .collect();
    let mut inference = Inference::new();
    let start = busy();
    for at in 0..SAMPLES {
        inference.take(&points, &samples[at % DIFFERENT]);
    }
    let rate = SAMPLES as f64 / (busy() - start);
    let start = busy();
    let told: usize = inference.tell().iter().map(|point| point.told.len()).sum();
    let telling = (busy() - start) * 1e3;
    let kept = inference.save().len();
    println!("{name:<44} {rate:>12.0} {kept:>12} {told:>8} {telling:>10.1}");
}

/// Seconds that this process has been on a processor.
fn busy() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    let nanoseconds: f64 =
        text.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number");
    nanoseconds / 1e9
}
