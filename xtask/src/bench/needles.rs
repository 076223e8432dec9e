//! Programs where one input in fifty leads to the bug: ten that were written, and cousins that a generator made.

use super::inputs::{Bench, How, head, mean, row};
use crate::steps::{Outcome, command, run};
use serde_json::Value;
use threadbare_tests::needles::{self, COUNT, SEED};

/// What leads to the bug of each program, and its inputs.
const NEEDLES: [(&str, &[&str]); 10] = [
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

/// The ten programs.
pub(super) fn written(bench: &mut Bench) -> Outcome {
    let tests = (bench.tests / 50).max(2);
    head(&format!("One input in fifty leads to the bug: {tests} campaigns of each, to the first bug"));
    let mut sums = Sums::default();
    for (number, (what, inputs)) in NEEDLES.iter().enumerate() {
        let (name, define) = (format!("needle{number}"), format!("-DNEEDLE={number}"));
        bench.build("needle.c", &name, &[&define])?;
        let options: &[&str] = &["--idioms", "4"];
        let art1 = bench.repeat(How { policy: "art1", options }, tests, &name, inputs)?;
        let random = bench.repeat(How { policy: "random", options }, tests, &name, inputs)?;
        row(&name, &format!("art1: {what}"), &art1, None);
        row(&name, "random", &random, None);
        sums.take(bench, &name, &art1, &random);
    }
    sums.hold(bench);
    Ok(())
}

/// The sums of tests of both policies, and the worst ratio.
#[derive(Default)]
struct Sums {
    art1: f64,
    random: f64,
    worst: f64,
}

impl Sums {
    fn take(&mut self, bench: &mut Bench, name: &str, art1: &Value, random: &Value) {
        for value in [art1, random] {
            if value["failed"] != value["complete_tests"] {
                bench.broken.push(format!("{name}: a campaign found no bug"));
            }
        }
        self.art1 += mean(art1);
        self.random += mean(random);
        self.worst = self.worst.max(mean(art1) / mean(random));
    }

    fn hold(&self, bench: &mut Bench) {
        bench.hold("tests of all programs, art1 against random", self.art1 / self.random, 0.5);
        bench.hold("the worst of them", self.worst, 1.2);
    }
}

/// Cousins of these programs that nobody has seen.
pub(super) fn drawn(bench: &mut Bench) -> Outcome {
    let tests = (bench.tests / 100).max(2);
    head(&format!("{COUNT} cousins, seed {SEED}: {tests} campaigns of each, to the first bug"));
    let mut sums = Sums::default();
    for needle in needles::needles(COUNT, SEED) {
        let name = format!("cousin{}", needle.number);
        let source = bench.folder.join(format!("{name}.c"));
        std::fs::write(&source, needle.source()).map_err(|error| error.to_string())?;
        let source = source.to_string_lossy();
        let words = ["cc", "-g", "-O1", "-pthread", &source, "-o", &name];
        run(command(&bench.tool, &words).current_dir(&bench.folder))?;
        let (options, arguments) = needle.words();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let measure = |policy| bench.repeat(How { policy, options: &options }, tests, &name, &arguments);
        let (art1, random) = (measure("art1")?, measure("random")?);
        println!("  {}", needle.describe());
        row(&name, "art1", &art1, None);
        row(&name, "random", &random, None);
        sums.take(bench, &name, &art1, &random);
    }
    sums.hold(bench);
    Ok(())
}
