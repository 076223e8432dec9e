//! Abstract schedules for `rff`: kept when they show something new, mutated otherwise.
//!
//! After Wolff et al., "Greybox Fuzzing for Concurrency Testing" (ASPLOS 2024). The corpus begins with the empty abstract
//! schedule. A run takes one of the corpus, by a power schedule, and changes it: a constraint more, one less, another
//! one, or one turned round. A run that shows a pair of write and read that none before it did puts its abstract
//! schedule into the corpus.
//!
//! Differences from the paper:
//! 1. Pairs that could be and were not seen yet (every read of a place with every write to it, and with none) are asked for
//!    first, in turn: alone at the first try, together with an abstract schedule of the corpus at the next. One that
//!    did not come a few times is left to the mutations.
//! 2. When locks are taken while others are held, one run of five only holds strands back before they do so.
//! 3. Pairs of thousands of places are too many to list: each place has some of its own then.
//! 4. One run of eight has no constraints, and one of two when there is nothing left to ask for.

use crate::advice::Lessons;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use threadbare_strategy::reads::{RECORD_WORDS, STRAND_SHIFT, flags};
use threadbare_strategy::rff::{CONSTRAINTS, Kind, Told};
use threadbare_strategy::rng::{Rng, mix, run_seed};

/// Constraints of an abstract schedule at the most.
const MOST: usize = CONSTRAINTS - 2;
/// Places that are kept track of.
const PLACES: usize = 4096;
/// Possible pairs of one place that are looked at, and of all places together: fewer of each where there are many.
const PAIRS_OF_PLACE: usize = 256;
const PAIRS: usize = 1 << 16;
/// Writes to one place that a constraint names.
const WRITERS: usize = 128;
/// How often a pair is asked for in turn.
const TRIES: u32 = 4;
/// The corpus at the most; later ones are not kept.
const CORPUS: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Pair {
    place: usize,
    writer: u64,
    reader: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Constraint {
    kind: Kind,
    pair: Pair,
}

/// A place in memory, by the instructions that touch it.
#[derive(Debug, Default)]
struct Place {
    addr: u64,
    sync: bool,
    /// Instructions with their entries.
    writers: BTreeMap<u64, u64>,
    readers: BTreeMap<u64, u64>,
}

/// An abstract schedule of the corpus.
#[derive(Debug)]
struct Kept {
    schedule: Vec<Constraint>,
    chosen: u32,
    /// What the run that it was kept for showed.
    signature: u64,
}

/// What a run has brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct News {
    /// Pairs of write and read that no run before it showed.
    pub(crate) pairs: u32,
    /// Whether no run before it showed the same pairs.
    pub(crate) combination: bool,
}

/// The fuzzer's state.
#[derive(Debug)]
pub(crate) struct Fuzz {
    seed: u64,
    places: Vec<Place>,
    by_addr: HashMap<u64, usize>,
    by_pc: HashMap<u64, usize>,
    nested: bool,
    /// Something was told since the pairs were listed.
    learnt: bool,
    /// The strand that makes the operations of an instruction, `None` if several do.
    makers: HashMap<u64, Option<u64>>,
    /// Pairs of instructions that were seen, and whether the reader was the writer's strand.
    seen: BTreeSet<(u64, u64, bool)>,
    corpus: Vec<Kept>,
    /// How many runs showed the same.
    signatures: HashMap<u64, u32>,
    /// Possible pairs that were not seen yet, and all others: of data, of synchronisation.
    open: [Vec<Pair>; 2],
    met: [Vec<Pair>; 2],
    tries: HashMap<Pair, u32>,
    /// Pairs to ask for in this epoch, in turn, and how many runs of it have a guide.
    turns: Vec<Pair>,
    guided: usize,
    /// The abstract schedules of the epoch's runs, and what they showed.
    issued: BTreeMap<u64, (usize, Vec<Constraint>)>,
    shown: Vec<(u64, Lessons)>,
}

impl Fuzz {
    pub(crate) fn new(seed: u64) -> Fuzz {
        Fuzz {
            seed: mix(seed ^ 0x0072_6666),
            places: Vec::new(),
            by_addr: HashMap::new(),
            by_pc: HashMap::new(),
            nested: false,
            learnt: false,
            makers: HashMap::new(),
            seen: BTreeSet::new(),
            corpus: vec![Kept { schedule: Vec::new(), chosen: 0, signature: 0 }],
            signatures: HashMap::new(),
            open: [Vec::new(), Vec::new()],
            met: [Vec::new(), Vec::new()],
            tries: HashMap::new(),
            turns: Vec::new(),
            guided: 0,
            issued: BTreeMap::new(),
            shown: Vec::new(),
        }
    }

    /// The guide of a run. Runs of an epoch come in their order.
    pub(crate) fn guide(&mut self, run: u64) -> Vec<u64> {
        let mut rng = Rng::new(run_seed(self.seed, run));
        let (parent, schedule) = self.draw(&mut rng);
        self.guided += 1;
        let mut words = Vec::new();
        for constraint in &schedule {
            self.encode(constraint, &mut words);
        }
        self.issued.insert(run, (parent, schedule));
        words
    }

    fn draw(&self, rng: &mut Rng) -> (usize, Vec<Constraint>) {
        let nobody = Pair { place: 0, writer: 0, reader: 0 };
        if rng.below(if self.turns.is_empty() { 2 } else { 8 }) == 0 {
            return (0, Vec::new());
        }
        if self.nested && rng.below(5) == 0 {
            return (0, vec![Constraint { kind: Kind::Nested, pair: nobody }]);
        }
        if !self.turns.is_empty() && rng.below(4) != 0 {
            let pair = self.turns[self.guided % self.turns.len()];
            let parent = if self.tries_of(&pair) == 0 { 0 } else { self.draw_parent(rng) };
            let mut schedule = self.corpus[parent].schedule.clone();
            schedule.retain(|other| other.pair.reader != pair.reader);
            schedule.truncate(MOST - 1);
            schedule.push(Constraint { kind: Kind::From, pair });
            return (parent, schedule);
        }
        let parent = self.draw_parent(rng);
        let mut schedule = self.corpus[parent].schedule.clone();
        let changes = 1 + rng.below(2);
        for change in 0..4 {
            if change < changes || schedule.is_empty() {
                self.mutate(&mut schedule, rng);
            }
        }
        (parent, schedule)
    }

    /// The power schedule: an abstract schedule gets more runs the longer it has been used, and fewer the more runs show
    /// what it shows.
    fn draw_parent(&self, rng: &mut Rng) -> usize {
        let energy = |kept: &Kept| {
            let rare = self.signatures.get(&kept.signature).copied().unwrap_or(1).max(1);
            let energy = (64u64 << kept.chosen.min(8)) / u64::from(rare);
            energy.clamp(1, 1024)
        };
        let total: u64 = self.corpus.iter().map(energy).sum();
        let mut place = rng.below64(total);
        for (index, kept) in self.corpus.iter().enumerate() {
            let energy = energy(kept);
            if place < energy {
                return index;
            }
            place -= energy;
        }
        0
    }

    fn mutate(&self, schedule: &mut Vec<Constraint>, rng: &mut Rng) {
        let len = schedule.len() as u32;
        let which = if len == 0 { 0 } else { rng.below(8) };
        let at = if len == 0 { 0 } else { rng.below(len) as usize };
        match which {
            0..=3 if schedule.len() < MOST => {
                if let Some(constraint) = self.draw_constraint(rng)
                    && !schedule.iter().any(|other| other.pair.reader == constraint.pair.reader)
                {
                    schedule.push(constraint);
                }
            }
            4 | 5 => {
                if let Some(constraint) = self.draw_constraint(rng) {
                    schedule[at] = constraint;
                }
            }
            6 => {
                let kind = &mut schedule[at].kind;
                *kind = if *kind == Kind::From { Kind::NotFrom } else { Kind::From };
            }
            _ => {
                schedule.swap_remove(at);
            }
        }
    }

    fn tries_of(&self, pair: &Pair) -> u32 {
        self.tries.get(pair).copied().unwrap_or(0)
    }

    fn draw_constraint(&self, rng: &mut Rng) -> Option<Constraint> {
        let fresh = rng.below(2) == 0;
        let lists = if fresh { &self.open } else { &self.met };
        let other = if fresh { &self.met } else { &self.open };
        // Data more often than synchronisation: its order says most of what can go wrong.
        let sync = usize::from(rng.below(4) == 0);
        let candidates = [&lists[sync], &lists[1 - sync], &other[sync], &other[1 - sync]];
        let pairs = candidates.into_iter().find(|pairs| !pairs.is_empty())?;
        let mut draw = || pairs[rng.below(pairs.len() as u32) as usize];
        let (one, two) = (draw(), draw());
        // A pair that was asked for often and never came is likely impossible.
        let pair = if self.tries_of(&one) <= self.tries_of(&two) { one } else { two };
        let kind = if !fresh && rng.below(4) == 0 { Kind::NotFrom } else { Kind::From };
        Some(Constraint { kind, pair })
    }

    fn encode(&self, constraint: &Constraint, words: &mut Vec<u64>) {
        let Pair { place, writer, reader } = constraint.pair;
        if constraint.kind == Kind::Nested {
            let nothing = Told { kind: Kind::Nested, addr: 0, writer: 0, reader: 0, entry: 0, writes: &[] };
            return nothing.encode(words);
        }
        let place = &self.places[place];
        let entry = place.readers.get(&reader).copied().unwrap_or(reader);
        // One lock's place for both sides says nothing: then the accesses themselves are held.
        let apart = place.writers.values().all(|&other| other != entry);
        let Some(room) = Told::room_for_writes(words.len()) else { return };
        let writers = place.writers.iter().take(room.min(WRITERS));
        let writes: Vec<[u64; 2]> = writers.map(|(&pc, &from)| [pc, if apart { from } else { pc }]).collect();
        let entry = if apart { entry } else { reader };
        Told { kind: constraint.kind, addr: place.addr, writer, reader, entry, writes: &writes }
            .encode(words);
    }

    /// A run of this epoch has ended, with a guide of ours or without.
    pub(crate) fn learn(&mut self, run: u64, lessons: Lessons) {
        self.shown.push((run, lessons));
    }

    /// Takes the epoch's runs into account; tells what each has brought.
    pub(crate) fn open_epoch(&mut self) -> Vec<(u64, News)> {
        let mut news = Vec::new();
        for (run, lessons) in std::mem::take(&mut self.shown) {
            let (told, signature) = self.take(&lessons);
            if let Some((parent, schedule)) = self.issued.remove(&run) {
                self.keep(parent, schedule, told.pairs > 0, signature);
            }
            news.push((run, told));
        }
        self.issued.clear();
        self.guided = 0;
        if std::mem::take(&mut self.learnt) {
            self.list_pairs();
        }
        let mut turns: Vec<Pair> = self.open.concat();
        turns.retain(|pair| self.tries_of(pair) < TRIES);
        // Data before synchronisation, otherwise in an order that the seed gives.
        turns.sort_by_cached_key(|pair| {
            let order = mix(self.seed ^ pair.reader.rotate_left(32) ^ pair.writer);
            (self.tries_of(pair), self.places[pair.place].sync, order)
        });
        self.turns = turns;
        news
    }

    /// Takes a run's pairs; tells what is new in them, and the number of their combination.
    fn take(&mut self, lessons: &Lessons) -> (News, u64) {
        let mut new = 0;
        for record in lessons.reads.chunks_exact(RECORD_WORDS) {
            self.learnt = true;
            if let Some(pair) = self.note(record) {
                new += u32::from(self.seen.insert(pair));
            }
        }
        let signature = lessons.combination.unwrap_or(0);
        let shown = self.signatures.entry(signature).or_default();
        *shown += 1;
        (News { pairs: new, combination: *shown == 1 }, signature)
    }

    /// A run with this abstract schedule has ended.
    fn keep(&mut self, parent: usize, schedule: Vec<Constraint>, new: bool, signature: u64) {
        if let Some(kept) = self.corpus.get_mut(parent) {
            kept.chosen += 1;
        }
        for constraint in &schedule {
            if constraint.kind == Kind::From {
                *self.tries.entry(constraint.pair).or_default() += 1;
            }
        }
        let nested = schedule.iter().any(|constraint| constraint.kind == Kind::Nested);
        if new && !nested && !schedule.is_empty() && self.corpus.len() < CORPUS {
            self.corpus.push(Kept { schedule, chosen: 0, signature });
        }
    }

    /// Notes who touches which place; the pair, if the record is of one.
    fn note(&mut self, record: &[u64]) -> Option<(u64, u64, bool)> {
        let &[addr, writer, from, reader, entry, told] = record else { return None };
        if told & flags::NESTED != 0 {
            self.nested = true;
            return None;
        }
        if told & flags::SEVERAL != 0 {
            self.makers.insert(reader, None);
            return None;
        }
        // A record of a read tells who read; who wrote was told before.
        let strand = told >> STRAND_SHIFT;
        let maker = self.makers.entry(if reader != 0 { reader } else { writer }).or_insert(Some(strand));
        if *maker != Some(strand) {
            *maker = None;
        }
        let home = [writer, reader].into_iter().filter(|&pc| pc != 0).find_map(|pc| self.by_pc.get(&pc));
        let at = match self.by_addr.get(&addr).or(home) {
            Some(&at) => at,
            None if self.places.len() < PLACES => {
                self.places.push(Place { sync: told & flags::SYNC != 0, ..Place::default() });
                self.by_addr.insert(addr, self.places.len() - 1);
                self.places.len() - 1
            }
            None => return None,
        };
        let place = &mut self.places[at];
        place.addr = addr;
        if writer != 0 {
            place.writers.entry(writer).or_insert(from);
            self.by_pc.entry(writer).or_insert(at);
        }
        if reader == 0 {
            return None;
        }
        place.readers.entry(reader).or_insert(entry);
        self.by_pc.entry(reader).or_insert(at);
        Some((writer, reader, told & flags::OWN != 0))
    }

    /// Lists the pairs that could be.
    fn list_pairs(&mut self) {
        for list in self.open.iter_mut().chain(&mut self.met) {
            list.clear();
        }
        let most = (PAIRS / self.places.len().max(1)).min(PAIRS_OF_PLACE);
        for (index, place) in self.places.iter().enumerate() {
            let writers = || std::iter::once(0).chain(place.writers.keys().copied());
            let pairs = place
                .readers
                .keys()
                .flat_map(|&reader| writers().map(move |writer| Pair { place: index, writer, reader }));
            // What only one strand reads and writes is up to nobody else.
            let others = |pair: &Pair| {
                let maker = self.makers.get(&pair.reader).copied().flatten();
                let same = |writer: &u64| maker.is_some() && self.makers.get(writer) == Some(&maker);
                // Against nobody's value stands every write.
                if pair.writer == 0 { !place.writers.keys().all(same) } else { !same(&pair.writer) }
            };
            for pair in pairs.filter(others).take(most) {
                let seen =
                    [false, true].iter().any(|&own| self.seen.contains(&(pair.writer, pair.reader, own)));
                let list = if seen { &mut self.met } else { &mut self.open };
                list[usize::from(place.sync)].push(pair);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_strategy::rff::GUIDE_WORDS;

    fn record(addr: u64, writer: u64, reader: u64) -> [u64; RECORD_WORDS] {
        // Strand 1 reads, the main strand writes.
        [addr, writer, writer, reader, reader, u64::from(reader != 0) << STRAND_SHIFT]
    }

    fn shown(records: &[[u64; RECORD_WORDS]]) -> Lessons {
        let combination = Some(records.len() as u64);
        Lessons { reads: records.concat(), combination, ..Lessons::default() }
    }

    #[test]
    fn pairs_that_were_not_seen_are_asked_for() {
        let mut fuzz = Fuzz::new(1);
        assert!(fuzz.guide(0).is_empty());
        fuzz.learn(0, shown(&[record(0x10, 5, 0), record(0x10, 5, 6), record(0x20, 0, 7)]));
        fuzz.open_epoch();
        assert_eq!(fuzz.open[0], [Pair { place: 0, writer: 0, reader: 6 }]);
        assert_eq!(fuzz.met[0], [Pair { place: 0, writer: 5, reader: 6 }]);
        let guides: Vec<Vec<u64>> = (1..40).map(|run| fuzz.guide(run)).collect();
        assert!(guides.iter().any(|guide| guide[..] == [0, 0x10, 0, 6, 6, 1, 5, 5]));
        assert!(guides.iter().any(|guide| guide.is_empty()));
    }

    #[test]
    fn what_shows_something_new_is_kept() {
        let mut fuzz = Fuzz::new(2);
        fuzz.guide(0);
        fuzz.learn(0, shown(&[record(0x10, 5, 6)]));
        fuzz.open_epoch();
        let run = (1..20).find(|&run| !fuzz.guide(run).is_empty()).unwrap();
        fuzz.learn(run, shown(&[record(0x10, 0, 6)]));
        fuzz.open_epoch();
        assert_eq!(fuzz.corpus.len(), 2);
        let run = (20..40).find(|&run| !fuzz.guide(run).is_empty()).unwrap();
        fuzz.learn(run, shown(&[record(0x10, 0, 6)]));
        fuzz.open_epoch();
        assert_eq!(fuzz.corpus.len(), 2);
    }

    #[test]
    fn guides_depend_on_earlier_epochs_only() {
        let guides = |learns: bool| {
            let mut fuzz = Fuzz::new(3);
            fuzz.guide(0);
            fuzz.learn(0, shown(&[record(0x10, 5, 6), record(0x18, 8, 9), record(0x18, 9, 8)]));
            fuzz.open_epoch();
            let mut guide = |run| {
                let guide = fuzz.guide(run);
                if learns {
                    fuzz.learn(run, shown(&[record(0x10, 0, 6)]));
                }
                guide
            };
            [1, 2, 3, 4].map(&mut guide)
        };
        assert_eq!(guides(true), guides(false));
    }

    #[test]
    fn runs_of_others_teach_too() {
        let mut fuzz = Fuzz::new(5);
        fuzz.learn(0, shown(&[record(0x10, 5, 0), record(0x10, 5, 6)]));
        fuzz.learn(1, shown(&[record(0x10, 5, 0), record(0x10, 5, 6)]));
        let news = fuzz.open_epoch();
        let first = News { pairs: 1, combination: true };
        assert_eq!(news, [(0, first), (1, News::default())]);
        assert_eq!(fuzz.open[0], [Pair { place: 0, writer: 0, reader: 6 }]);
        assert_eq!(fuzz.corpus.len(), 1);
    }

    #[test]
    fn any_words_can_be_learnt() {
        let mut fuzz = Fuzz::new(4);
        for run in 0..50 {
            fuzz.guide(run);
            let mut rng = Rng::new(run);
            let mut word = || {
                let bits = rng.below(63);
                rng.below64(1 << bits)
            };
            let reads = (0..word() % 200).map(|_| word()).collect();
            fuzz.learn(run, Lessons { reads, ..Lessons::default() });
            fuzz.open_epoch();
        }
        assert!((50..100).all(|run| fuzz.guide(run).len() <= GUIDE_WORDS));
    }
}
