//! `paired`: two calls run against each other while everyone else is held.
//!
//! A call is a stretch of a strand's steps: its first and its last one, each named by instruction and number as for [`crate::ordered`]. A strand that stands before the first step of
//! its call is held until the other one does, too. From then on only these two go on, in the order that the guide gives, until both have made their last
//! steps. If neither can, others go on, a step at a time, until one of them can: what strands wait for comes, so no deadlock is made up, and every
//! run is one of the program's own. What is before and behind the two calls is another strategy's, or as plain as can be.
//!
//! The guide: how strands come to their calls ([`APPROACH_PAIR`] and the others); for each of the two calls the strand's path, instruction and number of its first step, instruction and number of its last
//! one, and how many steps it may make; who begins (0, 1, or 2: the other strategy decides; with [`OTHERS_FIRST`] added others go on where the one cannot whose turn it is); how many turns, and the steps of each, after which it is the other's; then the known way to the calls: paths and numbers of steps.
//! The parameter: the number of the strategy that decides the rest. The notes: whether both stood before their calls, which of the calls came to
//! their ends, a bit for each, and how many steps others had to make meanwhile.

use crate::apart::Apart;
use crate::ordered::{Free, Rest, rest};
use crate::{Born, IN_ORDER, Pick, Room, RunInfo, Strategy, View};
use threadbare_abi::op::{Op, OpKind};
use threadbare_abi::strand::{StrandId, StrandPath};

/// The two strands go on first, then the one that ran, then the oldest.
pub const APPROACH_PAIR: u64 = 0;
/// The other strands go on first, the youngest one before the others.
pub const APPROACH_OTHERS: u64 = 1;
/// The other strategy decides.
pub const APPROACH_DRAWN: u64 = 2;
/// As the guide says, as far as that goes; then as with [`APPROACH_PAIR`].
pub const APPROACH_KNOWN: u64 = 3;
/// Changes of strands on a known way.
pub const WAY: usize = 512;
/// Added to who begins: while the one whose turn it is waits, others go on before the second of the two does.
pub const OTHERS_FIRST: u64 = 4;
/// Words of a call in the guide.
const CALL_WORDS: usize = 6;
/// Turns of the guide.
pub const TURNS: usize = 16;
/// Strands that the rest is offered at a point.
const OFFERED: usize = 512;
/// Strands that a known way may name.
const STRANDS: usize = 128;
/// Points until strands have come to their calls, beyond four times the expected ones.
const PATIENCE: u64 = 50_000;
/// Steps in a row in which the two only give way.
const GAVE_WAY: u32 = 64;

/// What a run is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guide<'a> {
    /// How strands come to their calls.
    pub approach: u64,
    /// For each call the strand's path, instruction and number of its first step, instruction and number of its last one, and how many steps it may make.
    pub calls: [[u64; CALL_WORDS]; 2],
    /// Who begins.
    pub begins: u64,
    /// The steps of each turn.
    pub turns: &'a [u64],
    /// The known way to the calls: paths, and numbers of steps.
    pub way: &'a [[u64; 2]],
}

impl<'a> Guide<'a> {
    /// As words.
    pub fn encode(&self, words: &mut impl Extend<u64>) {
        words.extend([self.approach]);
        words.extend(self.calls.as_flattened().iter().copied());
        words.extend([self.begins, self.turns.len() as u64]);
        words.extend(self.turns.iter().chain(self.way.as_flattened()).copied());
    }

    /// From words; lists that lie are read as far as they go.
    pub fn decode(words: &'a [u64]) -> Option<Guide<'a>> {
        let (&approach, words) = words.split_first()?;
        let (&[one, two], _) = words.as_chunks::<CALL_WORDS>().0.split_first_chunk()?;
        let (&[begins, count], words) = words[2 * CALL_WORDS..].split_first_chunk()?;
        let (turns, way) = words.split_at((count as usize).min(words.len()));
        Some(Guide { approach, calls: [one, two], begins, turns, way: way.as_chunks().0 })
    }
}

/// How far a strand is with its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Coming,
    Inside,
    Done,
}

/// A step, and how often the strand has made a step there.
#[derive(Clone, Copy, Debug)]
struct Mark {
    pc: u64,
    number: u64,
    count: u64,
}

const NOWHERE: Mark = Mark { pc: 0, number: 0, count: 0 };

#[derive(Clone, Copy, Debug)]
struct Call {
    path: StrandPath,
    strand: StrandId,
    first: Mark,
    last: Mark,
    left: u64,
    at: At,
}

const NO_CALL: Call = Call {
    path: StrandPath(0),
    strand: StrandId::NONE,
    first: NOWHERE,
    last: NOWHERE,
    left: 0,
    at: At::Coming,
};

impl Call {
    fn stands_before<V: View>(&self, view: &V) -> bool {
        self.at == At::Coming
            && self.strand != StrandId::NONE
            && self.first.count + 1 == self.first.number
            && view.op(self.strand).pc == self.first.pc
    }

    /// The strand makes this operation.
    fn goes_on(&mut self, op: &Op, together: bool) {
        self.first.count += u64::from(self.first.pc == op.pc);
        self.last.count += u64::from(self.last.pc == op.pc);
        if self.at == At::Coming && self.first.count >= self.first.number {
            self.at = At::Inside;
        }
        if self.at == At::Inside && together {
            self.left = self.left.saturating_sub(1);
        }
        if self.at == At::Inside && (self.last.count >= self.last.number || self.left == 0) {
            self.at = At::Done;
        }
    }
}

/// What is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Approach,
    Together,
    Over,
}

/// The strategy's state.
#[derive(Debug)]
pub struct Paired {
    rest: Rest,
    room: Option<Room>,
    approach: u64,
    calls: [Call; 2],
    phase: Phase,
    /// Whose turn it is; 2 where the other strategy decides.
    turn: usize,
    others_first: bool,
    /// Steps that are left of each turn.
    turns: [u64; TURNS],
    next: usize,
    count: usize,
    /// The known way to the calls: paths and steps, how many, and which is next.
    way: [(StrandPath, u64); WAY],
    way_count: usize,
    way_next: usize,
    /// Strands of the way.
    strands: [(StrandPath, StrandId); STRANDS],
    strand_count: usize,
    born: u32,
    patience: u64,
    gave_way: u32,
    met: bool,
    helped: u64,
    free: [StrandId; OFFERED],
}

impl Apart<Paired> {
    /// A strategy that has not begun.
    pub(crate) fn new() -> Self {
        Apart::put(Paired::new)
    }
}

impl Paired {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Paired {
            rest: Rest::new(0),
            room: None,
            approach: 0,
            calls: [NO_CALL; 2],
            phase: Phase::Over,
            turn: 0,
            others_first: false,
            turns: [0; TURNS],
            next: 0,
            count: 0,
            way: [(StrandPath(0), 0); WAY],
            way_count: 0,
            way_next: 0,
            strands: [(StrandPath(0), StrandId::NONE); STRANDS],
            strand_count: 0,
            born: 0,
            patience: 0,
            gave_way: 0,
            met: false,
            helped: 0,
            free: [StrandId::NONE; OFFERED],
        }
    }

    fn read_guide(&mut self, guide: &[u64]) {
        (self.calls, self.phase) = ([NO_CALL; 2], Phase::Over);
        (self.next, self.count) = (0, 0);
        (self.way_next, self.way_count, self.strand_count) = (0, 0, 0);
        let Some(Guide { approach, calls, begins, turns, way }) = Guide::decode(guide) else { return };
        let mark = |pc, number| Mark { pc, number, count: 0 };
        for (call, [path, pc, number, last, last_number, left]) in self.calls.iter_mut().zip(calls) {
            *call = Call {
                path: StrandPath(path),
                first: mark(pc, number),
                last: mark(last, last_number),
                left: left.max(1),
                ..NO_CALL
            };
        }
        (self.approach, self.turn, self.phase) = (approach, (begins % 4) as usize % 3, Phase::Approach);
        self.others_first = begins & OTHERS_FIRST != 0;
        for &turn in turns.iter().take(TURNS) {
            self.turns[self.count] = turn;
            self.count += 1;
        }
        for &[path, steps] in way.iter().take(WAY) {
            self.way[self.way_count] = (StrandPath(path), steps);
            self.way_count += 1;
        }
    }

    fn goes_on<V: View>(&mut self, strand: StrandId, view: &V) {
        let op = view.op(strand);
        let together = self.phase == Phase::Together;
        for (at, call) in self.calls.iter_mut().enumerate() {
            if call.strand != strand {
                continue;
            }
            call.goes_on(&op, together);
            if together && self.turn == at && self.next < self.count {
                self.turns[self.next] = self.turns[self.next].saturating_sub(1);
            }
        }
        if together {
            let gives_way = matches!(op.kind, OpKind::Yield | OpKind::Sleep);
            self.gave_way = if gives_way { self.gave_way + 1 } else { 0 };
            self.helped += u64::from(self.calls.iter().all(|call| call.strand != strand));
            if self.calls.iter().all(|call| call.at == At::Done) {
                self.phase = Phase::Over;
            }
        }
        if self.phase == Phase::Approach && self.calls.iter().any(|call| call.at != At::Coming) {
            // One of them could not be held.
            self.phase = Phase::Over;
        }
        match self.patience {
            0 => self.phase = Phase::Over,
            _ => self.patience -= 1,
        }
    }

    /// The strands that accept this, among those that can go on.
    fn offer<V: View>(&mut self, view: &V, accept: impl Fn(StrandId) -> bool) -> usize {
        let mut count = 0;
        for &strand in view.enabled() {
            if count < OFFERED && accept(strand) {
                self.free[count] = strand;
                count += 1;
            }
        }
        count
    }

    fn drawn<V: View>(&mut self, view: &V, count: usize) -> Pick {
        let shown = Free { view, enabled: &self.free[..count] };
        rest!(&mut self.rest, rest => rest.pick(&shown))
    }

    /// Who goes on by the known way; a strand that cannot is passed over.
    fn known(&mut self, count: usize) -> Option<StrandId> {
        while self.way_next < self.way_count {
            let (path, left) = self.way[self.way_next];
            let named = self.strands[..self.strand_count].iter().find(|(other, _)| *other == path);
            let strand = named.map(|(_, strand)| *strand);
            if let Some(strand) = strand.filter(|strand| left > 0 && self.free[..count].contains(strand)) {
                self.way[self.way_next].1 -= 1;
                return Some(strand);
            }
            self.way_next += 1;
        }
        None
    }

    fn approach<V: View>(&mut self, view: &V) -> Pick {
        let calls = self.calls;
        let held =
            |strand: StrandId| calls.iter().any(|call| call.strand == strand && call.stands_before(view));
        let count = self.offer(view, |strand| !held(strand));
        if count == 0 {
            if let Some(&strand) = view.timed().first().filter(|_| self.patience > 0) {
                self.patience -= 1;
                return Pick::Timeout(strand);
            }
            self.phase = Phase::Over;
            return rest!(&mut self.rest, rest => rest.pick(view));
        }
        if self.approach == APPROACH_DRAWN {
            return self.drawn(view, count);
        }
        if self.approach == APPROACH_KNOWN
            && let Some(strand) = self.known(count)
        {
            return Pick::Run(strand);
        }
        let is_one = |strand: StrandId| calls.iter().any(|call| call.strand == strand);
        let current = view.current();
        let others_first = self.approach == APPROACH_OTHERS;
        let rank = |strand: StrandId| {
            let ends = view.op(strand).kind == OpKind::End;
            let age = if others_first { u16::MAX - strand.0 } else { strand.0 };
            (ends, view.yields(strand), is_one(strand) == others_first, strand != current, age)
        };
        let best = self.free[..count].iter().copied().min_by_key(|&strand| rank(strand));
        Pick::Run(best.unwrap_or(self.free[0]))
    }

    fn together<V: View>(&mut self, view: &V) -> Pick {
        let calls = self.calls;
        let can = |at: usize| calls[at].at != At::Done && view.enabled().contains(&calls[at].strand);
        if self.turn == 2 && can(0) && can(1) && self.gave_way < GAVE_WAY {
            (self.free[0], self.free[1]) = (calls[0].strand, calls[1].strand);
            return self.drawn(view, 2);
        }
        while self.turn < 2 && self.next < self.count && self.turns[self.next] == 0 {
            (self.turn, self.next) = (1 - self.turn, self.next + 1);
        }
        let order = if self.turn == 1 { [1, 0] } else { [0, 1] };
        let ready = |at: &usize| can(*at) && !view.yields(calls[*at].strand);
        let waits = self.others_first && calls[order[0]].at != At::Done && !ready(&order[0]);
        if self.gave_way < GAVE_WAY
            && !waits
            && let Some(at) = order.into_iter().find(ready)
        {
            return Pick::Run(calls[at].strand);
        }
        // Both wait: others go on until one of them can. Whoever is done with its call is one of the others.
        self.gave_way = 0;
        let inside = |strand: StrandId| calls.iter().any(|call| call.strand == strand && call.at != At::Done);
        let count = self.offer(view, |strand| !inside(strand));
        if count > 0 {
            let current = view.current();
            let rank = |strand: StrandId| {
                (view.op(strand).kind == OpKind::End, view.yields(strand), strand != current, strand.0)
            };
            let best = self.free[..count].iter().copied().min_by_key(|&strand| rank(strand));
            return Pick::Run(best.unwrap_or(self.free[0]));
        }
        if let Some(at) = order.into_iter().find(|&at| can(at)) {
            return Pick::Run(calls[at].strand);
        }
        match view.timed().first() {
            Some(&strand) => Pick::Timeout(strand),
            None => Pick::Run(view.enabled()[0]),
        }
    }
}

impl Default for Paired {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Paired {
    fn furnish(&mut self, room: Room) {
        self.room = Some(room);
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        self.rest = Rest::new(info.params[0]);
        if let Some(room) = self.room.take() {
            rest!(&mut self.rest, rest => rest.furnish(room));
        }
        let mut params = [0; 8];
        params[IN_ORDER] = info.params[IN_ORDER];
        let rest_of = RunInfo { params, guide: &[], ..*info };
        rest!(&mut self.rest, rest => rest.begin(&rest_of));
        self.read_guide(info.guide);
        (self.met, self.helped, self.gave_way, self.born) = (false, 0, 0, 0);
        self.patience = PATIENCE.saturating_add(info.estimate_choices.saturating_mul(4));
    }

    // Kept out of the other strategies' way.
    #[cold]
    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        if self.phase == Phase::Approach && self.calls.iter().all(|call| call.stands_before(view)) {
            (self.phase, self.met) = (Phase::Together, true);
        }
        let pick = match self.phase {
            Phase::Approach => self.approach(view),
            Phase::Together => self.together(view),
            Phase::Over => rest!(&mut self.rest, rest => rest.pick(view)),
        };
        if let Pick::Run(strand) = pick {
            self.goes_on(strand, view);
        }
        pick
    }

    fn choose(&mut self, options: u32) -> u32 {
        match self.phase {
            // Strands come to their calls in the same way each time.
            Phase::Approach if self.approach != APPROACH_DRAWN => 0,
            _ => rest!(&mut self.rest, rest => rest.choose(options)),
        }
    }

    fn created(&mut self, born: Born) {
        self.born += 1;
        for call in self.calls.iter_mut().filter(|call| call.path == born.path) {
            call.strand = born.strand;
        }
        if self.strand_count < STRANDS {
            self.strands[self.strand_count] = (born.path, born.strand);
            self.strand_count += 1;
        }
        rest!(&mut self.rest, rest => rest.created(born));
    }

    fn wants_alone(&self) -> bool {
        true
    }

    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        rest!(&mut self.rest, rest => if rest.wants_alone() { rest.alone(strand, view) });
        // Steps before the second strand are told to nobody, and have no numbers.
        if self.born < 2 {
            return;
        }
        if self.phase == Phase::Approach && self.calls.iter().all(|call| call.stands_before(view)) {
            (self.phase, self.met) = (Phase::Together, true);
        }
        if self.phase == Phase::Approach && self.way_next < self.way_count {
            // One step of the way, if it is this strand's; those who come first on it may not be there yet.
            let empty = usize::from(self.way[self.way_next].1 == 0);
            let at = (self.way_next + empty).min(self.way_count - 1);
            let named = self.strands[..self.strand_count].iter().find(|(_, other)| *other == strand);
            if named.is_some_and(|(path, _)| *path == self.way[at].0) {
                self.way_next = at;
                self.way[at].1 = self.way[at].1.saturating_sub(1);
            }
        }
        self.goes_on(strand, view);
    }

    fn finish(&self, notes: &mut [u64]) -> usize {
        if notes.len() < 3 {
            return 0;
        }
        let done = |at: usize| u64::from(self.calls[at].at == At::Done) << at;
        (notes[0], notes[1], notes[2]) = (u64::from(self.met), done(0) | done(1), self.helped);
        3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StrategyId;
    use crate::sim::{self, Machine, Step};
    use std::vec;
    use std::vec::Vec;

    const A: u64 = 0x100;

    fn path(strand: u32) -> u64 {
        StrandPath::MAIN.child(strand + 1).0
    }

    /// Three strands with four steps each; the calls are the second and third step of the first two.
    fn run(approach: u64, begins: u64, turns: &[u64], seed: u64) -> (Vec<Step>, [u64; 3]) {
        let op = |pc: u64| Op { size: 8, ..Op::new(OpKind::AtomicStore, A, pc) };
        let strand = |base: u64| (1..5).map(|at| op(base + at)).collect::<Vec<_>>();
        let machine = Machine::of(vec![strand(10), strand(20), strand(30)]);
        let mut guide =
            vec![approach, path(0), 12, 1, 13, 1, 9, path(1), 22, 1, 23, 1, 9, begins, turns.len() as u64];
        guide.extend(turns);
        guide.extend([path(2), 2, path(1), 1, path(0), 1]);
        let mut strategy = Paired::new();
        strategy.furnish(sim::room());
        let info = RunInfo { guide: &guide, ..sim::info(seed, StrategyId::Random as u64) };
        let steps = machine.run(&mut strategy, &info);
        let mut notes = [0; 3];
        strategy.finish(&mut notes);
        (steps, notes)
    }

    /// The steps of the calls, and whatever came between them.
    fn middle(steps: &[Step]) -> Vec<u64> {
        let inside = |step: &Step| [12, 13, 22, 23].contains(&step.pc);
        let first = steps.iter().position(inside).unwrap();
        let last = steps.iter().rposition(inside).unwrap();
        steps[first..=last].iter().map(|step| step.pc).collect()
    }

    #[test]
    fn the_two_run_in_the_order_that_was_asked_for() {
        for approach in 0..4 {
            for seed in 0..20 {
                for (begins, turns, order) in [
                    (0, &[][..], [12, 13, 22, 23]),
                    (1, &[], [22, 23, 12, 13]),
                    (0, &[1], [12, 22, 23, 13]),
                    (1, &[1, 1], [22, 12, 23, 13]),
                ] {
                    let (steps, notes) = run(approach, begins, turns, seed);
                    assert_eq!((steps.len(), notes), (12, [1, 3, 0]));
                    assert_eq!(middle(&steps), order, "{approach} {seed}");
                }
                let (steps, notes) = run(approach, 2, &[], seed);
                assert_eq!((middle(&steps).len(), notes), (4, [1, 3, 0]));
            }
        }
    }

    #[test]
    fn others_go_on_where_both_wait() {
        let op = |kind, addr, pc| Op { size: 8, ..Op::new(kind, addr, pc) };
        let lock = |pc| op(OpKind::MutexLock, 0x300, pc);
        let unlock = |pc| op(OpKind::MutexUnlock, 0x300, pc);
        // The third strand has the lock that both calls need.
        let machine = Machine::of(vec![
            vec![op(OpKind::AtomicStore, A, 11), lock(12), unlock(13)],
            vec![op(OpKind::AtomicStore, A, 21), lock(22), unlock(23)],
            vec![lock(31), op(OpKind::AtomicStore, A, 32), op(OpKind::AtomicStore, A, 33), unlock(34)],
        ]);
        let mut helped = 0;
        for seed in 0..50 {
            let guide = [2, path(0), 12, 1, 13, 1, 9, path(1), 22, 1, 23, 1, 9, 0, 0];
            let mut strategy = Paired::new();
            strategy.furnish(sim::room());
            let info = RunInfo { guide: &guide, ..sim::info(seed, StrategyId::Random as u64) };
            let steps = machine.run(&mut strategy, &info);
            let mut notes = [0; 3];
            strategy.finish(&mut notes);
            assert_eq!((steps.len(), notes[0], notes[1]), (10, 1, 3));
            helped += notes[2];
        }
        assert!(helped > 0);
    }

    #[test]
    fn guides_go_through_words() {
        let calls = [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]];
        for (turns, way) in [(&[][..], &[][..]), (&[3, 0, 5], &[]), (&[1], &[[1, 2], [3, 4]])] {
            let guide = Guide { approach: APPROACH_KNOWN, calls, begins: 1 | OTHERS_FIRST, turns, way };
            let mut words = std::vec::Vec::new();
            guide.encode(&mut words);
            assert_eq!(Guide::decode(&words), Some(guide));
            assert_eq!(Guide::decode(&words[..2 * CALL_WORDS + 2]), None);
        }
    }

    #[test]
    fn what_never_comes_holds_nobody() {
        let (op, mut strategy) = (|pc| Op { size: 8, ..Op::new(OpKind::AtomicStore, A, pc) }, Paired::new());
        let machine = Machine::of(vec![vec![op(1), op(2)], vec![op(3), op(4)]]);
        strategy.furnish(sim::room());
        for guide in [
            &[][..],
            &[0],
            &[0, path(0), 2, 1, 2, 1, 9, path(1), 99, 1, 4, 1, 9, 0, 0],
            &[0, path(0), 2, 1, 2, 1, 9, path(7), 4, 1, 4, 1, 9, 5, 99, 0, 0],
        ] {
            let steps = machine.run(&mut strategy, &RunInfo { guide, ..sim::info(1, 1) });
            let mut notes = [9; 3];
            assert_eq!((steps.len(), strategy.finish(&mut notes), notes[0]), (4, 3, 0));
        }
    }
}
