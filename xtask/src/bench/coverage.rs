//! `cargo xtask bench coverage`: what coverage costs, and whether its intervals hold.
//!
//! The cost is runs/s (and points/s) with coverage on against off, in turns. The intervals are tried on real programs: a long
//! campaign tells how likely each class is, and 200 campaigns of each length are drawn from that.

use super::{Row, field, in_turns, json, table};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use std::path::Path;
use threadbare_coverage::resample::{Source, share};
use threadbare_coverage::{Estimate, Kept};
use threadbare_strategy::rng::Rng;

/// Programs: a name, the source, an argument.
const PROGRAMS: [(&str, &str, &str); 7] = [
    ("counter, 3 additions", "bench/counter.c", "3"),
    ("bank-locked", "examples/bank-locked.c", ""),
    ("two updates", "tests/programs/classes/two_updates.c", ""),
    ("three sections", "tests/programs/classes/three_sections.c", ""),
    ("two condvars", "tests/programs/condvar/two_condvars.c", ""),
    ("socketpair", "tests/programs/io/socketpair.c", ""),
    ("work stealing", "tests/programs/search/work_stealing.c", ""),
];
/// Those whose runs/s are compared.
const MEASURED: usize = 3;
const RUNS: &str = "1500";
/// Runs that tell how likely each class is.
const LONG: &str = "20000";
const CAMPAIGNS: u64 = 200;
const LENGTHS: [u64; 4] = [50, 200, 1000, 3000];

pub(crate) fn coverage() -> Outcome {
    packages::ensure(&[packages::COMPILERS])?;
    let tool = build_tool()?;
    let folder = root().join("target/bench/coverage");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for (index, (_, source, _)) in PROGRAMS.iter().enumerate() {
        let source = root().join(source).to_string_lossy().into_owned();
        let target = format!("program{index}");
        run(command(&tool, &["cc", "-g", "-O1", "-pthread", &source, "-o", &target]).current_dir(&folder))?;
    }
    let campaign = |coverage: &str, runs: &str, index: usize, argument: &str, out: &str| {
        let program = format!("./program{index}");
        let mut arguments =
            vec!["run", "--coverage", coverage, "--runs", runs, "--jobs", "1", "--keep-going"];
        arguments.extend(["--races", "report", "--format", "json", "--timeout", "60s", "--out", out, "--"]);
        arguments.push(&program);
        arguments.extend((!argument.is_empty()).then_some(argument));
        json(command(&tool, &arguments).current_dir(&folder))
    };

    let mut rows = Vec::new();
    for (index, (name, _, argument)) in PROGRAMS.iter().enumerate().take(MEASURED) {
        let rate = |coverage| field(&campaign(coverage, RUNS, index, argument, "rate")?, "runs_per_s");
        let (ours, peer) = in_turns(|| rate("on"), || rate("off"))?;
        rows.push(Row { what: format!("runs/s, {name}; peer: without coverage"), ours, peer, at_least: 0.9 });
    }
    let points = |coverage| {
        let result = campaign(coverage, "3", 0, "1000000", "rate")?;
        Ok(field(&result, "points")? / field(&result, "elapsed_s")?)
    };
    let (ours, peer) = in_turns(|| points("on"), || points("off"))?;
    let what = "points/s, two strands on a counter; peer: without coverage".to_owned();
    // Nothing but points: every other program has a smaller share of them.
    rows.push(Row { what, ours, peer, at_least: 0.8 });
    let cost = table(&rows);

    println!("\n| program | classes | runs of a campaign | the 95% interval held | at least | |");
    println!("|---|---|---|---|---|---|");
    let mut missed = 0;
    let mut rng = Rng::new(1);
    for (index, (name, _, argument)) in PROGRAMS.iter().enumerate() {
        let out = format!("long{index}");
        // What an earlier bench kept would be put together with this campaign.
        let _ = std::fs::remove_dir_all(folder.join(&out));
        campaign("on", LONG, index, argument, &out)?;
        let source = classes(&folder.join(&out))?;
        for runs in LENGTHS {
            let held = share(&source, runs, CAMPAIGNS, &mut rng, Estimate::independent);
            let holds = held >= 0.9;
            missed += usize::from(!holds);
            let verdict = if holds { "holds" } else { "MISSED" };
            println!("| {name} | {} | {runs} | {:.1}% | 90% | {verdict} |", source.classes(), held * 100.0);
        }
    }
    if missed > 0 { Err(format!("{missed} intervals missed")) } else { cost }
}

/// The classes of the campaign that was kept in a folder.
fn classes(folder: &Path) -> Outcome<Source> {
    let path = folder.join(threadbare_coverage::kept::FILE);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let kept = Kept::parse(&text)?;
    let campaign = kept.campaigns.last().ok_or("no campaign was kept")?;
    Ok(Source::new(&campaign.classes.all().map(|(_, count)| f64::from(count)).collect::<Vec<_>>()))
}
