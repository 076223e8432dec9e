//! What a shrunk run must still show: the same finding.

use std::collections::BTreeSet;
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::race::RacePair;
use threadbare_trace::report::RunReport;
use threadbare_trace::run::{RunFacts, SourcePlace};

/// A finding, so that it is known again in another run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Goal {
    /// A race between these places.
    Race(RacePair),
    /// A verdict.
    Verdict(Box<Failing>),
}

/// A verdict and its places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failing {
    kind: VerdictKind,
    code: i32,
    place: Option<SourcePlace>,
    /// Module and offset.
    pc: Option<(usize, u64)>,
    /// Of a deadlock, who waits where. Waits for a strand's end only follow from others and are left out, unless there
    /// are no others.
    waits: BTreeSet<(u8, Option<(usize, u64)>)>,
    /// Of a livelock, whether it is one by the number of points.
    counted: bool,
}

impl Goal {
    /// What the facts show; `race` is the pair, if it is a race.
    pub(crate) fn of(facts: &RunFacts, race: Option<RacePair>) -> Goal {
        match race {
            Some(pair) => Goal::Race(pair),
            None => Goal::Verdict(Box::new(Failing::of(facts))),
        }
    }

    /// Whether a run shows it.
    pub(crate) fn is_met(&self, facts: &RunFacts) -> bool {
        match self {
            Goal::Race(pair) => !facts.verdict.is_internal() && facts.report.race_of(*pair).is_some(),
            Goal::Verdict(wanted) => facts.verdict.is_failure() && Failing::of(facts) == **wanted,
        }
    }

    /// Whether only runs with races can show it.
    pub(crate) fn is_race(&self) -> bool {
        matches!(self, Goal::Race(_))
    }
}

impl Failing {
    fn of(facts: &RunFacts) -> Failing {
        let verdict = &facts.verdict;
        let waits = matches!(verdict.kind, VerdictKind::Deadlock | VerdictKind::Livelock);
        Failing {
            kind: verdict.kind,
            code: verdict.code,
            place: verdict.place.clone(),
            // Where strands wait, who noticed it is chance.
            pc: if waits { None } else { relative(&facts.report, verdict.pc) },
            waits: if waits { waiting(facts) } else { BTreeSet::new() },
            counted: verdict.kind == VerdictKind::Livelock && verdict.message.contains("points"),
        }
    }
}

fn waiting(facts: &RunFacts) -> BTreeSet<(u8, Option<(usize, u64)>)> {
    let strands = &facts.report.strands;
    let cycle = strands.iter().any(|strand| strand.stuck);
    let of = |joins: bool| {
        strands
            .iter()
            .filter(|strand| if cycle { strand.stuck } else { strand.state != Some(StrandState::Ended) })
            .filter_map(|strand| strand.pending)
            .filter(|pending| (pending.op == OpKind::Join) == joins)
            .map(|pending| (pending.op as u8, relative(&facts.report, pending.pc)))
            .collect::<BTreeSet<_>>()
    };
    let others = of(false);
    if others.is_empty() { of(true) } else { others }
}

fn relative(report: &RunReport, pc: u64) -> Option<(usize, u64)> {
    match report.module_of(pc) {
        Some((index, module)) => Some((index, pc - module.base)),
        None => (pc != 0).then_some((usize::MAX, pc)),
    }
}
