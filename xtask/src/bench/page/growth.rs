//! How cost grows: with strands, points, heap and code.

use super::plot::Series;
use super::{Bench, Page, plot};
use crate::bench::field;
use crate::steps::{Outcome, run};
use std::fmt::Write;

const ROUNDS: usize = 3;

/// A name, and what is measured at each size.
type Line<'a> = (&'static str, &'a mut dyn FnMut(u64) -> Outcome<f64>);

/// The least of some rounds.
fn least(mut measure: impl FnMut() -> Outcome<f64>) -> Outcome<f64> {
    (0..ROUNDS).try_fold(f64::MAX, |best, _| Ok(best.min(measure()?)))
}

/// A table with a plot: what each line has at each size.
fn chart(
    page: &mut Page,
    name: &str,
    [title, across]: [&str; 2],
    sizes: &[u64],
    lines: &mut [Line],
) -> Outcome {
    let mut cells = vec![across];
    cells.extend(lines.iter().map(|(name, _)| *name));
    page.head(&cells);
    let mut series: Vec<Series> = lines.iter().map(|(name, _)| ((*name).to_owned(), Vec::new())).collect();
    for &size in sizes {
        let mut cells = vec![plot::short(size as f64)];
        for ((_, measure), (_, values)) in lines.iter_mut().zip(&mut series) {
            let value = least(|| measure(size))?;
            cells.push(plot::short(value));
            values.push(Some(value));
        }
        page.row(&cells);
    }
    let points: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
    page.plot(name, title, &plot::lines(title, across, &points, &series))
}

/// A program of so many functions, each with an access of its own, of which main calls every tenth.
fn code(functions: u64) -> String {
    let mut text = String::from("#include <pthread.h>\nstatic long shared[64];\n");
    for number in 0..functions {
        let at = number % 64;
        let _ = writeln!(
            text,
            "__attribute__((noinline)) static long f{number}(long x) {{ if (x & {}) shared[{at}] += x; return shared[{}] + x * {number}; }}",
            1 + number % 7,
            (at + 13) % 64
        );
    }
    text.push_str("static void *work(void *sum) {\n    long x = 1;\n");
    for number in 0..functions {
        let _ = writeln!(text, "    if (x == {number}) x = f{number}(x);");
    }
    text.push_str("    *(long *)sum = x;\n    return 0;\n}\nint main(void) {\n    pthread_t t;\n    long sum;\n    pthread_create(&t, 0, work, &sum);\n    pthread_join(t, 0);\n    return 0;\n}\n");
    text
}

/// Measures all four and draws them.
pub(super) fn growth(bench: &Bench, page: &mut Page) -> Outcome {
    for file in ["lock", "barrier", "heap"] {
        let source = Bench::source(&format!("{file}.c"));
        run(&mut bench.command(&bench.tool, &["cc", "-g", "-O1", "-pthread", &source, "-o", file]))?;
    }
    let of_points = |races: &str, program: &[&str], runs: &str| {
        let options = ["--jobs", "1", "--strategy", "uniform", "--races", races, "--runs", runs];
        let result = bench.campaign(&options, program)?;
        Ok(1e9 * field(&result, "elapsed_s")? / field(&result, "points")?)
    };
    page.line("\n## How it grows\n");
    page.line("Nanoseconds a point, by strands at one lock (a million additions in all) and at a barrier.");
    let shared = |strands: u64, all: u64| (strands.to_string(), (all / strands).to_string());
    chart(
        page,
        "strands.svg",
        ["Nanoseconds a point, by strands", "strands"],
        &[2, 8, 32, 128, 512, 1000],
        &mut [
            ("lock", &mut |strands| {
                let (strands, each) = shared(strands, 1_000_000);
                of_points("off", &["./lock", &strands, &each], "2")
            }),
            ("lock, races looked for", &mut |strands| {
                let (strands, each) = shared(strands, 1_000_000);
                of_points("report", &["./lock", &strands, &each], "2")
            }),
            ("barrier", &mut |strands| {
                let (strands, each) = shared(strands, 300_000);
                of_points("off", &["./barrier", &strands, &each], "2")
            }),
        ],
    )?;
    page.line("\nNanoseconds a point, by points in a run (two strands at a lock; about 2 million points are measured where runs are shorter).");
    let of_length = |races: &'static str| {
        move |points: u64| {
            let runs = (2_000_000 / points).max(1).to_string();
            of_points(races, &["./lock", "2", &(points / 6).to_string()], &runs)
        }
    };
    chart(
        page,
        "points.svg",
        ["Nanoseconds a point, by points in a run", "points"],
        &[1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000],
        &mut [("races off", &mut of_length("off")), ("races looked for", &mut of_length("report"))],
    )?;
    page.line(
        "\nMicroseconds a run, by pages of the heap that each run writes to (two strands at a lock besides).",
    );
    let of_heap = |reset: &'static str, most: u64| {
        move |pages: u64| {
            let runs = (most / pages).clamp(20, most / 10).to_string();
            let options =
                ["--jobs", "1", "--strategy", "random", "--races", "off", "--reset", reset, "--runs", &runs];
            Ok(1e6 / field(&bench.campaign(&options, &["./heap", &pages.to_string()])?, "runs_per_s")?)
        }
    };
    chart(
        page,
        "heap.svg",
        ["Microseconds a run, by pages that it writes to", "pages"],
        &[1, 10, 100, 1_000, 10_000],
        &mut [
            ("in the process of the run before", &mut of_heap("snapshot", 200_000)),
            ("a process for each run", &mut of_heap("fork", 20_000)),
        ],
    )?;
    page.line("\nMilliseconds of a campaign of one run and of a thousand, by functions of the program (each has two accesses).");
    for functions in CODE {
        let (source, program) = (format!("code{functions}.c"), format!("code{functions}"));
        std::fs::write(bench.folder.join(&source), code(functions)).map_err(|error| error.to_string())?;
        run(&mut bench.command(&bench.tool, &["cc", "-g", "-O0", "-pthread", &source, "-o", &program]))?;
    }
    let of_code = |runs: &'static str| {
        move |functions: u64| {
            let options = ["--jobs", "1", "--strategy", "random", "--runs", runs];
            Ok(1e3 * field(&bench.campaign(&options, &[&format!("./code{functions}")])?, "elapsed_s")?)
        }
    };
    chart(
        page,
        "code.svg",
        ["Milliseconds of a campaign, by functions", "functions"],
        &CODE,
        &mut [("one run", &mut of_code("1")), ("a thousand runs", &mut of_code("1000"))],
    )
}

const CODE: [u64; 4] = [10, 100, 1_000, 10_000];
