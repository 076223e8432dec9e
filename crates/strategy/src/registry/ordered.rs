//! `ordered`: strands stand before steps until others have made theirs; whatever that leaves open is another strategy's.
//!
//! A step is named by the strand, the instruction, and the how-manieth time the strand comes to it, so it means the same
//! whatever the others do. The driver works out from earlier runs which steps have to wait for which (`explore`'s `futures`).
//! When every strand that can go on is held, the last hold of the list that holds one of them is given up, so every run goes on.
//!
//! An atomic load can be told which store it is to see, where it has a choice: whose, and of which instruction. That is an older one than the newest, or the
//! wish would be one for an order alone. Where the memory model does not let it see that one, it sees the newest.
//!
//! The guide: how many holds; for each the step that is held (strand's path, instruction, number from 1) and, in the same
//! way, the step that it waits for; then how many loads; for each its step, and the store's strand and instruction, 0 for the oldest that it may see. The parameter: the number of the strategy that decides the rest, and above it that one's parameter.
//! The notes: how many holds there were, and how many of them were given up.

use crate::apart::Apart;
use crate::delay::Delay;
use crate::pct::Pct;
use crate::pos::Pos;
use crate::random::Random;
use crate::round_robin::RoundRobin;
use crate::stall::Stall;
use crate::uniform::Uniform;
use crate::{Born, IN_ORDER, Load, Pick, Room, RunInfo, Strategy, StrategyId, View};
use threadbare_abi::op::Op;
use threadbare_abi::strand::{StrandId, StrandPath};

/// Holds at a time.
pub const HOLDS: usize = 128;
/// Words of a hold in the guide.
const HOLD_WORDS: usize = 6;
/// Loads that are told which store they see.
pub const LOADS: usize = 16;
/// Words of one of them in the guide.
const LOAD_WORDS: usize = 5;
/// Strands that the rest is offered at a point.
const OFFERED: usize = 512;
/// Points for which strands are held, beyond four times the expected ones.
const PATIENCE: u64 = 50_000;

/// What a run is told. A step is a strand's path, an instruction, and a number from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Guide<'a> {
    /// For each hold the step that is held, then the one that it waits for.
    pub holds: &'a [[u64; HOLD_WORDS]],
    /// For each load its step, then the path and the instruction of the store.
    pub loads: &'a [[u64; LOAD_WORDS]],
}

impl<'a> Guide<'a> {
    /// As words.
    pub fn encode(&self, words: &mut impl Extend<u64>) {
        words.extend([self.holds.len() as u64]);
        words.extend(self.holds.as_flattened().iter().copied());
        words.extend([self.loads.len() as u64]);
        words.extend(self.loads.as_flattened().iter().copied());
    }

    /// From words; one that lies is read as far as it goes.
    pub fn decode(words: &'a [u64]) -> Guide<'a> {
        let (holds, rest) = list(words, HOLDS);
        let (loads, _) = list(rest, LOADS);
        Guide { holds, loads }
    }
}

/// A list that begins with its length, and what is behind it.
fn list<const WORDS: usize>(words: &[u64], most: usize) -> (&[[u64; WORDS]], &[u64]) {
    let (&count, words) = words.split_first().unwrap_or((&0, &[]));
    let (entries, _) = words.as_chunks::<WORDS>();
    let entries = &entries[..(count as usize).min(most).min(entries.len())];
    (entries, &words[entries.len() * WORDS..])
}

/// A step of a strand.
#[derive(Clone, Copy, Debug)]
struct Mark {
    path: StrandPath,
    strand: StrandId,
    pc: u64,
    number: u64,
    /// How often the strand has made a step there.
    count: u64,
}

const NOWHERE: Mark = Mark { path: StrandPath(0), strand: StrandId::NONE, pc: 0, number: 0, count: 0 };

impl Mark {
    fn is_before(&self, strand: StrandId, op: &Op) -> bool {
        self.strand == strand && self.pc == op.pc && self.count + 1 == self.number
    }

    fn is_made(&self) -> bool {
        self.count >= self.number
    }
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    held: Mark,
    until: Mark,
    active: bool,
}

const NONE: Hold = Hold { held: NOWHERE, until: NOWHERE, active: false };

/// A load, and the store that it is to see.
#[derive(Clone, Copy, Debug)]
struct Sees {
    load: Mark,
    path: StrandPath,
    strand: StrandId,
    /// 0 for what was there first.
    pc: u64,
}

const NOTHING: Sees = Sees { load: NOWHERE, path: StrandPath(0), strand: StrandId::NONE, pc: 0 };

/// Who decides what the holds leave open.
#[derive(Debug)]
pub(crate) enum Rest {
    Random(Random),
    Uniform(Uniform),
    RoundRobin(RoundRobin),
    Pct(Pct),
    Pos(Pos),
    Delay(Delay),
    Stall(Stall),
}

macro_rules! rest {
    ($self:expr, $it:ident => $what:expr) => {
        match $self {
            $crate::ordered::Rest::Random($it) => $what,
            $crate::ordered::Rest::Uniform($it) => $what,
            $crate::ordered::Rest::RoundRobin($it) => $what,
            $crate::ordered::Rest::Pct($it) => $what,
            $crate::ordered::Rest::Pos($it) => $what,
            $crate::ordered::Rest::Delay($it) => $what,
            $crate::ordered::Rest::Stall($it) => $what,
        }
    };
}

impl Rest {
    pub(crate) const fn new(code: u64) -> Rest {
        let id = if code > 0xFFFF { None } else { StrategyId::from_code(code as u32) };
        match id {
            Some(StrategyId::Random) => Rest::Random(Random::new()),
            Some(StrategyId::Uniform) => Rest::Uniform(Uniform::new()),
            Some(StrategyId::RoundRobin) => Rest::RoundRobin(RoundRobin::new()),
            Some(StrategyId::Pct) => Rest::Pct(Pct::new()),
            Some(StrategyId::Delay) => Rest::Delay(Delay::new()),
            Some(StrategyId::Stall) => Rest::Stall(Stall::new()),
            _ => Rest::Pos(Pos::new()),
        }
    }
}

pub(crate) use rest;

/// Where the parameter of the strategy that decides the rest is in the parameter.
pub const REST_SHIFT: u32 = 16;

/// Whether the rest can be left to this strategy; `pos` has it otherwise.
pub const fn can_have_the_rest(id: StrategyId) -> bool {
    matches!(
        id,
        StrategyId::Random
            | StrategyId::Uniform
            | StrategyId::RoundRobin
            | StrategyId::Pct
            | StrategyId::Pos
            | StrategyId::Delay
            | StrategyId::Stall
    )
}

/// What the rest is shown: those who are not held.
pub(crate) struct Free<'a, V> {
    pub(crate) view: &'a V,
    pub(crate) enabled: &'a [StrandId],
}

impl<V: View> View for Free<'_, V> {
    fn enabled(&self) -> &[StrandId] {
        self.enabled
    }
    fn current(&self) -> StrandId {
        self.view.current()
    }
    fn current_enabled(&self) -> bool {
        self.enabled.contains(&self.view.current())
    }
    fn op(&self, strand: StrandId) -> Op {
        self.view.op(strand)
    }
    fn any_yields(&self) -> bool {
        self.view.any_yields()
    }
    fn yields(&self, strand: StrandId) -> bool {
        self.view.yields(strand)
    }
    fn timed(&self) -> &[StrandId] {
        self.view.timed()
    }
    fn last_writer(&self, addr: u64) -> u64 {
        self.view.last_writer(addr)
    }
    fn value(&self, addr: u64, size: u8) -> u64 {
        self.view.value(addr, size)
    }
    fn context(&self, strand: StrandId) -> u64 {
        self.view.context(strand)
    }
    fn local(&self, strand: StrandId) -> u64 {
        self.view.local(strand)
    }
}

/// The strategy's state.
#[derive(Debug)]
pub struct Ordered {
    rest: Rest,
    room: Option<Room>,
    holds: [Hold; HOLDS],
    count: usize,
    sees: [Sees; LOADS],
    loads: usize,
    given_up: u64,
    patience: u64,
    /// Strands that were created: steps before the second one are told to nobody, and have no numbers.
    born: u32,
    free: [StrandId; OFFERED],
}

impl Apart<Ordered> {
    /// A strategy that has not begun.
    pub(crate) fn new() -> Self {
        Apart::put(Ordered::new)
    }
}

impl Ordered {
    /// A strategy that has not begun.
    pub const fn new() -> Self {
        Ordered {
            rest: Rest::Pos(Pos::new()),
            room: None,
            holds: [NONE; HOLDS],
            count: 0,
            sees: [NOTHING; LOADS],
            loads: 0,
            given_up: 0,
            patience: 0,
            born: 0,
            free: [StrandId::NONE; OFFERED],
        }
    }

    fn read_guide(&mut self, guide: &[u64]) {
        let Guide { holds, loads } = Guide::decode(guide);
        let mark = |path: u64, pc, number| Mark {
            path: StrandPath(path),
            strand: StrandId::NONE,
            pc,
            number,
            count: 0,
        };
        self.count = 0;
        for &[path, pc, number, path_of, pc_of, number_of] in holds {
            let (held, until) = (mark(path, pc, number), mark(path_of, pc_of, number_of));
            self.holds[self.count] = Hold { held, until, active: true };
            self.count += 1;
        }
        self.loads = 0;
        for &[path, pc, number, path_of, pc_of] in loads {
            let (load, path) = (mark(path, pc, number), StrandPath(path_of));
            self.sees[self.loads] = Sees { load, path, strand: StrandId::NONE, pc: pc_of };
            self.loads += 1;
        }
    }

    fn hold_of<V: View>(&self, strand: StrandId, view: &V) -> Option<usize> {
        let op = view.op(strand);
        let holds = |hold: &Hold| hold.active && hold.held.is_before(strand, &op) && !hold.until.is_made();
        self.holds[..self.count].iter().rposition(holds)
    }

    fn goes_on<V: View>(&mut self, strand: StrandId, view: &V) {
        let op = view.op(strand);
        for sees in &mut self.sees[..self.loads] {
            sees.load.count += u64::from(sees.load.strand == strand && sees.load.pc == op.pc);
        }
        for hold in &mut self.holds[..self.count] {
            for mark in [&mut hold.held, &mut hold.until] {
                mark.count += u64::from(mark.strand == strand && mark.pc == op.pc);
            }
        }
        if self.patience > 0 {
            self.patience -= 1;
        } else {
            self.give_up_all();
        }
    }

    fn give_up_all(&mut self) {
        for hold in &mut self.holds[..self.count] {
            self.given_up += u64::from(hold.active && !hold.until.is_made());
            hold.active = false;
        }
        self.count = 0;
    }
}

impl Default for Ordered {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Ordered {
    fn furnish(&mut self, room: Room) {
        self.room = Some(room);
    }

    fn begin(&mut self, info: &RunInfo<'_>) {
        let (rest, parameter) = (info.params[0] & 0xFFFF, info.params[0] >> REST_SHIFT);
        self.rest = Rest::new(rest);
        if let Some(room) = self.room.take() {
            rest!(&mut self.rest, rest => rest.furnish(room));
        }
        let mut params = [0; 8];
        (params[0], params[IN_ORDER]) = (parameter, info.params[IN_ORDER]);
        let rest_of = RunInfo { params, guide: &[], ..*info };
        rest!(&mut self.rest, rest => rest.begin(&rest_of));
        self.read_guide(info.guide);
        (self.given_up, self.born) = (0, 0);
        self.patience = PATIENCE.saturating_add(info.estimate_choices.saturating_mul(4));
    }

    // Kept out of the other strategies' way.
    #[cold]
    #[inline(never)]
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        let mut count = 0;
        for &strand in view.enabled() {
            if count < OFFERED && self.hold_of(strand, view).is_none() {
                self.free[count] = strand;
                count += 1;
            }
        }
        if count == 0 {
            // Who sleeps may be the one that is waited for.
            if let Some(&strand) = view.timed().first()
                && self.patience > 0
            {
                self.patience -= 1;
                return Pick::Timeout(strand);
            }
            let last =
                view.enabled().iter().filter_map(|&strand| Some((self.hold_of(strand, view)?, strand)));
            if let Some((hold, strand)) = last.max() {
                self.holds[hold].active = false;
                self.given_up += 1;
                if self.hold_of(strand, view).is_some() {
                    return self.pick(view);
                }
                (self.free[0], count) = (strand, 1);
            }
        }
        let pick = match count {
            0 => Pick::Run(view.enabled()[0]),
            1 if view.timed().is_empty() => Pick::Run(self.free[0]),
            _ => {
                let shown = Free { view, enabled: &self.free[..count] };
                rest!(&mut self.rest, rest => rest.pick(&shown))
            }
        };
        if let Pick::Run(strand) = pick {
            self.goes_on(strand, view);
        }
        pick
    }

    fn choose(&mut self, options: u32) -> u32 {
        rest!(&mut self.rest, rest => rest.choose(options))
    }

    fn names_stores(&self) -> bool {
        self.loads > 0
    }

    fn store(&mut self, load: Load, options: u32, made: &dyn Fn(u32) -> (StrandId, u64)) -> u32 {
        let is = |mark: &Mark| mark.strand == load.strand && mark.pc == load.pc && mark.count == mark.number;
        let Some(sees) = self.sees[..self.loads].iter().find(|sees| is(&sees.load)) else { return 0 };
        if sees.pc == 0 {
            return options - 1;
        }
        (0..options).find(|&option| made(option) == (sees.strand, sees.pc)).unwrap_or(0)
    }

    fn created(&mut self, born: Born) {
        self.born += 1;
        for sees in &mut self.sees[..self.loads] {
            if sees.load.path == born.path {
                sees.load.strand = born.strand;
            }
            if sees.path == born.path {
                sees.strand = born.strand;
            }
        }
        for hold in &mut self.holds[..self.count] {
            for mark in [&mut hold.held, &mut hold.until] {
                if mark.path == born.path {
                    mark.strand = born.strand;
                }
            }
        }
        rest!(&mut self.rest, rest => rest.created(born));
    }

    fn wants_alone(&self) -> bool {
        true
    }

    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        rest!(&mut self.rest, rest => if rest.wants_alone() { rest.alone(strand, view) });
        while let Some(hold) = self.hold_of(strand, view).filter(|_| self.born > 1) {
            self.holds[hold].active = false;
            self.given_up += 1;
        }
        if self.born > 1 {
            self.goes_on(strand, view);
        }
    }

    fn finish(&self, notes: &mut [u64]) -> usize {
        if notes.len() < 2 {
            return 0;
        }
        (notes[0], notes[1]) = (self.count as u64, self.given_up);
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{self, Machine, Step};
    use std::vec;
    use std::vec::Vec;
    use threadbare_abi::op::OpKind;

    const A: u64 = 0x100;
    const LOCK: u64 = 0x300;

    fn op(kind: OpKind, addr: u64, pc: u64) -> Op {
        Op { size: 8, ..Op::new(kind, addr, pc) }
    }

    fn path(strand: u32) -> u64 {
        StrandPath::MAIN.child(strand + 1).0
    }

    fn run(machine: &Machine, holds: &[[u64; 6]], rest: StrategyId, seed: u64) -> (Vec<Step>, u64) {
        let mut strategy = Ordered::new();
        strategy.furnish(sim::room());
        let mut guide = vec![holds.len() as u64];
        guide.extend(holds.iter().flatten());
        let steps = machine.run(&mut strategy, &RunInfo { guide: &guide, ..sim::info(seed, rest as u64) });
        let mut notes = [0; 2];
        strategy.finish(&mut notes);
        (steps, notes[1])
    }

    /// Two writers, the first of which writes three times in sections, and a reader in a section.
    fn machine() -> Machine {
        let section = |at: u64| {
            [op(OpKind::MutexLock, LOCK, 1), op(OpKind::AtomicStore, A, at), op(OpKind::MutexUnlock, LOCK, 3)]
        };
        let writer: Vec<Op> = [section(2), section(2), section(2)].concat();
        let other = section(12).to_vec();
        let reader = vec![
            op(OpKind::MutexLock, LOCK, 21),
            op(OpKind::AtomicLoad, A, 22),
            op(OpKind::MutexUnlock, LOCK, 23),
        ];
        Machine::of(vec![writer, other, reader])
    }

    #[test]
    fn a_read_sees_the_write_that_was_asked_for() {
        let machine = machine();
        let rests = StrategyId::ALL.iter().copied().filter(|&id| can_have_the_rest(id));
        for rest in rests.chain([StrategyId::Dpor]) {
            for seed in 0..40 {
                // The second write: the reader waits for it, the third waits for the read, the other writer too.
                let holds = [
                    [path(2), 21, 1, path(0), 2, 2],
                    [path(0), 1, 3, path(2), 22, 1],
                    [path(1), 1, 1, path(2), 22, 1],
                ];
                let (steps, given_up) = run(&machine, &holds, rest, seed);
                let read = steps.iter().position(|step| step.pc == 22).unwrap();
                let made = |pc| steps[..read].iter().filter(|step| step.pc == pc).count();
                assert_eq!((steps.len(), made(2), made(12), given_up), (15, 2, 0, 0), "{rest:?} {seed}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_given_up_and_told() {
        let machine = machine();
        // Each waits for the other.
        let holds = [[path(2), 21, 1, path(0), 2, 3], [path(0), 1, 2, path(2), 22, 1]];
        for seed in 0..20 {
            let (steps, given_up) = run(&machine, &holds, StrategyId::Random, seed);
            assert_eq!((steps.len(), given_up), (15, 1));
        }
        // A strand that never is holds nobody for ever.
        let (steps, given_up) = run(&machine, &[[path(0), 1, 1, path(9), 2, 1]], StrategyId::Pct, 1);
        assert_eq!((steps.len(), given_up), (15, 1));
    }

    #[test]
    fn a_load_sees_the_store_that_was_asked_for() {
        let machine = machine();
        let mut strategy = Ordered::new();
        strategy.furnish(sim::room());
        let guide = [0, 2, path(2), 22, 1, path(0), 2, path(1), 12, 1, 0, 0];
        let steps = machine.run(&mut strategy, &RunInfo { guide: &guide, ..sim::info(1, 1) });
        assert!(strategy.names_stores() && steps.len() == 15);
        let load = |strand: u16, pc| Load { strand: StrandId(strand), pc };
        let stores = |option: u32| [(StrandId(1), 12), (StrandId(0), 2), (StrandId(0), 2)][option as usize];
        // The newest of those that fit; the oldest of all where it is what was there first; the newest of all where none fits.
        assert_eq!(strategy.store(load(2, 22), 3, &stores), 1);
        assert_eq!(strategy.store(load(1, 12), 3, &stores), 2);
        assert_eq!(strategy.store(load(2, 22), 1, &stores), 0);
        assert_eq!(strategy.store(load(0, 22), 3, &stores), 0);
    }

    #[test]
    fn guides_go_through_words() {
        let (holds, loads) = ([[1, 2, 3, 4, 5, 6], [7; 6]], [[8, 9, 10, 11, 12]]);
        for guide in [
            Guide::default(),
            Guide { holds: &holds, loads: &[] },
            Guide { holds: &[], loads: &loads },
            Guide { holds: &holds, loads: &loads },
        ] {
            let mut words = std::vec::Vec::new();
            guide.encode(&mut words);
            assert_eq!(Guide::decode(&words), guide);
        }
    }

    #[test]
    fn a_guide_that_lies_is_read_as_far_as_it_goes() {
        for guide in [&[][..], &[9], &[u64::MAX, 1, 2, 3], &[1, 0, 0, 0, 0, 0, 0]] {
            let mut strategy = Ordered::new();
            strategy.furnish(sim::room());
            let steps = machine().run(&mut strategy, &RunInfo { guide, ..sim::info(1, 99) });
            assert_eq!(steps.len(), 15);
        }
    }
}
