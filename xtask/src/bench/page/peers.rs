//! Points and runs in a second beside Shuttle and Loom.

use super::{Bench, Page, plot};
use crate::bench::{field, in_turns, number};
use crate::steps::{Outcome, cargo, run};
use std::process::Command;

/// Measures both tables.
pub(super) fn peers(bench: &Bench, page: &mut Page) -> Outcome {
    run(cargo(&["build", "--release", "--manifest-path", &Bench::source("shuttle-counter/Cargo.toml")])
        .env("CARGO_TARGET_DIR", &bench.folder))?;
    for (file, program) in [("counter.c", "counter"), ("lock.c", "lock")] {
        run(&mut bench
            .command(&bench.tool, &["cc", "-g", "-O1", "-pthread", &Bench::source(file), "-o", program]))?;
    }
    let peer = |name: &str| number(&mut Command::new(bench.folder.join("release").join(name)));
    let points = |races: &str| {
        let options = ["--jobs", "1", "--strategy", "uniform", "--races", races, "--runs", "3"];
        let result = bench.campaign(&options, &["./counter", "3000000"])?;
        Ok(field(&result, "points")? / field(&result, "elapsed_s")?)
    };
    let runs = |reset: &str, runs: &str| {
        let options = ["--jobs", "1", "--strategy", "random", "--reset", reset, "--runs", runs];
        field(&bench.campaign(&options, &["./lock", "2", "1"])?, "runs_per_s")
    };
    let (plain, shuttle) = in_turns(|| points("off"), || peer("shuttle-counter"))?;
    let (races, _) = in_turns(|| points("report"), || Ok(0.0))?;
    let (snapshot, of_shuttle) = in_turns(|| runs("snapshot", "50000"), || peer("shuttle-runs"))?;
    let (fork, of_loom) = in_turns(|| runs("fork", "1000"), || peer("loom-runs"))?;

    page.line("\n## Points and runs in a second\n");
    page.line("Points: two strands add to a counter (`bench/counter.c`), 12 million points a run. Runs: two strands add one each under a lock (`bench/lock.c`). Loom goes through all orders of a test; its figure is how many it went through in a second.");
    page.head(&["", "points/s", "runs/s"]);
    let rows = [
        ("Threadbare", Some(plain), Some(snapshot)),
        ("Threadbare, races looked for", Some(races), None),
        ("Threadbare, a process for each run", None, Some(fork)),
        ("Shuttle", Some(shuttle), Some(of_shuttle)),
        ("Loom", None, Some(of_loom)),
    ];
    let told = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), plot::short);
    for (name, points, runs) in rows {
        page.row(&[name.to_owned(), told(points), told(runs)]);
    }
    let names = rows.map(|(name, ..)| name);
    let series = [
        ("points/s".to_owned(), rows.map(|(_, points, _)| points).to_vec()),
        ("runs/s".to_owned(), rows.map(|(.., runs)| runs).to_vec()),
    ];
    page.plot(
        "peers.svg",
        "points and runs in a second",
        &plot::bars("Points and runs in a second", &names, &series),
    )
}
