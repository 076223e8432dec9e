//! Schedules and runs: how a run becomes a schedule, how a schedule becomes a request, and whether a run was the recorded one.
//!
//! A schedule is followed in one of four manners ([`Manner`]). Whoever follows one, a replay, a regression, shrinking, an analysis,
//! asks for its request here, so that what a schedule means is said once.

use crate::observer::Observer;
use crate::places::{divergence, program_id};
use crate::runtime;
use crate::trouble::Trouble;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use threadbare_abi::event::Segment;
use threadbare_abi::fact::Fact;
use threadbare_abi::layout::{Record, flags};
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::campaign::Config;
use threadbare_explore::given::Given;
use threadbare_explore::run::{Follow, Request};
use threadbare_explore::server::{Server, Target};
use threadbare_explore::{Failure, Leaks, files, of_race, shrink, store, surroundings};
use threadbare_findings::SymbolPlaces;
use threadbare_strategy::{Spec, StrategyId};
use threadbare_toolchain::{Environment, check_program};
use threadbare_trace::identity::Identity;
use threadbare_trace::race::RacePair;
use threadbare_trace::run::{RunFacts, Verdict};
use threadbare_trace::schedule::{Names, Schedule, Then, VERSION};
use threadbare_trace::strands::Strands;

/// How a schedule is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Manner {
    /// Step by step; a run that stops elsewhere has diverged. A schedule without steps is made again from its strategy and seed.
    #[default]
    Strict,
    /// As a plan: who runs when, as far as that can be.
    Lenient,
    /// As far as it goes; then this strategy decides, with this seed.
    Prefix(StrategyId, u64),
}

/// A schedule that is followed.
#[derive(Clone, Copy, Debug)]
pub struct Following<'a> {
    /// The schedule.
    pub schedule: &'a Schedule,
    /// How.
    pub manner: Manner,
    /// The program is another build than the schedule's: its places are not compared, and it may go on behind the last step.
    pub other_build: bool,
}

impl<'a> Following<'a> {
    /// Strictly, in the schedule's own build.
    pub fn strict(schedule: &'a Schedule) -> Following<'a> {
        Following { schedule, manner: Manner::Strict, other_build: false }
    }

    /// The request of the run.
    pub fn request(&self) -> Request {
        let schedule = self.schedule;
        let (mut strategy, mut seed, estimates) = match &schedule.then {
            Some(then) => (then.strategy, then.seed, then.estimates),
            None => (schedule.strategy, schedule.seed, (0, 0)),
        };
        let guide = schedule.then.as_ref().map_or(&[][..], |then| &then.guide);
        let set = |wanted: bool, flag: u32| if wanted { flag } else { 0 };
        let mut flags = set(schedule.verdict == VerdictKind::Livelock, flags::ENDS_IN_LIVELOCK)
            | set(schedule.verdict == VerdictKind::Leak, flags::LEAKS)
            | set(schedule.version < 2, flags::FEWER_EVENTS)
            | set(schedule.version < 3, flags::NO_ENTRY_POINTS)
            | set(self.other_build, flags::OTHER_BUILD);
        match self.manner {
            Manner::Strict => flags |= set(schedule.then.is_none(), flags::STRICT),
            Manner::Lenient => flags |= flags::LENIENT,
            Manner::Prefix(id, own) => (strategy, seed) = (Spec::of(id), own),
        }
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

    /// The choices that the run is given.
    pub fn segments(&self) -> Cow<'a, [Segment]> {
        match self.manner {
            Manner::Lenient => Cow::Owned(shrink::loosely(&self.schedule.segments)),
            Manner::Strict | Manner::Prefix(..) => Cow::Borrowed(&self.schedule.segments),
        }
    }
}

/// The request of a strict replay.
pub fn request(schedule: &Schedule) -> Request {
    Following::strict(schedule).request()
}

/// The time of a replay. The recorded run may have been given more than the campaign's runs have at first.
fn time_for(schedule: &Schedule) -> Duration {
    let time = Duration::from_millis(schedule.timeout_ms.max(1));
    if schedule.verdict == VerdictKind::Timeout { time } else { time.saturating_mul(4) }
}

/// Makes a schedule's run.
pub fn once(server: &mut Server, request: &Request, schedule: &Schedule) -> Result<RunFacts, Trouble> {
    let ended = server.run(request, Follow::Segments(&schedule.segments), None)?;
    Ok(server.facts(request, &ended, false)?)
}

/// The schedule a file or an id names.
pub fn read(name: &Path, folder: &Path) -> Result<(PathBuf, Schedule), Trouble> {
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

/// The target of a schedule, as it was; `program` says where its build is now.
pub fn target(
    schedule: &Schedule,
    program: Option<&Path>,
    observer: &mut dyn Observer,
) -> Result<Target, Trouble> {
    let env = Environment::of_process();
    let moved = program.map(|program| std::path::absolute(program).unwrap_or_else(|_| program.to_owned()));
    let program = moved.unwrap_or_else(|| PathBuf::from(&schedule.program));
    check_program(&program, &env)?;
    let id = program_id(&program)?;
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
    target.given = schedule.given.clone().map(|env| Given { env, base: None });
    target.runtime = Some(runtime::library(&env)?);
    target.limits.memory = schedule.memory;
    if schedule.verdict == VerdictKind::Leak {
        target.leaks = Leaks::Fail;
    }
    if Path::new(&schedule.cwd).is_dir() {
        target.cwd = PathBuf::from(&schedule.cwd);
    } else {
        let cwd = schedule.cwd.to_string_lossy();
        observer.warning(&format!("the folder `{cwd}` is gone; the run is made here"));
    }
    Ok(target)
}

/// Sees that the run was the recorded one. The facts of a race that the schedule is kept for have the race as their
/// verdict.
pub fn judge(mut facts: RunFacts, schedule: &Schedule, program: &Path) -> Result<RunFacts, Trouble> {
    let help = "this is an error of Threadbare unless the program reads something that changes outside it (files, \
                the network, the real clock): `threadbare replay FILE --trace` shows how far it came";
    if facts.verdict.is_internal() {
        let places = SymbolPlaces::new(&facts.report.modules, program);
        let divergence = divergence(&facts, &places);
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
    if !schedule.is_met_by(&facts) {
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

/// The schedule of a run that showed something, which the message tells in words.
pub fn schedule(
    config: &Config,
    program_id: &str,
    failure: &Failure,
    facts: &RunFacts,
    message: &str,
) -> Schedule {
    let target = &config.target;
    let request = config.request(failure.run, &failure.strategy);
    // A free run has no choices of its own; what showed the same under control has.
    let has_choices = target.mode.makes_choices() || !facts.segments.is_empty();
    let whole = !facts.end.was_cut() && facts.counters.segments_lost == 0 && has_choices;
    let bounded = config.max_points != 0 && failure.verdict == VerdictKind::Livelock;
    let race = facts.report.races.first().and_then(|race| RacePair::of(race, &facts.report));
    let mut schedule = Schedule {
        version: VERSION,
        program: target.program.clone().into_os_string(),
        program_id: program_id.to_owned(),
        arg0: target.arg0.clone(),
        args: target.args.clone(),
        env: target.env.clone(),
        env_seen: surroundings::signs(),
        cwd: target.cwd.clone().into_os_string(),
        stdin: target.stdin.clone().map(PathBuf::into_os_string),
        given: target.given.as_ref().map(|given| given.env.clone()),
        strategy: failure.strategy,
        seed: config.seed,
        run: failure.run,
        entropy: request.entropy,
        points: config.points,
        max_points: config.max_points,
        memory: target.limits.memory,
        in_order: config.in_order,
        faults: config.faults,
        timeout_ms: u64::try_from(config.timeout.as_millis()).unwrap_or(u64::MAX),
        races: request.races,
        model: request.model,
        race,
        verdict: failure.verdict,
        failure: Some(Identity::of(facts, race)),
        message: message.to_owned(),
        trace_hash: facts.counters.trace_hash,
        segments: Vec::new(),
        names: Names::new(),
        then: None,
        known: if whole && !bounded { noted(&failure.known) } else { failure.known.to_vec() },
    };
    if whole {
        schedule.set_segments(facts.segments.clone(), &Strands::from_report(&facts.report));
    } else {
        let (estimates, guide) = (failure.estimates, failure.guide.to_vec());
        let strategy = target.mode.follower(failure.strategy);
        schedule.then = Some(Then { strategy, seed: request.seed, estimates, guide });
    }
    schedule
}

/// Of what a run knew, what matters to a replay that follows all choices: races on stacks are seen only if the stacks are
/// noted from the beginning, and a write that is put off is another event than one that is not.
pub(crate) fn noted(known: &[u64]) -> Vec<u64> {
    known.iter().copied().filter(|&known| Fact::decode(known).is_some_and(Fact::changes_events)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "threadbare schedule 4\nprogram: /bank\nprogram-id: x\ncwd: /\nstrategy: pct 3\nseed: 7\nrun: 3\nentropy: 1\n\
                        points: shared\ntimeout-ms: 500\nverdict: livelock\nmessage: m\ntrace-hash: 1\nsteps:\n0+5.\n";

    fn schedule(version: u32) -> Schedule {
        // The end of a schedule is its checksum, which the schedule itself knows.
        let sum = |text: &str| {
            let mut hash = threadbare_trace::hash::Fnv::new();
            for word in text.split_whitespace() {
                hash.write(word.as_bytes());
                hash.write(b" ");
            }
            hash.finish()
        };
        let text = TEXT.replace("schedule 4", &format!("schedule {version}"));
        Schedule::parse(&format!("{text}end 1 {:016x}\n", sum(&text))).unwrap()
    }

    #[test]
    fn a_schedule_becomes_a_request_in_four_manners() {
        let (own, old) = (schedule(4), schedule(2));
        let strict = Following::strict(&own).request();
        assert_eq!(strict.flags, flags::STRICT | flags::ENDS_IN_LIVELOCK);
        assert_eq!((strict.strategy, strict.seed), (StrategyId::Pct, 7));
        assert_eq!(strict.timeout, Duration::from_millis(2000));
        let old = Following::strict(&old).request();
        assert_eq!(old.flags, strict.flags | flags::NO_ENTRY_POINTS);
        let other = Following { other_build: true, ..Following::strict(&own) };
        assert_eq!(other.request().flags, strict.flags | flags::OTHER_BUILD);
        let lenient = Following { manner: Manner::Lenient, ..Following::strict(&own) };
        assert_eq!(lenient.request().flags, flags::LENIENT | flags::ENDS_IN_LIVELOCK);
        assert!(matches!(lenient.segments(), Cow::Owned(_)));
        let prefix = Following { manner: Manner::Prefix(StrategyId::Random, 99), ..Following::strict(&own) };
        let request = prefix.request();
        assert_eq!(
            (request.strategy, request.seed, request.flags),
            (StrategyId::Random, 99, flags::ENDS_IN_LIVELOCK)
        );
        assert_eq!(prefix.segments().len(), 1);
        // What has no steps is made again by who decided.
        let then = Then { strategy: Spec::of(StrategyId::Pos), seed: 5, estimates: (1, 2), guide: vec![4] };
        let whole = Schedule { then: Some(then), segments: Vec::new(), ..own.clone() };
        let request = Following::strict(&whole).request();
        assert_eq!((request.strategy, request.seed, request.estimates), (StrategyId::Pos, 5, (1, 2)));
        assert_eq!((request.flags, &request.guide[..]), (flags::ENDS_IN_LIVELOCK, &[4][..]));
    }
}
