//! A campaign: findings explained and stored as they come, made smaller when its runs are made, and its report.

use crate::hide::{Hider, Used};
use crate::observer::Observer;
use crate::places::{KeptPlaces, divergence, program_id};
use crate::refine::{self, Found};
use crate::regress::Regress;
use crate::trouble::{Trouble, chain};
use crate::{claim, coverage, follow};
use std::collections::HashMap;
use std::sync::Arc;
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::campaign::{self, Config, Ending, Progress, Summary};
use threadbare_explore::futures;
use threadbare_explore::idioms;
use threadbare_explore::journal::{Close, Journal};
use threadbare_explore::pairs;
use threadbare_explore::store::Store;
use threadbare_explore::{Error, Failure};
use threadbare_findings::explain::warning_text;
use threadbare_findings::orders;
use threadbare_findings::{Finding, Findings, Severity, Suppressions, SymbolPlaces};
use threadbare_report::CampaignReport;
use threadbare_report::campaign::{Coverage, FORMAT_VERSION};
use threadbare_report::tasks::TasksReport;
use threadbare_strategy::StrategyId;
use threadbare_trace::report::Module;
use threadbare_trace::run::RunFacts;

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
    observer: &'a mut dyn Observer,
    /// Findings to be shrunk when the campaign is over, by id.
    found: Vec<(String, Found)>,
    /// Findings of earlier sittings, with what their runs knew.
    restored: Vec<(String, Arc<[u64]>)>,
}

/// More races on one variable than this are one finding.
const RACES_ON_ONE: usize = 20;

/// A campaign that was conducted.
#[derive(Debug)]
pub struct Conducted {
    /// What it came to.
    pub report: CampaignReport,
    /// The suppressions it had use for.
    pub used: Used,
    /// What reads saw, if that was looked at.
    pub futures: Option<Saw>,
    /// Which iroots there were, if that was looked at.
    pub iroots: Option<Iroots>,
    /// Which calls there were, if that was looked at.
    pub pairs: Option<Paired>,
}

/// The calls of a campaign.
#[derive(Debug)]
pub struct Paired {
    /// What there was.
    pub found: pairs::Found,
    /// The modules of its runs.
    pub modules: Vec<Module>,
    /// The instructions that were points.
    pub known: Arc<[u64]>,
    /// The findings by key.
    pub findings: HashMap<u64, String>,
}

/// The iroots of a campaign.
#[derive(Debug)]
pub struct Iroots {
    /// What there was.
    pub found: idioms::Found,
    /// The modules of its runs.
    pub modules: Vec<Module>,
    /// The instructions that were points.
    pub known: Arc<[u64]>,
}

/// What the reads of a campaign saw.
#[derive(Debug)]
pub struct Saw {
    /// What there was.
    pub found: futures::Found,
    /// The modules of its runs.
    pub modules: Vec<Module>,
    /// The instructions that were points.
    pub known: Arc<[u64]>,
    /// The findings by key.
    pub findings: HashMap<u64, String>,
}

/// Makes a campaign and stores its findings. With a label it is one of several.
pub fn conduct(
    config: &Config,
    store: &Store,
    observer: &mut dyn Observer,
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
        observer,
        found: Vec::new(),
        restored: Vec::new(),
    };
    let summary = campaign::run_kept(config, &mut conductor, &mut journal)?;
    conductor.observer.runs_made();
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
            let Conductor { observer, found, findings, .. } = &mut conductor;
            observer.shrunk(config, store, found, time, findings);
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
    if let Err(error) = keep(&report, store, label.is_none(), conductor.observer) {
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
        let made = found.goals.iter().filter_map(|goal| goal.made.as_ref());
        let keys = made.flat_map(|made| &made.shown).chain(found.failures.values());
        let named = |&key: &u64| Some((key, conductor.findings.get(key)?.id.clone()));
        let findings = keys.filter_map(named).collect();
        Saw { findings, found, modules: summary.modules, known: summary.known }
    });
    Ok(Conducted { report, used: conductor.used, futures, iroots, pairs: paired })
}

/// The report of a campaign that a kept finding has ended before its first run.
pub fn regressed(
    config: &Config,
    store: &Store,
    kept: Regress,
    alone: bool,
    observer: &mut dyn Observer,
) -> CampaignReport {
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
    kept.join(&mut report, store, observer);
    if alone && let Err(error) = store.write("campaign.json", report.to_json().as_bytes()) {
        report.warnings.push(chain(&error));
    }
    report
}

/// Writes the findings with their counts, and the summary.
fn keep(
    report: &CampaignReport,
    store: &Store,
    alone: bool,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    if store.write_missing()? {
        let folder = store.folder().display();
        observer.warning(&format!("files were taken out of the folder `{folder}`; they were written again"));
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

impl campaign::Observer for Conductor<'_> {
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
            self.config.target.mode.decider(self.config, Some(&failure.strategy))
        };
        if !failure.fails {
            finding.severity = Severity::Note;
        }
        // The verdict's own words; a race has none but the finding's.
        let race = facts.verdict.kind == VerdictKind::Race;
        let words = if race { &finding.message } else { &facts.verdict.message };
        let schedule = follow::schedule(self.config, &self.program_id, &failure, facts, words);
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
        self.observer.found(finding);
        for trouble in trouble.into_iter().chain(told) {
            self.observer.warning(&trouble);
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
        self.observer.warning(message);
    }

    fn progress(&mut self, progress: &Progress) {
        self.observer.progress(self.config, progress, self.findings.all().len());
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
            strategy: self.config.decider(),
            seed: self.config.seed,
            coverage: Coverage {
                shared_instructions: summary.known.len() as u64,
                counts: summary.coverage.counts(),
                // The runs whose classes are known are few, and not drawn by chance.
                estimate: summary.coverage.estimate().filter(|_| target.mode.makes_choices()),
                runs_followed: (!target.mode.makes_choices()).then(|| summary.coverage.told_by()),
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
                .filter(|warning| warning.reached)
                .map(|warning| warning.text.clone())
                .collect(),
            warnings: summary
                .warnings
                .iter()
                .filter(|warning| !warning.reached)
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

/// What to say when Threadbare itself failed.
fn internal(facts: &RunFacts, why: &str, config: &Config) -> Trouble {
    let places = SymbolPlaces::new(&facts.report.modules, &config.target.program);
    let mut message = format!("run {}: {why}", facts.run);
    message.push_str(&divergence(facts, &places));
    // Jobs share the file system, and a file that one writes is another's input.
    let files = if config.jobs > 1 { "if the program writes files, try `--jobs 1`; otherwise " } else { "" };
    let again = format!(
        "{files}this is an error of Threadbare, please report it: strategy {}, seed {}, run {}",
        config.search, config.seed, facts.run
    );
    Trouble::internal(message, again)
}
