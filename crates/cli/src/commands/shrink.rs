//! `threadbare shrink`: the smallest schedule that still shows a finding.

use crate::commands::replay;
use crate::conduct;
use crate::exit::{Exit, Trouble};
use crate::options::{FOLDER, Format};
use crate::refine::{self, Found, ORIGINAL};
use crate::said;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use threadbare_explore::files;
use threadbare_explore::interrupt;
use threadbare_explore::run::Job;
use threadbare_explore::store::Store;
use threadbare_findings::explain::explain;
use threadbare_findings::{Finding, SymbolPlaces};
use threadbare_report::{Screen, text};
use threadbare_trace::schedule::Schedule;

const EXAMPLES: &str = "\
Examples:
  threadbare shrink deadlock-5f3a9c1e              go on where the campaign stopped
  threadbare shrink deadlock-5f3a9c1e --time 5m
  threadbare shrink .threadbare/deadlock-5f3a9c1e.schedule --format json";

/// Make the schedule of a finding smaller.
///
/// The same finding with the fewest preemptions, then with the fewest strands and switches. A campaign
/// does this by itself for a moment; this goes on from there. The new schedule takes the old one's place,
/// and the first one stays beside it as `ID.schedule.original`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Args {
    /// A schedule's file, or the id of a finding.
    #[arg(value_name = "FILE-or-ID")]
    schedule: PathBuf,
    /// The most time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, default_value = "30s", value_parser = crate::values::duration)]
    time: Duration,
    /// The most runs [default: no bound but the time].
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = crate::values::runs)]
    runs: Option<u64>,
    /// The folder with the findings.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    /// The program, if it is not where it was; it must be the same build.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// How the result is written.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

/// Does it.
pub(crate) fn run(args: &Args) -> Result<Exit, Trouble> {
    let (path, schedule) = replay::read(&args.schedule, &args.out)?;
    if schedule.then.is_some() {
        return Err(Trouble::usage(
            format!("the schedule `{}` has no list of choices to leave something out of", path.display()),
            "a run that was killed, or is too long to list, is kept as its seed only; a smaller input may help",
        ));
    }
    let target = replay::target(&schedule, args.program.as_deref())?;
    conduct::tell_target("shrinking", &target);
    let request = replay::request(&schedule);
    interrupt::watch().map_err(|error| conduct::cannot("watch for signals", &error))?;
    let mut job = Job::new(Arc::new(target.clone()), Arc::new(AtomicBool::new(false)));
    let known: Arc<[u64]> = schedule.known.clone().into();
    job.set_known(&known);
    let facts = replay::judge(replay::once(job.server()?, &request, &schedule)?, &schedule, &target.program)?;
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
    let budget = refine::budget(args.runs.unwrap_or(u64::MAX), args.time);
    let facts = threadbare_trace::run::RunFacts { segments: schedule.segments.clone(), ..facts };
    let found = Found { schedule, known, facts: Box::new(facts) };
    let refined = refine::refine(&mut job, &found, budget, &target.program, &mut finding)?;
    match &refined {
        Some(refined) => write(&path, &found.schedule, &refined.schedule, &finding)?,
        None => said::note("warning: no smaller run was found; the schedule is what it was"),
    }
    if refined.as_ref().is_some_and(|refined| !refined.finished) && !interrupt::requested() {
        said::note("note: there is more to try: `--time` gives it longer");
    }
    match args.format {
        Format::Json => {
            said::json(&format!("{}\n", serde_json::to_string_pretty(&finding).unwrap_or_default()))?;
        }
        Format::Text => said::text(&text::finding(&finding, Screen::for_stream(&std::io::stdout()), true))?,
    }
    Ok(Exit::Failure)
}

/// The finding that lies beside a schedule.
fn kept(path: &Path) -> Option<Finding> {
    serde_json::from_slice(&files::read(&path.with_extension("json")).ok()?).ok()
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
