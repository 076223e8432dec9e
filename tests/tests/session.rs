//! The library does what the command line does: the same runs, the same findings, and what is made of them.

use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use threadbare_session::{
    Budget, Campaign, CampaignReport, Config, Fault, Finding, Language, Observer, Progress, Races, Session,
    Silent,
};
use threadbare_tests::tool;

/// Programs of the corpus, of several kinds of failure, and one without.
const PROGRAMS: [&str; 7] = [
    "deadlock/abba.c",
    "deadlock/ordered.c",
    "lost-update/counter.c",
    "memory/freed_counter.c",
    "race/increment_racy.c",
    "spin/livelock.c",
    "lifecycle/exit_code.c",
];

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn session(work: &Path) -> Session {
    Session::new(work.join("findings")).unwrap_or_else(|trouble| panic!("{trouble}"))
}

#[track_caller]
fn build(session: &Session, work: &Path, source: &Path) -> PathBuf {
    let program = work.join(source.file_stem().expect("a name"));
    let words = ["-g", "-O1", "-pthread", "-o"].map(OsString::from);
    let words = words.into_iter().chain([program.clone().into(), source.into()]);
    session
        .build(Language::C, &words.collect::<Vec<_>>())
        .unwrap_or_else(|trouble| panic!("{}: {trouble}", source.display()));
    program
}

#[track_caller]
fn build_text(session: &Session, work: &Path, name: &str, text: &str) -> PathBuf {
    let source = work.join(format!("{name}.c"));
    fs::write(&source, text).expect("a source file");
    build(session, work, &source)
}

#[track_caller]
fn usual(session: &Session, program: &Path) -> Config {
    let target = session.target(program, Vec::new()).unwrap_or_else(|trouble| panic!("{trouble}"));
    Config { jobs: 2, keep_going: true, ends_complete: false, runs: Some(60), ..Session::usual(target) }
}

#[track_caller]
fn run(session: &Session, config: Config) -> CampaignReport {
    session.run(&Campaign::of(config), &mut Silent).unwrap_or_else(|trouble| panic!("{trouble}")).report
}

/// What must be the same, whoever made the campaign.
fn essence(report: &CampaignReport) -> Value {
    let told = |finding: &Finding| {
        serde_json::json!({
            "id": finding.id, "kind": finding.kind, "run": finding.run, "count": finding.count,
        })
    };
    serde_json::json!({
        "verdict": report.verdict, "runs": report.runs, "runs_failed": report.runs_failed, "ended_by": report.ended_by,
        "trace_hash": report.trace_hash, "findings": report.findings.iter().map(told).collect::<Vec<_>>(),
    })
}

#[test]
fn campaigns_are_those_of_the_command_line() {
    let mut kinds = Vec::new();
    for name in PROGRAMS {
        let work = folder();
        let session = session(work.path());
        let program = build(&session, work.path(), &tool::root().join("tests/programs").join(name));
        let config = Config { shrink: None, ..usual(&session, &program) };
        let by_library = run(&session, config);
        let mut command = tool::command(["run", "--runs=60", "--keep-going", "--jobs=2", "--shrink=off"]);
        command.args(["--format=json", "--"]).arg(&program).current_dir(work.path());
        let outcome = tool::finish(&mut command, tool::PATIENCE);
        let by_tool: CampaignReport = serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|error| panic!("{name}: {error}: {}", outcome.describe()));
        assert_eq!(essence(&by_library), essence(&by_tool), "{name}");
        kinds.extend(by_library.findings.iter().map(|finding| finding.kind.clone()));
        // The schedule of each is the run again.
        for finding in &by_library.findings {
            let replayed = session
                .replay(finding.id.as_ref(), &mut Silent)
                .unwrap_or_else(|trouble| panic!("{name}: {}: {trouble}", finding.id));
            assert_eq!(
                (&replayed.finding.kind, &replayed.finding.id),
                (&finding.kind, &finding.id),
                "{name}"
            );
        }
    }
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() >= 4, "only {kinds:?} were found");
}

const BANK: &str = "#include <assert.h>
#include <pthread.h>
static int balance, noise;
static void *deposit(void *x) { noise++; int seen = balance; noise++; balance = seen + 100; return x; }
int main(void) {
    pthread_t one, two, three;
    pthread_create(&one, 0, deposit, 0); pthread_create(&two, 0, deposit, 0); pthread_create(&three, 0, deposit, 0);
    pthread_join(one, 0); pthread_join(two, 0); pthread_join(three, 0);
    assert(balance == 300);
    return 0;
}
";

/// Counts what it hears.
#[derive(Default)]
struct Counts {
    findings: Vec<String>,
    progress: u64,
    ended: u64,
    targets: Vec<String>,
}

impl Observer for Counts {
    fn progress(&mut self, _: &Config, progress: &Progress, findings: usize) {
        assert!(progress.runs >= self.progress && findings <= self.findings.len());
        self.progress = progress.runs;
    }

    fn runs_made(&mut self) {
        self.ended += 1;
    }

    fn found(&mut self, finding: &Finding) {
        self.findings.push(finding.id.clone());
    }

    fn target(&mut self, doing: &str, _: &threadbare_session::Target) {
        self.targets.push(doing.to_owned());
    }
}

#[test]
fn a_finding_is_heard_of_shrunk_and_explained() {
    let work = folder();
    let session = session(work.path());
    let program = build_text(&session, work.path(), "bank", BANK);
    let config = Config { races: Races::Off, shrink: None, ..usual(&session, &program) };
    let mut counts = Counts::default();
    let ran = session.run(&Campaign::of(config), &mut counts).unwrap_or_else(|trouble| panic!("{trouble}"));
    let [finding] = &ran.report.findings[..] else { panic!("{:?}", ran.report.findings) };
    assert_eq!((&counts.findings, counts.ended), (&vec![finding.id.clone()], 1));
    assert!(ran.can_resume && finding.shrunk.is_none());

    let explained = session.explain(finding.id.as_ref(), Duration::from_secs(30), &mut counts);
    let explained = explained.unwrap_or_else(|trouble| panic!("{trouble}"));
    assert_eq!(explained.kind, "assertion");

    let budget = Budget { runs: 2000, time: Duration::from_secs(60), least: 0 };
    let shrunken = session.shrink(finding.id.as_ref(), budget, &mut counts);
    let shrunken = shrunken.unwrap_or_else(|trouble| panic!("{trouble}"));
    assert!(shrunken.smaller, "{shrunken:?}");
    assert_eq!(shrunken.finding.preemptions, Some(1), "one preemption loses a deposit");
    assert!(shrunken.finding.explanation.is_some(), "{:?}", shrunken.finding);
    let original = session.folder().join(format!("{}.schedule.original", finding.id));
    assert!(original.is_file(), "the first schedule stays");
    let replayed =
        session.replay(finding.id.as_ref(), &mut counts).unwrap_or_else(|trouble| panic!("{trouble}"));
    assert_eq!(replayed.finding.explanation, shrunken.finding.explanation);
    assert_eq!(counts.targets, ["replaying", "shrinking", "replaying"]);
}

#[test]
fn a_campaign_goes_on_as_if_nobody_had_ended_it() {
    let work = folder();
    let session = session(work.path());
    let program = build_text(&session, work.path(), "bank", BANK);
    let at_once = {
        let apart = Session::new(work.path().join("apart")).unwrap_or_else(|trouble| panic!("{trouble}"));
        run(&apart, Config { shrink: None, ..usual(&apart, &program) })
    };
    let first = Config { runs: Some(23), shrink: None, ..usual(&session, &program) };
    assert_eq!(run(&session, first.clone()).runs, 23);
    let more = Campaign::of(Config { runs: Some(60), ..first.clone() });
    let resumed = session.resume(&more, &mut Silent).unwrap_or_else(|trouble| panic!("{trouble}"));
    assert_eq!(essence(&resumed.report), essence(&at_once));
    // Another seed is another campaign.
    let other = Campaign::of(Config { seed: 7, ..first });
    let trouble = session.resume(&other, &mut Silent).expect_err("there is none");
    assert_eq!(trouble.fault(), Fault::Request);
}

#[test]
fn a_race_is_known_in_another_build() {
    let work = folder();
    let session = session(work.path());
    let source = |line: &str, write: &str| {
        format!(
            "#include <pthread.h>\n{line}static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int shared;\n\
             static void *writer(void *x) {{ {write} return x; }}\n\
             int main(void) {{ pthread_t t; pthread_create(&t, 0, writer, 0);\n pthread_mutex_lock(&lock); int seen = shared; \
             pthread_mutex_unlock(&lock);\n pthread_join(t, 0); return seen > 1; }}\n"
        )
    };
    let kept = |text: &str| {
        let program = build_text(&session, work.path(), "shared", text);
        let config = usual(&session, &program);
        let list = session.regress(&config, &mut Silent).unwrap_or_else(|trouble| panic!("{trouble}"));
        (program, list.into_iter().map(|one| one.outcome).collect::<Vec<_>>())
    };
    let (program, none) = kept(&source("", "shared = 1;"));
    assert_eq!(none, [""; 0]);
    let report = run(&session, usual(&session, &program));
    let kinds: Vec<&str> = report.findings.iter().map(|finding| finding.kind.as_str()).collect();
    assert_eq!(kinds, ["race"]);
    // The same build; other lines; without the race; a race of another variable.
    assert_eq!(kept(&source("", "shared = 1;")).1, ["failure"]);
    assert_eq!(kept(&source("/* a line more */\n\n", "shared = 1;")).1, ["failure"]);
    let right = "pthread_mutex_lock(&lock); shared = 1; pthread_mutex_unlock(&lock);";
    let fixed = kept(&source("", right)).1;
    assert!(fixed == ["fixed"] || fixed == ["unfit"], "{fixed:?}");
}

#[test]
fn what_is_wrong_is_told() {
    let work = folder();
    let session = session(work.path());
    let trouble = session.build(Language::C, &["/no/such/file.c".into()]).expect_err("no file");
    assert_eq!(trouble.fault(), Fault::Request);
    assert!(trouble.message().contains("/no/such/file.c"), "{trouble}");
    let trouble = session.target(Path::new("/no/such/program"), Vec::new()).expect_err("no program");
    assert!(trouble.help().is_some(), "{trouble}");
    let trouble = session.replay("no-such-id".as_ref(), &mut Silent).expect_err("no finding");
    assert_eq!(trouble.fault(), Fault::Request);
}
