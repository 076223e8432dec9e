//! Real crates, unmodified, under `cargo threadbare test`: every test survives 200 schedules, and every run can be
//! made again.

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tempfile::TempDir;
use threadbare_tests::extent::{either, is_full, other_strategies};
use threadbare_tests::tool::{self, Outcome};

const RUNS: u64 = 200;

/// The packages whose tests all pass, with the number of their tests.
const GREEN: [(&str, usize); 7] = [
    ("cc-mixed", 2),
    ("crossbeam-channels", 6),
    ("dashmap-maps", 4),
    ("parking-lot-locks", 6),
    ("rayon-pool", 5),
    ("std-sync", 22),
    ("tokio-runtime", 10),
];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // One at a time: they share a target folder, and each campaign uses all processors.
    arguments.test_threads = Some(1);
    let mut trials: Vec<Trial> = GREEN
        .map(|(package, tests)| trial(package, "green_and_replayable", move || green(package, tests)))
        .into();
    trials
        .extend(GREEN.map(|(package, _)| trial(package, "every_strategy", move || every_strategy(package))));
    trials.push(trial("rayon-pool", "futures", || futures("rayon-pool", "tests::join_recurses")));
    if is_full() {
        trials.extend(GREEN.map(|(package, _)| trial(package, "all_futures", move || futures(package, ""))));
    }
    trials.push(trial("buggy", "one_test_fails", one_test_fails));
    trials.push(trial("buggy", "table", table));
    trials.push(trial("buggy", "filters", filters));
    trials.push(trial("buggy", "run_and_build", run_and_build));
    trials.push(trial("buggy", "release", release));
    trials.push(trial("buggy", "options_of_run", options_of_run));
    trials.push(trial("buggy", "without_a_run", without_a_run));
    trials.push(trial("cc-mixed", "c_is_instrumented", c_is_instrumented));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(package: &str, name: &str, body: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(format!("{package}::{name}"), move || body().map_err(Failed::from))
}

/// The table of what reads may see denies nothing that runs of the package's tests saw.
fn futures(package: &str, filter: &str) -> Result<(), String> {
    let prefix = format!("{}-", package.replace('-', "_"));
    Call::new(package, &["build", "--tests"])?.expect_code(0)?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("packages/threadbare/x86_64-unknown-linux-gnu/debug/deps");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_one = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        path.extension().is_none() && name.starts_with(&prefix)
    };
    let (mut asked, mut reads) = (0, 0);
    for program in entries.flatten().map(|entry| entry.path()).filter(is_one) {
        let listed = Command::new(&program).arg("--list").output().map_err(|error| error.to_string())?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let tests = listed.lines().filter_map(|line| line.strip_suffix(": test"));
        for test in tests.filter(|test| filter.is_empty() || *test == filter) {
            let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
            let runs = either(40, RUNS).to_string();
            let mut command =
                tool::command(["futures", "--runs", &runs, "--races", "off", "--shrink", "off"]);
            command.args(["--format", "json", "--out"]).arg(out.path()).arg("--").arg(&program);
            let made = tool::finish(command.args(["--exact", test]), tool::PATIENCE);
            let json: Value = serde_json::from_str(&made.stdout).map_err(|_| made.describe())?;
            if json["contradictions"] != Value::Array(Vec::new()) {
                return Err(format!("{test}: {}", json["contradictions"]));
            }
            asked += 1;
            reads += json["reads"].as_array().map_or(0, Vec::len);
        }
    }
    println!("{package}: {asked} tests, {reads} reads of shared data");
    if reads > 0 { Ok(()) } else { Err(format!("{package}: {asked} tests, and no read of shared data")) }
}

/// `cargo threadbare` in a package.
struct Call {
    out: TempDir,
    outcome: Outcome,
    shown: String,
}

impl Call {
    fn new(package: &str, arguments: &[&str]) -> Result<Call, String> {
        let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
        Call::into_folder(package, arguments, out)
    }

    /// Findings go to this folder.
    fn into_folder(package: &str, arguments: &[&str], out: TempDir) -> Result<Call, String> {
        let (own, rest) =
            arguments.split_at(arguments.iter().position(|word| *word == "--").unwrap_or(arguments.len()));
        let mut command = Command::new(tool::cargo_threadbare());
        command.arg("threadbare").args(own);
        if own[0] != "build" {
            command.arg("--out").arg(out.path());
        }
        // A thief of crossbeam-deque reads a slot that its owner may write at the same time, and throws away what it read if the
        // exchange that follows fails: a race that it knows of, and that older values of its indices show often.
        if own[0] == "test" && package == "rayon-pool" {
            command.args(["--memory-model", "sc"]);
        }
        command.args(rest).current_dir(tool::root().join("tests/packages").join(package));
        command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages"));
        tool::plain_environment(&mut command);
        tool::without_cargos_own(&mut command);
        let outcome = tool::finish(&mut command, tool::PATIENCE);
        Ok(Call { out, outcome, shown: format!("{command:?}") })
    }

    fn complain(&self, what: &str) -> String {
        format!("{what}\n{}: {}", self.shown, self.outcome.describe())
    }

    fn expect_code(&self, code: i32) -> Result<(), String> {
        if self.outcome.code == Some(code) {
            Ok(())
        } else {
            Err(self.complain(&format!("code {code} was expected")))
        }
    }

    fn report(&self) -> Result<Value, String> {
        serde_json::from_str(&self.outcome.stdout)
            .map_err(|error| self.complain(&format!("no JSON object: {error}")))
    }

    /// The tests of the report by name, with their campaigns.
    fn campaigns(&self) -> Result<Vec<(String, Value)>, String> {
        let report = self.report()?;
        let tests = report["tests"].as_array().ok_or_else(|| self.complain("no list of tests"))?;
        let name = |test: &Value| test["name"].as_str().unwrap_or_default().to_owned();
        Ok(tests.iter().map(|test| (name(test), test["campaign"].clone())).collect())
    }
}

fn green(package: &str, tests: usize) -> Result<(), String> {
    let runs = RUNS.to_string();
    let call =
        Call::new(package, &["test", "--runs", &runs, "--seed", "1", "--check-replay", "--format", "json"])?;
    call.expect_code(0)?;
    let campaigns = call.campaigns()?;
    if campaigns.len() != tests {
        return Err(call.complain(&format!("{} tests instead of {tests}", campaigns.len())));
    }
    for (name, campaign) in &campaigns {
        for (field, wanted) in [("runs", RUNS), ("runs_failed", 0), ("replays", RUNS)] {
            if campaign[field].as_u64() != Some(wanted) {
                return Err(call.complain(&format!("{name}: {field} is {}, not {wanted}", campaign[field])));
            }
        }
    }
    Ok(())
}

/// Races are looked for in every run; a correct package has none, whoever decides.
fn every_strategy(package: &str) -> Result<(), String> {
    let runs = either(10, 1000).to_string();
    // The tests above make many runs with the default strategy.
    let usual = is_full().then_some("portfolio");
    for strategy in usual.into_iter().chain(other_strategies(package, "portfolio")) {
        let call = Call::new(package, &["test", "--runs", &runs, "--seed", "1", "--strategy", strategy])?;
        call.expect_code(0)?;
    }
    Ok(())
}

fn one_test_fails() -> Result<(), String> {
    let call = Call::new("buggy", &["test", "--runs", "300", "--seed", "1", "--format", "json"])?;
    call.expect_code(1)?;
    let campaigns = call.campaigns()?;
    let failing: Vec<&(String, Value)> =
        campaigns.iter().filter(|(_, campaign)| campaign["verdict"] == "failure").collect();
    let [(name, campaign)] = failing.as_slice() else {
        return Err(call.complain("one test fails, the others do not"));
    };
    let finding = &campaign["findings"][0];
    if name != "tests::loose_counts_together" || finding["kind"] != "assertion" || campaigns.len() != 5 {
        return Err(call.complain("not the test that fails, or not all tests"));
    }
    if call.report()?["ignored"] != 1 {
        return Err(call.complain("an ignored test is counted as such"));
    }
    let schedule = finding["schedule"].as_str().map(PathBuf::from).unwrap_or_default();
    for _ in 0..3 {
        let replay = tool::run([Path::new("replay"), &schedule]);
        if replay.code != Some(1) {
            return Err(format!("the replay of {}: {}", schedule.display(), replay.describe()));
        }
    }
    Ok(())
}

fn table() -> Result<(), String> {
    let call = Call::new("buggy", &["test", "--runs", "300", "--seed", "1"])?;
    call.expect_code(1)?;
    let row =
        |words: &[&str]| call.outcome.stdout.lines().any(|line| words.iter().all(|word| line.contains(word)));
    let rows = [
        &["FAILED", "tests::loose_counts_together"][..],
        &["ok", "300", "tests::tight_counts_together"],
        &["ok", "300", "tests::panics_on_purpose"],
        &["ok", "300", "tight_from_outside"],
        &["4 passed, 1 failed, 1 ignored"],
        &["replay: threadbare replay"],
    ];
    match rows.iter().find(|words| !row(words)) {
        Some(words) => Err(call.complain(&format!("no row with {words:?}"))),
        None => Ok(()),
    }
}

fn filters() -> Result<(), String> {
    let names = |arguments: &[&str]| -> Result<Vec<String>, String> {
        let mut all = vec!["test", "--runs", "5", "--format", "json"];
        all.extend(arguments);
        let call = Call::new("buggy", &all)?;
        Ok(call.campaigns()?.into_iter().map(|(name, _)| name).collect())
    };
    let wanted = [
        (&["tight"][..], &["tests::tight_counts_together", "tight_from_outside"][..]),
        (&["--test", "outside"], &["tight_from_outside"]),
        (&["--lib", "--", "--exact", "tests::loose_counts_alone"], &["tests::loose_counts_alone"]),
        (&["--lib", "--", "--ignored"], &["tests::ignored"]),
    ];
    for (arguments, expected) in wanted {
        let found = names(arguments)?;
        if found != expected {
            return Err(format!("{arguments:?} leaves {found:?}, not {expected:?}"));
        }
    }
    Ok(())
}

fn run_and_build() -> Result<(), String> {
    let call = Call::new("buggy", &["run", "--runs", "300", "--example", "count", "--format", "json"])?;
    call.expect_code(1)?;
    let report = call.report()?;
    if report["findings"][0]["kind"] != "assertion" {
        return Err(call.complain("the example's failure is an assertion"));
    }
    let build = Call::new("buggy", &["build", "--example", "count"])?;
    build.expect_code(0)?;
    let program = build.outcome.stdout.trim();
    if !Path::new(program).is_file() {
        return Err(build.complain("the program that was built is named"));
    }
    let run =
        tool::run(["run", "--runs", "300", "--out", &call.out.path().display().to_string(), "--", program]);
    if run.code == Some(1) { Ok(()) } else { Err(run.describe()) }
}

fn release() -> Result<(), String> {
    let call =
        Call::new("buggy", &["test", "--release", "--lib", "--runs", "300", "--format", "json", "together"])?;
    call.expect_code(1)?;
    let verdicts: Vec<_> =
        call.campaigns()?.into_iter().map(|(name, campaign)| (name, campaign["verdict"].clone())).collect();
    let wanted = [("tests::loose_counts_together", "failure"), ("tests::tight_counts_together", "clean")];
    let same = verdicts.len() == 2
        && verdicts.iter().zip(wanted).all(|(found, wanted)| found.0 == wanted.0 && found.1 == wanted.1);
    if same { Ok(()) } else { Err(call.complain("an optimised build finds the same")) }
}

fn c_is_instrumented() -> Result<(), String> {
    for (races, kind) in [("fail", "race"), ("off", "assertion")] {
        let options = ["test", "--runs", "500", "--races", races, "--format", "json", "--", "--ignored"];
        let call = Call::new("cc-mixed", &options)?;
        call.expect_code(1)?;
        let campaigns = call.campaigns()?;
        let found = campaigns.iter().any(|(name, campaign)| {
            name == "tests::plain_c_variables_are_seen" && campaign["findings"][0]["kind"] == kind
        });
        if !found {
            return Err(call.complain(&format!("the lost update in the C part was not found as {kind}")));
        }
    }
    Ok(())
}

/// Options of `threadbare run` hold for every test, and campaigns go on one by one.
fn options_of_run() -> Result<(), String> {
    let call = Call::new("buggy", &["test", "--until", "30%", "--shrink", "off", "--format", "json"])?;
    call.expect_code(1)?;
    if !call.outcome.stderr.contains("doctests are skipped") {
        return Err(call.complain("that doctests are left out is said"));
    }
    for (name, campaign) in call.campaigns()? {
        let ended = campaign["ended_by"].as_str().unwrap_or_default();
        let bounded = campaign["verdict"] == "failure" || ["until", "complete"].contains(&ended);
        if !bounded || !campaign["findings"][0]["shrunk"].is_null() {
            return Err(call.complain(&format!("{name}: {campaign:#}")));
        }
    }
    // In the same folder again: each test has a journal of its own.
    let mut out = call.out;
    for (options, runs) in [(&["--runs", "20"][..], 20), (&["--resume", "--runs", "50"], 50)] {
        let all = [&["test", "--lib", "--keep-going", "--format", "json"], options, &["together"]].concat();
        let call = Call::into_folder("buggy", &all, out)?;
        call.expect_code(1)?;
        let campaigns = call.campaigns()?;
        if campaigns.len() != 2 || campaigns.iter().any(|(_, campaign)| campaign["runs"] != runs) {
            return Err(call.complain(&format!("two campaigns of {runs} runs")));
        }
        out = call.out;
    }
    let free = ["test", "--lib", "--mode", "free", "--until-coverage", "50%", "--time", "20s", "tight"];
    Call::new("buggy", &free)?.expect_code(0)
}

/// A test of which no run ends in its time has no verdict, in every format.
fn without_a_run() -> Result<(), String> {
    for (format, word) in
        [("text", "no verdict"), ("json", "\"verdict\": \"none\""), ("junit", "errors=\"1\"")]
    {
        let options = ["test", "--lib", "--time", "1ms", "--format", format, "tight"];
        let call = Call::new("buggy", &options)?;
        call.expect_code(2)?;
        if !call.outcome.stdout.contains(word) {
            return Err(call.complain(&format!("no word of `{word}`")));
        }
    }
    Ok(())
}
