//! `--regress`: the kept schedules of a program are replayed before its campaign.
//!
//! A schedule counts what strands do, so it fits another build of the program only where they do the same up to the
//! failure. Its places are not compared then. If it fits to its end and the run passes, the bug is fixed; if it does
//! not fit, a run that follows it loosely and some that follow it as far as it goes say whether the bug is still close, and the campaign has to say the rest.

use crate::commands::replay::{essence, request};
use crate::conduct::{self, warn};
use crate::exit::Trouble;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use threadbare_abi::layout::{STACKS_SHARED, flags};
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::campaign::Config;
use threadbare_explore::files;
use threadbare_explore::run::{Follow, Request};
use threadbare_explore::server::Server;
use threadbare_explore::store::{self, SCHEDULE, Store};
use threadbare_explore::{details, interrupt, of_race, shrink};
use threadbare_findings::explain::explain;
use threadbare_findings::{Finding, SymbolPlaces};
use threadbare_report::CampaignReport;
use threadbare_report::campaign::Regressed;
use threadbare_report::text::counted;
use threadbare_strategy::{Spec, StrategyId, rng};
use threadbare_trace::race::RacePair;
use threadbare_trace::run::RunFacts;
use threadbare_trace::schedule::{Schedule, VERSION};
use threadbare_trace::strands::Strands;

/// Runs that follow a schedule that does not fit as far as it goes, after one that follows it loosely.
const NEAR: u64 = 19;

const FAILURE: &str = "failure";
const FIXED: &str = "fixed";
const UNFIT: &str = "unfit";

/// What became of the kept findings of a program.
#[derive(Debug, Default)]
pub(crate) struct Regress {
    pub(crate) list: Vec<Regressed>,
    /// Those that are there.
    pub(crate) findings: Vec<Finding>,
}

/// What the replay of one schedule came to.
enum Came {
    /// The failure, and the run that showed it.
    Back(Box<RunFacts>, Request),
    Passes,
    /// Where the schedule was left.
    Unfit(String),
}

/// Replays the kept schedules of a campaign's program.
pub(crate) fn all(config: &Config, store: &Store) -> Result<Regress, Trouble> {
    let mut regress = Regress::default();
    let id = conduct::program_id(&config.target.program)?;
    for path in store::files(store.folder(), SCHEDULE).unwrap_or_default() {
        if interrupt::requested() {
            break;
        }
        let Some(schedule) = read(&path).filter(|schedule| belongs(schedule, config)) else { continue };
        one(config, store, &id, &path, &schedule, &mut regress)?;
    }
    Ok(regress)
}

fn read(path: &Path) -> Option<Schedule> {
    let text = files::read_text(path).map_err(|error| error.to_string());
    match text.and_then(|text| Schedule::parse(&text).map_err(|error| error.to_string())) {
        Ok(schedule) => Some(schedule),
        Err(error) => {
            warn(&format!("`{}` is not replayed: {error}", path.display()));
            None
        }
    }
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
    let known = schedule.known.iter().copied().filter(|&pc| same || pc == STACKS_SHARED);
    server.set_known(&known.collect::<Vec<_>>());
    let (came, runs) = come(&mut server, config, schedule, same)?;
    let (outcome, message) = match came {
        Came::Back(mut facts, request) => {
            let finding = match kept(path).filter(|_| same) {
                // What it tells is true of this build, and may be of a smaller run than this one.
                Some(kept) => Finding { regress: None, ..kept },
                None => {
                    let new = told(&mut server, &request, &mut facts, config);
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
fn come(
    server: &mut Server,
    config: &Config,
    schedule: &Schedule,
    same: bool,
) -> Result<(Came, u64), Trouble> {
    let mut request = request(schedule);
    request.timeout = config.timeout;
    if !same {
        request.flags |= flags::OTHER_BUILD;
    }
    let why = match make(server, config, schedule, &request, same)? {
        Came::Unfit(why) => why,
        other => return Ok((other, 1)),
    };
    request.flags &= !flags::STRICT;
    let loose = Request { flags: request.flags | flags::LENIENT, ..request.clone() };
    if let Came::Back(facts, request) = make(server, config, schedule, &loose, same)? {
        return Ok((Came::Back(facts, request), 2));
    }
    request.strategy = StrategyId::Random;
    request.params = Spec::of(StrategyId::Random).plan_params(schedule.in_order);
    for number in 0..NEAR {
        request.seed = rng::mix(schedule.seed ^ rng::mix(number));
        if let Came::Back(facts, request) = make(server, config, schedule, &request, same)? {
            return Ok((Came::Back(facts, request), number + 3));
        }
    }
    Ok((Came::Unfit(why), NEAR + 2))
}

fn make(
    server: &mut Server,
    config: &Config,
    schedule: &Schedule,
    request: &Request,
    same: bool,
) -> Result<Came, Trouble> {
    let loose = request.flags & flags::LENIENT != 0;
    let segments = if loose {
        Cow::Owned(shrink::loosely(&schedule.segments))
    } else {
        Cow::Borrowed(&schedule.segments[..])
    };
    let ended = server.run(request, Follow::Segments(&segments), None)?;
    let mut facts = server.facts(request, &ended, true)?;
    if facts.verdict.is_internal() {
        let steps = facts.report.divergence.as_ref().map(|it| it.segment + 1);
        let step = steps.map(|step| format!("it is left at step {step}"));
        return Ok(Came::Unfit(step.unwrap_or_else(|| facts.verdict.message.clone())));
    }
    let races = std::mem::take(&mut facts.report.races);
    if schedule.verdict == VerdictKind::Race || schedule.race.is_some() {
        for race in races {
            let found = match (same, schedule.race) {
                (true, Some(pair)) => RacePair::of(&race, &facts.report) == Some(pair),
                _ => {
                    let facts = of_race(&facts, race.clone());
                    let places = SymbolPlaces::new(&facts.report.modules, &config.target.program);
                    alike(&explain(&facts, "", &places).message, &schedule.message)
                }
            };
            if found {
                return Ok(Came::Back(Box::new(of_race(&facts, race)), request.clone()));
            }
        }
        return Ok(Came::Passes);
    }
    // Another failure than the kept one is a failure as well.
    let failed = facts.verdict.is_failure();
    Ok(if failed { Came::Back(Box::new(facts), request.clone()) } else { Came::Passes })
}

/// Whether two messages say the same of two builds: lines and addresses may be others.
fn alike(one: &str, other: &str) -> bool {
    let words = |text: &str| {
        let text: String = text.chars().filter(|c| !c.is_ascii_digit()).collect();
        essence(VerdictKind::Race, &text).join(" ")
    };
    words(one) == words(other)
}

/// The finding, with what a second run tells.
fn told(server: &mut Server, request: &Request, facts: &mut RunFacts, config: &Config) -> Finding {
    let verdict = facts.verdict.clone();
    if !facts.end.was_cut() {
        let flags = (request.flags & !(flags::LENIENT | flags::OTHER_BUILD)) | flags::STRICT;
        let request = Request { flags, ..request.clone() };
        let own = if facts.verdict.kind == VerdictKind::Race {
            threadbare_trace::run::Verdict::clean()
        } else {
            verdict
        };
        details::add(server, &request, &own, vec![facts]);
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
    let mut schedule = Schedule {
        version: VERSION,
        program_id: id.to_owned(),
        verdict: if race { VerdictKind::None } else { facts.verdict.kind },
        message: if race { finding.message.clone() } else { facts.verdict.message.clone() },
        trace_hash: facts.counters.trace_hash,
        race: facts.report.races.first().and_then(|race| RacePair::of(race, &facts.report)),
        known: old.known.iter().copied().filter(|&pc| pc == STACKS_SHARED).collect(),
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
    pub(crate) fn has_failed(&self) -> bool {
        !self.findings.is_empty()
    }

    /// Adds what was replayed to a campaign's report, and marks the findings that the campaign has not found.
    pub(crate) fn join(self, report: &mut CampaignReport, store: &Store) {
        for mut one in self.list {
            let found = report.findings.iter().any(|finding| finding.id == one.id);
            if found && one.outcome != FAILURE {
                one.outcome = FAILURE.to_owned();
                one.message = "was found by the campaign".to_owned();
            } else if one.outcome != FAILURE {
                mark(store, &one);
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

/// The finding that lies beside a schedule.
fn kept(schedule: &Path) -> Option<Finding> {
    let text = threadbare_explore::files::read_text(&schedule.with_extension("json")).ok()?;
    serde_json::from_str(&text).ok()
}

/// Writes into the kept finding what became of it.
fn mark(store: &Store, one: &Regressed) {
    let name = format!("{}.json", one.id);
    let Some(mut finding) = kept(&store.folder().join(&name)) else { return };
    finding.regress = Some(one.outcome.clone());
    let json = serde_json::to_vec_pretty(&finding).unwrap_or_default();
    if let Err(error) = store.write(&name, &json) {
        warn(&format!("{error}: `{name}` is not marked as {}", one.outcome));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_may_move() {
        let one = "data race on `x`: write in f (a.c:9) and read in g (a.c:12)";
        assert!(alike(one, "data race on `x`: write in f (a.c:11) and read in g (a.c:1)"));
        assert!(!alike(one, "data race on `y`: write in f (a.c:9) and read in g (a.c:12)"));
    }
}
