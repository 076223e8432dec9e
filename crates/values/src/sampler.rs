//! The points of a program with their variables, and the samples of its runs.

use crate::location::LeftOut;
use crate::places::Program;
use crate::recording::Recording;
use crate::regions::{Found, Place, regions};
use crate::timeline::{Timeline, after, making};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use threadbare_invariants::{Point, PointId, Points, Region, Sample, Side, Value, Variable};
use threadbare_symbols::NoScalar;

/// How many variables a point has at most. Those that strands touch most come first.
pub const MAX_VARIABLES: usize = 16;

/// So many activations of a region are sampled in a run; of the others every second, fourth, eighth and so on.
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
    strands: BTreeSet<u16>,
    written: bool,
    shared: bool,
    accesses: u64,
}

/// Makes samples of runs.
#[derive(Debug)]
pub struct Sampler {
    options: Options,
    points: Points,
    uses: BTreeMap<usize, Use>,
    /// Which variables are sampled, by number.
    variables: Vec<usize>,
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
            variables: Vec::new(),
            places: HashMap::new(),
            by_region: HashMap::new(),
            left_out: LeftOut::default(),
            unsampled: 0,
        }
    }

    /// Looks which variables the strands of a run share. Comes before the first [`Sampler::seal`].
    pub fn learn(&mut self, program: &mut Program, run: &Recording) {
        for used in self.uses.values_mut() {
            used.strands.clear();
            used.written = false;
        }
        let mut unnamed: HashMap<u64, (u16, bool, bool, NoScalar)> = HashMap::new();
        for access in &run.accesses {
            match program.spot(access.addr, access.size) {
                Ok(number) => {
                    let used = self.uses.entry(number).or_default();
                    used.strands.insert(access.strand);
                    used.written |= access.writes();
                    used.accesses += 1;
                    used.shared |= used.written && used.strands.len() > 1;
                }
                Err(why) => {
                    let spot = unnamed.entry(access.addr).or_insert((access.strand, false, false, why));
                    spot.1 |= spot.0 != access.strand;
                    spot.2 |= access.writes();
                }
            }
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
        self.variables = shared.into_iter().take(MAX_VARIABLES).map(|(_, number)| number).collect();
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
        self.variables.len()
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
        let mut lines: HashMap<usize, Timeline> = HashMap::new();
        let mut counts = Vec::with_capacity(run.accesses.len());
        // The variable of each access, where it is one that is sampled.
        let mut touched: Vec<Option<usize>> = Vec::with_capacity(run.accesses.len());
        for (at, access) in run.accesses.iter().enumerate() {
            let spot = program.spot(access.addr, access.size);
            counts.push(spot != Err(NoScalar::Library));
            let variable = spot.ok().filter(|spot| self.variables.contains(spot));
            touched.push(variable);
            if let Some(variable) = variable {
                lines.entry(variable).or_default().add(at, Some(access.before), access.after);
            } else if spot == Err(NoScalar::Doubtful) && access.writes() {
                // It may have written a part of one.
                let (from, to) = (access.addr, access.addr + u64::from(access.size));
                for &variable in &self.variables {
                    let location = program.location(variable);
                    if location.addr < to && from < location.addr + u64::from(location.size) {
                        lines.entry(variable).or_default().add(at, None, None);
                    }
                }
            }
        }
        let mut samples = Samples::default();
        let mut told: HashMap<Region, u64> = HashMap::new();
        for found in regions(run, program, &counts, self.options.block) {
            let times = told.entry(found.region.clone()).or_insert(0);
            *times += 1;
            if *times > ENOUGH && !times.is_power_of_two() {
                self.unsampled += 1;
                continue;
            }
            self.sample(program, run, number, &found, &lines, &touched, &mut samples);
        }
        samples
    }

    fn points_of(&mut self, program: &Program, found: &Found) -> (PointId, PointId) {
        if let Some(&known) = self.by_region.get(&found.region) {
            return known;
        }
        let variables: Vec<Variable> = self
            .variables
            .iter()
            .map(|&number| {
                let location = program.location(number);
                Variable::shared(location.name.clone(), location.class.clone())
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

    #[expect(clippy::too_many_arguments, reason = "all of it is of the one run")]
    fn sample(
        &mut self,
        program: &Program,
        run: &Recording,
        number: u64,
        found: &Found,
        lines: &HashMap<usize, Timeline>,
        touched: &[Option<usize>],
        samples: &mut Samples,
    ) {
        let (enter, exit) = self.points_of(program, found);
        let value = |variable: usize, raw: Option<u64>| {
            raw.map_or(Value::Missing, |raw| program.location(variable).value(raw))
        };
        let at = |moment| -> Vec<Option<u64>> {
            let raw = |variable| lines.get(variable).and_then(|line: &Timeline| line.at(moment));
            self.variables.iter().map(raw).collect()
        };
        let values = |raw: &[Option<u64>]| -> Vec<Value> {
            self.variables.iter().zip(raw).map(|(&variable, raw)| value(variable, *raw)).collect()
        };
        let (first, last) = (&run.accesses[found.first], &run.accesses[found.last]);
        let strand = u32::from(first.strand);
        let entry = at(making(found.first));
        let sample =
            |point, event, values, entry| Sample { point, run: number, strand, event, values, entry };
        samples.outer.push(sample(enter, first.event, values(&entry), Vec::new()));
        if !found.whole || last.after.is_none() {
            return;
        }
        let left = at(after(found.last));
        samples.outer.push(sample(exit, last.event, values(&left), values(&entry)));
        let mut own = entry.clone();
        let mut seen = BTreeSet::new();
        for (access, variable) in run.accesses.iter().zip(touched).take(found.last + 1).skip(found.first) {
            if let Some(variable) = variable
                && access.strand == first.strand
                && access.writes()
                && seen.insert(variable)
                && let Some(slot) = self.variables.iter().position(|other| other == variable)
                && own[slot].is_some()
            {
                own[slot] = Some(access.before);
            }
        }
        if own != entry {
            samples.own.push(sample(exit, last.event, values(&left), values(&own)));
        }
    }
}
