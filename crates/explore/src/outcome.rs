//! What the campaign keeps of each run: little of a clean one, all of a failure it has not seen before.

use crate::error::Error;
use crate::run::{Ended, Request};
use crate::server::Server;
use crate::verdict;
use threadbare_abi::report::StrandState;
use threadbare_abi::verdict::VerdictKind;
use threadbare_trace::hash::Fnv;
use threadbare_trace::report::{Module, RunReport, Warning, has_warning};
use threadbare_trace::run::{Counters, End, RunFacts, Verdict};

/// The result of one run of a campaign.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) counters: Counters,
    pub(crate) learnt: Vec<u64>,
    /// What the strategy noted, and who read from whom.
    pub(crate) lessons: (Vec<u64>, Vec<u64>),
    pub(crate) warnings: Vec<Warning>,
    /// The modules, where the warnings need them.
    pub(crate) modules: Vec<Module>,
    pub(crate) verdict: Verdict,
    /// The failure's key, and the facts unless an earlier run showed the same.
    pub(crate) failure: Option<(u64, Option<Box<RunFacts>>)>,
    /// The run was made again and was the same.
    pub(crate) replayed: bool,
    /// The run was made again and was another: the facts of the second, and what differs.
    pub(crate) mismatch: Option<(Box<RunFacts>, String)>,
}

impl Outcome {
    /// Takes the outcome of the run that has just ended. `wants` tells whether the details of a failure are needed.
    pub(crate) fn of(
        server: &Server,
        request: &Request,
        ended: &Ended,
        wants: impl FnOnce(u64) -> bool,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome {
            counters: ended.live.counters,
            learnt: if ended.live.learnt > 0 { server.learnt(ended) } else { Vec::new() },
            lessons: server.lessons(),
            warnings: Vec::new(),
            modules: Vec::new(),
            verdict: Verdict::clean(),
            failure: None,
            replayed: false,
            mismatch: None,
        };
        if verdict::is_clean(ended.end, &ended.live) {
            let bytes = server.report_bytes(ended);
            if has_warning(&bytes) {
                let report = RunReport::decode(&bytes);
                (outcome.warnings, outcome.modules) = (report.warnings, report.modules);
            }
            return Ok(outcome);
        }
        let mut facts = server.facts(request, ended, false)?;
        if !facts.report.warnings.is_empty() {
            outcome.warnings = facts.report.warnings.clone();
            outcome.modules = facts.report.modules.clone();
        }
        outcome.verdict = facts.verdict.clone();
        if facts.verdict.kind != VerdictKind::None {
            let key = failure_key(&facts);
            let wanted = wants(key);
            // Segments that are not all of the run are of no use.
            if wanted && can_follow(ended) && ended.live.counters.segments_lost == 0 {
                facts.segments = server.segments(ended);
            }
            outcome.failure = Some((key, wanted.then(|| Box::new(facts))));
        }
        Ok(outcome)
    }

    /// Compares the run with its second making.
    pub(crate) fn compare(&mut self, first: &Ended, second: &RunFacts) {
        let (a, b) = (&self.verdict, &second.verdict);
        let mut differences = Vec::new();
        if (a.kind, a.code, a.pc, a.strand) != (b.kind, b.code, b.pc, b.strand) || a.place != b.place {
            let show = |verdict: &Verdict| match verdict.kind {
                VerdictKind::None => "clean".to_owned(),
                kind => format!("{}: {}", kind.name(), verdict.message),
            };
            differences.push(format!("the run was `{}`, its replay `{}`", show(a), show(b)));
        }
        let (one, two) = (first.live.counters, second.counters);
        if one.trace_hash != two.trace_hash {
            differences.push(format!(
                "the run's trace has hash {:016x} ({} events, {} points, {} switches), its replay's {:016x} ({} events, {} points, {} switches)",
                one.trace_hash, one.events, one.points, one.switches, two.trace_hash, two.events, two.points, two.switches,
            ));
        }
        if differences.is_empty() {
            self.replayed = true;
        } else {
            self.mismatch = Some((Box::new(second.clone()), differences.join("; ")));
        }
    }
}

/// Whether the choices of a run are all there: not of one that was killed.
pub(crate) fn can_follow(ended: &Ended) -> bool {
    ended.end != End::TimedOut
}

/// A number that is the same for failures that are surely the same: kind and raw places. Places in the source are
/// compared later, once for each key.
fn failure_key(facts: &RunFacts) -> u64 {
    let mut hash = Fnv::new();
    let verdict = &facts.verdict;
    hash.write(&[verdict.kind as u8]);
    if let Some(place) = &verdict.place {
        hash.write(place.file.as_bytes());
        hash.write(&place.line.to_le_bytes());
    }
    hash.write(&verdict.code.to_le_bytes());
    if verdict.kind == VerdictKind::Timeout {
        // Where it was when its time was over is chance.
        return hash.finish();
    }
    hash.write(&relative(&facts.report, verdict.pc));
    let waits = matches!(verdict.kind, VerdictKind::Deadlock | VerdictKind::Livelock);
    let mut places: Vec<_> = facts
        .report
        .strands
        .iter()
        .filter(|strand| strand.state != Some(StrandState::Ended))
        .filter_map(|strand| strand.pending.map(|pending| (pending.op, relative(&facts.report, pending.pc))))
        .filter(|_| waits)
        .collect();
    places.sort_unstable();
    places.dedup();
    for (op, place) in places {
        hash.write(&[op as u8]);
        hash.write(&place);
    }
    if verdict.pc == 0
        && let Some(strand) = facts.report.strand(verdict.strand)
    {
        for &pc in strand.frames.iter().take(4) {
            hash.write(&relative(&facts.report, pc));
        }
    }
    hash.finish()
}

/// A pc as module and offset, so that it is the same where addresses are not.
fn relative(report: &RunReport, pc: u64) -> [u8; 10] {
    let (module, offset) = match report.module_of(pc) {
        Some((index, module)) => (index as u16, pc - module.base),
        None => (u16::MAX, pc),
    };
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&module.to_le_bytes());
    bytes[2..].copy_from_slice(&offset.to_le_bytes());
    bytes
}
