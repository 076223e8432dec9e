//! `dfs`, `dpor`, `pcb`, `hapset`: a planner in the driver has decided.
//!
//! The guide of a run says who goes on at each of its first decisions, forced ones included; which options other choices
//! take; who sleeps after that (a planner has been there: the strand stays back until a step that depends on its
//! operation wakes it); and which values keep strands waiting in loops. After the plan, the strand that runs goes on while it
//! can, and the oldest one follows it; the end of the process comes last.
//!
//! The words of a guide, each list after its length:
//! - the plan: pairs of a strand's path and how many decisions it has, doubled, with 1 added for a deadline;
//! - the options: each with the number of its decision ([`option_word`]);
//! - the sleepers: path, kind of operation with its size above, address;
//! - the waits: for each its number of places, then for each place pc, address, size, value, callers.

use crate::conflict::depends;
use crate::{Born, Pick, ROOM_WORDS, Room, RunInfo, Strategy, View};
use threadbare_abi::op::{Op, OpKind, Order};
use threadbare_abi::step::FENCES;
use threadbare_abi::strand::StrandId;

/// Decisions in a row for one strand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The strand's path.
    pub path: u64,
    /// How many.
    pub decisions: u64,
    /// Whether they are for its deadline.
    pub by_deadline: bool,
}

impl Stretch {
    /// As words.
    pub const fn encode(self) -> [u64; 2] {
        [self.path, self.decisions << 1 | self.by_deadline as u64]
    }

    /// From words.
    pub const fn decode([path, word]: [u64; 2]) -> Stretch {
        Stretch { path, decisions: word >> 1, by_deadline: word & 1 == 1 }
    }
}

/// A strand that stays back until a step that depends on an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sleeper {
    /// Its path; 0 for one that was woken.
    pub path: u64,
    /// The operation's kind.
    pub kind: OpKind,
    /// Its bytes.
    pub size: u32,
    /// Its address.
    pub addr: u64,
}

impl Sleeper {
    /// As words.
    pub const fn encode(self) -> [u64; SLEEPER] {
        [self.path, self.kind as u64 | (self.size as u64) << 8, self.addr]
    }

    /// From words; an operation that is none depends on nothing.
    pub const fn decode([path, packed, addr]: [u64; SLEEPER]) -> Sleeper {
        let kind = match OpKind::from_code(packed as u8) {
            Some(kind) => kind,
            None => OpKind::Start,
        };
        Sleeper { path, kind, size: (packed >> 8) as u32, addr }
    }
}

/// What a run is told: its words are those of [`Guide::encode`], and are read where they lie in the room.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guide<'a> {
    /// Who goes on.
    pub plan: &'a [Stretch],
    /// Options that decisions, counted from 1, take for choices of their steps; those of decision 0 come before.
    pub options: &'a [(u64, u32)],
    /// Who sleeps after that.
    pub sleepers: &'a [Sleeper],
}

impl Guide<'_> {
    /// As words; behind them come those of each wait ([`wait`]).
    pub fn encode(&self, words: &mut impl Extend<u64>) {
        words.extend([self.plan.len() as u64]);
        words.extend(self.plan.iter().flat_map(|stretch| stretch.encode()));
        words.extend([self.options.len() as u64]);
        words.extend(self.options.iter().map(|&(decision, option)| option_word(decision, option)));
        words.extend([self.sleepers.len() as u64]);
        words.extend(self.sleepers.iter().flat_map(|sleeper| sleeper.encode()));
    }
}

/// Adds a wait: the looks of a round, each its instruction, address, size, value and callers.
pub fn wait(round: &[[u64; PLACE]], words: &mut impl Extend<u64>) {
    words.extend([round.len() as u64]);
    words.extend(round.as_flattened().iter().copied());
}

/// Words of a sleeper.
const SLEEPER: usize = 3;
/// Steps in a row that only give way before they are taken as a wait.
const PATIENCE: u32 = 64;
/// Bits of an option in its word.
const OPTION_BITS: u32 = 32;

/// The word of an option that a decision, counted from 1, takes for a choice of its step.
const fn option_word(decision: u64, option: u32) -> u64 {
    decision << OPTION_BITS | option as u64
}

/// Decisions in a row for one strand before another has its turn.
const LONG: u32 = 1_000;
/// Words of a place of a wait.
const PLACE: usize = 5;
/// Where the guide is kept in the room; the strands' paths come before it, and what they loaded last.
const GUIDE_AT: usize = ROOM_WORDS / 2;
/// Strands whose last loads are kept, how many loads of each, and the words of a load: pc, address, value, what the strand had.
const TRAILS: usize = 64;
const TRAIL: usize = 8;
const LOAD: usize = 4;
const TRAILS_AT: usize = GUIDE_AT - TRAILS * TRAIL * LOAD;

/// The notes of a run: each is 0 or the number of a decision, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// The decision that could not be made as planned.
    pub departed: u64,
    /// The decision at which only sleepers could go on.
    pub asleep: u64,
}

impl Notes {
    /// The notes in a run's words.
    pub fn read(words: &[u64]) -> Notes {
        let at = |index: usize| words.get(index).copied().unwrap_or(0);
        Notes { departed: at(0), asleep: at(1) }
    }
}

/// The strategy's state.
#[derive(Debug)]
pub struct Planned {
    room: Option<Room>,
    strands: usize,
    words: usize,
    /// Where the next pair of the plan is, and where its list ends.
    plan: (usize, usize),
    /// Decisions left of the current pair, and whether by a deadline.
    left: (u64, bool),
    path: u64,
    options: (usize, usize),
    sleepers: (usize, usize),
    waits: (usize, usize),
    decisions: u64,
    notes: Notes,
    /// Steps in a row in which a strand only gave way.
    gave_way: u32,
    /// Steps in which a strand gave way since a sleeper was last woken.
    patience: u32,
    /// Decisions in a row for the same strand.
    in_a_row: u32,
    /// Decisions for others while a strand stood before the end of the process.
    held: u32,
    /// The operation of the last step after the plan, and what was in memory there before it.
    last: Option<(Pick, Op, u64)>,
}

/// Whether a strand waits in a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    No,
    Perhaps,
    Surely,
}

/// A planner that tries every order.
pub type Dfs = Planned;
/// A planner with dynamic partial-order reduction.
pub type Dpor = Planned;
/// A planner with a bound on preemptions.
pub type Pcb = Planned;
/// A planner for pairs of statements.
pub type Hapset = Planned;

impl Planned {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Planned {
            room: None,
            strands: 0,
            words: 0,
            plan: (0, 0),
            left: (0, false),
            path: 0,
            options: (0, 0),
            sleepers: (0, 0),
            waits: (0, 0),
            decisions: 0,
            notes: Notes { departed: 0, asleep: 0 },
            gave_way: 0,
            patience: 0,
            in_a_row: 0,
            held: 0,
            last: None,
        }
    }

    fn word(&self, at: usize) -> u64 {
        match &self.room {
            Some(room) if at < self.words => room[GUIDE_AT + at],
            _ => 0,
        }
    }

    /// A list that begins with its length, as the range of its words; `each` words an entry.
    fn list(&self, at: usize, each: usize) -> (usize, usize) {
        let length = self.word(at) as usize;
        (at + 1, (at + 1).saturating_add(length.saturating_mul(each)).min(self.words.max(at + 1)))
    }

    fn path_of(&self, strand: StrandId) -> u64 {
        match &self.room {
            Some(room) if strand.index() < TRAILS_AT => room[strand.index()],
            _ => 0,
        }
    }

    /// What the plan says of this decision: a strand's path, and whether its wait ends by the deadline.
    fn planned(&mut self) -> Option<(u64, bool)> {
        while self.left.0 == 0 {
            let (at, end) = self.plan;
            if at + 1 >= end {
                return None;
            }
            let next = Stretch::decode([self.word(at), self.word(at + 1)]);
            (self.path, self.left) = (next.path, (next.decisions, next.by_deadline));
            self.plan.0 += 2;
        }
        self.left.0 -= 1;
        Some((self.path, self.left.1))
    }

    fn depart(&mut self) {
        if self.notes.departed == 0 {
            self.notes.departed = self.decisions;
        }
        (self.plan, self.left) = ((0, 0), (0, false));
    }

    /// Wakes the sleepers whose operation depends on what was just done.
    fn wake_sleepers<V: View>(&mut self, view: &V) {
        let Some((pick, mut op, before)) = self.last.take() else { return };
        // An exchange or a try that fails or changes nothing only looks.
        if deciding(&op, view) == Some(before) {
            op.kind = OpKind::AtomicLoad;
        }
        let (Pick::Run(strand) | Pick::Timeout(strand)) = pick;
        // A deadline may have come, or begun.
        let timer = matches!(pick, Pick::Timeout(_))
            || matches!(
                op.kind,
                OpKind::CondTimedWait | OpKind::MutexTimedLock | OpKind::TimedJoin | OpKind::FutexWait
            );
        let path = self.path_of(strand);
        let (mut at, end) = self.sleepers;
        while at + SLEEPER <= end {
            let words = [self.word(at), self.word(at + 1), self.word(at + 2)];
            let Sleeper { path: sleeper, kind, size, addr } = Sleeper::decode(words);
            let other = Op { kind, order: Order::SeqCst, size, addr, pc: 0 };
            // A wait on a condition gives a mutex back that the operation does not name.
            let gives_back = matches!(op.kind, OpKind::CondWait | OpKind::CondTimedWait)
                && matches!(kind, OpKind::MutexTryLock);
            let timers = timer && kind == OpKind::Sleep;
            // A fence does something to all sequentially consistent operations.
            let total = addr == FENCES
                && (op.kind == OpKind::Fence || kind == OpKind::AtomicRmw && op.order == Order::SeqCst);
            if sleeper != 0 && (sleeper == path || gives_back || timers || total || depends(&op, &other)) {
                self.wake(sleeper);
            }
            at += SLEEPER;
        }
    }

    fn wake(&mut self, sleeper: u64) {
        let (mut at, end) = self.sleepers;
        while at + SLEEPER <= end {
            if let Some(room) = &mut self.room
                && room[GUIDE_AT + at] == sleeper
            {
                room[GUIDE_AT + at] = 0;
            }
            at += SLEEPER;
        }
    }

    fn sleeps(&self, strand: StrandId) -> bool {
        let path = self.path_of(strand);
        let (mut at, end) = self.sleepers;
        while at + SLEEPER <= end {
            if self.word(at) == path {
                return true;
            }
            at += SLEEPER;
        }
        false
    }

    /// Where the strand's last loads are, the newest first.
    fn trail(strand: StrandId) -> Option<usize> {
        (strand.index() < TRAILS).then(|| TRAILS_AT + strand.index() * TRAIL * LOAD)
    }

    /// The strand is about to make this operation.
    fn follow<V: View>(&mut self, strand: StrandId, view: &V) {
        let op = view.op(strand);
        let gives_way = matches!(op.kind, OpKind::Yield | OpKind::Sleep | OpKind::Fence);
        if self.waits.0 == self.waits.1 || gives_way {
            return;
        }
        let load = match op.kind {
            OpKind::Read | OpKind::AtomicLoad | OpKind::AtomicCas | OpKind::AtomicRmw if op.size <= 8 => {
                [op.pc, op.addr, view.value(op.addr, op.size as u8), view.local(strand)]
            }
            // Whatever else it does ends a round.
            _ => [0; LOAD],
        };
        if let (Some(room), Some(at)) = (&mut self.room, Self::trail(strand)) {
            let loads = &mut room[at..at + TRAIL * LOAD];
            loads.rotate_right(LOAD);
            loads[..LOAD].copy_from_slice(&load);
        }
    }

    /// Whether the strand's last loads, the newest first, are these places from the `last` one backwards, with these values.
    fn came_by(&self, strand: StrandId, first: usize, last: usize) -> bool {
        let (Some(room), Some(at)) = (&self.room, Self::trail(strand)) else { return last == 0 };
        last <= TRAIL
            && (0..last).all(|back| {
                let place = first + (last - 1 - back) * PLACE;
                let load = &room[at + back * LOAD..][..LOAD - 1];
                load == [self.word(place), self.word(place + 1), self.word(place + 3)]
            })
    }

    /// Whether the strand has come back, so many loads later, with nothing new but what it loaded.
    fn is_where_it_was<V: View>(&self, strand: StrandId, loads: usize, view: &V) -> bool {
        let (Some(room), Some(at)) = (&self.room, Self::trail(strand)) else { return false };
        (1..=TRAIL).contains(&loads) && room[at + loads * LOAD - 1] == view.local(strand)
    }

    /// Whether the strand stands in a loop, at its head or on its way, whose round was once in vain: what is left of it finds the
    /// values that made a strand wait. In another state it need not wait for them.
    fn waits<V: View>(&self, strand: StrandId, view: &V) -> Waits {
        let op = view.op(strand);
        let mut found = Waits::No;
        let (mut at, end) = self.waits;
        while at < end {
            let places = self.word(at) as usize;
            let first = at + 1;
            at = first + places * PLACE;
            if at > end || places == 0 {
                continue;
            }
            let word = |place: usize, n: usize| self.word(first + place * PLACE + n);
            let holds = |place: usize| view.value(word(place, 1), word(place, 2) as u8) == word(place, 3);
            let stands = |place: usize| {
                word(place, 0) == op.pc
                    && word(place, 1) == op.addr
                    && word(place, 4) == view.context(strand)
                    && (place..places).all(holds)
                    && self.came_by(strand, first, place)
            };
            let open = |place: usize| view.may_see_older(strand, word(place, 1), word(place, 2) as u8);
            if (0..places).any(stands) && !(0..places).any(open) {
                // Its last round has just been in vain, and nothing has changed since.
                let was_there = self.is_where_it_was(strand, places, view);
                if was_there && stands(0) && self.came_by(strand, first, places) {
                    return Waits::Surely;
                }
                found = Waits::Perhaps;
            }
        }
        found
    }

    fn policy<V: View>(&mut self, view: &V) -> Pick {
        let free =
            |strand: StrandId, this: &Self| !this.sleeps(strand) && this.waits(strand, view) == Waits::No;
        let current = view.current();
        let oldest = |accepts: &dyn Fn(StrandId) -> bool| {
            view.enabled().iter().copied().filter(|&strand| accepts(strand)).min()
        };
        // The process ends when the others have come as far as they can: that shows most of what they do.
        let ends = |strand: StrandId| view.op(strand).kind == OpKind::End;
        let end = oldest(&|strand| ends(strand) && free(strand, self));
        if let Some(strand) = end {
            self.held += 1;
            if self.held > LONG || self.gave_way >= PATIENCE {
                return Pick::Run(strand);
            }
        }
        if view.current_enabled() && !view.yields(current) && !ends(current) && free(current, self) {
            return Pick::Run(current);
        }
        let able = |strand: StrandId| free(strand, self) && !view.yields(strand) && !ends(strand);
        // Those that give way have their turns: two that wait for a third one would give way to each other for ever.
        let turn = view.yields(current).then(|| oldest(&|strand| strand > current && able(strand))).flatten();
        if let Some(strand) = turn.or_else(|| oldest(&able)) {
            return Pick::Run(strand);
        }
        // A strand that gives way again and again waits for the others: if those sleep, the rest of the run is known.
        // The main one goes last: the process ends with it, and what others would have done is not seen.
        let sleeper = oldest(&|strand| self.sleeps(strand) && !ends(strand) && strand != StrandId::MAIN);
        let sleeper = sleeper.or_else(|| oldest(&|strand| self.sleeps(strand) && !ends(strand)));
        let sleeper = sleeper.or_else(|| oldest(&|strand| self.sleeps(strand)));
        let waits_for_sleepers = sleeper.is_some() && self.gave_way >= PATIENCE;
        let able = oldest(&|strand| free(strand, self) && !ends(strand));
        // Who waits, as it seems, has a look.
        let looks = || oldest(&|it| !self.sleeps(it) && self.waits(it, view) == Waits::Perhaps);
        if let Some(strand) = able.filter(|_| !waits_for_sleepers).or_else(looks).or(end) {
            return Pick::Run(strand);
        }
        if let Some(&strand) = view.timed().iter().find(|&&strand| !self.sleeps(strand)) {
            return Pick::Timeout(strand);
        }
        if let Some(strand) = sleeper {
            if self.notes.asleep == 0 {
                self.notes.asleep = self.decisions;
            }
            return Pick::Run(strand);
        }
        // Loops that all wait are looked at in turn, until the engine knows.
        let after = view.enabled().iter().copied().filter(|&strand| strand > current).min();
        match after.or_else(|| oldest(&|_| true)) {
            Some(strand) => Pick::Run(strand),
            None => Pick::Run(current),
        }
    }

    /// Another strand, if the one that runs has gone on for so long that it may wait for the others in a way nobody sees. If
    /// that one was to stay back, the plan is not kept.
    fn interrupt<V: View>(&mut self, view: &V) -> Option<Pick> {
        let current = view.current();
        // Strands that try again and again, and give way in between, take turns.
        if self.in_a_row < LONG && self.patience < LONG || !view.current_enabled() {
            return None;
        }
        let sleeper = view.enabled().iter().copied().filter(|&strand| self.sleeps(strand)).min();
        if let Some(sleeper) = sleeper.filter(|_| self.patience >= LONG) {
            self.wake(self.path_of(sleeper));
            self.depart();
            (self.in_a_row, self.patience) = (0, 0);
            return Some(Pick::Run(sleeper));
        }
        (self.in_a_row, self.patience) = (0, 0);
        let others = || view.enabled().iter().copied().filter(|&strand| strand != current);
        let next = others().filter(|&strand| strand > current).min().or_else(|| others().min())?;
        if self.sleeps(next) {
            self.wake(self.path_of(next));
            self.depart();
        }
        Some(Pick::Run(next))
    }

    fn decide<V: View>(&mut self, view: &V) -> Pick {
        let pick = self.decided(view);
        let (Pick::Run(strand) | Pick::Timeout(strand)) = pick;
        self.follow(strand, view);
        pick
    }

    fn decided<V: View>(&mut self, view: &V) -> Pick {
        self.decisions += 1;
        if let Some((path, by_deadline)) = self.planned() {
            let is = |strand: &StrandId| self.path_of(*strand) == path;
            if let Some(strand) = view.enabled().iter().copied().find(is) {
                return Pick::Run(strand);
            }
            if by_deadline && let Some(strand) = view.timed().iter().copied().find(is) {
                return Pick::Timeout(strand);
            }
            self.depart();
        }
        self.wake_sleepers(view);
        let pick = self.interrupt(view).unwrap_or_else(|| self.policy(view));
        let (Pick::Run(strand) | Pick::Timeout(strand)) = pick;
        self.in_a_row = if strand == view.current() { self.in_a_row + 1 } else { 0 };
        let gives_way = view.op(strand).kind == OpKind::Yield;
        self.gave_way = if gives_way { self.gave_way + 1 } else { 0 };
        self.patience += u32::from(gives_way);
        self.last = Some(before(pick, strand, view));
        pick
    }
}

/// What is in the word that tells whether the operation changes its object.
fn deciding<V: View>(op: &Op, view: &V) -> Option<u64> {
    op.kind.deciding_word(op.size).map(|(at, size)| view.value(op.addr + at, size as u8))
}

/// What the strand is about to do, and what is in memory there.
fn before<V: View>(pick: Pick, strand: StrandId, view: &V) -> (Pick, Op, u64) {
    let op = view.op(strand);
    (pick, op, deciding(&op, view).unwrap_or(0))
}

impl Default for Planned {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Planned {
    fn furnish(&mut self, room: Room) {
        self.room = Some(room);
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        let room = self.room.take();
        *self = Planned::new();
        self.room = room;
        if let Some(room) = &mut self.room {
            self.words = info.guide.len().min(ROOM_WORDS - GUIDE_AT);
            room[GUIDE_AT..GUIDE_AT + self.words].copy_from_slice(&info.guide[..self.words]);
        }
        self.plan = self.list(0, 2);
        self.options = self.list(self.plan.1, 1);
        self.sleepers = self.list(self.options.1, SLEEPER);
        self.waits = (self.sleepers.1.min(self.words), self.words);
    }

    fn created(&mut self, born: Born) {
        self.strands = self.strands.max(born.strand.index() + 1);
        if let Some(room) = &mut self.room
            && born.strand.index() < TRAILS_AT
        {
            room[born.strand.index()] = born.path.0;
        }
    }

    // Kept out of the other strategies' way.
    #[cold]
    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        self.decide(view)
    }

    fn choose(&mut self, options: u32) -> u32 {
        // Options of decisions that turned out to have fewer choices are left out.
        while self.options.0 < self.options.1 && self.word(self.options.0) >> OPTION_BITS < self.decisions {
            self.options.0 += 1;
        }
        let (at, end) = self.options;
        if at >= end || self.word(at) >> OPTION_BITS != self.decisions {
            return 0;
        }
        self.options.0 += 1;
        match self.word(at) & ((1 << OPTION_BITS) - 1) {
            option if option < u64::from(options) => option as u32,
            _ => {
                self.depart();
                0
            }
        }
    }

    fn wants_alone(&self) -> bool {
        true
    }

    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        if self.strands < 2 {
            return;
        }
        self.decisions += 1;
        self.follow(strand, view);
        match self.planned() {
            Some((path, _)) if self.path_of(strand) == path => {}
            Some(_) => self.depart(),
            None => {
                self.wake_sleepers(view);
                if self.sleeps(strand) && self.notes.asleep == 0 {
                    self.notes.asleep = self.decisions;
                }
                self.last = Some(before(Pick::Run(strand), strand, view));
            }
        }
    }

    fn finish(&self, notes: &mut [u64]) -> usize {
        if notes.len() < 2 {
            return 0;
        }
        (notes[0], notes[1]) = (self.notes.departed, self.notes.asleep);
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim;
    use std::boxed::Box;
    use std::vec::Vec;

    #[test]
    fn guides_go_through_words() {
        let plan = [
            Stretch { path: 7, decisions: 2, by_deadline: false },
            Stretch { path: 9, decisions: 1, by_deadline: true },
        ];
        let options = [(0, 3), (2, u32::MAX)];
        let sleepers = [
            Sleeper { path: 9, kind: OpKind::MutexLock, size: 40, addr: 0x7fff_f000 },
            Sleeper { path: 11, kind: OpKind::Start, size: 0, addr: 0 },
        ];
        let mut words = Vec::new();
        Guide { plan: &plan, options: &options, sleepers: &sleepers }.encode(&mut words);
        wait(&[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], &mut words);

        let mut strategy = Planned::new();
        strategy.furnish(Box::leak(std::vec![0u64; ROOM_WORDS].into_boxed_slice().try_into().unwrap()));
        strategy.begin(&RunInfo { guide: &words, ..sim::info(0, 0) });
        let decided: Vec<_> = std::iter::from_fn(|| strategy.planned()).collect();
        assert_eq!(decided, [(7, false), (7, false), (9, true)]);
        let (first, end) = strategy.options;
        let read: Vec<_> = (first..end).map(|at| strategy.word(at)).collect();
        assert_eq!(read, options.map(|(decision, option)| option_word(decision, option)));
        let (first, end) = strategy.sleepers;
        let read: Vec<_> = (first..end)
            .step_by(SLEEPER)
            .map(|at| Sleeper::decode([0, 1, 2].map(|word| strategy.word(at + word))))
            .collect();
        assert_eq!(read, sleepers);
        let (first, end) = strategy.waits;
        assert_eq!(
            (first..end).map(|at| strategy.word(at)).collect::<Vec<_>>(),
            [2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        );
    }

    #[test]
    fn guides_that_lie_are_read_as_far_as_they_go() {
        for words in [&[][..], &[9], &[u64::MAX, 1, 2], &[1, 7, 2, u64::MAX, 1], &[0, 0, u64::MAX, 5, 0, 0]] {
            let mut strategy = Planned::new();
            strategy.furnish(Box::leak(std::vec![0u64; ROOM_WORDS].into_boxed_slice().try_into().unwrap()));
            strategy.begin(&RunInfo { guide: words, ..sim::info(0, 0) });
            while strategy.planned().is_some() {}
            assert!(strategy.waits.1 <= words.len());
        }
    }
}
