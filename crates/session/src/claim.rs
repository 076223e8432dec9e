//! What a planner has shown, with the places in the source of what stands against it.

use threadbare_explore::campaign::Config;
use threadbare_explore::planner::{Status, Withdrawal};
use threadbare_findings::Places;
use threadbare_findings::explain::place_text;
use threadbare_findings::places::shown;
use threadbare_report::campaign::PlannerProgress;
use threadbare_report::claim::{Claim, Withdrawn};

/// How far a planner came.
pub fn planner(status: &Status, places: &dyn Places) -> PlannerProgress {
    let reasons = status.withdrawn.iter().map(|it| withdrawn(it, places).words());
    PlannerProgress {
        complete: status.is_complete(),
        finished: status.finished,
        runs: status.runs,
        learning_runs: status.learning,
        classes: status.classes,
        repeated_runs: status.repeated,
        bounds: status.promise.left_out().into_iter().chain(reasons).collect(),
    }
}

/// What that shows of orders that were not run.
pub fn claim(status: &Status, ended_by: &str, config: &Config, places: &dyn Places) -> Claim {
    let promise = (status.promise.name(), status.promise.words());
    let withdrawn = status.withdrawn.iter().map(|it| withdrawn(it, places)).collect();
    let memory = status.model.words();
    let (count, faults) = ((status.classes, status.runs), config.faults);
    let mut claim = Claim::of(promise, count, status.finished, ended_by, memory, withdrawn, faults);
    if config.in_order && !claim.holds_for.is_empty() {
        claim.holds_for.push("deadlines in their order".to_owned());
    }
    claim
}

fn withdrawn(it: &Withdrawal, places: &dyn Places) -> Withdrawn {
    let frames = if it.pc == 0 { Vec::new() } else { places.at(it.pc) };
    Withdrawn {
        reason: it.reason.name().to_owned(),
        text: it.reason.words(),
        place: shown(&frames).map(place_text),
    }
}
