//! The symbols of a program, as far as whoever conducts a campaign asks for them.

use crate::trouble::Trouble;
use std::path::Path;
use threadbare_findings::{NoPlaces, Places, SymbolPlaces};
use threadbare_symbols::ProgramId;
use threadbare_trace::report::Module;
use threadbare_trace::run::RunFacts;

/// The build a program is.
pub fn program_id(program: &Path) -> Result<String, Trouble> {
    let id = ProgramId::of(program).map_err(|error| {
        Trouble::usage(format!("cannot read `{}`: {error}", program.display()), "is the file still there?")
    })?;
    Ok(id.to_string())
}

/// The symbols of a run's modules; made anew only when another module was loaded.
#[derive(Debug, Default)]
pub struct KeptPlaces {
    modules: Vec<Module>,
    places: Option<SymbolPlaces>,
}

impl KeptPlaces {
    /// Those of these modules of a program.
    pub fn of(&mut self, modules: &[Module], program: &Path) -> &dyn Places {
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

/// Where a replay left its schedule, in lines to add to a message.
pub fn divergence(facts: &RunFacts, places: &dyn Places) -> String {
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
