//! Many programs against the model, and a table of what came of it.

use super::generate::{self, Case, Feature};
use super::judge::{self, Batch, Bench, Build, Claim, Fault, Verdict};
use super::program::Program;
use super::{rust, shrink};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Order {
    /// How many programs.
    pub count: usize,
    /// The first program's seed; the others follow.
    pub seed: u64,
    /// The features; all if there are none.
    pub only: Vec<Feature>,
    /// What they are written in and compiled with; taken in turns if it is not said.
    pub build: Option<Build>,
    /// How many campaigns at a time.
    pub jobs: usize,
    /// How many surprises are made smaller.
    pub shrinks: usize,
}

impl Order {
    /// What the programs of a batch are written in, and what they are about. Of five batches, one is compiled with clang, and one is
    /// written in Rust.
    fn of(&self, batch: usize) -> (Build, Vec<Feature>) {
        let build = self.build.unwrap_or(match batch % 5 {
            2 if crate::compile::has_clang() => Build::Clang,
            4 => Build::Rust,
            _ => Build::Gcc,
        });
        let all = || Feature::ALL.map(|(feature, _)| feature).to_vec();
        let mut only = if self.only.is_empty() { all() } else { self.only.clone() };
        if build != Build::Rust {
            return (build, only);
        }
        only.retain(|feature| generate::has_rust(*feature));
        if only.is_empty() { (Build::Gcc, self.only.clone()) } else { (build, only) }
    }
}

/// The strategies that are asked; `None` is the default.
pub const STRATEGIES: [Option<&str>; 2] = [Some("dpor"), None];

/// The name of a strategy.
pub fn name(strategy: Option<&'static str>) -> &'static str {
    strategy.unwrap_or("default")
}

/// A program of which the tool said something wrong.
#[derive(Clone, Debug)]
pub struct Surprise {
    /// The program.
    pub case: Case,
    /// What it was written in and compiled with.
    pub build: Build,
    /// Who was asked.
    pub strategy: Option<&'static str>,
    /// What is wrong.
    pub fault: Fault,
    /// In words.
    pub why: String,
}

/// What came of the programs of a feature.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Campaigns.
    pub campaigns: usize,
    /// Complete, and all of it right.
    pub exact: usize,
    /// No claim, with a reason.
    pub withdrawn: usize,
    /// No claim, because the runs were over.
    pub open: usize,
    /// Campaigns with runs that repeat an order.
    pub repeating: usize,
    /// What is wrong.
    pub faults: BTreeMap<Fault, usize>,
}

/// How often claims were withdrawn for a reason, and some programs by the name of who was asked.
pub type Withdrawn = (usize, Vec<(&'static str, Program)>);

/// What came of all.
#[derive(Debug, Default)]
pub struct Tally {
    /// By strategy, and by feature; the whole is under `None`.
    pub rows: BTreeMap<(&'static str, Option<Feature>), Row>,
    /// Why claims were withdrawn, how often, and some programs by the name of who was asked.
    pub reasons: BTreeMap<String, Withdrawn>,
    /// What was wrong.
    pub surprises: Vec<Surprise>,
    /// Programs that were looked at.
    pub programs: usize,
}

impl Tally {
    fn add(&mut self, case: &Case, build: Build, strategy: Option<&'static str>, verdict: Verdict) {
        let features = case.features.iter().copied().map(Some).chain([None]);
        for feature in features {
            let row = self.rows.entry((name(strategy), feature)).or_default();
            row.campaigns += 1;
            row.repeating += usize::from(verdict.repeated > 0);
            match &verdict.claim {
                Claim::Complete => row.exact += usize::from(verdict.faults.is_empty()),
                Claim::Withdrawn(_) => row.withdrawn += 1,
                Claim::Open => row.open += 1,
            }
            let mut kinds: Vec<Fault> = verdict.faults.iter().map(|(fault, _)| *fault).collect();
            kinds.dedup();
            for kind in kinds {
                *row.faults.entry(kind).or_default() += 1;
            }
        }
        if let Claim::Withdrawn(why) = verdict.claim {
            let (count, some) = self.reasons.entry(why).or_default();
            *count += 1;
            if some.len() < EXAMPLES {
                some.push((name(strategy), case.program.clone()));
            }
        }
        for (fault, why) in verdict.faults {
            self.surprises.push(Surprise { case: case.clone(), build, strategy, fault, why });
        }
    }

    /// Everything that is wrong, counted.
    pub fn faults(&self) -> usize {
        self.surprises.len()
    }

    /// The table.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| strategy | feature | campaigns | exact | withdrawn | open | repeating | wrong claim | wrong count | foreign | broken |\n\
             |---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for ((strategy, feature), row) in &self.rows {
            let feature = feature.map_or("all", Feature::name);
            let fault = |fault: Fault| row.faults.get(&fault).copied().unwrap_or(0);
            let share = 100.0 * row.withdrawn as f64 / row.campaigns.max(1) as f64;
            let _ = writeln!(
                text,
                "| {strategy} | {feature} | {} | {} | {} ({share:.1}%) | {} | {} | {} | {} | {} | {} |",
                row.campaigns,
                row.exact,
                row.withdrawn,
                row.open,
                row.repeating,
                fault(Fault::Claim),
                fault(Fault::Count),
                fault(Fault::Foreign),
                fault(Fault::Broken)
            );
        }
        for (why, (count, _)) in &self.reasons {
            let _ = writeln!(text, "withdrawn in {count}: {why}");
        }
        text
    }
}

/// Programs that are shown for each reason of a withdrawn claim.
const EXAMPLES: usize = 10;
/// Programs that are compiled into one file.
const BATCH: usize = 100;

/// Asks the tool about all programs. `tell` gets a line now and then.
///
/// # Errors
/// If something cannot be compiled.
pub fn run(order: &Order, folder: &Path, tell: &(dyn Fn(String) + Sync)) -> Result<Tally, String> {
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    let trouble = Mutex::new(None);
    let work = |job: usize| -> Result<(), String> {
        let bench = Bench::new()?;
        loop {
            let first = next.fetch_add(BATCH, Ordering::Relaxed);
            if first >= order.count {
                return Ok(());
            }
            let last = (first + BATCH).min(order.count);
            let (build, only) = order.of(first / BATCH);
            let fits = |program: &Program| build != Build::Rust || rust::fits(program);
            let case = |at: usize| generate::case(order.seed + at as u64, &only, &fits);
            let cases: Vec<Case> = (first..last).map(case).collect();
            let batch = compile(&cases, build, &folder.join(job.to_string()))?;
            for (number, case) in cases.iter().enumerate() {
                for strategy in STRATEGIES {
                    let begun = std::time::Instant::now();
                    let verdict = bench.judge(&batch, number, case, strategy);
                    if begun.elapsed().as_secs() >= 5 {
                        tell(format!("seed {} takes {} {:?}", case.seed, name(strategy), begun.elapsed()));
                    }
                    for (_, why) in &verdict.faults {
                        tell(format!("seed {}, {}, {}: {why}", case.seed, build.name(), name(strategy)));
                    }
                    let mut tally = tally.lock().map_err(|_| "a job has panicked")?;
                    tally.add(case, build, strategy, verdict);
                }
            }
            let mut tally = tally.lock().map_err(|_| "a job has panicked")?;
            tally.programs += cases.len();
            let (programs, faults) = (tally.programs, tally.faults());
            tell(format!("{programs} of {} programs, {faults} surprises", order.count));
        }
    };
    thread::scope(|scope| {
        for job in 0..order.jobs {
            let (work, trouble) = (&work, &trouble);
            scope.spawn(move || {
                if let Err(why) = work(job)
                    && let Ok(mut trouble) = trouble.lock()
                {
                    *trouble = Some(why);
                }
            });
        }
    });
    if let Some(why) = trouble.into_inner().map_err(|_| "a job has panicked")? {
        return Err(why);
    }
    let mut tally = tally.into_inner().map_err(|_| "a job has panicked")?;
    tally.surprises.sort_by_key(|surprise| (surprise.case.seed, surprise.strategy, surprise.fault));
    let mut told = BTreeMap::new();
    let mut left = order.shrinks;
    for surprise in &mut tally.surprises {
        // A few of each sort.
        let sort = (surprise.fault, surprise.strategy, surprise.case.features.clone());
        let count = told.entry(sort).or_insert(0);
        *count += 1;
        if left > 0 && *count <= 1 {
            left -= 1;
            shrink(surprise, &folder.join("shrink"))?;
        }
    }
    Ok(tally)
}

/// Compiles the programs of cases.
///
/// # Errors
/// In words, with what the compiler said.
pub fn compile(cases: &[Case], build: Build, folder: &Path) -> Result<Batch, String> {
    let programs: Vec<Program> = cases.iter().map(|case| case.program.clone()).collect();
    judge::compile(&programs, build, folder)
}

/// Makes a surprise's program as small as it can be with the same fault.
///
/// # Errors
/// If something cannot be compiled.
pub fn shrink(surprise: &mut Surprise, folder: &Path) -> Result<(), String> {
    let bench = Bench::new()?;
    loop {
        let programs = shrink::smaller(&surprise.case.program);
        let cases: Vec<Case> =
            programs.into_iter().filter_map(|program| shrink::case(program, &surprise.case)).collect();
        if cases.is_empty() {
            return Ok(());
        }
        let batch = compile(&cases, surprise.build, folder)?;
        let found = cases.into_iter().enumerate().find_map(|(number, case)| {
            let verdict = bench.judge(&batch, number, &case, surprise.strategy);
            let fault = verdict.faults.into_iter().find(|(fault, _)| *fault == surprise.fault)?;
            Some((case, fault.1))
        });
        let Some((case, why)) = found else { return Ok(()) };
        (surprise.case, surprise.why) = (case, why);
    }
}
