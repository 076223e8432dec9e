//! `threadbare replay`: one schedule again.

use crate::conduct;
use crate::exit::{Exit, Trouble};
use crate::options::{FOLDER, Format};
use crate::said;
use crate::streams::{self, Wanted};
use crate::{embedded, gdb, why};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use threadbare_abi::layout::{Record, Watch, WatchKind, flags};
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::files;
use threadbare_explore::run::{Follow, Job, Request};
use threadbare_explore::server::{Server, Target};
use threadbare_explore::{Leaks, details, of_race, store, surroundings};
use threadbare_findings::explain::explain;
use threadbare_findings::{Finding, SymbolPlaces};
use threadbare_report::{Screen, text};
use threadbare_toolchain::{Environment, check_program};
use threadbare_trace::report::{Moment, Race};
use threadbare_trace::run::{RunFacts, Verdict};
use threadbare_trace::schedule::Schedule;

const EXAMPLES: &str = "\
Examples:
  threadbare replay .threadbare/deadlock-5f3a9c1e.schedule
  threadbare replay deadlock-5f3a9c1e              the same, by the finding's id
  threadbare replay deadlock-5f3a9c1e --trace | less
  threadbare replay deadlock-5f3a9c1e --perfetto run.json
  threadbare replay deadlock-5f3a9c1e --record run.trace
  threadbare replay deadlock-5f3a9c1e --gdb        open gdb where it failed";

/// Make one run again from its schedule.
///
/// The run makes the same choices and fails the same way. Exit code 1 says that it did, 0 that the
/// schedule is of a clean run and was clean again, 3 that the run was another.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// A schedule's file, or the id of a finding.
    #[arg(value_name = "FILE-or-ID")]
    schedule: PathBuf,
    /// Print every point: strand, operation, variable, function and place.
    #[arg(long)]
    trace: bool,
    /// Open gdb where the run fails, with a command for each strand's stack.
    #[arg(long, conflicts_with_all = ["trace", "format", "perfetto", "record"])]
    gdb: bool,
    /// Write the run as a trace file that ui.perfetto.dev opens, one track a strand.
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Record all that the run did, for `threadbare trace FILE`: later, elsewhere, without the program.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// The folder with the findings.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    /// The program, if it is not where it was; it must be the same build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// How long the run may take [default: what the campaign allowed; with --trace, no bound].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = crate::values::duration)]
    timeout: Option<Duration>,
    /// How the result is written.
    #[arg(long, value_enum, default_value = "text", conflicts_with = "trace")]
    format: Format,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let (path, schedule) = read(&args.schedule, &args.out)?;
    let target = target(&schedule, args.program.as_deref())?;
    conduct::tell_target("replaying", &target);
    let mut request = request(&schedule);
    if let Some(timeout) = args.timeout {
        request.timeout = timeout;
    }
    let mut server = Server::start(&target)?;
    server.set_known(&schedule.known);
    if args.gdb {
        let race = schedule.race.is_some().then_some(schedule.message.as_str());
        if race.is_some() {
            // A race does not end its run: gdb is opened where its later access is made.
            let facts = once(&mut server, &request, &schedule)?;
            let facts = judge(facts, &schedule, &target.program)?;
            request.watches = facts.report.races.iter().filter_map(later_access).collect();
        }
        return gdb::open(&mut server, &request, &schedule.segments, &target.program, race);
    }
    let wanted = Wanted {
        lines: args.trace,
        perfetto: args.perfetto.clone(),
        record: args.record.clone(),
        timeout: args.timeout,
    };
    let facts = if wanted.anything() {
        streams::run(&mut server, &request, &schedule, &target.program, &wanted)?
    } else {
        once(&mut server, &request, &schedule)?
    };
    let verdict = facts.verdict.clone();
    let mut facts = judge(facts, &schedule, &target.program)?;
    if facts.verdict.is_failure() && schedule.then.is_none() {
        // Once more, for what a finding tells beside the verdict.
        facts.segments.clone_from(&schedule.segments);
        details::add(&mut server, &request, &verdict, vec![&mut facts]);
    }
    let places = SymbolPlaces::new(&facts.report.modules, &target.program);
    let mut finding = explain(&facts, &target.program.display().to_string(), &places);
    finding.schedule = path.display().to_string();
    finding.id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_plain = path.extension().is_some_and(|extension| extension == store::SCHEDULE);
    if facts.verdict.is_failure() && schedule.then.is_none() && is_plain && !recall(&path, &mut finding) {
        // A schedule that came without its finding.
        let mut job = Job::new(Arc::new(target), Arc::new(AtomicBool::new(false)));
        let known: Arc<[u64]> = schedule.known.clone().into();
        job.set_known(&known);
        why::add(&mut job, &request, &known, &facts, &mut finding, &places, PATIENCE)?;
    }
    match args.format {
        Format::Json => said::json(&json(&finding, &facts))?,
        Format::Text => said::text(&words(&finding, &facts, args.trace))?,
    }
    Ok(if facts.verdict.is_failure() { Exit::Failure } else { Exit::Clean })
}

/// How long the search for what decides may take where no finding tells it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tells a finding as the campaign did that kept it beside its schedule; false if there is none, or one of another run.
fn recall(path: &Path, finding: &mut Finding) -> bool {
    let read = files::read(&path.with_extension("json")).ok();
    let kept: Option<Finding> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let shape = |finding: &Finding| (finding.kind.clone(), finding.switches, finding.preemptions);
    let Some(kept) = kept.filter(|kept| shape(kept) == shape(finding)) else { return false };
    if kept.explanation.is_some() {
        finding.message = kept.message;
        finding.steps = kept.steps;
    }
    finding.explanation = kept.explanation;
    finding.shrunk = kept.shrunk;
    finding.notes = kept.notes;
    true
}

/// The schedule a file or an id names.
pub(crate) fn read(name: &Path, folder: &Path) -> Result<(PathBuf, Schedule), Trouble> {
    let is_id = !name.exists() && name.components().count() == 1;
    let path = match is_id {
        true => folder.join(name).with_extension(store::SCHEDULE),
        false if name.extension().is_some_and(|extension| extension == "json") => {
            name.with_extension(store::SCHEDULE)
        }
        false => name.to_owned(),
    };
    let bytes = files::read(&path).map_err(|error| {
        Trouble::usage(
            format!("cannot read the schedule `{}`: {error}", path.display()),
            "`threadbare list` shows the findings of this folder",
        )
    })?;
    let broken = |why: String| {
        Trouble::usage(
            format!("`{}` cannot be replayed: {why}", path.display()),
            "make the run again with `threadbare run`, or copy the whole file anew",
        )
    };
    let text = String::from_utf8(bytes).map_err(|_| broken("it is not text".to_owned()))?;
    let schedule = Schedule::parse(&text).map_err(|error| broken(error.to_string()))?;
    Ok((path, schedule))
}

pub(crate) fn target(schedule: &Schedule, program: Option<&Path>) -> Result<Target, Trouble> {
    let env = Environment::of_process();
    let moved = program.map(|program| std::path::absolute(program).unwrap_or_else(|_| program.to_owned()));
    let program = moved.unwrap_or_else(|| PathBuf::from(&schedule.program));
    check_program(&program, &env)?;
    let id = conduct::program_id(&program)?;
    if id != schedule.program_id {
        return Err(Trouble::usage(
            format!(
                "the schedule is of another build of `{}`: it has {}, the program is {id}",
                program.display(),
                schedule.program_id
            ),
            "a schedule counts the events of one build: find the failure anew with `threadbare run`, or name the old \
             build with `--program FILE`",
        ));
    }
    let mut target = Target::new(program, schedule.args.clone());
    target.arg0 = schedule.arg0.clone();
    target.env = schedule.env.clone();
    target.stdin = schedule.stdin.clone().map(PathBuf::from);
    target.runtime = Some(embedded::library(&env)?);
    target.limits.memory = schedule.memory;
    if schedule.verdict == VerdictKind::Leak {
        target.leaks = Leaks::Fail;
    }
    if Path::new(&schedule.cwd).is_dir() {
        target.cwd = PathBuf::from(&schedule.cwd);
    } else {
        let gone = schedule.cwd.to_string_lossy();
        said::note(&format!("warning: the folder `{gone}` is gone; the run is made here"));
    }
    Ok(target)
}

pub(crate) fn request(schedule: &Schedule) -> Request {
    let (strategy, seed, estimates, flags) = match &schedule.then {
        Some(then) => (then.strategy, then.seed, then.estimates, 0),
        None => (schedule.strategy, schedule.seed, (0, 0), flags::STRICT),
    };
    let guide = schedule.then.as_ref().map_or(&[][..], |then| &then.guide);
    let livelock = schedule.verdict == VerdictKind::Livelock;
    let flags = if livelock { flags | flags::ENDS_IN_LIVELOCK } else { flags };
    let flags = if schedule.verdict == VerdictKind::Leak { flags | flags::LEAKS } else { flags };
    let flags = if schedule.version < 2 { flags | flags::FEWER_EVENTS } else { flags };
    let flags = if schedule.version < 3 { flags | flags::NO_ENTRY_POINTS } else { flags };
    Request {
        run: schedule.run,
        seed,
        entropy: schedule.entropy,
        strategy: strategy.id,
        params: strategy.plan_params(schedule.in_order),
        points: schedule.points,
        record: Record::Nothing,
        flags,
        max_points: schedule.max_points,
        timeout: time_for(schedule),
        estimates,
        guide: guide.into(),
        races: schedule.races || schedule.race.is_some(),
        model: schedule.model,
        watches: Vec::new(),
        faults: schedule.faults,
    }
}

/// The time of a replay. The recorded run may have been given more than the campaign's runs have at first.
fn time_for(schedule: &Schedule) -> Duration {
    let time = Duration::from_millis(schedule.timeout_ms.max(1));
    if schedule.verdict == VerdictKind::Timeout { time } else { time.saturating_mul(4) }
}

/// The moment of a race's later access.
fn later_access(race: &Race) -> Option<Watch> {
    let Moment { strand, event, pc, .. } = race.accesses.first()?.moment;
    Some(Watch { kind: WatchKind::Event as u32, strand: strand.into(), event, addr: 0, pc })
}

pub(crate) fn once(server: &mut Server, request: &Request, schedule: &Schedule) -> Result<RunFacts, Trouble> {
    let ended = server.run(request, Follow::Segments(&schedule.segments), None)?;
    Ok(server.facts(request, &ended, false)?)
}

/// Sees that the run was the recorded one. The facts of a race that the schedule is kept for have the race as their
/// verdict.
pub(crate) fn judge(mut facts: RunFacts, schedule: &Schedule, program: &Path) -> Result<RunFacts, Trouble> {
    let help = "this is an error of Threadbare unless the program reads something that changes outside it (files, \
                the network, the real clock): `threadbare replay FILE --trace` shows how far it came";
    if facts.verdict.is_internal() {
        let places = SymbolPlaces::new(&facts.report.modules, program);
        let divergence = conduct::divergence(&facts, &places);
        return Err(Trouble::internal(
            format!(
                "the replay left its schedule: {}{divergence}{}",
                facts.verdict.message,
                differs(schedule)
            ),
            help,
        ));
    }
    if let Some(pair) = schedule.race {
        return match facts.report.race_of(pair).cloned() {
            Some(race) => Ok(of_race(&facts, race)),
            None => Err(Trouble::internal(
                format!(
                    "the replay did not show the recorded race: {}{}",
                    schedule.message,
                    differs(schedule)
                ),
                help,
            )),
        };
    }
    facts.report.races.clear();
    let show = |kind: VerdictKind, message: &str| match kind {
        VerdictKind::None => "clean".to_owned(),
        kind => format!("{}: {message}", kind.name()),
    };
    let Verdict { kind, message, .. } = &facts.verdict;
    let same = *kind == schedule.verdict && essence(*kind, message) == essence(*kind, &schedule.message);
    if !same {
        return Err(Trouble::internal(
            format!(
                "the replay was `{}`, and the recorded run `{}`{}",
                show(*kind, message),
                show(schedule.verdict, &schedule.message),
                differs(schedule)
            ),
            help,
        ));
    }
    Ok(facts)
}

/// What is not as it was when the schedule was made, in a line to add to a message.
fn differs(schedule: &Schedule) -> String {
    let input = schedule.stdin.as_deref().map(Path::new).filter(|input| !input.exists());
    let input = input.map(|input| format!("\n  the input `{}` is gone", input.display())).unwrap_or_default();
    let environment = surroundings::difference(&schedule.env_seen, &surroundings::signs());
    let environment =
        environment.map(|what| format!("\n  the environment is another one: {what}")).unwrap_or_default();
    format!("{input}{environment}")
}

/// The words of a verdict that must be the same in a replay. The exit code and the signal are; a line of the program's
/// output and an address behind them need not be, and a time limit is the user's. Blanks do not count: a schedule may
/// have been pasted.
pub(crate) fn essence(kind: VerdictKind, message: &str) -> Vec<&str> {
    let upto = |end: &str| message.split(end).next().unwrap_or_default();
    let kept = match kind {
        VerdictKind::Timeout => "",
        VerdictKind::Exit => upto(": "),
        VerdictKind::Crash => upto(": ").split(" at address").next().unwrap_or_default(),
        _ => message,
    };
    kept.split_whitespace().collect()
}

fn words(finding: &Finding, facts: &RunFacts, traced: bool) -> String {
    let screen = Screen::for_stream(&std::io::stdout());
    let gap = if traced { "\n" } else { "" };
    if facts.verdict.is_failure() {
        format!("{gap}{}", text::finding(finding, screen, false))
    } else {
        let switches = text::counted(facts.counters.switches, "switch");
        format!("{gap}{}: run {} again, {switches}\n", screen.style.good("clean"), facts.run)
    }
}

fn json(finding: &Finding, facts: &RunFacts) -> String {
    let verdict = if facts.verdict.is_failure() { "failure" } else { "clean" };
    let value = serde_json::json!({
        "format_version": threadbare_report::campaign::FORMAT_VERSION,
        "verdict": verdict,
        "points": facts.counters.points,
        "switches": facts.counters.switches,
        "trace_hash": format!("{:016x}", facts.counters.trace_hash),
        "finding": facts.verdict.is_failure().then_some(finding),
    });
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_the_same_in_a_replay() {
        let same = |kind, one, two| essence(kind, one) == essence(kind, two);
        assert!(same(
            VerdictKind::Exit,
            "the program ended with code 3",
            "the program ended with code 3: pid 7"
        ));
        assert!(!same(VerdictKind::Exit, "the program ended with code 3", "the program ended with code 4"));
        assert!(same(VerdictKind::Crash, "SIGSEGV at address 0x0", "SIGSEGV at address 0x8"));
        assert!(!same(VerdictKind::Crash, "SIGSEGV at address 0x0", "SIGBUS at address 0x0"));
        assert!(!same(VerdictKind::Crash, "stack overflow", "SIGSEGV at address 0x0"));
        assert!(!same(VerdictKind::Assertion, "assertion `a' at b.c:1", "assertion `c' at b.c:1"));
        assert!(same(VerdictKind::Assertion, "assertion `a' at b.c:1", "assertion  `a'  at  b.c:1"));
        assert!(same(VerdictKind::Timeout, "the run took longer than 1 s", "the run took longer than 2 s"));
    }
}
