//! A campaign as the commands conduct it: findings explained and stored as they come.

use crate::claim;
use crate::exit::{Trouble, chain};
use crate::hide::{Hider, Used};
use crate::invariants::joined;
use crate::refine::{self, Found};
use crate::regress::Regress;
use crate::said;
use crate::{cost, coverage};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use threadbare_abi::layout::STACKS_SHARED;
use threadbare_abi::noise::Guidance;
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::campaign::{self, Config, Ending, Observer, Progress, Summary};
use threadbare_explore::futures;
use threadbare_explore::idioms;
use threadbare_explore::journal::{Close, Journal};
use threadbare_explore::pairs;
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_explore::{Error, Failure, surroundings};
use threadbare_findings::explain::{REACHED, warning_text};
use threadbare_findings::orders;
use threadbare_findings::{Finding, Findings, NoPlaces, Places, Severity, Suppressions, SymbolPlaces};
use threadbare_report::campaign::{Coverage, FORMAT_VERSION};
use threadbare_report::progress::{ProgressLine, State};
use threadbare_report::tasks::TasksReport;
use threadbare_report::{CampaignReport, Style};
use threadbare_strategy::{Spec, StrategyId};
use threadbare_symbols::ProgramId;
use threadbare_trace::race::RacePair;
use threadbare_trace::report::Module;
use threadbare_trace::run::RunFacts;
use threadbare_trace::schedule::{Names, Schedule, Then, VERSION};
use threadbare_trace::strands::Strands;

/// A campaign under way.
struct Conductor<'a> {
    config: &'a Config,
    program_id: String,
    store: &'a Store,
    findings: Findings,
    /// What nobody is to hear of.
    hidden: Findings,
    suppressions: &'a Suppressions,
    used: Used,
    places: KeptPlaces,
    line: ProgressLine,
    /// What a run costs was told, or need not be.
    cost_told: bool,
    /// Findings to be shrunk when the campaign is over, by id.
    found: Vec<(String, Found)>,
    /// Findings of earlier sittings, with what their runs knew.
    restored: Vec<(String, Arc<[u64]>)>,
}

/// More races on one variable than this are one finding.
const RACES_ON_ONE: usize = 20;

/// The build a program is.
pub(crate) fn program_id(program: &Path) -> Result<String, Trouble> {
    let id = ProgramId::of(program).map_err(|error| {
        Trouble::usage(format!("cannot read `{}`: {error}", program.display()), "is the file still there?")
    })?;
    Ok(id.to_string())
}

/// A campaign that was conducted.
pub(crate) struct Conducted {
    pub(crate) report: CampaignReport,
    /// The suppressions it had use for.
    pub(crate) used: Used,
    /// What reads saw, if that was looked at.
    pub(crate) futures: Option<Saw>,
    /// Which iroots there were, if that was looked at.
    pub(crate) iroots: Option<Iroots>,
    /// Which calls there were, if that was looked at.
    pub(crate) pairs: Option<Paired>,
}

/// The calls of a campaign.
pub(crate) struct Paired {
    pub(crate) found: pairs::Found,
    pub(crate) modules: Vec<Module>,
    pub(crate) known: Arc<[u64]>,
    /// The findings by key.
    pub(crate) findings: HashMap<u64, String>,
}

/// The iroots of a campaign.
pub(crate) struct Iroots {
    pub(crate) found: idioms::Found,
    pub(crate) modules: Vec<Module>,
    pub(crate) known: Arc<[u64]>,
}

/// What the reads of a campaign saw.
pub(crate) struct Saw {
    pub(crate) found: futures::Found,
    pub(crate) modules: Vec<Module>,
    pub(crate) known: Arc<[u64]>,
    /// The findings by key.
    pub(crate) findings: HashMap<u64, String>,
}

/// Makes a campaign and stores its findings. With a label it is one of several.
pub(crate) fn campaign(
    config: &Config,
    store: &Store,
    line: ProgressLine,
    label: Option<&str>,
    suppressions: &Arc<Suppressions>,
    mut journal: Option<Journal>,
) -> Result<Conducted, Trouble> {
    let mut config = config.clone();
    if !suppressions.is_empty() {
        config.filter = Some(Arc::new(Hider::new(Arc::clone(suppressions), config.target.program.clone())));
    }
    let program_id = program_id(&config.target.program)?;
    config.earlier = coverage::earlier(&config, &program_id, label, store);
    let config = &config;
    let mut conductor = Conductor {
        config,
        program_id,
        store,
        findings: Findings::with_label(label.unwrap_or_default()),
        hidden: Findings::new(),
        suppressions,
        used: Used::default(),
        places: KeptPlaces::default(),
        line,
        cost_told: false,
        found: Vec::new(),
        restored: Vec::new(),
    };
    let summary = campaign::run_kept(config, &mut conductor, &mut journal)?;
    conductor.line.clear();
    for id in conductor.findings.fold_races(RACES_ON_ONE) {
        conductor.found.retain(|(other, _)| *other != id);
        conductor.restored.retain(|(other, _)| *other != id);
        store.forget(&format!("{id}.{}", threadbare_explore::store::SCHEDULE))?;
        store.forget(&format!("{id}.json"))?;
    }
    refine::recall(store, &mut conductor.findings);
    let in_vain = matches!(summary.ending, Ending::Interrupt | Ending::Internal(..));
    if let Some(closer) = config.shrink.filter(|_| !in_vain) {
        let unshrunk = conductor.findings.all().iter().filter(|finding| finding.shrunk.is_none());
        let unshrunk: Vec<String> = unshrunk.map(|finding| finding.id.clone()).collect();
        for (id, known) in conductor.restored.drain(..).filter(|(id, _)| unshrunk.contains(id)) {
            // One that cannot be replayed stays as it is.
            conductor.found.extend(refine::found_before(&config.target, store, id, known));
        }
        refine::all(&config.target, store, &conductor.found, closer.time, &mut conductor.findings)?;
        if let Some(time) = closer.invariants {
            joined::all(config, store, &conductor.found, time, &mut conductor.findings);
        }
    }
    if let Ending::Internal(facts, why) = &summary.ending {
        return Err(internal(facts, why, config));
    }
    let mut report = conductor.report(&summary);
    if label.is_none() && !matches!(summary.ending, Ending::Interrupt) {
        report.warnings.extend(conductor.used.unused(suppressions));
    }
    if config.coverage {
        report.warnings.extend(coverage::keep(config, &conductor.program_id, label, &summary, store));
    }
    if let Err(error) = keep(&report, store, label.is_none()) {
        // What was found is told all the same; the findings themselves were written when they were made.
        report.warnings.push(chain(&error));
    }
    if let Some(journal) = journal {
        let findings = report.findings.iter().map(|finding| finding.id.clone()).collect();
        let path = journal.path().display().to_string();
        if let Err(error) = journal.close(&Close { ended_by: report.ended_by.clone(), findings }) {
            report
                .warnings
                .push(format!("the end of the campaign could not be written to `{path}`: {error}"));
        }
    }
    let iroots = summary.idioms.map(|found| {
        let (modules, known) = (summary.modules.clone(), Arc::clone(&summary.known));
        Iroots { found, modules, known }
    });
    let paired = summary.pairs.map(|found| {
        let keys = found.tests.iter().flat_map(|test| test.shown.keys());
        let named = |&key: &u64| Some((key, conductor.findings.get(key)?.id.clone()));
        let findings = keys.filter_map(named).collect();
        let (modules, known) = (summary.modules.clone(), Arc::clone(&summary.known));
        Paired { findings, found, modules, known }
    });
    let futures = summary.futures.map(|found| {
        let keys = found.goals.iter().filter_map(|goal| goal.made.as_ref()).flat_map(|made| &made.shown);
        let named = |&key: &u64| Some((key, conductor.findings.get(key)?.id.clone()));
        let findings = keys.filter_map(named).collect();
        Saw { findings, found, modules: summary.modules, known: summary.known }
    });
    Ok(Conducted { report, used: conductor.used, futures, iroots, pairs: paired })
}

/// The report of a campaign that a kept finding has ended before its first run.
pub(crate) fn regressed(config: &Config, store: &Store, kept: Regress, alone: bool) -> CampaignReport {
    let target = &config.target;
    let mut report = CampaignReport {
        format_version: FORMAT_VERSION,
        seed: config.seed,
        strategy: config.search.to_string(),
        ended_by: "regress".to_owned(),
        program: target.program.display().to_string(),
        args: target.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        ..CampaignReport::default()
    };
    kept.join(&mut report, store);
    if alone && let Err(error) = store.write("campaign.json", report.to_json().as_bytes()) {
        report.warnings.push(chain(&error));
    }
    report
}

/// Writes the findings with their counts, and the summary.
fn keep(report: &CampaignReport, store: &Store, alone: bool) -> Result<(), Error> {
    if store.write_missing()? {
        let folder = store.folder().display();
        warn(&format!("files were taken out of the folder `{folder}`; they were written again"));
    }
    for finding in &report.findings {
        let json = serde_json::to_vec_pretty(finding).unwrap_or_default();
        store.write(&format!("{}.json", finding.id), &json)?;
    }
    // Of the tests of a package each is a campaign; their summary is another file.
    match alone {
        false => {}
        true if report.findings.is_empty() => store.remove("campaign.json")?,
        true => _ = store.write("campaign.json", report.to_json().as_bytes())?,
    }
    Ok(())
}

impl Observer for Conductor<'_> {
    fn failed(&mut self, failure: Failure) -> Result<(), Error> {
        let findings = if failure.hidden { &mut self.hidden } else { &mut self.findings };
        if findings.count(failure.key, failure.run) {
            return Ok(());
        }
        let Some(facts) = &failure.facts else { return Ok(()) };
        let program = self.config.target.program.display().to_string();
        let places = self.places.of(&facts.report.modules, &self.config.target.program);
        let Some(finding) = findings.add(failure.key, facts, &program, places) else { return Ok(()) };
        if failure.hidden {
            self.used.by(self.suppressions, finding);
            return Ok(());
        }
        finding.strategy = if failure.predicted {
            StrategyId::Directed.name().to_owned()
        } else {
            match self.config.target.free {
                true => search_text(self.config),
                false => failure.strategy.to_string(),
            }
        };
        if !failure.fails {
            finding.severity = Severity::Note;
        }
        // A replay compares the verdict's own words; a race has none but the finding's.
        let race = facts.verdict.kind == VerdictKind::Race;
        let words = if race { &finding.message } else { &facts.verdict.message };
        let schedule = schedule(self.config, &self.program_id, &failure, facts, words);
        let name = format!("{}.{}", finding.id, threadbare_explore::store::SCHEDULE);
        let text = schedule.to_text();
        let trouble = match self.store.keep(&name, text.as_bytes()) {
            Ok(kept) => {
                finding.schedule = kept.path.display().to_string();
                kept.trouble
            }
            // Nothing can be written anywhere: whoever reads this has it.
            Err(error) => Some(format!("{}; the schedule of {} is\n{text}", chain(&error), finding.id)),
        };
        if failure.predicted {
            finding.notes.push(threadbare_findings::orders::predicted(failure.run));
        }
        if self.found.len() < refine::MOST {
            let known = Arc::clone(&failure.known);
            self.found.push((finding.id.clone(), Found { schedule, known, facts: facts.clone() }));
        }
        // Kept at once, so that a campaign that is killed has its findings.
        let json = serde_json::to_vec_pretty(&*finding).unwrap_or_default();
        let told = self.store.keep(&format!("{}.json", finding.id), &json);
        let told = told.map_or_else(|error| Some(chain(&error)), |kept| kept.trouble);
        for trouble in trouble.into_iter().chain(told) {
            self.trouble(&trouble);
        }
        Ok(())
    }

    fn note(&mut self, key: u64) -> Option<Vec<u8>> {
        let finding = self.findings.get(key).or_else(|| self.hidden.get(key))?;
        serde_json::to_vec(finding).ok()
    }

    fn restored(&mut self, failure: &Failure, note: Option<&[u8]>) {
        let findings = if failure.hidden { &mut self.hidden } else { &mut self.findings };
        if findings.count(failure.key, failure.run) {
            return;
        }
        let Some(finding) = note.and_then(|note| serde_json::from_slice::<Finding>(note).ok()) else {
            return;
        };
        if failure.hidden {
            self.used.by(self.suppressions, &finding);
        }
        if !failure.hidden {
            self.restored.push((finding.id.clone(), Arc::clone(&failure.known)));
        }
        findings.restore(failure.key, finding, failure.run);
    }

    fn trouble(&mut self, message: &str) {
        self.line.clear();
        warn(message);
    }

    fn progress(&mut self, progress: &Progress) {
        if !self.cost_told
            && let Some(hint) = cost::hint(progress, self.config.jobs)
        {
            self.cost_told = true;
            self.line.clear();
            said::note(&format!("{}: {hint}", Style::for_stream(&std::io::stderr()).strong("hint")));
        }
        self.line.show(&State {
            runs: progress.runs,
            of: self.config.runs,
            points: progress.points,
            findings: self.findings.all().len(),
            elapsed: progress.elapsed,
            estimate: progress.estimate.filter(|_| !self.config.target.free),
            goal: self.config.goal.map(|goal| {
                let model = progress.tasks.map(|counts| goal.model.of(&counts)).unwrap_or_default();
                (model.covered, model.coverable, goal.share)
            }),
        });
    }
}

/// The symbols of a run's modules; made anew only when another module was loaded.
#[derive(Debug, Default)]
pub(crate) struct KeptPlaces {
    modules: Vec<Module>,
    places: Option<SymbolPlaces>,
}

impl KeptPlaces {
    pub(crate) fn of(&mut self, modules: &[Module], program: &Path) -> &dyn Places {
        // A killed run has no module list; what an earlier one told is true for it too.
        if !modules.is_empty() && modules != self.modules {
            self.modules = modules.to_vec();
            self.places = Some(SymbolPlaces::new(modules, program));
        }
        match &self.places {
            Some(places) => places,
            None => &NoPlaces,
        }
    }
}

impl Conductor<'_> {
    fn report(&mut self, summary: &Summary) -> CampaignReport {
        let progress = summary.progress;
        let elapsed = progress.elapsed.as_secs_f64();
        let target = &self.config.target;
        let places = self.places.of(&summary.modules, &target.program);
        let mut report = CampaignReport {
            format_version: FORMAT_VERSION,
            verdict: String::new(),
            runs: progress.runs,
            runs_failed: progress.failed,
            first_failure_run: summary.first_failure,
            elapsed_s: elapsed,
            runs_per_s: progress.runs as f64 / elapsed.max(1e-9),
            points: progress.points,
            switches: progress.switches,
            strands: summary.strands,
            strategy: search_text(self.config),
            seed: self.config.seed,
            coverage: Coverage {
                shared_instructions: summary.known.len() as u64,
                counts: summary.coverage.counts(),
                // The runs whose classes are known are few, and not drawn by chance.
                estimate: summary.coverage.estimate().filter(|_| !target.free),
                runs_followed: target.free.then(|| summary.coverage.told_by()),
            },
            tasks: coverage::task_table(self.config, summary)
                .map(|table| TasksReport::of(&table, self.config.goal, false)),
            findings: self.findings.all().to_vec(),
            suppressed: self.hidden.all().len() as u64,
            trace_hash: format!("{:016x}", summary.trace_hash),
            replays: summary.replays,
            reached: summary
                .warnings
                .iter()
                .filter_map(|warning| warning.text.strip_prefix(REACHED))
                .map(str::to_owned)
                .collect(),
            warnings: summary
                .warnings
                .iter()
                .filter(|warning| !warning.text.starts_with(REACHED))
                .map(|warning| warning_text(&warning.text, warning.pc, places))
                .chain(summary.unproved.iter().filter_map(|it| orders::unproved(&it.cycle, it.tries, places)))
                .collect(),
            regress: Vec::new(),
            choices: Vec::new(),
            ended_by: ended_by(&summary.ending).to_owned(),
            planner: summary.planner.as_ref().map(|status| claim::planner(status, places)),
            claim: summary
                .planner
                .as_ref()
                .map(|status| claim::claim(status, ended_by(&summary.ending), self.config, places)),
            program: target.program.display().to_string(),
            args: target.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        };
        report.verdict = report.word().to_owned();
        report
    }
}

/// Why a campaign ended, as others read it.
fn ended_by(ending: &Ending) -> &'static str {
    match ending {
        Ending::Runs => "runs",
        Ending::Time => "time",
        Ending::Failure => "failure",
        Ending::Enough => "until",
        Ending::Covered => "coverage",
        Ending::Complete => "complete",
        Ending::Interrupt => "interrupt",
        Ending::Internal(..) => "internal",
    }
}

/// Who decides in the campaign's runs.
pub(crate) fn search_text(config: &Config) -> String {
    match config.target.free {
        true if config.noise.guidance == Guidance::Random => format!("noise:{}", config.noise.kind.name()),
        true => format!("noise:{}:{}", config.noise.kind.name(), config.noise.guidance.name()),
        false => config.search.to_string(),
    }
}

/// The schedule of a run that showed something, which the message tells in words.
pub(crate) fn schedule(
    config: &Config,
    program_id: &str,
    failure: &Failure,
    facts: &RunFacts,
    message: &str,
) -> Schedule {
    let target = &config.target;
    let request = config.request(failure.run, &failure.strategy);
    // A free run has no choices of its own; what showed the same under control has.
    let has_choices = !target.free || !facts.segments.is_empty();
    let whole = !facts.end.was_cut() && facts.counters.segments_lost == 0 && has_choices;
    let bounded = config.max_points != 0 && failure.verdict == VerdictKind::Livelock;
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
        race: facts.report.races.first().and_then(|race| RacePair::of(race, &facts.report)),
        verdict: failure.verdict,
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
        let strategy = if target.free { Spec::of(StrategyId::Recorded) } else { failure.strategy };
        schedule.then = Some(Then { strategy, seed: request.seed, estimates, guide });
    }
    schedule
}

/// Of what a run knew, what matters to a replay that follows all choices: races on stacks are seen only if the stacks are
/// noted from the beginning.
fn noted(known: &[u64]) -> Vec<u64> {
    known.iter().copied().filter(|&pc| pc == STACKS_SHARED).collect()
}

/// What to say when Threadbare itself failed.
fn internal(facts: &RunFacts, why: &str, config: &Config) -> Trouble {
    let places = SymbolPlaces::new(&facts.report.modules, &config.target.program);
    let mut message = format!("run {}: {why}", facts.run);
    message.push_str(&crate::conduct::divergence(facts, &places));
    // Jobs share the file system, and a file that one writes is another's input.
    let files = if config.jobs > 1 { "if the program writes files, try `--jobs 1`; otherwise " } else { "" };
    let again = format!(
        "{files}this is an error of Threadbare, please report it: strategy {}, seed {}, run {}",
        config.search, config.seed, facts.run
    );
    Trouble::internal(message, again)
}

/// Where a replay left its schedule, in lines to add to a message.
pub(crate) fn divergence(facts: &RunFacts, places: &dyn Places) -> String {
    let Some(divergence) = &facts.report.divergence else { return String::new() };
    let place = |pc: u64| {
        let frames = places.at(pc);
        threadbare_findings::places::shown(&frames)
            .map_or_else(|| format!("{pc:#x}"), threadbare_findings::explain::place_text)
    };
    let expected = facts.report.address_of(divergence.expected).map_or("an unknown place".to_owned(), place);
    format!(
        "\n  at step {}: {}\n  the schedule stops at {expected}, the run was at {}",
        divergence.segment + 1,
        divergence.why,
        place(divergence.actual)
    )
}

/// Tells which program is about to be run, on whose word soever: arguments, folder and input with it.
pub(crate) fn tell_target(what: &str, target: &Target) {
    said::note(&said::clean(&target_words(what, target, std::env::current_dir().ok().as_deref())));
}

/// A folder that is not the present one comes first.
fn target_words(what: &str, target: &Target, here: Option<&Path>) -> String {
    let mut words = what.to_owned();
    if here != Some(&target.cwd) {
        words.push_str(&format!(" in {}:", shell_word(target.cwd.as_os_str())));
    }
    let here = here.filter(|here| *here == target.cwd);
    let short = here.and_then(|here| target.program.strip_prefix(here).ok());
    let short = short.map(|short| Path::new(".").join(short));
    words.push(' ');
    words.push_str(&shell_word(short.as_deref().unwrap_or(&target.program).as_os_str()));
    for arg in &target.args {
        words.push(' ');
        words.push_str(&shell_word(arg));
    }
    if let Some(input) = &target.stdin {
        words.push_str(&format!(" < {}", shell_word(input.as_os_str())));
    }
    words
}

/// A word as a shell would take it.
pub(crate) fn shell_word(word: &OsStr) -> String {
    threadbare_report::text::shell_word(&word.to_string_lossy())
}

/// Tells something on standard error that is no end.
pub(crate) fn warn(message: &str) {
    said::note(&format!(
        "{}: {}",
        Style::for_stream(&std::io::stderr()).warn("warning"),
        said::clean(message)
    ));
}

/// A system error with what was tried.
pub(crate) fn cannot(what: &str, error: &std::io::Error) -> Trouble {
    Trouble::usage(format!("cannot {what}: {}", chain(error)), "check the path and its permissions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_run_is_told() {
        let mut target = Target::new("/home/me/bank", vec!["3".into(), "a b".into()]);
        target.cwd = PathBuf::from("/home/me");
        let told = |target: &Target, here: &str| target_words("replaying", target, Some(Path::new(here)));
        assert_eq!(told(&target, "/home/me"), "replaying ./bank 3 'a b'");
        target.stdin = Some(PathBuf::from("/in"));
        assert_eq!(told(&target, "/tmp"), "replaying in /home/me: /home/me/bank 3 'a b' < /in");
    }
}
