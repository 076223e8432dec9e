//! How much a schedule asks of its reader.

use threadbare_abi::event::{ChoiceKind, Segment, StopKind};
use threadbare_abi::fault::Fault;
use threadbare_abi::op::OpKind;

/// Whether a segment is a stretch of a strand, not another choice.
pub fn is_strand(segment: &Segment) -> bool {
    segment.kind == ChoiceKind::Strand as u8 || segment.kind == ChoiceKind::Timeout as u8
}

/// The size of a schedule; less is better, the first counts most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Shape {
    /// Atomic loads that did not see the newest store, and stores that came before newer ones.
    pub stale: u64,
    /// Faults.
    pub faults: u64,
    /// Switches away from a strand that could have gone on.
    pub preemptions: u64,
    /// Strands that do something.
    pub strands: u64,
    /// Switches.
    pub switches: u64,
    /// Events.
    pub events: u64,
    /// Choices of the program's own that are not the first option.
    pub values: u64,
}

impl Shape {
    /// The shape of a run.
    pub fn of(segments: &[Segment]) -> Shape {
        let faults = segments.iter().filter(|segment| Fault::of(segment).is_some()).count() as u64;
        let is_value = |segment: &&Segment| segment.kind == ChoiceKind::Own as u8 && segment.path != 0;
        let values = segments.iter().filter(is_value).count() as u64;
        let mut shape = Shape { faults, values, ..Shape::default() };
        let mut strands: Vec<u64> = Vec::new();
        let mut last: Option<&Segment> = None;
        for segment in segments.iter().filter(|segment| is_strand(segment)) {
            shape.events += segment.events;
            if !strands.contains(&segment.path) {
                strands.push(segment.path);
            }
            if let Some(last) = last.replace(segment)
                && last.path != segment.path
            {
                shape.switches += 1;
                shape.preemptions += u64::from(is_preemption(last));
            }
        }
        shape.strands = strands.len() as u64;
        shape.stale = segments.iter().filter(|it| it.kind == ChoiceKind::ReadsFrom as u8).count() as u64;
        shape
    }
}

/// Whether a strand was stopped that could have gone on, and did not give way by itself.
fn is_preemption(segment: &Segment) -> bool {
    segment.how == StopKind::Preempted as u8 && segment.spins == 0 && segment.op != OpKind::Yield as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(path: u64, events: u64, how: StopKind) -> Segment {
        Segment { path, events, how: how as u8, ..Segment::default() }
    }

    #[test]
    fn who_gives_way_or_spins_is_not_preempted() {
        use StopKind::{Blocked, Ended, Final, Preempted};
        let wake = Segment { path: 2, events: 3, kind: ChoiceKind::Wake as u8, ..Segment::default() };
        let mut segments = vec![
            segment(1, 10, Blocked),
            segment(7, 5, Preempted),
            wake,
            segment(8, 4, Preempted),
            segment(7, 6, Ended),
            segment(8, 1, Ended),
            segment(1, 3, Final),
        ];
        let shape = Shape::of(&segments);
        assert_eq!((shape.preemptions, shape.strands, shape.switches, shape.events), (2, 3, 5, 29));
        segments[1].spins = 1;
        segments[3].op = OpKind::Yield as u8;
        assert_eq!(Shape::of(&segments).preemptions, 0);
    }
}
