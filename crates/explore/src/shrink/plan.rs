//! Plans for runs that follow them loosely, made from schedules and changed a little.
//!
//! **Shrinking counts a strand's own events**, not positions in the run: a stretch means the same whatever came before
//! it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use threadbare_abi::event::{ChoiceKind, Segment, StopKind};
use threadbare_abi::fault::Fault;
use threadbare_abi::strand::StrandPath;
use threadbare_trace::shape::is_strand;

/// A strand goes on until it has made so many events since its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Stretch {
    pub(crate) path: u64,
    pub(crate) target: u64,
    /// It is stopped there; else it goes on from there while it can.
    pub(crate) stops: bool,
    /// It goes on by its deadline.
    pub(crate) by_deadline: bool,
}

impl Stretch {
    /// The strand goes on while it can.
    pub(crate) fn open(path: u64) -> Stretch {
        Stretch { path, target: 0, stops: false, by_deadline: false }
    }
}

/// A choice that is no strand, made by a strand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct Choice {
    pub(crate) path: u64,
    pub(crate) kind: u8,
    pub(crate) option: u64,
    /// Of a stale read: the events that its strand has made since its beginning. Others come in order.
    pub(crate) at: u64,
    /// The code of a fault, 0 for other choices.
    pub(crate) fault: u64,
}

impl Choice {
    fn of(segment: &Segment) -> Choice {
        let fault = Fault::of(segment).map_or(0, |fault| fault as u64);
        let at = if is_stale(segment) { segment.events } else { 0 };
        Choice { path: 0, kind: segment.kind, option: segment.path, at, fault }
    }

    /// Whether the program asked for it.
    fn is_own(&self) -> bool {
        self.kind == ChoiceKind::Own as u8
    }

    fn segment(&self) -> Segment {
        Segment {
            path: self.option,
            // One of the two is 0.
            events: self.at + self.fault,
            stop: self.path,
            kind: self.kind,
            ..Segment::default()
        }
    }
}

/// Whether a segment is a load that did not see the newest store, or a store that came before newer ones.
pub(crate) fn is_stale(segment: &Segment) -> bool {
    segment.kind == ChoiceKind::ReadsFrom as u8
}

/// A plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Hash)]
pub(crate) struct Plan {
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) choices: Vec<Choice>,
}

impl Plan {
    /// The plan that makes a run again.
    pub(crate) fn of(segments: &[Segment]) -> Plan {
        Plan::up_to(segments, None)
    }

    /// The same up to a moment in the segment with this index: its strand has made so many events by then, and is stopped
    /// there, or has stopped itself.
    pub(crate) fn up_to(segments: &[Segment], end: Option<(usize, u64)>) -> Plan {
        let mut plan = Plan::default();
        let mut own: HashMap<u64, u64> = HashMap::new();
        let mut waiting: Vec<Choice> = Vec::new();
        for (index, segment) in segments.iter().enumerate() {
            if !is_strand(segment) {
                waiting.push(Choice::of(segment));
                continue;
            }
            let made = own.entry(segment.path).or_default();
            let begun = *made;
            *made += segment.events;
            plan.choices.extend(waiting.drain(..).map(|choice| {
                let at = if choice.kind == ChoiceKind::ReadsFrom as u8 { begun + choice.at } else { 0 };
                Choice { path: segment.path, at, ..choice }
            }));
            let mut stretch = Stretch {
                path: segment.path,
                target: *made,
                stops: segment.how == StopKind::Preempted as u8 && segment.spins == 0,
                by_deadline: segment.kind == ChoiceKind::Timeout as u8,
            };
            if let Some((last, count)) = end
                && last == index
            {
                stretch.stops |= count < *made;
                stretch.target = count;
                plan.stretches.push(stretch);
                return plan;
            }
            plan.stretches.push(stretch);
        }
        plan
    }

    /// The segments that tell the runtime.
    pub(crate) fn segments(&self) -> Vec<Segment> {
        let strand = |stretch: &Stretch| Segment {
            path: stretch.path,
            events: stretch.target,
            kind: if stretch.by_deadline { ChoiceKind::Timeout } else { ChoiceKind::Strand } as u8,
            how: if stretch.stops { StopKind::Preempted } else { StopKind::Blocked } as u8,
            ..Segment::default()
        };
        let mut list = Vec::with_capacity(self.stretches.len() + self.choices.len() + 1);
        // The main strand begins, whatever a plan says.
        if self.stretches.first().is_none_or(|first| first.path != StrandPath::MAIN.0) {
            list.push(strand(&Stretch::open(StrandPath::MAIN.0)));
        }
        list.extend(self.stretches.iter().map(strand));
        list.extend(self.choices.iter().map(Choice::segment));
        list
    }

    /// Its faults.
    pub(crate) fn faults(&self) -> Vec<Choice> {
        self.choices.iter().copied().filter(|choice| choice.fault != 0).collect()
    }

    /// Its faults, and the choices of the program's own.
    pub(crate) fn fixed(&self) -> Vec<Choice> {
        self.choices.iter().copied().filter(|choice| choice.fault != 0 || choice.is_own()).collect()
    }

    /// With these faults besides its own, and these choices of the program's behind its own.
    pub(crate) fn with_fixed(&self, fixed: &[Choice]) -> Plan {
        let mut plan = self.clone();
        let mut made: HashMap<u64, usize> = HashMap::new();
        for choice in self.choices.iter().filter(|choice| choice.is_own()) {
            *made.entry(choice.path).or_default() += 1;
        }
        for choice in fixed {
            let known = match choice.is_own() {
                true => {
                    let left = made.entry(choice.path).or_default();
                    let known = *left > 0;
                    *left = left.saturating_sub(1);
                    known
                }
                false => self.choices.contains(choice),
            };
            if !known {
                plan.choices.push(*choice);
            }
        }
        plan
    }

    /// Without some of its faults, counted among the faults.
    pub(crate) fn without_faults(&self, which: std::ops::Range<usize>) -> Plan {
        let faults = self.faults();
        let left_out = &faults[which];
        let choices = self.choices.iter().copied().filter(|choice| !left_out.contains(choice)).collect();
        Plan { stretches: self.stretches.clone(), choices }
    }

    /// How many choices of the program's own there are.
    pub(crate) fn values(&self) -> usize {
        self.choices.iter().filter(|choice| choice.is_own()).count()
    }

    /// With the first option for some choices of the program's own, counted among these.
    pub(crate) fn with_first_options(&self, which: std::ops::Range<usize>) -> Plan {
        let mut plan = self.clone();
        let own = plan.choices.iter_mut().filter(|choice| choice.is_own());
        own.enumerate().filter(|(at, _)| which.contains(at)).for_each(|(_, choice)| choice.option = 0);
        plan
    }

    /// A number for plans that are the same.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }

    /// The stretches that end in a preemption, by index.
    pub(crate) fn preemptions(&self) -> Vec<usize> {
        let stops = |&at: &usize| self.stretches[at].stops;
        (0..self.stretches.len()).filter(stops).collect()
    }

    /// Lets the strands that are stopped at these stretches go on instead: each up to its next stop.
    pub(crate) fn without_preemptions(&self, which: &[usize]) -> Plan {
        let mut list: Vec<Option<Stretch>> = self.stretches.iter().copied().map(Some).collect();
        // From the end, so that what a stretch is joined with is final.
        for &at in which.iter().rev() {
            let Some(stretch) = list[at] else { continue };
            let later =
                (at + 1..list.len()).find(|&later| list[later].is_some_and(|it| it.path == stretch.path));
            list[at] = Some(match later.and_then(|later| list[later].take()) {
                Some(later) => Stretch { by_deadline: stretch.by_deadline, ..later },
                None => Stretch { stops: false, ..stretch },
            });
        }
        Plan { stretches: list.into_iter().flatten().collect(), choices: self.choices.clone() }
    }

    /// The choices that are stale reads, by index.
    pub(crate) fn stale(&self) -> Vec<usize> {
        let stale = |&at: &usize| self.choices[at].kind == ChoiceKind::ReadsFrom as u8;
        (0..self.choices.len()).filter(stale).collect()
    }

    /// Lets these loads see the newest store.
    pub(crate) fn without_stale(&self, which: &[usize]) -> Plan {
        let kept = self.choices.iter().enumerate().filter(|(at, _)| !which.contains(at));
        Plan { stretches: self.stretches.clone(), choices: kept.map(|(_, choice)| *choice).collect() }
    }

    /// Leaves stretches out: their strands come later, or not at all.
    pub(crate) fn without(&self, drop: impl Fn(usize, &Stretch) -> bool) -> Plan {
        let kept = self.stretches.iter().enumerate().filter(|(at, stretch)| !drop(*at, stretch));
        Plan { stretches: kept.map(|(_, stretch)| *stretch).collect(), choices: self.choices.clone() }
    }

    /// With one stretch at another place, where its strand may go on while it can.
    pub(crate) fn moved(&self, from: usize, to: usize, open: bool) -> Plan {
        let mut plan = self.clone();
        let mut stretch = plan.stretches.remove(from);
        stretch.stops &= !open;
        plan.stretches.insert(to, stretch);
        plan
    }

    /// With two neighbours in the other order.
    pub(crate) fn swapped(&self, at: usize) -> Plan {
        let mut plan = self.clone();
        plan.stretches.swap(at, at + 1);
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(path: u64, events: u64, how: StopKind) -> Segment {
        Segment { path, events, how: how as u8, ..Segment::default() }
    }

    fn sample() -> Vec<Segment> {
        use StopKind::{Blocked, Ended, Final, Preempted};
        let wake = Segment { path: 2, events: 3, kind: ChoiceKind::Wake as u8, ..Segment::default() };
        vec![
            segment(StrandPath::MAIN.0, 10, Blocked),
            segment(7, 5, Preempted),
            wake,
            segment(8, 4, Preempted),
            segment(7, 6, Ended),
            segment(8, 1, Ended),
            segment(StrandPath::MAIN.0, 3, Final),
        ]
    }

    fn told(plan: &Plan) -> Vec<(u64, u64, bool)> {
        plan.stretches.iter().map(|it| (it.path % 100, it.target, it.stops)).collect()
    }

    #[test]
    fn a_plan_counts_each_strands_own_events() {
        let main = StrandPath::MAIN.0 % 100;
        let plan = Plan::of(&sample());
        assert_eq!(
            told(&plan),
            [(main, 10, false), (7, 5, true), (8, 4, true), (7, 11, false), (8, 5, false), (main, 13, false)]
        );
        assert_eq!(
            plan.choices,
            [Choice { path: 8, kind: ChoiceKind::Wake as u8, option: 2, at: 0, fault: 0 }]
        );
        let part = Plan::up_to(&sample(), Some((4, 8)));
        assert_eq!(told(&part), [(main, 10, false), (7, 5, true), (8, 4, true), (7, 8, true)]);
    }

    #[test]
    fn a_preemption_is_taken_out_by_going_on() {
        let main = StrandPath::MAIN.0 % 100;
        let plan = Plan::of(&sample());
        assert_eq!(plan.preemptions(), [1, 2]);
        let one = plan.without_preemptions(&[1]);
        assert_eq!(
            told(&one),
            [(main, 10, false), (7, 11, false), (8, 4, true), (8, 5, false), (main, 13, false)]
        );
        let none = plan.without_preemptions(&[1, 2]);
        assert_eq!(told(&none), [(main, 10, false), (7, 11, false), (8, 5, false), (main, 13, false)]);
    }
}
