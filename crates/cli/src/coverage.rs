//! What a campaign covered, kept in its folder.

use std::path::Path;
use threadbare_coverage::kept::{FILE, Identity};
use threadbare_coverage::{Campaign, Kept, Spot};
use threadbare_explore::campaign::{Config, Summary};
use threadbare_explore::store::Store;
use threadbare_findings::places::shown;
use threadbare_findings::{Places, SymbolPlaces};
use threadbare_trace::report::Module;

/// Adds the campaign to the folder's coverage. What goes wrong is no reason to fail: it is told.
pub(crate) fn keep(
    config: &Config,
    program_id: &str,
    label: Option<&str>,
    summary: &Summary,
    store: &Store,
) -> Option<String> {
    if summary.coverage.runs() == 0 {
        return None;
    }
    let target = &config.target;
    let identity = Identity {
        program: target.program.display().to_string(),
        program_id: program_id.to_owned(),
        args: target.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        label: label.unwrap_or_default().to_owned(),
        strategy: config.search.to_string(),
        seed: config.seed,
        points: config.points.name().to_owned(),
    };
    let places = SymbolPlaces::new(&summary.modules, &target.program);
    let campaign = Campaign::new(identity, &summary.coverage, |pc| spot(&places, &summary.modules, pc));
    let path = store.folder().join(FILE);
    let (mut kept, warning) = match std::fs::read_to_string(&path).map(|text| Kept::parse(&text)) {
        Ok(Ok(kept)) => (kept, None),
        Ok(Err(why)) => (Kept::default(), Some(format!("`{}` is made anew: {why}", path.display()))),
        Err(_) => (Kept::default(), None),
    };
    kept.add(campaign);
    match store.write(FILE, kept.to_text().as_bytes()) {
        Ok(_) => warning,
        Err(error) => Some(format!("coverage could not be kept: {}", crate::exit::chain(&error))),
    }
}

fn spot(places: &SymbolPlaces, modules: &[Module], pc: u64) -> Spot {
    let module = modules.iter().find(|module| pc.wrapping_sub(module.base) < module.size);
    let address = match module {
        Some(module) => {
            let name = Path::new(&module.path).file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!("{name}+{:#x}", pc - module.base)
        }
        None => format!("{pc:#x}"),
    };
    let frames = places.at(pc);
    let place = shown(&frames).cloned().unwrap_or_default();
    let known = !place.library && place.file.is_some();
    Spot { address, file: place.file, line: place.line, function: place.function, library: !known }
}
