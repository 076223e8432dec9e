//! `cargo threadbare test`: every test of a package is its own campaign.

use crate::asked;
use crate::commands::cargo::{Args, Split};
use crate::conduct::{self, Terminal, cannot};
use crate::exit::{Exit, Trouble};
use crate::hide::Used;
use crate::kept;
use crate::options::RunOptions;
use crate::output;
use crate::output::ReportFormat;
use crate::regress::{self, Regress};
use crate::said;
use threadbare_explore::interrupt;
use threadbare_explore::store::Store;
use threadbare_report::progress::ProgressLine;
use threadbare_report::tests::{TestResult, TestsReport};
use threadbare_report::{Screen, Style, tests};
use threadbare_session::campaign::regressed;
use threadbare_toolchain::cargo::{self, TestBinary, TestCase, TestPlan};

/// The file of all tests' campaigns.
const TESTS: &str = "tests.json";

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let split = args.split()?;
    let request = split.request()?;
    if request.only_builds() {
        for built in cargo::build_tests(&request)? {
            said::data(&format!("{}\n", built.program.display()))?;
        }
        return Ok(Exit::Clean);
    }
    let store = Store::open(&split.campaign.out)?;
    let plan = cargo::plan_tests(&request)?;
    interrupt::watch().map_err(|error| cannot("watch for signals", &error))?;
    let mut report = campaigns(&split, &plan, &store)?;
    if report.nothing_matched() {
        let style = Style::for_stream(&std::io::stderr());
        let warning = nothing_matched(report.ignored);
        said::note(&format!("{}: {warning}", style.warn("warning")));
        report.notes.push(warning);
    }
    keep(&report, &store)?;
    let screen = Screen::for_stream(&std::io::stdout());
    let format = split.campaign.format;
    let text = match format {
        // What was found is told already.
        ReportFormat::Text => tests::summary(&report, screen),
        format => output::of_tests(&report, format, screen),
    };
    output::say(&text, format)?;
    Ok(Exit::of(report.failed() > 0, report.without_a_run() > 0))
}

fn nothing_matched(ignored: u64) -> String {
    match ignored {
        0 => "0 tests match; `cargo test -- --list` shows the names of all".to_owned(),
        n => format!("0 tests match that are not ignored ({n} are); `-- --include-ignored` runs them too"),
    }
}

/// The findings' folder has the result of the last call, if that found something.
fn keep(report: &TestsReport, store: &Store) -> Result<(), Trouble> {
    if report.failed() > 0 {
        store.write(TESTS, report.to_json().as_bytes())?;
    } else {
        store.remove(TESTS)?;
    }
    Ok(())
}

fn campaigns(split: &Split, plan: &TestPlan, store: &Store) -> Result<TestsReport, Trouble> {
    let style = Style::for_stream(&std::io::stderr());
    let mut report = TestsReport::new(plan.notes.clone());
    let mut used = Used::default();
    for note in &plan.notes {
        said::note(&format!("{}: {note}", style.strong("note")));
    }
    let of = plan.binaries.iter().map(|binary| binary.cases.len()).sum();
    for binary in &plan.binaries {
        report.ignored += binary.ignored.len() as u64;
        if !binary.cases.is_empty() {
            let shown = format!("{} {} ({})", binary.package, binary.name, binary.kind);
            said::note(&format!("{} {shown}", style.strong("testing")));
        }
        for case in &binary.cases {
            if interrupt::requested() {
                report.interrupted = true;
                return Ok(report);
            }
            let line = ProgressLine::on_stderr().of_test(report.tests.len() + 1, of);
            let result = one(split, binary, case, line, store, &mut used)?;
            said::note(&format!("  {}", tests::line(&result, style)));
            if split.campaign.format == ReportFormat::Text {
                // At once: whoever ends this has what was found so far.
                let found = tests::findings(&result, Screen::for_stream(&std::io::stdout()));
                let gap = if found.is_empty() { "" } else { "\n" };
                said::text(&format!("{gap}{found}"))?;
            }
            report.tests.push(result);
        }
    }
    for unused in used.unused(&split.suppressions) {
        said::note(&format!("{}: {unused}", style.warn("warning")));
        report.notes.push(unused);
    }
    Ok(report)
}

fn during(trouble: Trouble, case: &TestCase) -> Trouble {
    trouble.during(&format!("test {}", case.name))
}

fn one(
    split: &Split,
    binary: &TestBinary,
    case: &TestCase,
    line: ProgressLine,
    store: &Store,
    used: &mut Used,
) -> Result<TestResult, Trouble> {
    let target = split.target(&case.target)?;
    let resumed = split.resume.as_ref().and_then(|_| {
        let reader = &RunOptions::campaign;
        kept::resume_if_any(store.folder(), &target, &split.given, reader, &mut Terminal::new())
    });
    let (config, journal) = match resumed {
        Some(resumed) => (resumed.config, Some(resumed.journal)),
        None => {
            let (options, given) = asked::options(&split.campaign, &split.given, &target)
                .map_err(|trouble| during(trouble, case))?;
            let config = options.config(target);
            let journal = kept::begin_quietly(store, &config, &split.suppressions, &given);
            (config, journal)
        }
    };
    let label = format!("{} {} {}", case.package, case.binary, case.name);
    let during = |trouble: Trouble| during(trouble, case);
    let kept = match split.campaign.regress {
        true => regress::all(&config, store, &mut Terminal::new()).map_err(during)?,
        false => Regress::default(),
    };
    let campaign = if kept.has_failed() && !config.keep_going {
        regressed(&config, store, kept, false, &mut Terminal::new())
    } else {
        let conducted =
            conduct::campaign(&config, store, line, Some(label.as_str()), &split.suppressions, journal)
                .map_err(during)?;
        used.join(&conducted.used);
        let mut report = conducted.report;
        kept.join(&mut report, store, &mut Terminal::new());
        report
    };
    Ok(TestResult {
        package: case.package.clone(),
        binary: case.binary.clone(),
        kind: binary.kind.clone(),
        name: case.name.clone(),
        campaign,
    })
}
