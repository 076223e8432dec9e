//! What a campaign covered, kept in its folder.

use crate::quiet;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use threadbare_coverage::iroots::State;
use threadbare_coverage::kept::{FILE, Identity};
use threadbare_coverage::tasks::{Seen, TaskTable};
use threadbare_coverage::{Books, CampaignCoverage, Kept, Spot};
use threadbare_explore::Earlier;
use threadbare_explore::campaign::{Config, Summary};
use threadbare_explore::files;
use threadbare_explore::idioms::Found;
use threadbare_explore::store::Store;
use threadbare_findings::places::shown;
use threadbare_findings::{Places, SymbolPlaces};
use threadbare_idioms::Iroot;
use threadbare_trace::report::Module;

/// Adds the campaign to the folder's coverage. What goes wrong is no reason to fail: it is told.
pub fn keep(
    config: &Config,
    program_id: &str,
    label: Option<&str>,
    summary: &Summary,
    store: &Store,
) -> Option<String> {
    if summary.coverage.runs() == 0 {
        return None;
    }
    let identity = identity(config, program_id, label);
    let places = SymbolPlaces::new(&summary.modules, &config.target.program);
    let mut campaign =
        CampaignCoverage::new(identity, &summary.coverage, |pc| spot(&places, &summary.modules, pc));
    if let Some(table) = task_table(config, summary) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        campaign = campaign.with_tasks(&table, now.as_millis() as u64);
    }
    if let Some(found) = &summary.idioms {
        campaign = campaign.with_iroots(states(found), |pc| spot(&places, &summary.modules, pc));
    }
    add(campaign, store)
}

/// Each iroot with what is known of it.
fn states(found: &Found) -> impl Iterator<Item = (Iroot, State)> {
    found.predicted.iter().map(|iroot| {
        let state = match found.shown.contains_key(iroot) {
            true => State::Shown,
            false if found.infeasible.contains(iroot) => State::Infeasible,
            false => State::Predicted,
        };
        (*iroot, state)
    })
}

/// The same for the iroots of many campaigns, one for each input; `runs` is how many they had together.
pub fn keep_iroots(
    config: &Config,
    program_id: &str,
    found: &Found,
    modules: &[Module],
    runs: u64,
    store: &Store,
) -> Option<String> {
    let identity = identity(config, program_id, None);
    let places = SymbolPlaces::new(modules, &config.target.program);
    let mut campaign = CampaignCoverage::new(identity, &Books::default(), |pc| spot(&places, modules, pc));
    campaign.runs = runs;
    add(campaign.with_iroots(states(found), |pc| spot(&places, modules, pc)), store)
}

/// Adds a campaign to the file; what went wrong.
fn add(campaign: CampaignCoverage, store: &Store) -> Option<String> {
    let path = store.folder().join(FILE);
    let (mut kept, warning) = match files::read_text(&path).map(|text| Kept::parse(&text)) {
        Ok(Ok(kept)) => (kept, None),
        Ok(Err(why)) => (Kept::default(), Some(format!("`{}` is made anew: {why}", path.display()))),
        Err(_) => (Kept::default(), None),
    };
    kept.add(campaign);
    match store.write(FILE, kept.to_text().as_bytes()) {
        Ok(_) => warning,
        Err(error) => Some(format!("coverage could not be kept: {}", crate::trouble::chain(&error))),
    }
}

fn identity(config: &Config, program_id: &str, label: Option<&str>) -> Identity {
    let target = &config.target;
    Identity {
        program: target.program.display().to_string(),
        program_id: program_id.to_owned(),
        args: target.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        label: label.unwrap_or_default().to_owned(),
        strategy: config.decider(),
        seed: config.seed,
        points: config.points.name().to_owned(),
    }
}

/// What the campaign's free runs covered, with the places of the functions; none if that was not looked at.
pub fn task_table(config: &Config, summary: &Summary) -> Option<TaskTable> {
    config.covers_tasks().then(|| {
        let places = SymbolPlaces::new(&summary.modules, &config.target.program);
        TaskTable::new(&summary.tasks, |pc| function_spot(&places, &summary.modules, pc))
            .with_followed(summary.coverage.told_by())
    })
}

/// What earlier campaigns of free runs of the same program covered.
#[derive(Debug)]
struct KeptEarlier(TaskTable);

impl Earlier for KeptEarlier {
    fn seen(&self, modules: &[Module]) -> Seen {
        self.0.seen(|spot| {
            let (name, offset) = spot.address.rsplit_once("+0x")?;
            let offset = u64::from_str_radix(offset, 16).ok()?;
            let module = modules.iter().find(|module| file_name(module) == name && offset < module.size)?;
            Some(module.base + offset)
        })
    }
}

/// Who knows what is kept in the folder of what free runs of this program covered.
pub fn earlier(
    config: &Config,
    program_id: &str,
    label: Option<&str>,
    store: &Store,
) -> Option<Arc<dyn Earlier>> {
    if !config.covers_tasks() {
        return None;
    }
    // A file that cannot be read is told of when it is written again.
    let kept = Kept::parse(&files::read_text(&store.folder().join(FILE)).ok()?).ok()?;
    let identity = identity(config, program_id, label);
    let same = kept.campaigns.iter().filter(|campaign| campaign.identity.same_program(&identity));
    let tasks: Vec<_> = same.filter_map(|campaign| campaign.tasks.as_ref()).collect();
    (!tasks.is_empty()).then(|| Arc::new(KeptEarlier(TaskTable::merged(tasks))) as Arc<dyn Earlier>)
}

fn file_name(module: &Module) -> String {
    Path::new(&module.path).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The spot of a function, named by the program's own code where that is in a library's function.
fn function_spot(places: &SymbolPlaces, modules: &[Module], pc: u64) -> Spot {
    let spot = spot(places, modules, pc);
    match quiet::function(places, pc) {
        Some(place) => {
            Spot { file: place.file, line: place.line, function: place.function, library: false, ..spot }
        }
        None => spot,
    }
}

fn spot(places: &SymbolPlaces, modules: &[Module], pc: u64) -> Spot {
    let module = modules.iter().find(|module| pc.wrapping_sub(module.base) < module.size);
    let address = match module {
        Some(module) => format!("{}+{:#x}", file_name(module), pc - module.base),
        None => format!("{pc:#x}"),
    };
    let frames = places.at(pc);
    let place = shown(&frames).cloned().unwrap_or_default();
    let known = !place.library && place.file.is_some();
    Spot { address, file: place.file, line: place.line, function: place.function, library: !known }
}
