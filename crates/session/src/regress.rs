//! `--regress`: the kept schedules of a program are replayed before its campaign.
//!
//! A schedule counts what strands do, so it fits another build of the program only where they do the same up to the
//! failure. Its places are not compared then. If it fits to its end and the run passes, the bug is fixed; if it does
//! not fit, a run that follows it loosely and some that follow it as far as it goes say whether the bug is still close, and the campaign has to say the rest.

use crate::follow::{self, Following, Manner};
use crate::observer::Observer;
use crate::places::program_id;
use crate::replay::kept;
use crate::trouble::Trouble;
use std::path::{Path, PathBuf};
use threadbare_abi::fact::Fact;
use threadbare_abi::layout::flags;
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::campaign::Config;
use threadbare_explore::files;
use threadbare_explore::run::{Follow, Request};
use threadbare_explore::server::Server;
use threadbare_explore::store::{self, SCHEDULE, Store};
use threadbare_explore::{details, interrupt, of_race};
use threadbare_findings::explain::explain;
use threadbare_findings::{Finding, SymbolPlaces, identity};
use threadbare_report::CampaignReport;
use threadbare_report::campaign::Regressed;
use threadbare_report::text::counted;
use threadbare_strategy::{StrategyId, rng};
use threadbare_trace::identity::Identity;
use threadbare_trace::race::RacePair;
use threadbare_trace::run::{RunFacts, Verdict};
use threadbare_trace::schedule::{Schedule, VERSION};
use threadbare_trace::strands::Strands;

/// Runs that follow a schedule that does not fit as far as it goes, after one that follows it loosely.
const NEAR: u64 = 19;

const FAILURE: &str = "failure";
const FIXED: &str = "fixed";
const UNFIT: &str = "unfit";

/// What became of the kept findings of a program.
#[derive(Debug, Default)]
pub struct Regress {
    /// Each of them.
    pub list: Vec<Regressed>,
    /// Those that are there.
    pub findings: Vec<Finding>,
}

/// A failure that is there again.
struct Back {
    /// The run that showed it; of a race, the race is its verdict.
    facts: RunFacts,
    /// What that run was to do.
    request: Request,
    /// What it came to by itself.
    verdict: Verdict,
}

/// What the replay of one schedule came to.
enum Came {
    /// The failure.
    Back(Box<Back>),
    Passes,
    /// Where the schedule was left.
    Unfit(String),
}

/// A kept finding that is looked for.
struct Kept<'a> {
    config: &'a Config,
    schedule: &'a Schedule,
    /// What lies beside the schedule.
    finding: Option<&'a Finding>,
    /// Whether it is of the build that is there now.
    same: bool,
}

impl Kept<'_> {
    /// Whether a race is the kept one. The places of another build say nothing; its functions do, and where nobody knows them
    /// any race is taken for it.
    fn is_race(&self, facts: &RunFacts) -> bool {
        match (self.same, self.schedule.race, self.finding) {
            (true, Some(pair), _) => Identity::of_race(pair).is_shown_by(facts),
            (_, _, Some(kept)) => {
                let places = SymbolPlaces::new(&facts.report.modules, &self.config.target.program);
                identity::is_same_race(kept, &explain(facts, "", &places))
            }
            _ => true,
        }
    }
}

/// Replays the kept schedules of a campaign's program.
pub fn all(config: &Config, store: &Store, observer: &mut dyn Observer) -> Result<Regress, Trouble> {
    let mut regress = Regress::default();
    let id = program_id(&config.target.program)?;
    for path in store::files(store.folder(), SCHEDULE).unwrap_or_default() {
        if interrupt::requested() {
            break;
        }
        let Some(schedule) = read(&path, observer).filter(|schedule| belongs(schedule, config)) else {
            continue;
        };
        one(config, store, &id, &path, &schedule, &mut regress)?;
    }
    Ok(regress)
}

fn read(path: &Path, observer: &mut dyn Observer) -> Option<Schedule> {
    let text = files::read_text(path).map_err(|error| error.to_string());
    match text.and_then(|text| Schedule::parse(&text).map_err(|error| error.to_string())) {
        Ok(schedule) => Some(schedule),
        Err(error) => {
            observer.warning(&format!("`{}` is not replayed: {error}", path.display()));
            None
        }
    }
}

/// Of what a run of a build knew, what holds of this build: all if it is the same, else what is of no address.
fn still_true(known: &[u64], same: bool) -> Vec<u64> {
    known.iter().copied().filter(|&word| same || Fact::decode(word) == Some(Fact::StacksShared)).collect()
}

fn belongs(schedule: &Schedule, config: &Config) -> bool {
    let target = &config.target;
    let stdin = schedule.stdin.clone().map(PathBuf::from);
    (Path::new(&schedule.program), &schedule.args, &stdin) == (&target.program, &target.args, &target.stdin)
}

fn one(
    config: &Config,
    store: &Store,
    id: &str,
    path: &Path,
    schedule: &Schedule,
    regress: &mut Regress,
) -> Result<(), Trouble> {
    let same = schedule.program_id == id;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // A schedule is followed under control, whatever the campaign is.
    let mut server = Server::start(&config.target.controlled())?;
    // The addresses of another build say nothing.
    server.set_known(&still_true(&schedule.known, same));
    let kept = kept(path);
    let run = Kept { config, schedule, finding: kept.as_ref(), same };
    let (came, runs) = come(&mut server, &run)?;
    let (outcome, message) = match came {
        Came::Back(back) => {
            let Back { mut facts, request, verdict } = *back;
            let finding = match kept.filter(|_| same) {
                // What it tells is true of this build, and may be of a smaller run than this one.
                Some(kept) => Finding { regress: None, ..kept },
                None => {
                    let new = told(&mut server, &request, &verdict, &mut facts, config);
                    let at = renew(store, &name, schedule, id, &facts, &new)?;
                    Finding { id: name.clone(), schedule: at.display().to_string(), count: 1, ..new }
                }
            };
            let json = serde_json::to_vec_pretty(&finding).unwrap_or_default();
            store.keep(&format!("{name}.json"), &json)?;
            regress.findings.push(finding);
            (FAILURE, if same { "is there".to_owned() } else { "is there in this build, too".to_owned() })
        }
        Came::Passes => (FIXED, "is fixed: its schedule passes".to_owned()),
        Came::Unfit(why) => {
            let message = format!(
                "its schedule does not fit this build ({why}); {} close to it passed: \
                 delete `{name}.schedule` if it is fixed, or look for it with more `--runs`",
                counted(runs - 1, "run")
            );
            (UNFIT, message)
        }
    };
    regress.list.push(Regressed { id: name, outcome: outcome.to_owned(), message, runs });
    Ok(())
}

/// Makes the run, and runs close to it if it is another one; how many it were.
fn come(server: &mut Server, run: &Kept<'_>) -> Result<(Came, u64), Trouble> {
    let why = match make(server, run, Manner::Strict)? {
        Came::Unfit(why) => why,
        other => return Ok((other, 1)),
    };
    if let back @ Came::Back(..) = make(server, run, Manner::Lenient)? {
        return Ok((back, 2));
    }
    for number in 0..NEAR {
        let seed = rng::mix(run.schedule.seed ^ rng::mix(number));
        if let back @ Came::Back(..) = make(server, run, Manner::Prefix(StrategyId::Random, seed))? {
            return Ok((back, number + 3));
        }
    }
    Ok((Came::Unfit(why), NEAR + 2))
}

fn make(server: &mut Server, run: &Kept<'_>, manner: Manner) -> Result<Came, Trouble> {
    let schedule = run.schedule;
    let following = Following { schedule, manner, other_build: !run.same };
    let request = Request { timeout: run.config.timeout, ..following.request() };
    let ended = server.run(&request, Follow::Segments(&following.segments()), None)?;
    let mut facts = server.facts(&request, &ended, true)?;
    if facts.verdict.is_internal() {
        let steps = facts.report.divergence.as_ref().map(|it| it.segment + 1);
        let step = steps.map(|step| format!("it is left at step {step}"));
        return Ok(Came::Unfit(step.unwrap_or_else(|| facts.verdict.message.clone())));
    }
    let races = std::mem::take(&mut facts.report.races);
    let own = facts.verdict.clone();
    if schedule.verdict == VerdictKind::Race || schedule.race.is_some() {
        for race in races {
            let shown = of_race(&facts, race);
            if run.is_race(&shown) {
                return Ok(Came::Back(Box::new(Back { facts: shown, request, verdict: own })));
            }
        }
        return Ok(Came::Passes);
    }
    // Another failure than the kept one is a failure as well.
    let failed = facts.verdict.is_failure();
    Ok(match failed {
        true => Came::Back(Box::new(Back { facts, request, verdict: own })),
        false => Came::Passes,
    })
}

/// The finding, with what a second run tells.
fn told(
    server: &mut Server,
    request: &Request,
    verdict: &Verdict,
    facts: &mut RunFacts,
    config: &Config,
) -> Finding {
    if !facts.end.was_cut() {
        let flags = (request.flags & !(flags::LENIENT | flags::OTHER_BUILD)) | flags::STRICT;
        let request = Request { flags, ..request.clone() };
        details::add(server, &request, verdict, vec![facts]);
    }
    let places = SymbolPlaces::new(&facts.report.modules, &config.target.program);
    explain(facts, &config.target.program.display().to_string(), &places)
}

/// Keeps the run of this build in place of the other one's.
fn renew(
    store: &Store,
    name: &str,
    old: &Schedule,
    id: &str,
    facts: &RunFacts,
    finding: &Finding,
) -> Result<PathBuf, Trouble> {
    let race = facts.verdict.kind == VerdictKind::Race;
    let pair = facts.report.races.first().and_then(|race| RacePair::of(race, &facts.report));
    let mut schedule = Schedule {
        version: VERSION,
        program_id: id.to_owned(),
        verdict: if race { VerdictKind::None } else { facts.verdict.kind },
        message: if race { finding.message.clone() } else { facts.verdict.message.clone() },
        trace_hash: facts.counters.trace_hash,
        race: pair,
        failure: Some(Identity::of(facts, pair)),
        known: still_true(&follow::noted(&old.known), old.program_id == id),
        ..old.clone()
    };
    if !facts.end.was_cut() && facts.counters.segments_lost == 0 {
        schedule.then = None;
        schedule.set_segments(facts.segments.clone(), &Strands::from_report(&facts.report));
    }
    Ok(store.keep(&format!("{name}.{SCHEDULE}"), schedule.to_text().as_bytes())?.path)
}

impl Regress {
    /// Whether a kept finding is there.
    pub fn has_failed(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Adds what was replayed to a campaign's report, and marks the findings that the campaign has not found.
    pub fn join(self, report: &mut CampaignReport, store: &Store, observer: &mut dyn Observer) {
        for mut one in self.list {
            let found = report.findings.iter().any(|finding| finding.id == one.id);
            if found && one.outcome != FAILURE {
                one.outcome = FAILURE.to_owned();
                one.message = "was found by the campaign".to_owned();
            } else if one.outcome != FAILURE {
                mark(store, &one, observer);
            }
            report.regress.push(one);
        }
        for finding in self.findings {
            if !report.findings.iter().any(|other| other.id == finding.id) {
                report.findings.push(finding);
            }
            report.verdict = FAILURE.to_owned();
        }
    }
}

/// Writes into the kept finding what became of it.
fn mark(store: &Store, one: &Regressed, observer: &mut dyn Observer) {
    let name = format!("{}.json", one.id);
    let Some(mut finding) = kept(&store.folder().join(&name)) else { return };
    finding.regress = Some(one.outcome.clone());
    let json = serde_json::to_vec_pretty(&finding).unwrap_or_default();
    if let Err(error) = store.write(&name, &json) {
        observer.warning(&format!("{error}: `{name}` is not marked as {}", one.outcome));
    }
}
