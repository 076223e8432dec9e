//! The smallest schedule that still shows a finding, in the place of the one that is kept.
//!
//! **The shrunk schedule takes the finding's name**, the first one stays as `ID.schedule.original`: everything that
//! reads schedules gets the small one.

use crate::follow;
use crate::observer::Observer;
use crate::refine::{self, Found, ORIGINAL};
use crate::replay::kept;
use crate::trouble::Trouble;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use threadbare_explore::run::Job;
use threadbare_explore::shrink::Budget;
use threadbare_explore::store::Store;
use threadbare_findings::explain::explain;
use threadbare_findings::{Finding, SymbolPlaces};
use threadbare_trace::run::RunFacts;
use threadbare_trace::schedule::Schedule;

/// What came of it.
#[derive(Debug)]
pub struct Shrunken {
    /// The finding, told by its smaller run where there is one.
    pub finding: Finding,
    /// Whether there is one: its schedule has taken the old one's place then.
    pub smaller: bool,
    /// Whether nothing more would be tried in a longer time.
    pub finished: bool,
}

/// Makes the schedule smaller that a file or the id of a finding in `folder` names. The first one stays beside it as `ID.schedule.original`.
/// `program` says where its build is now.
pub fn shrink(
    name: &Path,
    folder: &Path,
    program: Option<&Path>,
    budget: Budget,
    observer: &mut dyn Observer,
) -> Result<Shrunken, Trouble> {
    let (path, schedule) = follow::read(name, folder)?;
    if schedule.then.is_some() {
        return Err(Trouble::usage(
            format!("the schedule `{}` has no list of choices to leave something out of", path.display()),
            "a run that was killed, or is too long to list, is kept as its seed only; a smaller input may help",
        ));
    }
    let target = follow::target(&schedule, program, observer)?;
    observer.target("shrinking", &target);
    let request = follow::request(&schedule);
    let mut job = Job::new(Arc::new(target.clone()), Arc::new(AtomicBool::new(false)));
    let known: Arc<[u64]> = schedule.known.clone().into();
    job.set_known(&known);
    let facts = follow::once(job.server()?, &request, &schedule)?;
    let facts = follow::judge(facts, &schedule, &target.program)?;
    if !facts.verdict.is_failure() {
        return Err(Trouble::usage(
            format!("the schedule `{}` is of a run that did not fail", path.display()),
            "`threadbare list` shows the findings of this folder",
        ));
    }
    let mut finding = kept(&path).unwrap_or_else(|| {
        let places = SymbolPlaces::new(&facts.report.modules, &target.program);
        Finding {
            id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            ..explain(&facts, &target.program.display().to_string(), &places)
        }
    });
    finding.schedule = path.display().to_string();
    let facts = RunFacts { segments: schedule.segments.clone(), ..facts };
    let found = Found { schedule, known, facts: Box::new(facts) };
    let refined = refine::refine(&mut job, &found, budget, &target.program, &mut finding)?;
    if let Some(refined) = &refined {
        write(&path, &found.schedule, &refined.schedule, &finding)?;
    }
    let finished = refined.as_ref().is_none_or(|refined| refined.finished);
    Ok(Shrunken { finding, smaller: refined.is_some(), finished })
}

fn write(path: &Path, before: &Schedule, after: &Schedule, finding: &Finding) -> Result<(), Trouble> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let store = Store::open(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let original = format!("{name}.{ORIGINAL}");
    if !folder.join(&original).exists() {
        store.write(&original, before.to_text().as_bytes())?;
    }
    store.write(&name, after.to_text().as_bytes())?;
    let json = serde_json::to_vec_pretty(finding).unwrap_or_default();
    let record = Path::new(&name).with_extension("json").to_string_lossy().into_owned();
    store.write(&record, &json)?;
    Ok(())
}
