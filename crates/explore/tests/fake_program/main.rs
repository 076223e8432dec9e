//! The driver against a program that speaks the protocol by itself and misbehaves on request.
//!
//! This one binary is both sides: started by the driver (the variable is set) it plays a program with the runtime in
//! it, else it is the test suite. So the driver's answers to stuck runs, dead servers and the like are tested without
//! the runtime.

mod fake;

use libtest_mimic::{Arguments, Failed, Trial};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use threadbare_abi::event::Event;
use threadbare_abi::layout::{PointMode, Record};
use threadbare_abi::protocol::ENV;
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::campaign::{self, Config, Ending, Observer, Progress, Summary};
use threadbare_explore::run::{EventSink, Follow, Job, Request, Stopped};
use threadbare_explore::server::{Server, Target};
use threadbare_explore::{Error, Failure, Filter, Races, Search};
use threadbare_strategy::StrategyId;
use threadbare_trace::run::{End, RunFacts};

fn main() {
    if let Ok(fds) = std::env::var(ENV) {
        fake::serve(&fds);
    }
    let trial = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok::<(), Failed>(())
        })
    };
    let trials = vec![
        trial("a_clean_run_is_clean", a_clean_run_is_clean),
        trial("a_stuck_run_is_killed", a_stuck_run_is_killed),
        trial("a_wild_process_number_harms_nobody", a_wild_process_number_harms_nobody),
        trial("a_run_that_left_its_group_is_killed", a_run_that_left_its_group_is_killed),
        trial("a_stopped_run_is_killed", a_stopped_run_is_killed),
        trial("a_crash_is_named", a_crash_is_named),
        trial("a_panic_is_read", a_panic_is_read),
        trial("endless_output_is_cut", endless_output_is_cut),
        trial("each_run_has_its_own_output", each_run_has_its_own_output),
        trial("input_is_read_anew_by_each_run", input_is_read_anew_by_each_run),
        trial("dying_before_main_shows_the_output", dying_before_main_shows_the_output),
        trial("hanging_before_main_is_an_error", hanging_before_main_is_an_error),
        trial("another_layout_is_refused", another_layout_is_refused),
        trial("a_bare_program_is_refused", a_bare_program_is_refused),
        trial("a_dead_server_is_started_again", a_dead_server_is_started_again),
        trial("events_come_in_order", events_come_in_order),
        trial("a_stopped_run_is_handed_over", a_stopped_run_is_handed_over),
        trial("what_the_server_leaves_behind_is_gone", what_the_server_leaves_behind_is_gone),
        trial("a_campaign_is_the_same_with_any_jobs", a_campaign_is_the_same_with_any_jobs),
        trial("a_campaign_tells_each_failure_once", a_campaign_tells_each_failure_once),
        trial("time_ends_a_campaign", time_ends_a_campaign),
        trial("a_replay_that_differs_is_told", a_replay_that_differs_is_told),
        trial("a_race_in_every_run_is_one_failure", a_race_in_every_run_is_one_failure),
        trial("a_race_is_looked_at_closer", a_race_is_looked_at_closer),
        trial("a_second_making_that_differs_gives_no_details", a_second_making_that_differs_gives_no_details),
        trial("races_that_are_only_told_fail_nothing", races_that_are_only_told_fail_nothing),
        trial("what_is_hidden_fails_nothing", what_is_hidden_fails_nothing),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn target(mode: &str) -> Target {
    let mut target = Target::new(std::env::current_exe().unwrap(), vec![mode.into()]);
    target.env.push(("RUST_BACKTRACE".into(), "0".into()));
    target
}

fn request(run: u64) -> Request {
    Request {
        run,
        seed: run,
        entropy: 0,
        strategy: StrategyId::Random,
        params: [0; 8],
        points: PointMode::Shared,
        record: Record::Nothing,
        flags: 0,
        max_points: 0,
        timeout: Duration::from_secs(60),
        estimates: (0, 0),
        guide: std::sync::Arc::default(),
        races: true,
        model: threadbare_abi::layout::MemoryModel::Sc,
        watches: Vec::new(),
        faults: threadbare_abi::fault::Faults::NONE,
    }
}

/// Short enough not to wait long, for runs that never end by themselves.
fn short() -> Request {
    Request { timeout: Duration::from_millis(300), ..request(0) }
}

fn one(mode: &str, request: &Request) -> RunFacts {
    let mut server = Server::start(&target(mode)).unwrap();
    let ended = server.run(request, Follow::Nothing, None).unwrap();
    server.facts(request, &ended, true).unwrap()
}

fn a_clean_run_is_clean() {
    let facts = one("clean", &request(3));
    assert_eq!(facts.verdict.kind, VerdictKind::None);
    assert_eq!((facts.counters.points, facts.counters.segments), (30, 3));
    assert_eq!(facts.segments.len(), 3);
    assert_eq!(facts.segments[2].events, 2);
}

fn a_stuck_run_is_killed() {
    let facts = one("stuck", &short());
    assert_eq!((facts.end, facts.verdict.kind), (End::TimedOut, VerdictKind::Timeout));
    assert_eq!(facts.verdict.message, "the run took longer than 300 ms");
}

fn a_wild_process_number_harms_nobody() {
    // Were it believed, this very process would be killed.
    let facts = one("wild", &short());
    assert_eq!(facts.verdict.kind, VerdictKind::Timeout);
}

fn a_run_that_left_its_group_is_killed() {
    assert_eq!(one("escape", &short()).verdict.kind, VerdictKind::Timeout);
}

fn a_stopped_run_is_killed() {
    assert_eq!(one("stop", &short()).verdict.kind, VerdictKind::Timeout);
}

fn a_crash_is_named() {
    let facts = one("crash", &request(0));
    assert_eq!((facts.verdict.kind, facts.verdict.code), (VerdictKind::Crash, 11));
    assert!(facts.verdict.message.starts_with("SIGSEGV"), "{}", facts.verdict.message);
}

fn a_panic_is_read() {
    let facts = one("panic", &request(0));
    assert_eq!(facts.verdict.kind, VerdictKind::Assertion);
    assert!(facts.verdict.message.starts_with("assertion `left == right` failed: sums differ"));
    assert!(facts.verdict.place.unwrap().file.ends_with("fake.rs"));
}

fn endless_output_is_cut() {
    let facts = one("output", &Request { timeout: Duration::from_millis(800), ..request(0) });
    assert_eq!(facts.verdict.kind, VerdictKind::Timeout);
    assert!(facts.stdout.dropped > 0, "nothing was dropped");
    assert!(facts.stdout.bytes.len() <= 1 << 20, "{} bytes were kept", facts.stdout.bytes.len());
}

fn each_run_has_its_own_output() {
    let mut server = Server::start(&target("echo")).unwrap();
    for run in 0..3 {
        let ended = server.run(&request(run), Follow::Nothing, None).unwrap();
        let facts = server.facts(&request(run), &ended, false).unwrap();
        assert_eq!(facts.stdout.text(), format!("out {run}\n"));
        assert_eq!(facts.stderr.text(), format!("err {run}\n"));
        assert_eq!(facts.verdict.message, format!("the program ended with code 7: err {run}"));
    }
}

fn input_is_read_anew_by_each_run() {
    let mut target = target("cat");
    target.stdin = Some(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into());
    let mut server = Server::start(&target).unwrap();
    for run in 0..2 {
        let ended = server.run(&request(run), Follow::Nothing, None).unwrap();
        let facts = server.facts(&request(run), &ended, false).unwrap();
        assert!(facts.stdout.text().starts_with("[package]"), "{:?}", facts.stdout.text());
    }
}

fn dying_before_main_shows_the_output() {
    let error = Server::start(&target("early")).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::DiedEarly { .. }), "{text}");
    assert!(text.contains("exit code 5") && text.contains("| no licence found"), "{text}");
}

fn hanging_before_main_is_an_error() {
    let target = Target { start_timeout: Duration::from_millis(300), ..target("deaf") };
    let error = Server::start(&target).unwrap_err();
    assert!(matches!(error, Error::StartTimeout { .. }), "{error}");
}

fn another_layout_is_refused() {
    let error = Server::start(&target("version")).unwrap_err();
    assert!(matches!(error, Error::Version { theirs: 999, .. }), "{error}");
    assert!(error.help().unwrap().contains("build the program again"));
}

fn a_bare_program_is_refused() {
    let error = Server::start(&target("bare")).unwrap_err();
    assert!(matches!(error, Error::NotInstrumented(_)), "{error}");
}

fn a_dead_server_is_started_again() {
    let mut job = Job::new(Arc::new(target("dying-server")), Arc::new(AtomicBool::new(false)));
    // The server dies at every second run; the job does not show it.
    for run in 0..5 {
        let ended = job.run(&request(run), &[]).unwrap();
        assert_eq!((ended.end, ended.live.run), (End::Exited(0), run));
    }
}

fn events_come_in_order() {
    let mut server = Server::start(&target("events")).unwrap();
    let mut counted = Counted::default();
    let request = Request { record: Record::Points, ..request(0) };
    server.run(&request, Follow::Nothing, Some(&mut counted)).unwrap();
    // The first making asks to be made again, so its events do not count.
    assert_eq!((counted.next, counted.restarts), (fake::EVENTS, 1));
}

#[derive(Default)]
struct Counted {
    next: u64,
    restarts: u64,
}

impl EventSink for Counted {
    fn events(&mut self, events: &[Event]) {
        for event in events {
            assert_eq!(event.value, self.next);
            self.next += 1;
        }
    }

    fn restart(&mut self) {
        self.next = 0;
        self.restarts += 1;
    }
}

fn a_stopped_run_is_handed_over() {
    let mut server = Server::start(&target("stop")).unwrap();
    let Ok(Stopped::At(pid, _)) = server.run_until_stopped(&request(0), Follow::Nothing) else {
        panic!("the run did not stop");
    };
    assert!(std::path::Path::new(&format!("/proc/{pid}")).exists());
    server.end_stopped(pid);
    assert!(!server.is_alive());
}

fn what_the_server_leaves_behind_is_gone() {
    let mut server = Server::start(&target("leftover")).unwrap();
    let ended = server.run(&request(0), Follow::Nothing, None).unwrap();
    let facts = server.facts(&request(0), &ended, false).unwrap();
    let pid = facts.stdout.text().trim().to_owned();
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Gone, or killed and not yet reaped by init.
    while !state().is_empty() && !state().contains(") Z ") {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[derive(Default)]
struct Seen(Vec<(u64, bool)>);

impl Observer for Seen {
    fn failed(&mut self, failure: Failure) -> Result<(), Error> {
        self.0.push((failure.run, failure.facts.is_some()));
        Ok(())
    }

    fn progress(&mut self, _progress: &Progress) {}
}

fn config(mode: &str, jobs: usize) -> Config {
    Config {
        target: Arc::new(target(mode)),
        search: Search::default(),
        in_order: false,
        model: threadbare_abi::layout::MemoryModel::Sc,
        faults: threadbare_abi::fault::Faults::NONE,
        seed: 1,
        runs: Some(100),
        time: None,
        jobs,
        keep_going: false,
        timeout: Duration::from_secs(60),
        points: PointMode::Shared,
        max_points: 0,
        check_replay: false,
        races: Races::Fail,
        predict: true,
        ends_complete: false,
        shrink: None,
        filter: None,
        coverage: true,
        until: None,
        noise: threadbare_abi::noise::Noise::OFF,
        quiet: None,
        earlier: None,
        taker: None,
        goal: None,
        futures: None,
        idioms: None,
        pairs: None,
        parts: Arc::default(),
    }
}

fn made(config: &Config) -> (Summary, Seen) {
    let mut seen = Seen::default();
    (campaign::run(config, &mut seen).unwrap(), seen)
}

fn a_campaign_is_the_same_with_any_jobs() {
    let (one, _) = made(&config("learn", 1));
    let (many, _) = made(&config("learn", 5));
    assert_eq!(one.progress.runs, 100);
    assert_eq!((one.trace_hash, &one.known), (many.trace_hash, &many.known));
    // Every run learns its own number and tells how many it knew: the traces hold that.
    assert_eq!(one.known.len(), 100);
    let (first, seen) = made(&config("fail-at-37", 4));
    assert_eq!((first.first_failure, first.progress.runs), (Some(37), 38));
    assert_eq!(seen.0, [(37, true)]);
}

fn a_campaign_tells_each_failure_once() {
    let (summary, seen) = made(&Config { keep_going: true, ..config("echo", 3) });
    assert_eq!((summary.progress.runs, summary.progress.failed), (100, 100));
    assert_eq!(seen.0[0], (0, true));
    let runs: Vec<u64> = seen.0.iter().map(|(run, _)| *run).collect();
    assert_eq!(runs, (0..100).collect::<Vec<_>>());
    // The details of later runs are kept only while it is not known that an earlier one has them.
    assert!(seen.0.iter().filter(|(_, details)| *details).count() <= 3);
}

fn time_ends_a_campaign() {
    let time = Some(Duration::from_millis(200));
    let (summary, _) = made(&Config { runs: None, time, ..config("stuck", 2) });
    assert_eq!((summary.ending, summary.progress.runs), (Ending::Time, 0));
}

fn a_replay_that_differs_is_told() {
    let (same, _) = made(&Config { check_replay: true, ..config("clean", 2) });
    assert_eq!((same.ending, same.replays), (Ending::Runs, 100));
    let (other, _) = made(&Config { check_replay: true, ..config("fickle", 2) });
    let Ending::Internal(facts, why) = other.ending else { panic!("{:?}", other.ending) };
    assert_eq!(facts.run, 0);
    assert!(why.contains("run 0 and its replay differ"), "{why}");
}

/// Keeps all that is told.
#[derive(Default)]
struct Kept(Vec<Failure>);

impl Observer for Kept {
    fn failed(&mut self, failure: Failure) -> Result<(), Error> {
        self.0.push(failure);
        Ok(())
    }

    fn progress(&mut self, _progress: &Progress) {}
}

fn kept(config: &Config) -> (Summary, Vec<Failure>) {
    let mut kept = Kept::default();
    let summary = campaign::run(config, &mut kept).unwrap();
    (summary, kept.0)
}

fn a_race_in_every_run_is_one_failure() {
    for jobs in [1, 3] {
        let (summary, told) = kept(&Config { keep_going: true, check_replay: true, ..config("race", jobs) });
        assert_eq!((summary.progress.failed, summary.replays), (100, 100));
        assert_eq!(told.iter().map(|failure| failure.run).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        // Both orders, all strands: one key.
        assert!(told.iter().all(|failure| failure.key == told[0].key && failure.fails && !failure.hidden));
        assert!(told.iter().filter(|failure| failure.facts.is_some()).count() <= jobs);
    }
    let (first, told) = kept(&config("race", 2));
    assert_eq!((first.progress.runs, first.first_failure, told.len()), (1, Some(0), 1));
    // A replay without the race is another run.
    let (other, _) = kept(&Config { keep_going: true, check_replay: true, ..config("fickle-race", 1) });
    let Ending::Internal(_, why) = other.ending else { panic!("{:?}", other.ending) };
    assert!(why.contains("data races"), "{why}");
}

fn a_race_is_looked_at_closer() {
    let (_, told) = kept(&config("race", 1));
    let facts = told[0].facts.as_ref().unwrap();
    assert_eq!(
        (facts.verdict.kind, facts.verdict.strand, facts.verdict.addr),
        (VerdictKind::Race, 1, 0x9010)
    );
    let [later, earlier] = &facts.report.races[0].accesses[..] else { panic!("{:?}", facts.report.races) };
    assert_eq!((&later.moment.frames[..], &earlier.moment.frames[..]), (&[0x40_0100][..], &[0x40_0300][..]));
    let details = &facts.report.details;
    assert_eq!(details.allocations[&0x9000].frames, [0x40_0301]);
    // Of both strands; the parent of one is the other, and main was created by nobody.
    assert_eq!(details.creations.keys().copied().collect::<Vec<_>>(), [1, 2]);
    // The events up to the later access, which was no point, and came at event 8.
    let events: Vec<_> = facts.events.iter().map(|event| (event.kind, event.value)).collect();
    assert_eq!(events.last(), Some(&(1, 8)));
    assert_eq!(facts.segments.len(), 1);
}

fn a_second_making_that_differs_gives_no_details() {
    // Run 5 ends otherwise when it is made again.
    let mut server = Server::start(&target("race")).unwrap();
    let request = Request { run: 5, ..request(5) };
    let ended = server.run(&request, Follow::Nothing, None).unwrap();
    let mut facts = server.facts(&request, &ended, true).unwrap();
    let verdict = facts.verdict.clone();
    facts.verdict.kind = VerdictKind::Race;
    threadbare_explore::details::add(&mut server, &request, &verdict, vec![&mut facts]);
    assert!(facts.events.is_empty() && facts.report.details.creations.is_empty());
    let [warning] = &facts.report.warnings[..] else { panic!("{:?}", facts.report.warnings) };
    assert!(warning.text.contains("`exit` instead of `clean`"), "{}", warning.text);
}

fn races_that_are_only_told_fail_nothing() {
    let (summary, told) = kept(&Config { races: Races::Report, ..config("race", 2) });
    assert_eq!((summary.progress.runs, summary.progress.failed), (100, 0));
    assert_eq!((summary.ending, summary.first_failure), (Ending::Runs, None));
    assert!(told.len() == 100 && told.iter().all(|failure| !failure.fails));
}

/// Hides all.
#[derive(Debug)]
struct HidesAll;

impl Filter for HidesAll {
    fn hides(&self, facts: &RunFacts) -> bool {
        assert_eq!(facts.report.races[0].accesses[1].moment.frames.len(), 1, "it sees the details");
        true
    }
}

fn what_is_hidden_fails_nothing() {
    let (summary, told) = kept(&Config { filter: Some(Arc::new(HidesAll)), ..config("race", 2) });
    assert_eq!((summary.progress.runs, summary.progress.failed), (100, 0));
    assert!(told.len() == 100 && told.iter().all(|failure| failure.hidden));
}
