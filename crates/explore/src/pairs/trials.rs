//! The runs of one test: the two calls in many orders, the plain ones first.
//!
//! First each after the other, both ways round; then with one change of turns before a step that depends on the other call, then with two; then as another strategy
//! draws it. Strands come to their calls in one way at a time, and the same orders are tried in another one while there are runs left.

use std::collections::VecDeque;
use std::sync::Arc;
use threadbare_pairs::{Meeting, Span};
use threadbare_strategy::paired::{
    APPROACH_DRAWN, APPROACH_KNOWN, APPROACH_OTHERS, APPROACH_PAIR, Guide, OTHERS_FIRST,
};

/// One run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Trial {
    pub(super) meeting: usize,
    approach: u64,
    /// Which of the two are held as late as can be, a bit for each.
    late: u8,
    begins: u64,
    turns: Vec<u64>,
}

impl Trial {
    /// Whether one call comes after the other, and strands come to them in a way that is the same in every run.
    pub(super) fn is_plain(&self) -> bool {
        self.turns.is_empty() && self.begins < 2 && self.is_fixed()
    }

    /// Whether strands come to their calls in a way that is the same in every run.
    pub(super) fn is_fixed(&self) -> bool {
        self.approach != APPROACH_DRAWN
    }

    fn is_late(&self, at: usize) -> bool {
        self.late >> at & 1 == 1
    }

    /// Which call begins.
    pub(super) fn begins(&self) -> u64 {
        self.begins
    }

    /// What has to be the same for runs to be comparable.
    pub(super) fn state(&self) -> State {
        (self.meeting, self.approach, self.late)
    }

    /// The words of the guide of `paired`.
    pub(super) fn words(&self, meeting: &Meeting) -> Arc<[u64]> {
        let call = |(at, span): (usize, &Span)| {
            // Other orders may take other ways through the call.
            let most = span.steps.saturating_mul(4).saturating_add(256);
            let first = if self.is_late(at) { (span.late.0, span.late.1) } else { span.first };
            [span.path, first.0, first.1, span.last.0, span.last.1, most]
        };
        let [one, two] = &meeting.spans;
        let known = if self.approach == APPROACH_KNOWN { &meeting.way[..] } else { &[] };
        let way: Vec<[u64; 2]> = known.iter().map(|&(path, steps)| [path, steps]).collect();
        let guide = Guide {
            approach: self.approach,
            calls: [call((0, one)), call((1, two))],
            begins: self.begins,
            turns: &self.turns,
            way: &way,
        };
        let mut words = Vec::new();
        guide.encode(&mut words);
        words.into()
    }
}

/// What has to be the same for runs to be comparable: the meeting, how strands come to it, and who is held late.
pub(super) type State = (usize, u64, u8);

/// Orders with two changes of turns.
const DOUBLE: usize = 96;
/// Runs in which another strategy draws the order.
const DRAWN: usize = 12;
/// Ways in which strands came to their calls that all orders are tried in.
const STATES: usize = 3;
/// Drawn ways in which strands are to come to their calls.
const DRAWN_APPROACHES: usize = 6;

/// The runs of a test that are left.
#[derive(Debug)]
pub(super) struct Trials {
    /// Ways in which strands may come to the calls, that were not tried yet.
    ways: VecDeque<State>,
    open: VecDeque<Trial>,
    /// The way that is being tried, whether it led to the calls, and whether all orders were asked for.
    now: Option<State>,
    met: bool,
    states: usize,
}

impl Trials {
    pub(super) fn new(meetings: &[Meeting]) -> Trials {
        let mut ways = VecDeque::new();
        for approach in [APPROACH_KNOWN, APPROACH_PAIR, APPROACH_OTHERS] {
            ways.extend((0..meetings.len()).map(|meeting| (meeting, approach, 0)));
        }
        // What one does first may be what the other waits for.
        for (meeting, of) in meetings.iter().enumerate() {
            let later = |at: usize| of.spans[at].late.2 > 0;
            for late in (1..4u8).filter(|late| (0..2).all(|at| late >> at & 1 == 0 || later(at))) {
                ways.extend([APPROACH_KNOWN, APPROACH_PAIR].map(|approach| (meeting, approach, late)));
            }
        }
        for at in 0..DRAWN_APPROACHES.min(meetings.len() * DRAWN_APPROACHES) {
            ways.push_back((at % meetings.len().max(1), APPROACH_DRAWN, 0));
        }
        Trials { ways, open: VecDeque::new(), now: None, met: false, states: 0 }
    }

    /// A run of this test came to both calls.
    pub(super) fn met(&mut self) {
        self.met = true;
    }

    /// The next run.
    pub(super) fn next(&mut self, meetings: &[Meeting]) -> Option<Trial> {
        loop {
            if let Some(trial) = self.open.pop_front() {
                return Some(trial);
            }
            if let Some(state) = self.now.take().filter(|_| self.met) {
                self.states += 1;
                self.open = orders(&meetings[state.0], state).into();
                self.met = false;
                continue;
            }
            if self.states >= STATES {
                return None;
            }
            let state = self.ways.pop_front()?;
            // Held late is for those who did not meet otherwise.
            if state.2 > 0 && self.states > 0 {
                continue;
            }
            (self.now, self.met) = (Some(state), false);
            let (meeting, approach, late) = state;
            for begins in 0..2 {
                self.open.push_back(Trial { meeting, approach, late, begins, turns: Vec::new() });
            }
        }
    }
}

/// The orders of two calls but for the two plain ones.
fn orders(of: &Meeting, (meeting, approach, late): State) -> Vec<Trial> {
    let trial = |begins: u64, turns: Vec<u64>| Trial { meeting, approach, late, begins, turns };
    let from = |at: usize| if late >> at & 1 == 1 { of.spans[at].late.2 } else { 0 };
    let inner = |at: usize| {
        let points = of.spans[at].points.iter().filter_map(move |point| point.checked_sub(from(at)));
        points.filter(|&point| point > 0)
    };
    let mut all: Vec<Trial> =
        (0..2).flat_map(|at| inner(at).map(move |i| trial(at as u64, vec![i]))).collect();
    let mut double: Vec<(u64, Trial)> = Vec::new();
    for at in 0..2 {
        for i in inner(at) {
            double.extend(inner(1 - at).map(|j| (i + j, trial(at as u64, vec![i, j]))));
        }
    }
    // While the first of them waits for somebody else, the second stays where it is.
    for begins in [0, 1] {
        all.push(trial(begins | OTHERS_FIRST, Vec::new()));
        all.extend(inner(begins as usize).map(|i| trial(begins | OTHERS_FIRST, vec![i])));
    }
    double.sort_by_key(|(steps, _)| *steps);
    // Of many, some from everywhere.
    let every = double.len().div_ceil(DOUBLE).max(1);
    all.extend(double.into_iter().step_by(every).map(|(_, trial)| trial));
    all.extend((0..DRAWN).map(|_| trial(2, Vec::new())));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meeting(points: [&[u64]; 2]) -> Meeting {
        let span = |path: u64, points: &[u64]| Span {
            path,
            first: (path * 10, 1),
            last: (path * 10 + 9, 1),
            steps: 5,
            points: points.to_vec(),
            late: (path * 10, 1, 0),
        };
        let spans = [span(1, points[0]), span(2, points[1])];
        Meeting { run: 0, spans, distance: 0, object: (0x1000, 0x1008), way: vec![(7, 8)] }
    }

    #[test]
    fn all_orders_of_what_depends_are_tried_once_the_calls_meet() {
        let meetings = [meeting([&[0, 2], &[1, 3]])];
        let mut trials = Trials::new(&meetings);
        let (first, second) = (trials.next(&meetings).unwrap(), trials.next(&meetings).unwrap());
        assert!(first.is_plain() && second.is_plain() && first != second);
        assert_eq!(
            first.words(&meetings[0])[..],
            [3, 1, 10, 1, 19, 1, 276, 2, 20, 1, 29, 1, 276, 0, 0, 7, 8]
        );
        trials.met();
        let turns: Vec<Vec<u64>> =
            (0..3).map(|_| trials.next(&meetings).unwrap()).map(|trial| trial.turns).collect();
        assert_eq!(turns, [vec![2], vec![1], vec![3]]);
        for turns in [vec![], vec![2], vec![], vec![1], vec![3]] {
            let trial = trials.next(&meetings).unwrap();
            assert_eq!((trial.turns, trial.begins & OTHERS_FIRST), (turns, OTHERS_FIRST));
        }
        let turns: Vec<Vec<u64>> =
            (0..4).map(|_| trials.next(&meetings).unwrap()).map(|trial| trial.turns).collect();
        assert_eq!(turns, [vec![2, 1], vec![1, 2], vec![2, 3], vec![3, 2]]);
    }

    #[test]
    fn calls_that_never_meet_are_given_up() {
        let meetings = [meeting([&[0], &[0]]), meeting([&[0], &[0]])];
        let mut trials = Trials::new(&meetings);
        let runs = std::iter::from_fn(|| trials.next(&meetings)).count();
        assert_eq!(runs, 2 * (6 + DRAWN_APPROACHES));
    }
}
