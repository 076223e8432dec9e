//! The points of a program with their variables, and the samples of its runs.

use crate::known::{Known, Slot};
use crate::location::LeftOut;
use crate::places::Program;
use crate::recording::Recording;
use crate::regions::{Found, Place, regions};
use crate::timeline::{after, making};
use std::collections::{BTreeMap, HashMap};
use threadbare_invariants::{Point, PointId, Points, Region, Sample, Side, Value, Variable};
use threadbare_symbols::NoScalar;

/// How many variables a point has at most. Those that strands touch most come first.
pub const MAX_VARIABLES: usize = 16;

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
        shared.sort_by_key(|&(accesses, number)| (std::cmp::Reverse(accesses), number));
        self.left_out.beyond = shared.len().saturating_sub(MAX_VARIABLES) as u64;
        for (_, variable) in shared.into_iter().take(MAX_VARIABLES) {
            let two = program.location(variable).heap && self.uses[&variable].several;
            self.slots.extend((0..=usize::from(two)).map(|nth| Slot { variable, nth }));
        }
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
        self.slots.iter().filter(|slot| slot.nth == 0).count()
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
        let counts: Vec<bool> = spots.iter().map(|spot| *spot != Err(NoScalar::Library)).collect();
        let known = Known::new(program, run, &self.slots, &spots);
        let mut samples = Samples::default();
        let mut told: HashMap<Region, u64> = HashMap::new();
        for found in regions(run, program, &counts, self.options.block) {
            let times = told.entry(found.region.clone()).or_insert(0);
            *times += 1;
            if *times > ENOUGH && !times.is_power_of_two() {
                self.unsampled += 1;
                continue;
            }
            self.sample(program, run, number, &found, &known, &mut samples);
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
            .map(|slot| {
                let location = program.location(slot.variable);
                let second = if slot.nth > 0 { "@2" } else { "" };
                Variable::shared(format!("{}{second}", location.name), location.class.clone())
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

    fn sample(
        &mut self,
        program: &Program,
        run: &Recording,
        number: u64,
        found: &Found,
        known: &Known,
        samples: &mut Samples,
    ) {
        let (enter, exit) = self.points_of(program, found);
        let values = |raw: &[Option<u64>]| -> Vec<Value> {
            let value = |(slot, raw): (&Slot, &Option<u64>)| {
                raw.map_or(Value::Missing, |raw| program.location(slot.variable).value(raw))
            };
            self.slots.iter().zip(raw).map(value).collect()
        };
        let (first, last) = (&run.accesses[found.first], &run.accesses[found.last]);
        let view = known.view(run, found);
        let entry = view.at(making(found.first));
        let strand = u32::from(first.strand);
        let sample =
            |point, event, values, entry| Sample { point, run: number, strand, event, values, entry };
        samples.outer.push(sample(enter, first.event, values(&entry), Vec::new()));
        if !found.whole || last.after.is_none() {
            return;
        }
        let left = view.at(after(found.last));
        samples.outer.push(sample(exit, last.event, values(&left), values(&entry)));
        let own = view.own(&entry);
        if own != entry {
            samples.own.push(sample(exit, last.event, values(&left), values(&own)));
        }
    }
}
