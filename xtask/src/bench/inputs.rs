//! `cargo xtask bench inputs`: the three tables of the paper on choosing inputs ("adaptive random testing of concurrent programs"), its figures beside
//! ours, and ten programs where one input in fifty leads to the bug.

use crate::bench::{field, json};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The seconds and the mean of tests that the paper has.
type Paper = (f64, f64);

struct Bench {
    tool: PathBuf,
    folder: PathBuf,
    tests: u64,
    /// What is promised and not so.
    broken: Vec<String>,
}

/// How complete tests are made.
#[derive(Clone, Copy)]
struct How<'a> {
    policy: &'a str,
    options: &'a [&'a str],
}

impl Bench {
    fn build(&self, source: &str, name: &str, options: &[&str]) -> Outcome {
        let source = root().join("tests/inputs").join(source).to_string_lossy().into_owned();
        let mut words = vec!["cc", "-g", "-O1", "-pthread"];
        words.extend(options);
        words.extend([source.as_str(), "-o", name]);
        run(command(&self.tool, &words).current_dir(&self.folder))
    }

    /// The means of complete tests.
    fn repeat(&self, how: How<'_>, tests: u64, program: &str, inputs: &[&str]) -> Outcome<Value> {
        let count = tests.max(1).to_string();
        let mut words =
            vec!["inputs", "--races", "off", "--shrink", "off", "--policy", how.policy, "--repeat", &count];
        words.extend(how.options);
        let (before, after): (Vec<&str>, Vec<&str>) = inputs.iter().partition(|word| word.starts_with("--"));
        let flags: Vec<&str> = before.iter().flat_map(|word| word.splitn(2, ' ')).collect();
        words.extend(flags);
        let program = format!("./{program}");
        words.extend(["--", &program]);
        words.extend(after);
        json(command(&self.tool, &words).current_dir(&self.folder))
    }

    fn hold(&mut self, what: &str, ours: f64, most: f64) {
        let word = if ours <= most { "holds" } else { "DOES NOT HOLD" };
        println!("  {what}: {ours:.3} (at most {most}): {word}");
        if ours > most {
            self.broken.push(format!("{what}: {ours:.3}, at most {most}"));
        }
    }
}

fn mean(value: &Value) -> f64 {
    field(value, "tests_mean").unwrap_or(f64::NAN)
}

fn row(name: &str, how: &str, value: &Value, paper: Option<Paper>) {
    let number = |name: &str| value[name].as_f64().unwrap_or(f64::NAN);
    let paper = paper.map_or("".to_owned(), |(seconds, tests)| format!("{tests:.3} tests, {seconds:.1} s"));
    println!(
        "  {name:<8} {how:<22} {:>6} {:>5} {:>7.3} {:>5} {:>9.4} {:>8.1}   {paper}",
        number("iroots"),
        number("tests_least"),
        number("tests_mean"),
        number("tests_most"),
        number("seconds_mean"),
        number("runs_mean"),
    );
}

fn head(what: &str) {
    println!("\n{what}\n");
    println!(
        "  {:<8} {:<22} {:>6} {:>5} {:>7} {:>5} {:>9} {:>8}   the paper",
        "program", "policy", "iroots", "least", "mean", "most", "seconds", "runs"
    );
}

const DISTANCE: [&str; 2] = ["--stop", "distance"];

fn options<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

/// The tables.
pub(crate) fn inputs(words: &[&str]) -> Outcome {
    let tests = match words {
        [] => 1000,
        [number] => number.parse().map_err(|_| format!("`{number}` is no number of tests"))?,
        _ => return Err("`bench inputs` takes a number of complete tests".to_owned()),
    };
    packages::ensure(&[packages::COMPILERS])?;
    let (tool, folder) = (build_tool()?, root().join("target/bench-inputs"));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut bench = Bench { tool: Path::new(&tool).to_owned(), folder, tests, broken: Vec::new() };
    for program in ["p2", "p3", "p4", "p5"] {
        bench.build(&format!("{program}.c"), program, &[])?;
    }
    println!("{tests} complete tests of each");
    for idioms in ["1", "6"] {
        complete(&mut bench, idioms)?;
    }
    first_bug(&mut bench)?;
    needles(&mut bench)?;
    match bench.broken.is_empty() {
        true => Ok(()),
        false => Err(format!("not as promised:\n  {}", bench.broken.join("\n  "))),
    }
}

/// Programs with the ratio of positive numbers to others; the paper's figures of art1, random, and optimised art1, art2, random.
const COMPLETE: [(&str, &str, &str, [Paper; 5]); 4] = [
    (
        "P2_1v1",
        "p2",
        "1:1",
        [(47.084, 2.209), (81.653, 6.624), (43.402, 2.172), (43.062, 2.098), (47.221, 6.614)],
    ),
    (
        "P2_2v3",
        "p2",
        "2:3",
        [(47.047, 2.212), (80.803, 6.569), (43.399, 2.197), (42.974, 2.105), (47.145, 6.623)],
    ),
    (
        "P2_1v3",
        "p2",
        "1:3",
        [(46.361, 2.159), (78.781, 6.427), (42.103, 2.149), (41.933, 2.081), (45.009, 6.410)],
    ),
    (
        "P5_1v1",
        "p5",
        "1:1",
        [(105.927, 2.288), (250.616, 6.828), (91.954, 2.246), (92.107, 2.227), (99.184, 6.793)],
    ),
];

fn holes(ratio: &str) -> [String; 2] {
    ["x", "y"].map(|name| format!("{{{name}:int(-100..100, {ratio})}}"))
}

/// Tables 1 and 2.
fn complete(bench: &mut Bench, idioms: &str) -> Outcome {
    let tests = bench.tests;
    let base: &[&str] = &["--keep-going", "--idioms", idioms];
    for (retest, table) in [(true, "Table 1"), (false, "Table 2, optimised")] {
        let all = if idioms == "1" { "idiom 1, as the paper" } else { "all six idioms" };
        head(&format!("{table}: {all}"));
        let retests: &[&str] = if retest { &["--retest"] } else { &[] };
        let until = options(&[base, retests, &DISTANCE]);
        for (name, program, ratio, paper) in COMPLETE {
            let [x, y] = holes(ratio);
            let inputs = [x.as_str(), y.as_str()];
            let measure = |bench: &Bench, policy, options: &[&str], tests| {
                bench.repeat(How { policy, options }, tests, program, &inputs)
            };
            let at = |index: usize| (idioms == "1").then_some(paper[index]);
            let art1 = measure(bench, "art1", &until, tests)?;
            row(name, "art1", &art1, at(if retest { 0 } else { 2 }));
            let mut arts = vec![("art1", mean(&art1))];
            if !retest {
                let art2 = measure(bench, "art2", &until, tests)?;
                row(name, "art2", &art2, at(3));
                arts.push(("art2", mean(&art2)));
            }
            // The paper's random tests all of its six or seven candidates.
            let six = measure(bench, "random", &options(&[base, retests, &["--tests", "6"]]), tests / 2)?;
            let seven =
                measure(bench, "random", &options(&[base, retests, &["--tests", "7"]]), tests - tests / 2)?;
            row(name, "random, 6 candidates", &six, at(if retest { 1 } else { 4 }));
            row(name, "random, 7 candidates", &seven, None);
            let stops = measure(bench, "random", &until, tests)?;
            row(name, "random that stops", &stops, None);
            let random = (mean(&six) + mean(&seven)) / 2.0;
            for (policy, tests) in arts {
                bench.hold(&format!("{name} {policy} against random"), tests / random, 0.36);
                bench.hold(&format!("{name} {policy} against random that stops"), tests / mean(&stops), 0.65);
            }
            if program == "p2" {
                bench.hold(&format!("{name} seconds of a complete test"), field(&art1, "seconds_mean")?, 1.0);
            }
        }
    }
    Ok(())
}

/// Table 3.
fn first_bug(bench: &mut Bench) -> Outcome {
    let tests = bench.tests;
    const PAPER: [(&str, &str, [Paper; 4]); 2] = [
        ("P3_1v1", "p3", [(32.76, 1.401), (46.49, 3.353), (30.11, 1.394), (29.82, 3.296)]),
        ("P4_1v1", "p4", [(48.71, 1.519), (83.43, 3.462), (44.19, 1.512), (49.49, 3.441)]),
    ];
    head("Table 3: to the first bug");
    for (name, program, paper) in PAPER {
        let [x, y] = holes("1:1");
        let inputs = [x.as_str(), y.as_str()];
        for (at, retests) in [(0, &["--retest"][..]), (2, &[])] {
            let idiom = options(&[retests, &["--idioms", "4"]]);
            let art1 = bench.repeat(How { policy: "art1", options: &idiom }, tests, program, &inputs)?;
            let random = bench.repeat(How { policy: "random", options: &idiom }, tests, program, &inputs)?;
            let how = if at == 0 { "" } else { ", optimised" };
            row(name, &format!("art1{how}"), &art1, Some(paper[at]));
            row(name, &format!("random{how}"), &random, Some(paper[at + 1]));
            for value in [&art1, &random] {
                if value["failed"] != value["complete_tests"] {
                    bench.broken.push(format!("{name}: a complete test found no bug"));
                }
            }
            bench.hold(&format!("{name} tests{how}, art1 against random"), mean(&art1) / mean(&random), 0.45);
            if at == 2 {
                let ratio = |name: &str| Ok::<f64, String>(field(&art1, name)? / field(&random, name)?);
                bench.hold(&format!("{name} runs with profiles"), ratio("runs_mean")?, 1.0);
                bench.hold(&format!("{name} seconds with profiles"), ratio("seconds_mean")?, 1.0);
            }
        }
    }
    Ok(())
}

/// What leads to the bug of each program, and its inputs.
pub(crate) const NEEDLES: [(&str, &[&str]); 10] = [
    ("a number", &["{n:int(0..49)}"]),
    ("a narrow range", &["{n:int(-500..499)}"]),
    ("a string", &["{s:string(0..24, abcdefghijklmnopqrstuvwxyz)}"]),
    ("a file's length", &["{f:file(0..49)}"]),
    ("option and number", &["{n:int(0..49)}", "{v:flag(--all)}"]),
    ("string and option", &["{s:string(2..2, abcde)}", "{m:one-of(flat,deep)}"]),
    ("standard input", &["--stdin {s:string(0..49)}"]),
    ("the environment", &["--env LEVEL={n:int(1..50)}"]),
    ("a file's byte", &["{f:file(1..1)}"]),
    ("two numbers", &["{a:int(-12..12)}", "{b:int(-12..12)}"]),
];

/// Programs where one input in fifty leads to the bug.
fn needles(bench: &mut Bench) -> Outcome {
    let tests = (bench.tests / 50).max(2);
    head(&format!("One input in fifty leads to the bug: {tests} campaigns of each, to the first bug"));
    let (mut all, mut worst) = ((0.0, 0.0), 0f64);
    for (number, (what, inputs)) in NEEDLES.iter().enumerate() {
        let (name, define) = (format!("needle{number}"), format!("-DNEEDLE={number}"));
        bench.build("needle.c", &name, &[&define])?;
        let options: &[&str] = &["--idioms", "4"];
        let art1 = bench.repeat(How { policy: "art1", options }, tests, &name, inputs)?;
        let random = bench.repeat(How { policy: "random", options }, tests, &name, inputs)?;
        row(&name, &format!("art1: {what}"), &art1, None);
        row(&name, "random", &random, None);
        for value in [&art1, &random] {
            if value["failed"] != value["complete_tests"] {
                bench.broken.push(format!("{name}: a campaign found no bug"));
            }
        }
        all = (all.0 + mean(&art1), all.1 + mean(&random));
        worst = worst.max(mean(&art1) / mean(&random));
    }
    bench.hold("tests of all programs, art1 against random", all.0 / all.1, 0.5);
    bench.hold("the worst of them", worst, 1.2);
    Ok(())
}
