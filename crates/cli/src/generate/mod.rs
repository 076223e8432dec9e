//! Tests of pairs of calls, written by the tool: which pairs there are, a campaign of each, and files to make them again.

mod functions;
mod kept;
mod look;
mod pasted;
mod suite;
mod table;
mod text;

use crate::conduct::{self, cannot};
use crate::exit::{Exit, Trouble};
use crate::futures::all::say;
use crate::options::CampaignOptions;
use crate::output::ReportFormat;
use crate::{hide, said};
use kept::{Material, Runs};
use look::{Candidate, Look, look};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use suite::Kept;
use table::{Results, Test, Uncombined};
use threadbare_explore::Search;
use threadbare_explore::again::Taker;
use threadbare_explore::campaign::Config;
use threadbare_explore::interrupt;
use threadbare_explore::pairs::{Order, Progress};
use threadbare_explore::server::Target;
use threadbare_explore::store::Store;
use threadbare_findings::{Finding, Place, Severity, Suppressions};
use threadbare_report::Screen;
use threadbare_report::choices::count;
use threadbare_strategy::{Spec, StrategyId};

/// Runs of one test, unless the user says otherwise.
const EACH: u64 = 200;
/// What time there is for each test, all taken together.
const TIME: Duration = Duration::from_secs(60);

/// What calls that are not atomic are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Atomic {
    /// They are told.
    Note,
    /// They are a failure.
    Fail,
}

/// Which forms of tests are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Form {
    /// Runs of the whole program in which two calls are held against each other.
    Live,
    /// These, and a source file of each pair whose state can be recorded.
    Both,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) functions: Vec<String>,
    pub(crate) objects: Vec<String>,
    pub(crate) max: usize,
    pub(crate) weak: bool,
    pub(crate) all_paths: bool,
    pub(crate) margin: Option<u64>,
    pub(crate) atomic: Atomic,
    /// Tests are kept as source, too.
    pub(crate) form: Form,
    /// Only the smallest pair that shows this.
    pub(crate) of: Option<Finding>,
}

/// The finding that a test is to be written of, by its id or its file.
pub(crate) fn finding(name: &Path, folder: &Path) -> Result<Finding, Trouble> {
    const HELP: &str = "`threadbare list` shows the findings of a folder; a race has the two accesses that make a pair; a file with a report of ThreadSanitizer does, too";
    let is_report = |file: &Path| file.extension().is_none_or(|it| it != "schedule");
    let file = match name.is_file() {
        true if is_report(name) => name.to_owned(),
        true => name.with_extension("json"),
        false => folder.join(format!("{}.json", name.display())),
    };
    let refused =
        |why: String| Trouble::usage(format!("there is no finding `{}`: {why}", name.display()), HELP);
    let text = threadbare_explore::files::read(&file)
        .map_err(|error| refused(format!("`{}`: {error}", file.display())))?;
    if let Some(race) = pasted::race(&String::from_utf8_lossy(&text)) {
        return Ok(Finding { id: format!("the race of `{}`", name.display()), ..race });
    }
    let finding: Finding = serde_json::from_slice(&text).map_err(|error| refused(error.to_string()))?;
    match finding.accesses.len() {
        2 => Ok(finding),
        _ => Err(Trouble::usage(format!("{} has no two accesses that make a pair", finding.id), HELP)),
    }
}

/// Whether a name has a pattern in it, whose parts between `*` come one after another.
fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = name;
    pattern.split('*').all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    })
}

impl Wanted {
    fn has(&self, candidate: &Candidate) -> bool {
        let function = |pattern: &String| candidate.functions.iter().any(|it| matches(pattern, &it.name));
        let object = |pattern: &String| candidate.objects.iter().any(|name| matches(pattern, name));
        (self.functions.is_empty() || self.functions.iter().any(function))
            && (self.objects.is_empty() || self.objects.iter().any(object))
            && self.of.as_ref().is_none_or(|finding| meets(finding, candidate))
    }
}

/// What all that is done here needs.
struct Bench {
    config: Config,
    store: Store,
    suppressions: Arc<Suppressions>,
    each: u64,
}

impl Bench {
    fn new(options: &CampaignOptions, target: Target) -> Result<Bench, Trouble> {
        interrupt::watch().map_err(|error| cannot("watch for signals", &error))?;
        let config = Config { runs: None, idioms: None, keep_going: true, ..options.config(target) };
        let (store, suppressions) = (Store::open(&options.out)?, hide::read(&options.suppressions)?);
        Ok(Bench { config, store, suppressions, each: options.runs.unwrap_or(EACH) })
    }

    fn look(&self, wanted: &Wanted, all: bool) -> Result<Look, Trouble> {
        look(&self.config, &self.store, &self.suppressions, wanted, all)
    }

    /// Makes tests; what came of each, with the names of its findings, and all findings.
    #[expect(clippy::type_complexity, reason = "one caller each, and it says what comes back")]
    fn test(
        &self,
        candidates: &[&Candidate],
        known: &[u64],
    ) -> Result<(Vec<(Progress, Vec<String>)>, conduct::Conducted, Material), Trouble> {
        let runs = Arc::new(Runs::default());
        let tests = candidates.iter().map(|candidate| candidate.meetings.clone()).collect();
        let order = Order { tests, known: known.to_vec(), each: self.each };
        let config = Config {
            search: Search::Strategy(Spec::of(StrategyId::Random)),
            runs: Some(self.each.saturating_mul(candidates.len() as u64).max(1)),
            time: Some(
                self.config.time.unwrap_or(TIME * u32::try_from(candidates.len()).unwrap_or(u32::MAX)),
            ),
            timeout: self.config.timeout.min(look::LONGEST_RUN),
            predict: false,
            coverage: false,
            until: None,
            jobs: 1,
            pairs: Some(Arc::new(order)),
            taker: Some(Arc::clone(&runs) as Arc<dyn Taker>),
            ..self.config.clone()
        };
        let (paired, made) = look::conduct(&config, &self.store, &self.suppressions)?;
        let named = |(at, (progress, candidate)): (usize, (&Progress, &&Candidate))| {
            let own = progress.shown.keys().filter(|key| paired.found.is_of(at, **key));
            let ids = own.filter_map(|key| paired.findings.get(key));
            let found = ids.filter_map(|id| made.report.findings.iter().find(|finding| finding.id == *id));
            let mut ids: Vec<String> = found
                .filter(|finding| concerns(finding, candidate))
                .map(|finding| finding.id.clone())
                .collect();
            ids.sort();
            ids.dedup();
            (progress.clone(), ids)
        };
        let tests = paired.found.tests.iter().zip(candidates).enumerate().map(named).collect();
        let material = Material { runs, modules: paired.modules.clone(), known: Arc::clone(&paired.known) };
        Ok((tests, made, material))
    }
}

/// Takes findings that are not there yet.
fn merge(findings: &mut Vec<Finding>, more: Vec<Finding>) {
    for finding in more {
        match findings.iter_mut().find(|other| other.id == finding.id) {
            // The later one was made smaller.
            Some(other) if other.shrunk.is_none() => *other = finding,
            Some(_) => {}
            None => findings.push(finding),
        }
    }
}

/// Takes what only a kept test shows: a run of the program itself says more.
fn add(findings: &mut Vec<Finding>, more: Vec<Finding>) {
    for finding in more {
        if findings.iter().all(|other| other.id != finding.id) {
            findings.push(finding);
        }
    }
}

/// The verdict of two calls that leave what neither order of them leaves.
const NOT_ATOMIC: &str = "not-atomic";

/// What a test's states are that come of two runs.
const COMBINED: &str = "combined";

/// What every kept test of states recorded apart has.
fn combined(name: &str, candidate: &Candidate) -> Test {
    Test {
        name: name.to_owned(),
        file: None,
        form: "kept",
        first: candidate.functions[0].name.clone(),
        second: candidate.functions[1].name.clone(),
        object: candidate.object.clone(),
        places: [0, 1].map(|side: usize| candidate.places[side].iter().cloned().collect()),
        paths: format!("{} of {}", candidate.path.0, candidate.path.1),
        dependence: "strong",
        states: COMBINED,
        atomic: None,
        verdict: "pass",
        findings: Vec::new(),
        runs: 0,
        met: 0,
        why: None,
    }
}

/// What states show that no run need have: it is told, and is no failure.
fn from_combined(mut finding: Finding) -> Finding {
    finding.severity = Severity::Note;
    finding.message.push_str(", from combined states");
    finding
}

/// Whether a finding of a test's runs is the test's: a race is one of lines at which its two calls meet, or of its two functions; what ends a run is the run's.
fn concerns(finding: &Finding, candidate: &Candidate) -> bool {
    let [one, two] = &finding.accesses[..] else { return true };
    let inside = |stack: &[Place], at: usize| {
        stack.iter().any(|place| place.function.as_deref() == Some(candidate.functions[at].name.as_str()))
    };
    let both = |a: &[Place], b: &[Place]| inside(a, 0) && inside(b, 1);
    let called = both(&one.stack, &two.stack) || both(&two.stack, &one.stack);
    finding.kind != "race" || called || meets(finding, candidate)
}

/// Whether the two accesses of a finding are of lines at which two calls meet.
fn meets(finding: &Finding, candidate: &Candidate) -> bool {
    let [one, two] = &finding.accesses[..] else { return false };
    let at_line = |stack: &[Place], at: usize| {
        let mut places = stack.iter().filter_map(|place| {
            let name = Path::new(place.file.as_deref()?).file_name()?.to_string_lossy().into_owned();
            Some(format!("{name}:{}", place.line?))
        });
        places.any(|place| candidate.places[at].contains(&place))
    };
    let both = |a: &[Place], b: &[Place]| at_line(a, 0) && at_line(b, 1);
    both(&one.stack, &two.stack) || both(&two.stack, &one.stack)
}

fn verdict(progress: &Progress, findings: &[String]) -> &'static str {
    match progress {
        _ if !findings.is_empty() => "fail",
        _ if progress.met == 0 => "not-reached",
        _ if progress.torn.is_some() => NOT_ATOMIC,
        _ => "pass",
    }
}

/// Pairs of a program, and a test of each.
pub(crate) fn of_program(
    options: &CampaignOptions,
    target: Target,
    wanted: &Wanted,
) -> Result<Exit, Trouble> {
    let began = Instant::now();
    let bench = Bench::new(options, target)?;
    let Look {
        mut funnel,
        candidates: mut chosen,
        alone,
        material: looked_at,
        pairs,
        known,
        mut findings,
        mut runs,
        looked,
        mut warnings,
    } = bench.look(wanted, false)?;
    if chosen.is_empty() && alone.is_empty() && !(wanted.functions.is_empty() && wanted.objects.is_empty()) {
        let known: Vec<String> = pairs.iter().map(|pair| format!("\n  {pair}")).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.concat() };
        return Err(Trouble::usage(
            format!("no pair has such a function or object; there are: {known}"),
            "`--function` and `--object` take a part of a name; `*` stands for anything",
        ));
    }
    if let Some(of) = &wanted.of
        && chosen.is_empty()
    {
        return Err(Trouble::usage(
            format!("no two calls of the runs that were looked at meet where {} does", of.id),
            "is it a finding of this program, with these arguments? `threadbare replay` makes its run again",
        ));
    }
    let most = if wanted.of.is_some() { 1 } else { wanted.max };
    funnel.over = chosen.len().saturating_sub(most);
    chosen.truncate(most);
    let (mut tests, mut kept_tests) = (Vec::new(), Vec::new());
    if !chosen.is_empty() {
        let (made, conducted, material) = bench.test(&chosen.iter().collect::<Vec<_>>(), &known)?;
        runs += conducted.report.runs;
        warnings.extend(conducted.report.warnings);
        merge(&mut findings, conducted.report.findings);
        let names = suite::names(&chosen);
        for ((candidate, name), (progress, ids)) in chosen.iter().zip(names).zip(made) {
            let verdict = verdict(&progress, &ids);
            let kept = Kept::of(candidate, verdict == "fail");
            let file = suite::write(&options.out, &name, &kept)?;
            let source = match wanted.form {
                Form::Both => {
                    let place = (options.out.as_path(), name.as_str());
                    Some(kept::make(&bench, &material, candidate, &progress, place, verdict == "fail")?)
                }
                Form::Live => None,
            };
            let live = Test {
                name: name.clone(),
                file: Some(file.display().to_string()),
                form: "live",
                first: candidate.functions[0].name.clone(),
                second: candidate.functions[1].name.clone(),
                object: candidate.object.clone(),
                places: [0, 1].map(|side: usize| candidate.places[side].iter().cloned().collect()),
                paths: format!("{} of {}", candidate.path.0, candidate.path.1),
                dependence: if candidate.strong { "strong" } else { "weak" },
                states: "together",
                atomic: progress.compared.then_some(progress.torn.is_none()),
                verdict,
                findings: ids,
                runs: progress.runs,
                met: progress.met,
                why: source.as_ref().and_then(|source| source.as_ref().err().cloned()),
            };
            if let Some(Ok(written)) = source {
                let mut outcome = written.run(&bench, &options.out)?;
                outcome.settle(&written, &options.out, wanted.atomic)?;
                runs += outcome.runs;
                kept_tests.push(kept::row(&name, &written.file, &outcome, Some(&live)));
                add(&mut findings, outcome.findings);
            }
            tests.push(live);
        }
    }
    let mut uncombined = Vec::new();
    if wanted.form == Form::Both && wanted.of.is_none() {
        let place = options.out.as_path();
        for (alone, name) in alone.iter().zip(suite::names_beside(&chosen, &alone)) {
            if tests.len() + kept_tests.iter().filter(|test| test.states == COMBINED).count() >= most {
                funnel.over += 1;
                continue;
            }
            match kept::combine(&bench, &looked_at, alone, (place, &name))? {
                Ok(written) => {
                    let outcome = written.run(&bench, place)?;
                    runs += outcome.runs;
                    let row =
                        kept::row(&name, &written.file, &outcome, Some(&combined(&name, &alone.candidate)));
                    kept_tests.push(row);
                    add(&mut findings, outcome.findings.into_iter().map(from_combined).collect());
                }
                Err(why) => uncombined.push(Uncombined::new(&alone.candidate, why)),
            }
        }
    }
    funnel.unlike = uncombined.len();
    tests.extend(kept_tests);
    let torn = wanted.atomic == Atomic::Fail && tests.iter().any(|test| test.verdict == NOT_ATOMIC);
    let failed = torn || findings.iter().any(|finding| finding.severity != Severity::Note);
    warnings.dedup();
    let (elapsed, seed) = (began.elapsed().as_secs_f64(), bench.config.seed);
    let results =
        Results { funnel, tests, uncombined, findings, runs, elapsed, seed, failed, warnings, looked };
    match options.format {
        ReportFormat::Json => said::json(&results.to_json())?,
        _ => {
            said::text(&text::all(&results, Screen::for_stream(&std::io::stdout())))?;
            say(&results.findings)?;
        }
    }
    Ok(if failed { Exit::Failure } else { Exit::Clean })
}

/// Makes the tests of a folder again.
pub(crate) fn check(
    options: &CampaignOptions,
    target: Target,
    folder: &Path,
    wanted: &Wanted,
) -> Result<Exit, Trouble> {
    let began = Instant::now();
    let sources = kept::read(folder);
    let kept = suite::read(folder, !sources.is_empty())?;
    let bench = Bench::new(options, target)?;
    let Look { funnel, candidates, known, mut findings, mut runs, looked, warnings, .. } =
        bench.look(wanted, true)?;
    let found: Vec<Option<usize>> = kept.iter().map(|(_, kept)| kept.finds(&candidates)).collect();
    let open: Vec<&Candidate> = found.iter().flatten().map(|&at| &candidates[at]).collect();
    let (mut made, mut material) = (Vec::new().into_iter(), None);
    if !open.is_empty() {
        let (tests, conducted, ran) = bench.test(&open, &known)?;
        material = Some(ran);
        runs += conducted.report.runs;
        merge(&mut findings, conducted.report.findings);
        made = tests.into_iter();
    }
    let (mut lines, mut failed, mut tests) = (String::new(), 0, Vec::new());
    for ((name, kept), place) in kept.iter().zip(&found) {
        let came = place.and_then(|place| Some((place, made.next()?)));
        let (verdict, told) = match &came {
            None => ("gone", "gone: no run has two such calls at the same object any more".to_owned()),
            Some((_, (progress, ids))) => match verdict(progress, ids) {
                "fail" => ("fail", format!("fails: {}", ids.join(", "))),
                "not-reached" => ("not-reached", "not reached: the two never met".to_owned()),
                NOT_ATOMIC => (NOT_ATOMIC, "not atomic: leaves what neither order leaves".to_owned()),
                pass if kept.failed => (pass, "passes now".to_owned()),
                pass => (pass, "passes".to_owned()),
            },
        };
        failed += usize::from(verdict == "fail" || verdict == NOT_ATOMIC && wanted.atomic == Atomic::Fail);
        lines.push_str(&format!("{name}: {told}\n"));
        let (progress, ids) = came.map(|(_, came)| came).unwrap_or_default();
        tests.push(Test {
            name: name.clone(),
            file: Some(folder.join(format!("{name}.{}", suite::EXTENSION)).display().to_string()),
            form: "live",
            first: kept.functions[0].0.clone(),
            second: kept.functions[1].0.clone(),
            object: kept.object.clone(),
            places: [0, 1].map(|side: usize| {
                place.map(|at| candidates[at].places[side].iter().cloned().collect()).unwrap_or_default()
            }),
            paths: place.map_or_else(String::new, |at| {
                format!("{} of {}", candidates[at].path.0, candidates[at].path.1)
            }),
            dependence: if place.is_none_or(|at| candidates[at].strong) { "strong" } else { "weak" },
            states: "together",
            atomic: progress.compared.then_some(progress.torn.is_none()),
            verdict,
            findings: ids,
            runs: progress.runs,
            met: progress.met,
            why: None,
        });
    }
    for file in sources {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_combined = kept::is_combined(&file);
        let mut outcome = kept::run(&bench, &file, &options.out)?;
        if let Some(material) = material.as_ref().filter(|_| outcome.why.is_none()) {
            outcome.why = kept::other_way(&bench, material, &file, &options.out);
        }
        runs += outcome.runs;
        let mut row = kept::row(&name, &file, &outcome, tests.iter().find(|test| test.name == name));
        if is_combined {
            row.states = COMBINED;
            outcome.findings = outcome.findings.into_iter().map(from_combined).collect();
        }
        failed += usize::from(row.verdict == "not-built" || row.verdict == "fail" && !is_combined);
        let note = row.why.as_ref().filter(|_| row.verdict != "not-built");
        let note = note.map_or_else(String::new, |why| format!("; {why}"));
        lines.push_str(&format!("{name}.{}: {}{note}\n", kept::EXTENSION, text::outcome(&row)));
        add(&mut findings, outcome.findings);
        tests.push(row);
    }
    lines.push_str(&format!("{failed} of {} failed\n", count(tests.len(), "test")));
    let (elapsed, seed) = (began.elapsed().as_secs_f64(), bench.config.seed);
    match options.format {
        ReportFormat::Json => {
            let failed = failed > 0;
            let uncombined = Vec::new();
            let results = Results {
                funnel,
                tests,
                uncombined,
                findings,
                runs,
                elapsed,
                seed,
                failed,
                warnings,
                looked,
            };
            said::json(&results.to_json())?;
        }
        _ => said::text(&lines)?,
    }
    Ok(if failed > 0 { Exit::Failure } else { Exit::Clean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_parts_of_names() {
        assert!(matches("posit", "deposit") && matches("*", "x") && matches("a*c", "abcd"));
        assert!(!matches("a*c", "cba") && !matches("deposit", "posit"));
    }
}
