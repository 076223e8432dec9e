//! The points of a program with their variables, and the samples of its runs.

use crate::alike::Activation;
use crate::array::Array;
use crate::choose::Choice;
use crate::counted::{Counted, Pace, hash};
use crate::known::{Known, Raw, Slot, View};
use crate::locals::Locals;
use crate::location::{LeftOut, Location, Read};
use crate::order::Order;
use crate::places::Program;
use crate::recording::Recording;
use crate::regions::{Found, Regions, SourceLine};
use crate::sequence::Told;
use crate::timeline::{after, making};
use crate::vain::Vain;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;
use std::fmt;
use threadbare_invariants::{PointId, Points, ProgramPoint, Region, Sample, Side, Type, Value, Variable};
use threadbare_symbols::NoScalar;

/// So many activations of a region are sampled in a run; then the 128th, the 256th and so on.
const ENOUGH: u64 = 64;
/// After so many activations that showed nothing new a region is sampled every second time, then every third; every sixteenth time at the least.
const CALM: u32 = 512;
const LEAST: u32 = 16;
/// The same for what it has in runs like the one that was made.
const CALM_ALIKE: u32 = 256;
const LEAST_ALIKE: u32 = 32;
/// After so many runs of whose activations hardly one in fifty showed something new every second run is enough, then every third; every eighth at the least.
const CALM_RUNS: u32 = 64;
const LEAST_RUNS: u32 = 8;
const HARDLY: u64 = 50;
/// Samples of runs like those that were made that are recognised when they come again.
const RECOGNISED: usize = 1 << 20;

/// What is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most accesses of a block.
    pub block: usize,
    /// Accesses by themselves, too.
    pub single: bool,
}

impl Options {
    fn least(self) -> usize {
        if self.single { 1 } else { 2 }
    }
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

/// What strands do in a region.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The variables that they touch there themselves, by name.
    pub touched: BTreeSet<String>,
    /// Nobody else was there any more when they came to it: all strands had been joined.
    pub alone: bool,
}

/// What a region has to do with samples.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    enter: PointId,
    exit: PointId,
    block: bool,
    wanted: bool,
    pace: Pace,
    alike: Pace,
    /// Of this run.
    times: u64,
}

/// Makes samples of runs.
#[derive(Debug)]
pub struct Sampler {
    options: Options,
    wanted: Wanted,
    choice: Choice,
    points: Points,
    regions: Regions,
    /// By the numbers of the regions.
    sampled: Vec<Sampled>,
    /// Which variables are sampled.
    slots: Vec<Slot>,
    locals: Locals,
    /// By the numbers of the regions, the parameters and locals of their functions.
    local_slots: Vec<Vec<usize>>,
    /// Likewise, of those that are functions, the return values.
    return_slots: Vec<Option<usize>>,
    unsampled: u64,
    /// What loops found in vain.
    vain: Vain,
    counted: Counted,
    /// What runs like those so far had.
    recognised: HashSet<u64>,
    dice: u32,
    /// Instructions that are told though strands do not share what they touch.
    aside: HashSet<u64>,
    /// How often runs are looked at.
    runs: Pace,
    /// By the numbers of regions, what strands do there.
    seen: HashMap<usize, Seen>,
}

/// Whether a region is wanted.
type IsWanted = dyn Fn(&Region, &SourceLine) -> bool;

/// Says which regions are wanted.
struct Wanted(Box<IsWanted>);

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wanted")
    }
}

/// A run that is gone through.
#[derive(Clone, Copy)]
struct Run<'a> {
    recording: &'a Recording,
    number: u64,
    known: &'a Known,
    order: Option<&'a Order>,
    /// How many runs it stands for.
    times: u64,
}

/// An activation with its parameters and locals.
struct At<'a> {
    found: &'a Found,
    /// What it gave back comes last, if there is a variable for it: at the exit only.
    locals: Vec<Option<u64>>,
    returns: bool,
}

impl At<'_> {
    /// Those that have a value at its entry, or at its exit.
    fn locals(&self, exit: bool) -> &[Option<u64>] {
        &self.locals[..self.locals.len() - usize::from(self.returns && !exit)]
    }
}

impl Sampler {
    /// Nothing is known yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            wanted: Wanted(Box::new(|_, _| true)),
            choice: Choice::default(),
            points: Points::default(),
            regions: Regions::default(),
            sampled: Vec::new(),
            slots: Vec::new(),
            locals: Locals::default(),
            local_slots: Vec::new(),
            return_slots: Vec::new(),
            unsampled: 0,
            vain: Vain::default(),
            counted: Counted::default(),
            recognised: HashSet::default(),
            dice: 0x9e37_79b9,
            aside: HashSet::default(),
            runs: Pace::default(),
            seen: HashMap::default(),
        }
    }

    /// Samples only regions that are wanted.
    pub fn only(&mut self, wanted: impl Fn(&Region, &SourceLine) -> bool + 'static) {
        self.wanted = Wanted(Box::new(wanted));
    }

    /// Samples these parameters and locals, too. Comes before the first sample.
    pub fn set_locals(&mut self, locals: Locals) {
        self.locals = locals;
    }

    /// Looks which variables the strands of a run share. Comes before the first [`Sampler::seal`].
    pub fn learn(&mut self, program: &mut Program, run: &Recording) {
        self.vain.learn(run);
        self.choice.learn(program, run);
    }

    /// Accesses at these instructions are only there for what they find: they are no steps of a strand's.
    pub fn set_aside(&mut self, pcs: HashSet<u64>) {
        self.aside = pcs;
    }

    /// Settles which variables are sampled, of those whose names are wanted.
    pub fn seal(&mut self, program: &Program, wanted: &dyn Fn(&str) -> bool) {
        self.slots = self.choice.slots(program, wanted);
    }

    /// Puts the variables in the order of their names, so that they are the same ones in campaigns that touch them more or less often.
    pub fn by_name(&mut self, program: &Program) {
        self.slots.sort_by_cached_key(|slot| variable(program, slot).name);
    }

    /// The points so far.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// What has no value.
    pub fn left_out(&self) -> LeftOut {
        LeftOut {
            parameters: self.locals.gone(),
            returns: self.locals.returns.gone(),
            ..self.choice.left_out
        }
    }

    /// Of the places that strands share how many have values, in the run that shared most.
    pub fn read(&self) -> Read {
        self.choice.read
    }

    /// How many variables are sampled.
    pub fn variables(&self) -> usize {
        self.slots
            .iter()
            .filter(|slot| !matches!(slot, Slot::One(one) if one.nth > 0) && !matches!(slot, Slot::Object(_)))
            .count()
    }

    /// Activations that were not sampled because their place had told enough.
    pub fn unsampled(&self) -> u64 {
        self.unsampled
    }

    /// Where a region begins in the source.
    pub fn place(&self, region: &Region) -> Option<&SourceLine> {
        self.regions.place(region)
    }

    /// Whether a region is never more than one access.
    pub fn is_single(&self, region: &Region) -> bool {
        self.regions.is_single(region)
    }

    /// What failing runs show of a region, by its number.
    fn seen(&mut self, region: usize) -> &mut Seen {
        self.seen.entry(region).or_insert_with(|| Seen { touched: BTreeSet::new(), alone: true })
    }

    /// What strands do in a region of runs that were sampled one by one.
    pub fn seen_in(&self, region: &Region) -> Option<&Seen> {
        self.seen.get(&self.regions.find(region)?)
    }

    /// The samples of a run, one by one; those of runs like it if so asked.
    pub fn samples(&mut self, program: &mut Program, run: &Recording, number: u64, alike: bool) -> Samples {
        let mut samples = Samples::default();
        self.each(program, run, (number, 1), alike, |sampler, program, run, found| {
            sampler.sample(program, run, found, &mut samples);
            sampler.see(program, run, found);
        });
        samples
    }

    /// Counts the samples of a run, which stands for so many, and of those like it. [`Sampler::counted`] has them.
    pub fn count(&mut self, program: &mut Program, run: &Recording, number: u64, times: u64) {
        self.vain.learn(run);
        let (mut new, mut all) = (0, 0);
        self.each(program, run, (number, times), true, |sampler, program, run, found| {
            new += u64::from(sampler.count_one(program, run, found, true));
            all += 1;
        });
        self.runs.note(new * HARDLY > all);
        for looked in self.vain.put_into(run) {
            self.each(program, &looked, (number, 1), true, |sampler, program, run, found| {
                sampler.count_one(program, run, found, false);
            });
        }
    }

    /// Whether the next run is worth looking at: less and less often, while runs show hardly anything new.
    pub fn wants_more(&mut self) -> bool {
        let dice = self.dice();
        self.runs.looks(CALM_RUNS, LEAST_RUNS, dice)
    }

    /// What has been counted, each sample with how often it came: when it is much, or `all` of it. Those of one run need not come together.
    pub fn counted(&mut self, all: bool) -> Vec<(Sample, u64)> {
        if all || self.counted.is_full() { self.counted.drain() } else { Vec::new() }
    }

    /// Goes through the activations of a run.
    fn each(
        &mut self,
        program: &mut Program,
        recording: &Recording,
        (number, times): (u64, u64),
        alike: bool,
        mut take: impl FnMut(&mut Self, &Program, Run<'_>, &Found),
    ) {
        let spots = program.spots(recording);
        let told = spots.iter().zip(&recording.accesses);
        let counts = told.map(|(spot, it)| *spot != Err(NoScalar::Library) && !self.aside.contains(&it.pc));
        let mut counts: Vec<bool> = counts.collect();
        // An access counts if one of its pieces does.
        for number in (1..counts.len()).rev() {
            let counted = counts[number] && recording.accesses[number].goes_on;
            counts[number - 1] |= counted;
        }
        let found = self.regions.of(recording, program, &counts, self.options.least()..=self.options.block);
        self.add_regions(program);
        let known = Known::new(program, recording, &self.slots, &spots);
        let order = alike.then(|| Order::of(recording, |number| known.tells(number))).flatten();
        let run = Run { recording, number, known: &known, order: order.as_ref(), times };
        self.sampled.iter_mut().for_each(|region| region.times = 0);
        for found in found {
            let region = &mut self.sampled[found.region];
            region.times += 1;
            if !region.wanted {
                continue;
            }
            if region.times > ENOUGH && !region.times.is_power_of_two() {
                self.unsampled += 1;
                continue;
            }
            take(self, program, run, &found);
        }
    }

    /// Makes the points of regions that are new.
    fn add_regions(&mut self, program: &Program) {
        if self.sampled.len() == self.regions.len() {
            return;
        }
        let variables: Vec<Variable> = self.slots.iter().map(|slot| variable(program, slot)).collect();
        for number in self.sampled.len()..self.regions.len() {
            let region = self.regions.region(number);
            let own = self.regions.place(region).map_or(&[][..], |place| self.locals.of(place));
            let mut variables = variables.clone();
            variables.extend(own.iter().map(|local| {
                let Location { name, class, .. } = self.locals.location(*local);
                Variable::new(name.clone(), class.clone())
            }));
            self.local_slots.push(own.to_vec());
            let is_function = matches!(region, Region::Function(_));
            let place = self.regions.place(region).filter(|_| is_function);
            let returned = place.and_then(|place| self.locals.return_of(place));
            self.return_slots.push(returned);
            let mut add = |side, variables| {
                let point = ProgramPoint { region: region.clone(), side, variables };
                self.points.add(point).expect("a region's variables are settled once")
            };
            let enter = add(Side::Enter, variables.clone());
            variables.extend(returned.map(|number| {
                let Location { name, class, .. } = self.locals.return_location(number);
                Variable::new(name.clone(), class.clone())
            }));
            self.sampled.push(Sampled {
                enter,
                exit: add(Side::Exit, variables),
                block: matches!(region, Region::Block { .. }),
                wanted: self.regions.place(region).is_none_or(|place| (self.wanted.0)(region, place)),
                pace: Pace::default(),
                alike: Pace::default(),
                times: 0,
            });
        }
    }

    /// The next random bits.
    fn dice(&mut self) -> u32 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 17;
        self.dice ^= self.dice << 5;
        self.dice
    }

    fn see(&mut self, program: &Program, run: Run<'_>, found: &Found) {
        let alone = run.recording.is_alone(found.first);
        let seen = self.seen(found.region);
        seen.alone &= alone;
        for variable in run.known.touched_in(found) {
            let name = &program.location(variable).name;
            if !seen.touched.contains(name) {
                seen.touched.insert(name.clone());
            }
        }
    }

    /// An activation with its parameters and locals.
    fn at<'a>(&self, run: Run<'_>, found: &'a Found) -> At<'a> {
        let wanted = &self.local_slots[found.region];
        let mut locals = self.locals.values(wanted, run.recording, found);
        let returned = self.return_slots[found.region];
        locals.extend(returned.map(|variable| self.locals.return_value(variable, run.recording, found)));
        At { found, locals, returns: returned.is_some() }
    }

    fn sample(&self, program: &Program, run: Run<'_>, found: &Found, samples: &mut Samples) {
        let view = run.known.view(run.recording, found);
        let here = self.at(run, found);
        let make = |entry: &Raw, left: Option<&Raw>| self.make(program, run, &here, entry, left);
        let entry = view.at(making(found.first));
        samples.outer.push(make(&entry, None));
        let whole = is_whole(run.recording, found);
        if whole {
            let left = view.at(after(found.last));
            samples.outer.push(make(&entry, Some(&left)));
            let own = view.own(&entry);
            if own != entry {
                samples.own.push(make(&own, Some(&left)));
            }
        }
        let Some(activation) = self.activation(run, found, &view) else { return };
        for entry in activation.entries() {
            samples.alike.push(make(&entry, None));
        }
        for (entry, left) in if whole { activation.pairs() } else { Vec::new() } {
            samples.alike.push(make(&entry, None));
            samples.alike.push(make(&entry, Some(&left)));
        }
    }

    /// Counts an activation of a run that was `made`, or takes what is new of one that is only like it. Whether there was something new.
    fn count_one(&mut self, program: &Program, run: Run<'_>, found: &Found, made: bool) -> bool {
        let dice = self.dice();
        if !self.sampled[found.region].pace.looks(CALM, LEAST, dice) {
            self.unsampled += u64::from(made);
            return false;
        }
        let view = run.known.view(run.recording, found);
        let here = self.at(run, found);
        let entry = view.at(making(found.first));
        let take = if made { Self::count_sample } else { Self::recognise };
        let mut new = take(self, program, run, &here, &entry, None);
        let whole = is_whole(run.recording, found);
        if whole {
            let left = view.at(after(found.last));
            new |= take(self, program, run, &here, &entry, Some(&left));
            let own = view.own(&entry);
            if own != entry {
                new |= take(self, program, run, &here, &own, Some(&left));
            }
        }
        let dice = self.dice();
        if new || self.sampled[found.region].alike.looks(CALM_ALIKE, LEAST_ALIKE, dice) {
            let more = self.count_alike(program, run, &here, &view, whole);
            self.sampled[found.region].alike.note(more);
            new |= more;
        }
        self.sampled[found.region].pace.note(new);
        new
    }

    /// Counts what an activation has in runs like the one that was made, each sample once. Whether there was something new.
    fn count_alike(
        &mut self,
        program: &Program,
        run: Run<'_>,
        here: &At<'_>,
        view: &View<'_>,
        whole: bool,
    ) -> bool {
        let Some(activation) = self.activation(run, here.found, view) else { return false };
        let entries = activation.entries();
        let pairs = if whole { activation.pairs() } else { Vec::new() };
        let mut new = false;
        for entry in &entries {
            new |= self.recognise(program, run, here, entry, None);
        }
        for (entry, left) in &pairs {
            new |= self.recognise(program, run, here, entry, Some(left));
            let own = view.own(entry);
            if own != *entry {
                new |= self.recognise(program, run, here, &own, Some(left));
            }
        }
        new
    }

    fn activation<'a>(
        &'a self,
        run: Run<'a>,
        found: &'a Found,
        view: &'a View<'a>,
    ) -> Option<Activation<'a>> {
        Some(Activation {
            run: run.recording,
            order: run.order?,
            known: run.known,
            view,
            found,
            block: self.sampled[found.region].block,
            vain: &self.vain,
        })
    }

    /// Counts a sample; whether it was not there before.
    fn count_sample(
        &mut self,
        program: &Program,
        run: Run<'_>,
        here: &At<'_>,
        entry: &Raw,
        left: Option<&Raw>,
    ) -> bool {
        let hash = self.hash(here, entry, left);
        if self.counted.again(hash, run.times) {
            return false;
        }
        let sample = self.make(program, run, here, entry, left);
        self.counted.add(hash, sample, run.times);
        self.recognised.len() >= RECOGNISED || self.recognised.insert(hash)
    }

    /// Takes a sample that was not there before; whether it was one.
    fn recognise(
        &mut self,
        program: &Program,
        run: Run<'_>,
        here: &At<'_>,
        entry: &Raw,
        left: Option<&Raw>,
    ) -> bool {
        let hash = self.hash(here, entry, left);
        let room = self.recognised.len() < RECOGNISED;
        let new = if room { self.recognised.insert(hash) } else { !self.recognised.contains(&hash) };
        if new && !self.counted.again(hash, 1) {
            let sample = self.make(program, run, here, entry, left);
            self.counted.add(hash, sample, 1);
        }
        new
    }

    fn hash(&self, here: &At<'_>, entry: &Raw, left: Option<&Raw>) -> u64 {
        let region = &self.sampled[here.found.region];
        let point = if left.is_some() { region.exit } else { region.enter };
        hash(point, entry, left, here.locals(left.is_some()))
    }

    fn make(
        &self,
        program: &Program,
        run: Run<'_>,
        here: &At<'_>,
        entry: &Raw,
        left: Option<&Raw>,
    ) -> Sample {
        let found = here.found;
        let region = &self.sampled[found.region];
        let locals = here.locals(left.is_some());
        let mine = || {
            let of = self.local_slots[found.region].iter().map(|local| self.locals.location(*local));
            let of =
                of.chain(self.return_slots[found.region].map(|number| self.locals.return_location(number)));
            of.zip(locals).map(|(of, raw)| raw.map_or(Value::Missing, |raw| of.value(raw)))
        };
        // What a parameter was is said once: it has no value of its own at the entry that an exit speaks of.
        let values = |raw: &Raw| values(program, &self.slots, raw);
        let with_locals = |raw: &Raw| values(raw).into_iter().chain(mine()).collect::<Vec<_>>();
        let without =
            |raw: &Raw| values(raw).into_iter().chain(locals.iter().map(|_| Value::Missing)).collect();
        let at = |access: usize| &run.recording.accesses[access];
        let (strand, number) = (u32::from(at(found.first).strand), run.number);
        let (point, event, values, entry) = match left {
            None => (region.enter, at(found.first).event, with_locals(entry), Vec::new()),
            Some(left) => (region.exit, at(found.last).event, with_locals(left), without(entry)),
        };
        Sample { point, run: number, strand, event, values, entry }
    }
}

/// Whether an activation came to its end, and what is there then is known.
fn is_whole(run: &Recording, found: &Found) -> bool {
    found.whole && run.accesses[found.last].after.is_some()
}

/// The variable of a slot.
fn variable(program: &Program, slot: &Slot) -> Variable {
    match slot {
        Slot::One(one) => {
            let location = program.location(one.variable);
            let second = if one.nth > 0 { "@2" } else { "" };
            Variable::shared(format!("{}{second}", location.name), location.class.clone())
        }
        Slot::Object(one) => {
            // Two pointers that lead to blocks of one place need not lead to the same block.
            let group = 1 + one.variable as u32;
            let name = format!("object({})", program.location(one.variable).name);
            Variable { group, ..Variable::shared(name, Type::Text) }
        }
        Slot::All(array) => {
            let class = first_of(program, array).map_or(Type::Opaque, |it| array.class(it));
            Variable::shared(array.name.clone(), class)
        }
        Slot::Sequence(sequence, told) => {
            let name = &sequence.name;
            let name = if *told == Told::Size { format!("{name}.size") } else { name.clone() };
            Variable::shared(name, sequence.class(*told))
        }
    }
}

/// What the bytes of all slots mean.
fn values(program: &Program, slots: &[Slot], raw: &Raw) -> Vec<Value> {
    let mut rest = &raw[..];
    let value = |slot: &Slot| {
        let (mine, more) = rest.split_at(slot.width().min(rest.len()));
        rest = more;
        match (slot, mine) {
            (Slot::One(one), [Some(raw)]) => program.location(one.variable).value(*raw),
            (Slot::Object(_), [Some(raw)]) => program.object(*raw).map_or(Value::Missing, Value::text),
            (Slot::All(array), raw) => {
                first_of(program, array).map_or(Value::Missing, |element| array.value(element, raw))
            }
            (Slot::Sequence(sequence, told), raw) => sequence.value(*told, raw),
            _ => Value::Missing,
        }
    };
    slots.iter().map(value).collect()
}

/// An element of an array, which stands for all of them.
fn first_of<'a>(program: &'a Program, array: &Array) -> Option<&'a Location> {
    array.elements.iter().flatten().next().map(|&variable| program.location(variable))
}
