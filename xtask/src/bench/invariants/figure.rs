//! The paper's figure 10: how many runs each strategy makes of the indexer, by its number of strands.

use super::Bench;
use super::page::Page;
use crate::bench::{field, json};
use crate::steps::{Outcome, command, root};
use std::fmt::Write;

/// As many runs as the figure shows.
const MOST: u64 = 5000;
const STRATEGIES: [(&str, &str); 3] = [("hapset", "#1b7837"), ("pcb:2", "#2166ac"), ("dpor", "#b2182b")];
const STRANDS: std::ops::RangeInclusive<u64> = 2..=10;

/// Measures, tells a table and writes the plot.
pub(super) fn figure_10(bench: &Bench, page: &mut Page) -> Outcome {
    page.line("\nFigure 10: runs of the indexer by strands (`+`: cut off).\n");
    page.line("| strands | hapset | pcb:2 | dpor |\n|---|---|---|---|");
    let most = MOST.to_string();
    let mut lines: [Vec<(u64, u64)>; 3] = Default::default();
    for strands in STRANDS {
        let define = format!("-DSTRANDS={strands}");
        let program = bench.built("indexer", &[&define])?;
        let mut cells = Vec::new();
        for ((strategy, _), line) in STRATEGIES.iter().zip(&mut lines) {
            let mut arguments = vec!["run", "--strategy", strategy, "--races", "off", "--keep-going"];
            arguments.extend(["--format", "json", "--out", "out", "--time", "5s", "--runs", &most]);
            arguments.extend(["--", &program]);
            let result = json(command(&bench.tool, &arguments).current_dir(&bench.folder))?;
            let runs = field(&result, "runs")? as u64;
            let whole = result["ended_by"] == "complete";
            cells.push(format!("{runs}{}", if whole { "" } else { "+" }));
            line.push((strands, runs.min(MOST)));
        }
        page.line(&format!("| {strands} | {} |", cells.join(" | ")));
    }
    let file = root().join("bench/invariants/figure10.svg");
    std::fs::write(&file, plot(&lines)).map_err(|error| error.to_string())?;
    page.line("\n![runs by strands](figure10.svg)");
    Ok(())
}

fn plot(lines: &[Vec<(u64, u64)>; 3]) -> String {
    let x = |strands: u64| 60 + (strands - STRANDS.start()) * 60;
    let y = |runs: u64| 340 - runs * 300 / MOST;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"620\" height=\"390\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"620\" height=\"390\" fill=\"white\"/>\n",
    );
    for strands in STRANDS {
        let _ = writeln!(svg, "<text x=\"{}\" y=\"358\" text-anchor=\"middle\">{strands}</text>", x(strands));
    }
    for runs in (0..=MOST).step_by(1000) {
        let at = y(runs);
        let _ = writeln!(svg, "<line x1=\"60\" y1=\"{at}\" x2=\"540\" y2=\"{at}\" stroke=\"#ddd\"/>");
        let _ = writeln!(svg, "<text x=\"52\" y=\"{}\" text-anchor=\"end\">{runs}</text>", at + 4);
    }
    for (number, ((name, colour), line)) in STRATEGIES.iter().zip(lines).enumerate() {
        let points: Vec<String> = line.iter().map(|&(at, runs)| format!("{},{}", x(at), y(runs))).collect();
        let points = points.join(" ");
        let _ = writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        let at = 30 + 18 * number;
        let _ = writeln!(svg, "<text x=\"80\" y=\"{at}\" fill=\"{colour}\">{name}</text>");
    }
    svg.push_str("<text x=\"300\" y=\"380\" text-anchor=\"middle\">strands</text>\n</svg>\n");
    svg
}
