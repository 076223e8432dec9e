//! Moments of a run in terms of the source: stacks, locks, creations.

use crate::explain::variable;
use crate::finding::{Creation, Happening, HeldLock, StrandDetail};
use crate::places::{Place, Places, shown};
use threadbare_abi::op::OpKind;
use threadbare_abi::report::StrandState;
use threadbare_abi::strand::StrandId;
use threadbare_trace::report::Moment;
use threadbare_trace::run::RunFacts;
use threadbare_trace::strands::Strands;

/// Who tells of a run: what is known of it, and who knows the symbols.
#[derive(Clone, Copy)]
pub(crate) struct Teller<'a> {
    pub(crate) facts: &'a RunFacts,
    pub(crate) strands: &'a Strands,
    pub(crate) places: &'a dyn Places,
}

impl Teller<'_> {
    /// The name of a strand.
    pub(crate) fn name(&self, strand: u16) -> String {
        self.strands.name(StrandId(strand))
    }

    /// The whole stack of a moment, innermost first, without the runtime's own frames.
    pub(crate) fn stack(&self, moment: &Moment) -> Vec<Place> {
        let own = (moment.pc != 0).then_some(moment.pc);
        let mut stack: Vec<Place> =
            own.iter().chain(&moment.frames).flat_map(|&pc| self.places.at(pc)).collect();
        stack.retain(|place| !is_runtime(place));
        stack
    }

    /// The locks held at a moment.
    pub(crate) fn locks(&self, moment: &Moment) -> Vec<HeldLock> {
        moment.held.iter().map(|&(addr, pc)| held_lock(addr, pc, self.places)).collect()
    }

    /// What a strand did at a moment.
    pub(crate) fn happening(&self, moment: &Moment) -> Happening {
        Happening { strand: self.name(moment.strand), stack: self.stack(moment) }
    }

    /// What the strand was doing that panicked: seen from outside, it has no place but the one in its message.
    pub(crate) fn panicked(&self) -> Option<StrandDetail> {
        let (report, verdict) = (&self.facts.report, &self.facts.verdict);
        let moment = report.details.panic.as_ref()?;
        let place = verdict.place.as_ref()?;
        let named = || Place { file: Some(place.file.clone()), line: Some(place.line), ..Place::default() };
        let mut stack = vec![self.places.function_at(&place.file, place.line).unwrap_or_else(named)];
        stack.extend(moment.frames.iter().flat_map(|&pc| self.places.at(pc)));
        stack.retain(|place| !is_runtime(place));
        let strand = report.strand(moment.strand);
        Some(StrandDetail {
            strand: self.name(moment.strand),
            name: strand.map(|strand| strand.name.clone()).unwrap_or_default(),
            state: strand.and_then(|strand| strand.state).map_or("running", StrandState::name).to_owned(),
            stack,
            ..StrandDetail::default()
        })
    }

    /// Where the strands that matter were created.
    pub(crate) fn creations(&self) -> Vec<Creation> {
        let report = &self.facts.report;
        let creation = |(&strand, moment): (&u16, &Moment)| {
            let told = report.strand(strand);
            Creation {
                strand: self.name(strand),
                name: told.map(|strand| strand.name.clone()).unwrap_or_default(),
                by: self.name(told.map_or(moment.strand, |strand| strand.parent)),
                stack: self.stack(moment),
            }
        };
        report.details.creations.iter().map(creation).collect()
    }
}

/// A lock and the place it was taken at.
pub(crate) fn held_lock(addr: u64, pc: u64, places: &dyn Places) -> HeldLock {
    HeldLock {
        object: variable(OpKind::MutexLock, addr, places),
        taken_at: shown(&places.at(pc)).cloned().filter(|_| pc != 0),
    }
}

/// Whether a frame is the runtime's own, which called `main` or the strand's function.
pub(crate) fn is_runtime(place: &Place) -> bool {
    place.address.starts_with("libthreadbare_rt.so+")
        || place.function.as_deref().is_some_and(|function| function.starts_with("threadbare_rt::"))
}
