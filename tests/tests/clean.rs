//! Every correct program of the corpus, with every strategy and races looked for: no report.
//!
//! The corpus' own test makes many runs with one strategy; here the others get their share, two of them for each program.
//! `THREADBARE_FULL=1` makes 1,000 runs of each program with each strategy. The campaigns are the library's, without a process of the command line.

use libtest_mimic::{Arguments, Failed, Trial};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, PointMode};
use threadbare_explore::Search;
use threadbare_session::{Campaign, CampaignReport, Config, Session, Silent, Suppressions, Target};
use threadbare_tests::campaign::SEED;
use threadbare_tests::compile;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::extent::{either, is_full, other_strategies, strategies};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let correct = |program: &Program| program.passes() && !program.is_twin();
    let mut trials = Vec::new();
    for program in corpus::programs().into_iter().filter(correct) {
        let usual = is_full()
            .then_some(program.strategy.as_str())
            .and_then(|name| strategies().find(|other| *other == name));
        for strategy in usual.into_iter().chain(other_strategies(&program.name, &program.strategy)) {
            let (program, builds) = (program.clone(), builds.clone());
            let name = format!("{}::{strategy}", program.name);
            trials.push(Trial::test(name, move || check(&program, strategy, &builds).map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn check(program: &Program, strategy: &str, builds: &Path) -> Result<(), String> {
    let executable = compile::instrumented(program, compile::compilers(program)[0], builds)?;
    let out = tempfile::tempdir().map_err(|error| format!("a folder: {error}"))?;
    // A program whose runs take long says that few of them are enough.
    let runs = either(20.min(program.runs), if program.runs < 200 { program.runs } else { 1000 });
    let report = campaign(program, &executable, out.path(), strategy, runs)?;
    if report.verdict == "clean" && report.findings.is_empty() {
        return Ok(());
    }
    let told = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
    Err(format!("it is correct\nkept: {}\nprogram: {}\n{told}", out.keep().display(), executable.display()))
}

/// A campaign as the program's directives want it.
fn campaign(
    program: &Program,
    executable: &Path,
    out: &Path,
    strategy: &str,
    runs: u64,
) -> Result<CampaignReport, String> {
    let session = Session::new(out).map_err(|trouble| trouble.to_string())?;
    let args = program.args.iter().map(OsString::from).collect();
    let mut target = session.target(executable, args).map_err(|trouble| trouble.to_string())?;
    target.env.extend(program.env.iter().map(|(name, value)| (name.into(), value.into())));
    let mut suppressions = Suppressions::default();
    suppressions.parse(&program.name, &program.suppress.join("\n")).map_err(|bad| bad.to_string())?;
    let config = config(program, target, strategy, runs)?;
    let campaign = Campaign { suppressions: Arc::new(suppressions), ..Campaign::of(config) };
    session.run(&campaign, &mut Silent).map(|ran| ran.report).map_err(|trouble| trouble.to_string())
}

fn config(program: &Program, target: Target, strategy: &str, runs: u64) -> Result<Config, String> {
    let usual = Session::usual(target);
    let unknown = |what: &str, text: &str| format!("{}: {what} `{text}`", program.name);
    let named = |what, text: &Option<String>| text.clone().map(|text| (unknown(what, &text), text));
    let points = named("points", &program.points).map(|(why, text)| PointMode::from_name(&text).ok_or(why));
    let model =
        named("model", &program.memory_model).map(|(why, text)| MemoryModel::from_name(&text).ok_or(why));
    let faults = named("faults", &program.faults).map(|(why, text)| Faults::parse(&text).ok_or(why));
    let timeout = named("timeout", &program.timeout).map(|(why, text)| {
        let seconds = text.strip_suffix('s').and_then(|text| text.parse().ok());
        seconds.map(Duration::from_secs).ok_or(why)
    });
    Ok(Config {
        search: Search::parse(strategy).map_err(|error| error.to_string())?,
        seed: SEED.parse().map_err(|_| unknown("seed", SEED))?,
        runs: Some(runs),
        jobs: 1,
        ends_complete: false,
        points: points.transpose()?.unwrap_or(usual.points),
        model: model.transpose()?.unwrap_or(usual.model),
        faults: faults.transpose()?.unwrap_or(usual.faults),
        timeout: timeout.transpose()?.unwrap_or(usual.timeout),
        shrink: None,
        ..usual
    })
}
