//! The points of a program with their variables, and the samples of its runs.

use crate::array::{Array, FEW};
use crate::known::{Known, One, Seen, Slot, View};
use crate::location::{Home, LeftOut, Location};
use crate::order::{Cut, Order};
use crate::places::Program;
use crate::recording::Recording;
use crate::regions::{Found, Place, regions};
use crate::timeline::{after, making};
use std::collections::{BTreeMap, HashMap};
use threadbare_invariants::{Point, PointId, Points, Region, Sample, Side, Type, Value, Variable};
use threadbare_symbols::NoScalar;

/// How many variables a point has at most. Those that strands touch most come first.
pub const MAX_VARIABLES: usize = 16;

/// How many of them are arrays: each is a length, a least and a greatest element, a sum and an order, too.
const MAX_ARRAYS: usize = 4;

/// So many activations of a region are sampled in a run; then the 128th, the 256th and so on.
const ENOUGH: u64 = 64;

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most accesses of a block.
    pub block: usize,
}

/// The samples of a run.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Between entry and exit.
    pub outer: Vec<Sample>,
    /// What activations that others came into did themselves.
    pub own: Vec<Sample>,
    /// Entries and exits, each right after its entry, in runs like this one.
    pub alike: Vec<Sample>,
}

/// What is known of a variable while it is not settled which ones are sampled.
#[derive(Clone, Debug, Default)]
struct Use {
    shared: bool,
    /// A run had more than one object with it.
    several: bool,
    accesses: u64,
}

/// Makes samples of runs.
#[derive(Debug)]
pub struct Sampler {
    options: Options,
    points: Points,
    uses: BTreeMap<usize, Use>,
    /// Which variables are sampled.
    slots: Vec<Slot>,
    /// Where each region begins.
    places: HashMap<Region, Place>,
    /// The points of a region.
    by_region: HashMap<Region, (PointId, PointId)>,
    left_out: LeftOut,
    unsampled: u64,
}

impl Sampler {
    /// Nothing is known yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            points: Points::default(),
            uses: BTreeMap::new(),
            slots: Vec::new(),
            places: HashMap::new(),
            by_region: HashMap::new(),
            left_out: LeftOut::default(),
            unsampled: 0,
        }
    }

    /// Looks which variables the strands of a run share. Comes before the first [`Sampler::seal`].
    pub fn learn(&mut self, program: &mut Program, run: &Recording) {
        let mut unnamed: HashMap<u64, (u16, bool, bool, NoScalar)> = HashMap::new();
        let spots = program.spots(run);
        let mut touched: HashMap<(usize, u64), (u16, bool, bool)> = HashMap::new();
        for (access, spot) in run.accesses.iter().zip(spots) {
            match spot {
                Ok(number) => {
                    let used = self.uses.entry(number).or_default();
                    used.accesses += 1;
                    let place = touched.entry((number, access.addr)).or_insert((access.strand, false, false));
                    place.1 |= place.0 != access.strand;
                    place.2 |= access.writes();
                    used.shared |= place.1 && place.2;
                }
                Err(why) => {
                    let spot = unnamed.entry(access.addr).or_insert((access.strand, false, false, why));
                    spot.1 |= spot.0 != access.strand;
                    spot.2 |= access.writes();
                }
            }
        }
        let mut objects: HashMap<usize, usize> = HashMap::new();
        for (number, _) in touched.keys() {
            *objects.entry(*number).or_insert(0) += 1;
        }
        for (number, objects) in objects {
            self.uses.entry(number).or_default().several |= objects > 1;
        }
        let mut left_out = LeftOut::default();
        for (_, shared, written, why) in unnamed.into_values() {
            if shared && written {
                left_out.count(why);
            }
        }
        self.left_out.unnamed = self.left_out.unnamed.max(left_out.unnamed);
        self.left_out.doubtful = self.left_out.doubtful.max(left_out.doubtful);
    }

    /// Settles which variables are sampled, of those whose names are wanted.
    pub fn seal(&mut self, program: &Program, wanted: &dyn Fn(&str) -> bool) {
        let shared = self.uses.iter().filter(|(number, used)| {
            used.shared && wanted(program.location(**number).name.trim_start_matches(':'))
        });
        let mut shared: Vec<(u64, usize)> = shared.map(|(number, used)| (used.accesses, *number)).collect();
        for array in self.arrays(program, &shared) {
            if array.text || array.elements.len() > FEW {
                shared.retain(|(_, number)| !array.elements.contains(&Some(*number)));
            }
            self.slots.push(Slot::All(array));
        }
        shared.sort_by_key(|&(accesses, number)| (std::cmp::Reverse(accesses), number));
        let room = MAX_VARIABLES - self.slots.len();
        self.left_out.beyond = shared.len().saturating_sub(room) as u64;
        for (_, variable) in shared.into_iter().take(room) {
            let two = program.location(variable).home != Home::Fixed && self.uses[&variable].several;
            self.slots.extend((0..=usize::from(two)).map(|nth| Slot::One(One { variable, nth })));
        }
    }

    /// The arrays with shared elements that are sampled, those that are touched most first.
    fn arrays(&self, program: &Program, shared: &[(u64, usize)]) -> Vec<Array> {
        let accesses = |array: &Array| -> u64 {
            let touched = shared.iter().filter(|(_, number)| array.elements.contains(&Some(*number)));
            touched.map(|(accesses, _)| accesses).sum()
        };
        let whole = program.arrays().filter(|array| array.is_whole());
        let mut ranked: Vec<(u64, &Array)> = whole.map(|array| (accesses(array), array)).collect();
        ranked.retain(|(accesses, _)| *accesses > 0);
        ranked.sort_by_key(|(accesses, _)| std::cmp::Reverse(*accesses));
        ranked.into_iter().take(MAX_ARRAYS).map(|(_, array)| array.clone()).collect()
    }

    /// The points so far.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// What has no value.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// How many variables are sampled.
    pub fn variables(&self) -> usize {
        self.slots.iter().filter(|slot| !matches!(slot, Slot::One(One { nth: 1.., .. }))).count()
    }

    /// Activations that were not sampled because their place had told enough.
    pub fn unsampled(&self) -> u64 {
        self.unsampled
    }

    /// Where a region begins in the source.
    pub fn place(&self, region: &Region) -> Option<&Place> {
        self.places.get(region)
    }

    /// The samples of a run.
    pub fn samples(&mut self, program: &mut Program, run: &Recording, number: u64) -> Samples {
        let spots = program.spots(run);
        let mut counts: Vec<bool> = spots.iter().map(|spot| *spot != Err(NoScalar::Library)).collect();
        // An access counts if one of its pieces does.
        for number in (1..counts.len()).rev() {
            let counted = counts[number] && run.accesses[number].goes_on;
            counts[number - 1] |= counted;
        }
        let known = Known::new(program, run, &self.slots, &spots);
        let mut samples = Samples::default();
        let order = Order::of(run);
        let mut told: HashMap<Region, u64> = HashMap::new();
        for found in regions(run, program, &counts, self.options.block) {
            let times = told.entry(found.region.clone()).or_insert(0);
            *times += 1;
            if *times > ENOUGH && !times.is_power_of_two() {
                self.unsampled += 1;
                continue;
            }
            self.sample(program, run, number, &found, &known, order.as_ref(), &mut samples);
        }
        samples
    }

    fn points_of(&mut self, program: &Program, found: &Found) -> (PointId, PointId) {
        if let Some(&known) = self.by_region.get(&found.region) {
            return known;
        }
        let variables: Vec<Variable> = self
            .slots
            .iter()
            .map(|slot| match slot {
                Slot::One(one) => {
                    let location = program.location(one.variable);
                    let second = if one.nth > 0 { "@2" } else { "" };
                    Variable::shared(format!("{}{second}", location.name), location.class.clone())
                }
                Slot::All(array) => {
                    let class = first_of(program, array).map_or(Type::Opaque, |it| array.class(it));
                    Variable::shared(array.name.clone(), class)
                }
            })
            .collect();
        let mut add = |side| {
            let point = Point { region: found.region.clone(), side, variables: variables.clone() };
            self.points.add(point).expect("a region's variables are settled once")
        };
        let ids = (add(Side::Enter), add(Side::Exit));
        self.by_region.insert(found.region.clone(), ids);
        self.places.insert(found.region.clone(), found.place.clone());
        ids
    }

    #[expect(clippy::too_many_arguments, reason = "all that is known of one activation")]
    fn sample(
        &mut self,
        program: &Program,
        run: &Recording,
        number: u64,
        found: &Found,
        known: &Known,
        order: Option<&Order>,
        samples: &mut Samples,
    ) {
        let (enter, exit) = self.points_of(program, found);
        let values = |seen: &[Seen]| -> Vec<Value> {
            let value = |(slot, seen): (&Slot, &Seen)| match (slot, seen) {
                (Slot::One(one), Seen::One(Some(raw))) => program.location(one.variable).value(*raw),
                (Slot::All(array), Seen::All(raw)) => {
                    first_of(program, array).map_or(Value::Missing, |element| array.value(element, raw))
                }
                _ => Value::Missing,
            };
            self.slots.iter().zip(seen).map(value).collect()
        };
        let (first, last) = (&run.accesses[found.first], &run.accesses[found.last]);
        let view = known.view(run, found);
        let entry = view.at(making(found.first));
        let strand = u32::from(first.strand);
        let sample =
            |point, event, values, entry| Sample { point, run: number, strand, event, values, entry };
        samples.outer.push(sample(enter, first.event, values(&entry), Vec::new()));
        let whole = found.whole && last.after.is_some();
        for (entry, left) in order.map_or(Vec::new(), |order| alike(order, &view, found, whole)) {
            samples.alike.push(sample(enter, first.event, values(&entry), Vec::new()));
            let left = left.map(|left| sample(exit, last.event, values(&left), values(&entry)));
            samples.alike.extend(left);
        }
        if !whole {
            return;
        }
        let left = view.at(after(found.last));
        samples.outer.push(sample(exit, last.event, values(&left), values(&entry)));
        let own = view.own(making(found.first));
        if own != entry {
            samples.own.push(sample(exit, last.event, values(&left), values(&own)));
        }
    }
}

/// What an activation has in runs like this one: the values at its entry and, if it came to its end, at its exit.
fn alike(order: &Order, view: &View<'_>, found: &Found, whole: bool) -> Vec<(Vec<Seen>, Option<Vec<Seen>>)> {
    let entries = order.moments(found.first, false);
    let exits = if whole { order.moments(found.last, true) } else { Vec::new() };
    let seen = |cut: &Cut<'_>| view.after_those(|access| cut.has(access));
    let lefts: Vec<Vec<Seen>> = exits.iter().map(seen).collect();
    let mut all: Vec<(Vec<Seen>, Option<Vec<Seen>>)> = Vec::new();
    let mut add = |pair| {
        if !all.contains(&pair) {
            all.push(pair);
        }
    };
    for cut in &entries {
        let entry = seen(cut);
        for (_, left) in exits.iter().zip(&lefts).filter(|(exit, _)| cut.leads_to(exit)) {
            add((entry.clone(), Some(left.clone())));
        }
        if !whole {
            add((entry, None));
        }
    }
    all
}

/// An element of an array, which stands for all of them.
fn first_of<'a>(program: &'a Program, array: &Array) -> Option<&'a Location> {
    array.elements.iter().flatten().next().map(|&variable| program.location(variable))
}
