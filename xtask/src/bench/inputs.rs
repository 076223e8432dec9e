//! `cargo xtask bench inputs`: the three tables of the paper on choosing inputs ("adaptive random testing of concurrent programs"), its figures beside
//! ours, and programs where one input in fifty leads to the bug ([`super::needles`]).

use crate::bench::{field, json, needles};
use crate::packages;
use crate::steps::{Outcome, build_tool, command, root, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The seconds and the mean of tests that the paper has.
type Paper = (f64, f64);

pub(super) struct Bench {
    pub(super) tool: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) tests: u64,
    /// What is promised and not so.
    pub(super) broken: Vec<String>,
}

/// How complete tests are made.
#[derive(Clone, Copy)]
pub(super) struct How<'a> {
    pub(super) policy: &'a str,
    pub(super) options: &'a [&'a str],
}

impl Bench {
    pub(super) fn build(&self, source: &str, name: &str, options: &[&str]) -> Outcome {
        let source = root().join("tests/inputs").join(source).to_string_lossy().into_owned();
        let mut words = vec!["cc", "-g", "-O1", "-pthread"];
        words.extend(options);
        words.extend([source.as_str(), "-o", name]);
        run(command(&self.tool, &words).current_dir(&self.folder))
    }

    /// The means of complete tests.
    pub(super) fn repeat(&self, how: How<'_>, tests: u64, program: &str, inputs: &[&str]) -> Outcome<Value> {
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

    pub(super) fn hold(&mut self, what: &str, ours: f64, most: f64) {
        let word = if ours <= most { "holds" } else { "DOES NOT HOLD" };
        println!("  {what}: {ours:.3} (at most {most}): {word}");
        if ours > most {
            self.broken.push(format!("{what}: {ours:.3}, at most {most}"));
        }
    }
}

pub(super) fn mean(value: &Value) -> f64 {
    field(value, "tests_mean").unwrap_or(f64::NAN)
}

pub(super) fn row(name: &str, how: &str, value: &Value, paper: Option<Paper>) {
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

pub(super) fn head(what: &str) {
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
    const PARTS: [&str; 4] = ["complete", "first", "needles", "cousins"];
    let (mut tests, mut parts) = (1000, Vec::new());
    for &word in words {
        match word.parse() {
            Ok(number) => tests = number,
            Err(_) if PARTS.contains(&word) => parts.push(word),
            Err(_) => {
                return Err(format!(
                    "`{word}` is neither a number of complete tests nor one of {}",
                    PARTS.join(", ")
                ));
            }
        }
    }
    let wanted = |part| parts.is_empty() || parts.contains(&part);
    packages::ensure(&[packages::COMPILERS])?;
    let (tool, folder) = (build_tool()?, root().join("target/bench-inputs"));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut bench = Bench { tool: Path::new(&tool).to_owned(), folder, tests, broken: Vec::new() };
    for program in ["p2", "p3", "p4", "p5"] {
        bench.build(&format!("{program}.c"), program, &[])?;
    }
    println!("{tests} complete tests of each");
    println!("iroots are those that tests showed; the paper has 34 of P2 and 89 of P5, of idiom 1");
    for idioms in ["1", "6"].into_iter().filter(|_| wanted("complete")) {
        complete(&mut bench, idioms)?;
    }
    if wanted("first") {
        first_bug(&mut bench)?;
    }
    if wanted("needles") {
        needles::written(&mut bench)?;
    }
    if wanted("cousins") {
        needles::drawn(&mut bench)?;
    }
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
