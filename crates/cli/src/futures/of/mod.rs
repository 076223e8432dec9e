//! `futures --of FINDING`: the smallest set of a failing run's terms that fails every time, a reproduction that survives edits.
//!
//! The finding's run is made again, and what its reads saw are the candidates. Every run that does not fail so speaks against the sets of terms that it has, so the smallest
//! set that no such run has is worth a try: runs that are made to have it either fail, all of them, or one passes and speaks against it. Where the program is small, `dpor`
//! goes through all of its orders first, and what comes out holds for every one.

mod result;
mod smallest;
mod terms;
mod trial;

pub(crate) use terms::{Detail, find, written};

use super::table::Table;
use super::{SEARCH, looking, suite, table};
use crate::commands::replay;
use crate::conduct::{self, KeptPlaces};
use crate::exit::{Exit, Trouble};
use crate::options::CampaignOptions;
use crate::output::ReportFormat;
use crate::said;
use result::{Answer, Decided, Told};
use smallest::{Against, Set};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use terms::{Candidate, candidates};
use threadbare_abi::event::ChoiceKind;
use threadbare_abi::layout::MemoryModel;
use threadbare_explore::campaign::Config;
use threadbare_explore::futures::{Example, Found, Order, Sample};
use threadbare_explore::server::{Server, Target};
use threadbare_explore::{Races, Search, details};
use threadbare_findings::{Finding, Findings};
use threadbare_trace::run::RunFacts;
use threadbare_trace::schedule::Schedule;
use trial::Bench;

/// Runs that are looked at before the finding's own.
const LOOKS: u64 = 24;
/// Runs that others are taken from where the program is too large to go through all of its orders.
const SOME: u64 = 120;
/// Steps of a run, at the most, if all orders are to be gone through.
const SMALL: usize = 200;
/// Sets that are tried, at the most.
const TRIALS: usize = 40;
/// Times that a run may teach of shared memory before its reads are taken as they are.
const LESSONS: usize = 8;

/// What is asked for.
pub(crate) struct Asked<'a> {
    pub(crate) options: &'a CampaignOptions,
    pub(crate) finding: &'a Path,
    /// The program, if it is not where it was, and its arguments.
    pub(crate) command: &'a [OsString],
    pub(crate) keep: Option<&'a Path>,
}

/// Does it.
pub(crate) fn of(asked: &Asked<'_>) -> Result<Exit, Trouble> {
    let begun = Instant::now();
    let (path, schedule) = replay::read(asked.finding, &asked.options.out)?;
    if schedule.then.is_some() {
        return Err(Trouble::usage(
            format!("the schedule `{}` has no list of choices to take terms from", path.display()),
            "a run that was killed, or is too long to list, is kept as its seed only; a smaller input may help",
        ));
    }
    let target = replay::target(
        &schedule,
        moved(asked.command, &schedule)?.as_deref(),
        &mut conduct::Terminal::new(),
    )?;
    conduct::tell_target("replaying", &target);
    let mut bench = Bench::new(config(asked.options, &target, &schedule));
    let looked = bench.campaign(looking(&bench.config, LOOKS), Order::default())?;
    let run = Failing::make(&target, &schedule, &mut bench)?;
    if !run.facts.verdict.is_failure() {
        return Err(Trouble::usage(
            format!("the schedule `{}` is of a run that did not fail", path.display()),
            "`threadbare list` shows the findings of this folder",
        ));
    }
    let mut finding = run.finding(&target)?;
    bench.id.clone_from(&finding.id);
    finding.id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    finding.schedule = path.display().to_string();
    let mut found: Found = looked.futures.unwrap_or_default();
    found.take(u64::MAX, &run.example, true);
    let table = table(&bench.config, &found, &run.facts.report.modules)?;
    let decided = decide(&mut bench, &run, &table)?;
    let kept = match (&decided, asked.keep) {
        (Ok(decided), Some(folder)) => Some(suite::keep_set(&table, &decided.pairs(), &finding.id, folder)?),
        _ => None,
    };
    let answer = Answer {
        finding,
        decided: decided.map(|decided| Told::of(&decided, &table)),
        kept,
        command: String::new(),
        runs: bench.runs,
        elapsed_s: begun.elapsed().as_secs_f64(),
        seed: bench.config.seed,
    }
    .with_command(&target, &bench.config);
    match asked.options.format {
        ReportFormat::Json => said::json(&answer.json())?,
        _ => said::text(&answer.text())?,
    }
    Ok(Exit::Failure)
}

/// The program that was named beside the finding; its arguments are the finding's.
fn moved(command: &[OsString], schedule: &Schedule) -> Result<Option<PathBuf>, Trouble> {
    let [program, args @ ..] = command else { return Ok(None) };
    if !args.is_empty() && args != schedule.args {
        return Err(Trouble::usage(
            "the finding is of other arguments than these",
            "leave the program out: the finding has it, with its arguments",
        ));
    }
    let env = threadbare_toolchain::Environment::of_process();
    Ok(Some(threadbare_toolchain::find_program(Path::new(program), &env)?))
}

/// Campaigns whose runs are like the finding's.
fn config(options: &CampaignOptions, target: &Target, schedule: &Schedule) -> Config {
    let mut config = options.config(target.clone());
    let mut target = Target::clone(&config.target);
    target.limits.memory = schedule.memory;
    config.target = Arc::new(target);
    config.seed = schedule.seed;
    config.points = schedule.points;
    config.max_points = schedule.max_points;
    config.in_order = schedule.in_order;
    config.faults = schedule.faults;
    let stale = schedule.segments.iter().any(|segment| segment.kind == ChoiceKind::ReadsFrom as u8);
    (config.races, config.model) = match (&schedule.race, stale) {
        (Some(_), true) => (Races::Fail, schedule.model),
        (Some(_), false) => (Races::Fail, MemoryModel::Sc),
        // Which stores there are is known where races are looked for.
        (None, true) => (Races::Report, schedule.model),
        (None, false) => (Races::Off, MemoryModel::Sc),
    };
    (config.keep_going, config.predict, config.shrink, config.filter) = (true, false, None, None);
    (config.runs, config.time, config.until, config.coverage) = (None, None, None, false);
    config
}

/// The finding's run, made again.
struct Failing {
    example: Example,
    facts: RunFacts,
}

impl Failing {
    fn make(target: &Target, schedule: &Schedule, bench: &mut Bench) -> Result<Failing, Trouble> {
        let mut server = Server::start(target)?;
        let request = replay::request(schedule);
        let more: Vec<u64> = schedule.known.iter().copied().filter(|pc| !bench.known.contains(pc)).collect();
        bench.known.extend(more);
        for lesson in 0.. {
            server.set_known(&bench.known);
            let (example, facts, learnt) = Example::make(&mut server, &request, &schedule.segments)?;
            bench.runs += 1;
            let new: Vec<u64> = learnt.into_iter().filter(|pc| !bench.known.contains(pc)).collect();
            if !new.is_empty() && lesson < LESSONS {
                bench.known.extend(new);
                continue;
            }
            let verdict = facts.verdict.clone();
            let mut facts = replay::judge(facts, schedule, &target.program)?;
            facts.segments.clone_from(&schedule.segments);
            details::add(&mut server, &request, &verdict, vec![&mut facts]);
            return Ok(Failing { example, facts });
        }
        unreachable!("the loop has no end but its own")
    }

    /// The finding as a campaign without a name tells it.
    fn finding(&self, target: &Target) -> Result<Finding, Trouble> {
        let mut places = KeptPlaces::default();
        let places = places.of(&self.facts.report.modules, &target.program);
        let mut findings = Findings::new();
        findings.add(0, &self.facts, &target.program.display().to_string(), places);
        let told = findings.all().first().cloned();
        told.ok_or_else(|| Trouble::internal("the run that failed is no finding", "please report it"))
    }
}

/// Looks for the set; why there is none.
fn decide(bench: &mut Bench, run: &Failing, table: &Table) -> Result<Result<Decided, String>, Trouble> {
    let (list, all) = candidates(&run.example, table);
    if list.is_empty() {
        return Ok(Err(no_term(run)));
    }
    // Each way to tell each term is a wish of its own.
    bench.watch = list.iter().flat_map(|it| it.variants.iter().map(|variant| variant.wish.clone())).collect();
    let (mut others, orders) = others(bench, run)?;
    let mut question = Question::new(&list);
    for _ in 0..TRIALS {
        let against =
            Against::new(list.len(), others.len(), |at, term| others[at].has(question.finest(term)));
        let Some(set) = against.smallest(&question.refused) else {
            let why = match against.has_all() {
                Some(_) => has_all(run, list.len(), all),
                None => not_made(run, &question.refused, &list),
            };
            return Ok(Err(why));
        };
        let manners = question.manners(&set, &others);
        let wishes: Vec<usize> =
            set.terms.iter().zip(&manners).map(|(&term, &at)| question.wish(term, at)).collect();
        let came = bench.attempt(&wishes, &run.example)?;
        if came.made >= trial::LEAST && came.failed == came.made {
            let variant =
                |(&term, &at): (&usize, &usize)| (list[term].clone(), list[term].variants[at].clone());
            return Ok(Ok(Decided {
                terms: set.terms.iter().zip(&manners).map(variant).collect(),
                smallest: set.smallest && question.refused.is_empty() && list.len() == all,
                of: all,
                made: came.made,
                orders,
                always: others.is_empty(),
            }));
        }
        if came.failed == came.made {
            question.refuse(&set, &manners);
        }
        others.extend(came.others);
    }
    Ok(Err(format!(
        "in {TRIALS} trials, no set of the run's {all} terms failed every time that a run was made to have it"
    )))
}

/// Runs that do not fail so, and how many orders there are if these are of all of them.
fn others(bench: &mut Bench, run: &Failing) -> Result<(Vec<Sample>, Option<u64>), Trouble> {
    if run.example.steps() <= SMALL
        && let Ok(search) = Search::parse("dpor")
    {
        let config = Config { search, ends_complete: true, ..looking(&bench.config, SEARCH) };
        let summary = bench.campaign(config, Order::default())?;
        let whole = summary.planner.as_ref().filter(|status| status.is_complete());
        let orders = whole.map(|status| status.classes);
        let others = bench.others(&summary);
        if orders.is_some() || others.len() >= SOME as usize {
            return Ok((others, orders));
        }
    }
    let summary = bench.campaign(looking(&bench.config, SOME), Order::default())?;
    Ok((bench.others(&summary), None))
}

/// The terms with the ways to tell them, by the number that each way has among the wishes.
struct Question<'a> {
    list: &'a [Candidate],
    first: Vec<usize>,
    /// Sets that no run could be made to have, and those that are to be told in full.
    refused: Vec<Vec<usize>>,
    in_full: Vec<Vec<usize>>,
}

impl<'a> Question<'a> {
    fn new(list: &'a [Candidate]) -> Question<'a> {
        let mut next = 0;
        let mut first = Vec::new();
        for candidate in list {
            first.push(next);
            next += candidate.variants.len();
        }
        Question { list, first, refused: Vec::new(), in_full: Vec::new() }
    }

    fn wish(&self, term: usize, variant: usize) -> usize {
        self.first[term] + variant
    }

    fn last(&self, term: usize) -> usize {
        self.list[term].variants.len() - 1
    }

    fn finest(&self, term: usize) -> usize {
        self.wish(term, self.last(term))
    }

    /// How each term of a set is told: with as little as the others allow.
    fn manners(&self, set: &Set, others: &[Sample]) -> Vec<usize> {
        let mut manners: Vec<usize> = set.terms.iter().map(|&term| self.last(term)).collect();
        if self.in_full.contains(&set.terms) {
            return manners;
        }
        for at in 0..set.terms.len() {
            for variant in 0..manners[at] {
                let mut tried = manners.clone();
                tried[at] = variant;
                let has = |sample: &Sample| {
                    set.terms.iter().zip(&tried).all(|(&term, &variant)| sample.has(self.wish(term, variant)))
                };
                if !others.iter().any(has) {
                    manners = tried;
                    break;
                }
            }
        }
        manners
    }

    /// No run could be made to have a set as it was told.
    fn refuse(&mut self, set: &Set, manners: &[usize]) {
        let full = set.terms.iter().zip(manners).all(|(&term, &at)| at == self.last(term));
        let list = if full { &mut self.refused } else { &mut self.in_full };
        list.push(set.terms.clone());
    }
}

/// Why a run without terms has none.
fn no_term(run: &Failing) -> String {
    format!("the run has no read of shared data that is a term{}", besides(run))
}

/// A run has all terms and does not fail so.
fn has_all(run: &Failing, terms: usize, all: usize) -> String {
    let which = match terms {
        1 if all == 1 => "the one term".to_owned(),
        terms if terms == all => format!("all {all} terms"),
        terms => format!("the {terms} terms that were looked at, of {all},"),
    };
    format!(
        "a run has {which} of the failing run and does not fail so: what decides is not which write a read sees{}",
        besides(run)
    )
}

/// No run could be made to have what no other run has.
fn not_made(run: &Failing, refused: &[Vec<usize>], list: &[Candidate]) -> String {
    let first = refused.first().into_iter().flatten();
    let texts: Vec<String> =
        first.filter_map(|&term| list[term].variants.last()).map(|it| format!("`{}`", it.text)).collect();
    format!("no run could be made to have what no other run has, {}{}", texts.join(" and "), besides(run))
}

/// What else there may be to a failure.
fn besides(run: &Failing) -> &'static str {
    use threadbare_abi::verdict::VerdictKind;
    if run.example.is_stale() {
        return "; loads of the run see older stores than the newest (`--memory-model`): which of several that were the newest before is not in a term";
    }
    match run.facts.verdict.kind {
        VerdictKind::Deadlock => "; the order in which strands take locks, wait and are woken is no term",
        VerdictKind::Race => "; a race is decided by what orders its accesses, not by what they see",
        _ => "",
    }
}
