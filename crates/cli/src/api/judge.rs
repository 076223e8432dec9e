//! One test: the calls one at a time in every order, then in parallel under many schedules.
//!
//! The orders say what is to be expected. A run in parallel fails by a race, a memory error, a crash, a panic that no order
//! has, a value that is dropped twice, or never although every order drops it, and by waiting for ever if no order does:
//! an order in which the next call of every strand would wait has come to its end, and a run that waits then is no bug.
//! Results that no order gives are *not atomic*.

use super::keys::key;
use crate::conduct;
use crate::exit::Trouble;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use threadbare_abi::fault::Faults;
use threadbare_api::Test;
use threadbare_explore::campaign::{self, Config, Ending, Observer, Progress};
use threadbare_explore::server::Target;
use threadbare_explore::store::{SCHEDULE, Store};
use threadbare_explore::{Error, Failure, Races, Search};
use threadbare_findings::{Finding, Severity, Suppressions};
use threadbare_report::progress::ProgressLine;
use threadbare_strategy::{Spec, StrategyId};

/// What a finding of a test is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Class {
    /// A race, a memory error, a crash.
    Other,
    Deadlock,
    Panic,
    Leak,
    NotAtomic,
}

impl Class {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Class::Other => "failure",
            Class::Deadlock => "deadlock",
            Class::Panic => "panic",
            Class::Leak => "leak",
            Class::NotAtomic => "not-atomic",
        }
    }
}

/// What is known of a test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judged {
    /// The outcomes of orders.
    pub(crate) outcomes: Vec<String>,
    /// Some order comes to an end where all wait.
    pub(crate) waits: bool,
    /// Why there is nothing to compare with.
    pub(crate) useless: Option<String>,
    /// What was shown, by key: the class, the kind and the message.
    pub(crate) shown: BTreeMap<String, (Class, String, String)>,
    pub(crate) runs: u64,
}

impl Judged {
    /// What is to be told first: its kind, class and message.
    pub(crate) fn worst(&self) -> Option<(String, Class, String)> {
        let worst = self.shown.values().min_by_key(|(class, ..)| *class)?;
        Some((worst.1.clone(), worst.0, worst.2.clone()))
    }

    /// Whether it shows one of the worst findings of a larger test.
    pub(crate) fn shows_worst_of(&self, larger: &Judged) -> bool {
        let worst = larger.shown.values().map(|(class, ..)| *class).min();
        let of = larger.shown.iter().filter(|(_, (class, ..))| Some(*class) == worst);
        of.map(|(key, _)| key).any(|key| self.shown.contains_key(key))
    }

    /// A word for the table.
    pub(crate) fn word(&self, atomic_fails: bool) -> String {
        match self.worst() {
            Some((_, Class::NotAtomic, _)) if !atomic_fails => "note: not-atomic".to_owned(),
            Some((kind, Class::Other, _)) => kind,
            Some((_, class, _)) => class.word().to_owned(),
            None if self.useless.is_some() => "left out".to_owned(),
            None => "clean".to_owned(),
        }
    }
}

/// Processor time that a run of a few calls may take.
const LONGEST: Duration = Duration::from_secs(2);

/// Why a test is of no use.
const OUTSIDE: &str = "the calls wait outside the strands";

/// How runs end that do not.
const ENDLESS: [&str; 2] = ["livelock", "timeout"];

/// Nobody listens.
struct Deaf;

impl Observer for Deaf {
    fn failed(&mut self, _: Failure) -> Result<(), Error> {
        Ok(())
    }
    fn progress(&mut self, _: &Progress) {}
}

/// Makes the campaigns of tests.
pub(crate) struct Judge<'a> {
    /// The options, whatever the target.
    pub(crate) config: &'a dyn Fn(Target) -> Config,
    pub(crate) store: &'a Store,
    /// Findings that are only looked at.
    pub(crate) scratch: &'a Store,
    pub(crate) suppressions: &'a Arc<Suppressions>,
    pub(crate) atomic_fails: bool,
    pub(crate) runs: u64,
}

impl Judge<'_> {
    /// Judges a test.
    pub(crate) fn test(&mut self, target: &Target, test: &Test) -> Result<Judged, Trouble> {
        let mut judged = self.orders(target, test)?;
        if judged.useless.is_some() {
            return Ok(judged);
        }
        let config = self.parallel(target, test);
        let config = Config { shrink: None, coverage: false, ..config };
        let (line, label) = (ProgressLine::on_stderr(), format!("test {}", test.number));
        let made = conduct::campaign(&config, self.scratch, line, Some(&label), self.suppressions, None)?;
        self.runs += made.report.runs;
        judged.runs += made.report.runs;
        for finding in &made.report.findings {
            let Some(class) = class(finding, &judged) else { continue };
            let (kind, message) = (finding.kind.clone(), finding.message.clone());
            judged.shown.entry(key(class, finding, &test.maker)).or_insert((class, kind, message));
        }
        Ok(judged)
    }

    /// Makes the findings of a test that is kept.
    pub(crate) fn again(
        &mut self,
        target: &Target,
        test: &Test,
        name: &str,
    ) -> Result<Vec<Finding>, Trouble> {
        let judged = self.orders(target, test)?;
        let config = match judged.useless {
            // What fails with one call at a time has no run in parallel.
            Some(_) => self.in_order(target, test),
            None => self.parallel(target, test),
        };
        let line = ProgressLine::on_stderr();
        let made = conduct::campaign(&config, self.store, line, Some(name), self.suppressions, None)?;
        self.runs += made.report.runs;
        let mut kept = Vec::new();
        for finding in made.report.findings {
            let told =
                class(&finding, &judged).is_some_and(|class| class != Class::NotAtomic || self.atomic_fails);
            if told {
                kept.push(finding);
            } else {
                self.store.forget(&format!("{}.{SCHEDULE}", finding.id))?;
                self.store.forget(&format!("{}.json", finding.id))?;
            }
        }
        Ok(kept)
    }

    fn file(&self, test: &Test) -> PathBuf {
        let folder = std::path::absolute(self.scratch.folder());
        folder
            .unwrap_or_else(|_| self.scratch.folder().to_owned())
            .join(format!("orders-{}.txt", test.number))
    }

    fn given(&self, target: &Target, test: &Test, mode: &str) -> Target {
        let file = self.file(test).into_os_string();
        Target { args: vec![test.number.to_string().into(), mode.into(), file], ..target.clone() }
    }

    fn parallel(&self, target: &Target, test: &Test) -> Config {
        let config = (self.config)(self.given(target, test, "parallel"));
        Config { keep_going: true, timeout: config.timeout.min(LONGEST), ..config }
    }

    /// One run with one call at a time.
    fn in_order(&self, target: &Target, test: &Test) -> Config {
        let config = (self.config)(self.given(target, test, "orders"));
        Config {
            search: Search::Strategy(Spec::of(StrategyId::Random)),
            runs: Some(1),
            time: None,
            jobs: 1,
            in_order: true,
            faults: Faults::NONE,
            races: Races::Off,
            predict: false,
            shrink: None,
            coverage: false,
            idioms: None,
            ..config
        }
    }

    /// The calls one at a time, in every order.
    fn orders(&mut self, target: &Target, test: &Test) -> Result<Judged, Trouble> {
        let file = self.file(test);
        // What an earlier test of this number left says nothing.
        let _ = std::fs::remove_file(&file);
        let config = self.in_order(target, test);
        let mut judged = Judged::default();
        let summary = campaign::run(&config, &mut Deaf)?;
        self.runs += summary.progress.runs;
        judged.runs = summary.progress.runs;
        if let Ending::Internal(_, why) = &summary.ending {
            return Err(Trouble::internal(why.clone(), "this is an error of Threadbare, please report it"));
        }
        if summary.first_failure.is_some() {
            return self.fails_in_order(&config, test, judged);
        }
        let Ok(text) = std::fs::read_to_string(&file) else {
            judged.useless = Some(OUTSIDE.to_owned());
            return Ok(judged);
        };
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("outcome", outcome)) => judged.outcomes.push(outcome.to_owned()),
                Some(("stuck", "outside")) => {
                    judged.useless = Some(OUTSIDE.to_owned());
                }
                Some(("fails", _)) => {
                    judged.useless = Some("a call before the strands, or after them, panics".to_owned());
                }
                Some(("stuck", _)) => judged.waits = true,
                _ => {}
            }
        }
        if judged.outcomes.is_empty() {
            let why = if judged.waits { "the calls wait in every order" } else { "the calls have no order" };
            judged.useless.get_or_insert_with(|| why.to_owned());
        }
        Ok(judged)
    }

    /// A test that fails with one call at a time needs no schedule.
    fn fails_in_order(
        &mut self,
        config: &Config,
        test: &Test,
        mut judged: Judged,
    ) -> Result<Judged, Trouble> {
        let (line, label) = (ProgressLine::on_stderr(), format!("test {} in order", test.number));
        let made = conduct::campaign(config, self.scratch, line, Some(&label), self.suppressions, None)?;
        // That they do not come to an end by themselves is no failure: others may have to do something first.
        let (endless, failing): (Vec<&Finding>, Vec<&Finding>) =
            made.report.findings.iter().partition(|finding| ENDLESS.contains(&finding.kind.as_str()));
        for finding in &failing {
            let message = format!("{} (with one call at a time)", finding.message);
            let shown = (Class::Other, finding.kind.clone(), message);
            judged.shown.insert(key(Class::Other, finding, &test.maker), shown);
        }
        let why = match failing.is_empty() && !endless.is_empty() {
            true => "the calls loop for ever one at a time",
            false => "the calls fail one at a time",
        };
        judged.useless = Some(why.to_owned());
        Ok(judged)
    }
}

/// What a finding is, if it is one.
fn class(finding: &Finding, judged: &Judged) -> Option<Class> {
    if finding.severity == Severity::Note {
        return None;
    }
    let message = &finding.message;
    match finding.kind.as_str() {
        "deadlock" | "livelock" | "timeout" if judged.waits => None,
        "deadlock" | "livelock" => Some(Class::Deadlock),
        _ if message.contains("not-atomic: ") => Some(Class::NotAtomic),
        _ if message.contains("was never dropped") => Some(Class::Leak),
        "panic" => Some(Class::Panic),
        _ => Some(Class::Other),
    }
}
