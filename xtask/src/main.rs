//! Threadbare's own chores. `cargo xtask` lists them.

mod bench;
mod demo;
mod fuzz;
mod packages;
mod search;
mod steps;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <chore>

  demo           build Threadbare; find, replay and show the bugs of the examples, as the README does
  test           everything a change must pass: format, lints, all tests
  test --full    the same with every run that the project promises: 1,000 of each correct program with every
                 strategy, 200 of each racy one with ThreadSanitizer
  bench engine   points/s against Shuttle, runs/s against a bare fork loop, in one run
  bench page     the engine beside Shuttle, Loom and ThreadSanitizer, on real work, and how it grows: writes bench/engine.md
                 with its plots
  bench causes   whether the broken invariant is told at the labelled lines, and whether the region inferred from it mends the
                 program; [COUNT] cousins of the labelled programs, 60 unless told otherwise, [--seed N], [--more],
                 names of programs narrow it
  bench claims   what the default says of programs whose bugs it once claimed not to be there; [SEEDS] of each, 40
                 unless told otherwise, names of programs narrow it
  bench coverage what coverage costs, and how often its intervals hold on real programs
  bench search   runs to the bug for each strategy on the programs of tests/programs/search;
                 names of programs and strategies and a number of seeds narrow it
  bench search defaults
                 what weak memory and faults, which are on by default, cost in runs to the bug and in runs/s
  bench noise    the experiments of the free mode's paper, and its speed against gcc's ThreadSanitizer;
                 [RUNS] of each experiment, 200 unless told otherwise
  bench noise races
                 what looking for races costs free runs, against gcc's ThreadSanitizer
  bench noise replays
                 recorded failing runs of these experiments, each replayed; [FAILURES], 200 unless told otherwise
  bench noise variants
                 the default noise on generated cousins of these experiments; [RUNS] of each, 40 unless told otherwise, [SEED]
  bench inputs   the three tables of the paper on choosing inputs, and programs where one input in fifty leads to the bug;
                 [TESTS] complete tests of each, 1,000 unless told otherwise; `complete`, `first`, `needles` and `cousins` narrow it
  bench iroots   which iroots of small programs of the corpus are predicted and forced, against every order of them; names of
                 programs narrow it
  bench invariants
                 the tables of the paper on likely invariants of threaded programs, and what values cost; [RUNS] settle
                 which statements are incorrect, 3,000 unless told otherwise, names of programs narrow it
  bench generate table I of the paper on tests that the tool writes (`table`); right programs without one operation, found by generated
                 tests and by runs of the whole program (`mutants [RUNS [MOST]]`, 1000 of all); known bugs of crates and seeded
                 ones of headers, from the API alone (`api [NAME...]`)
  bench orders   runs that dpor makes against the classes they show, over the corpus; [RUNS] of each program at the
                 most, 3,000 unless told otherwise, names of programs narrow it
  bench code     how long the code of a program of 5 MB takes to read, and to read again, and its table of terms
  bench code addresses
                 of the accesses that runs made of shared memory, how many have an address that the code tells, by compiler
                 and level
  bench timeouts campaigns of slow programs that are right, four at a time: none may tell a timeout; [CAMPAIGNS], 200 unless
                 told otherwise
  bench symbols  the first report on debug binaries of 50 MB and more, against addr2line
  fuzz explorer  random small programs, every order of each in a model, and whether what the tool claims is right;
                 [COUNT] of them, 20,000 unless told otherwise, [--seed N], [--only FEATURE..]
  fuzz readers   damaged files for every reader of files: none may panic, hang, or take too much memory;
                 [COUNT] for each, 100,000 unless told otherwise, [--seed N], [--only NAME..]
";

fn main() -> ExitCode {
    threadbare_tests::readers::hunt::be_child();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["demo"] => demo::run_demo(),
        ["test"] => test::run_tests(false),
        ["test", "--full"] => test::run_tests(true),
        ["bench"] | ["bench", "engine"] => bench::engine(),
        ["bench", "page"] => bench::page::page(),
        ["bench", "search", words @ ..] => search::search(words),
        ["bench", "causes", words @ ..] => bench::causes::causes(words),
        ["bench", "claims", words @ ..] => bench::claims::claims(words),
        ["bench", "coverage"] => bench::coverage::coverage(),
        ["bench", "noise", "races"] => bench::races::races(),
        ["bench", "noise", "replays", words @ ..] => bench::replays::replays(words),
        ["bench", "noise", "variants", words @ ..] => bench::variants::variants(words),
        ["bench", "inputs", words @ ..] => bench::inputs::inputs(words),
        ["bench", "iroots", words @ ..] => bench::iroots::iroots(words),
        ["bench", "invariants", words @ ..] => bench::invariants::invariants(words),
        ["bench", "noise", words @ ..] => bench::noise::noise(words),
        ["fuzz", "explorer", words @ ..] => fuzz::explorer(words),
        ["fuzz", "readers", words @ ..] => fuzz::readers(words),
        ["bench", "generate", words @ ..] => bench::generate::generate(words),
        ["bench", "orders", words @ ..] => bench::orders::orders(words),
        ["bench", "code"] => bench::code::static_part(),
        ["bench", "code", "addresses"] => bench::code::addresses(),
        ["bench", "timeouts", words @ ..] => bench::timeouts::timeouts(words),
        ["bench", "symbols"] => bench::symbols::first_report(),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
