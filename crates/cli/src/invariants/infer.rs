//! From runs to facts: which variables are sampled, all samples, the first failing runs by themselves.

use super::Wanted;
use super::campaigns::Runs;
use super::orders::Orders;
use super::record::{self, Recorded, Recorder};
use crate::exit::Trouble;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Instant;
use threadbare_invariants::{Broken, Check, KEPT_RUNS, Kept, Operand, Parts, Sample, Shown, Watch};
use threadbare_trace::report::Module;
use threadbare_values::{Locals, Options, Program, Recording, Sampler, Samples, Spans};

/// Runs of a program that the variables are chosen by.
const LOOKED_AT: usize = 64;
/// The same where time is short.
const LOOKED_AT_IN_HASTE: usize = 24;
/// Runs of either sort of which all accesses are looked at, for where vectors are.
const LOOKED_THROUGH: usize = 2;
/// Runs that are recorded at a time.
const CHUNK: usize = 16;

/// Runs of one class that are looked at; the last of them stands for the others. What failing runs have at other moments is not worked out, so it is more of those.
const OF_A_CLASS: u64 = 2;
const FAILING_OF_A_CLASS: u64 = 4;
/// Accesses of the first runs that are kept, so that these need not be made once more.
const KEPT_ACCESSES: usize = 1 << 18;

/// Where every order that makes a difference was run, a sample has nothing to do with chance: it counts for as many as chance would need.
const WEIGHT_OF_ALL: u64 = 7;

/// What came of the runs.
pub(crate) struct Inferred {
    pub(crate) parts: Parts,
    pub(crate) sampler: Sampler,
    /// The first failing runs; breaks are shown in the first of them that has one.
    failing: Vec<FailingRun>,
    /// Runs whose values could not be had.
    pub(crate) not_followed: u64,
    /// Accesses of long runs that were not looked at.
    pub(crate) dropped: u64,
    /// What became of the kept lines.
    pub(crate) check: Option<Check>,
    /// What the program consists of in memory.
    pub(crate) modules: Vec<Module>,
    /// What came first in the runs.
    pub(crate) orders: Orders,
    /// Where functions touch variables.
    pub(crate) spans: Spans,
    /// How many samples one of a passing run stands for.
    weight: u64,
}

/// A failing run.
struct FailingRun {
    number: usize,
    /// In the order of their events.
    samples: Vec<Sample>,
    /// Those of them that are what an activation did by itself.
    own: Vec<Sample>,
    /// The event at which it failed.
    failure: u64,
    strands: BTreeMap<u32, String>,
}

/// Where a statement was broken first.
pub(crate) struct FirstBreak {
    /// The run.
    pub(crate) run: usize,
    pub(crate) strand: String,
    /// Only what the activation did by itself shows it.
    pub(crate) came_between: bool,
}

impl Inferred {
    /// What failing runs break, the likeliest cause first.
    pub(crate) fn broken(&self) -> Vec<Broken> {
        let points = self.sampler.points();
        let shown = self.failing.first();
        let shown = shown.map(|run| Shown { points, samples: &run.samples, failure: run.failure });
        let mut all = self.parts.broken(shown, |broken| self.aside(broken));
        for run in self.failing.iter().skip(1) {
            let mut watch = Watch::new();
            let open = all.iter_mut().filter(|broken| broken.first.is_none());
            let watched: Vec<(usize, &mut Broken)> = open
                .filter_map(|broken| {
                    let point = points.find(&broken.point.region, broken.point.side)?;
                    Some((watch.add(points, point, &broken.told.statement).ok()?, broken))
                })
                .collect();
            run.samples.iter().for_each(|sample| watch.take(sample));
            for (number, broken) in watched {
                broken.first = watch.first(number).cloned();
            }
        }
        all
    }

    /// How far a statement is from what may be a cause: 1 if it is of variables that its place does not touch itself, and so of what others do; 2 if its
    /// place comes when all other strands are over, and can only show what they did.
    fn aside(&self, broken: &Broken) -> u8 {
        let Some(seen) = self.sampler.seen_in(&broken.point.region) else { return 0 };
        let local =
            |operand: &Operand| broken.point.variables.iter().any(|it| !it.shared && it.name == operand.name);
        let touched =
            |operand: &&Operand| local(operand) || seen.touched.iter().any(|name| is_of(name, &operand.name));
        let foreign = !broken.told.statement.operands().iter().all(touched);
        if seen.alone { 2 } else { u8::from(foreign) }
    }

    /// More of the first break of a statement.
    pub(crate) fn first_break(&self, broken: &Broken) -> Option<FirstBreak> {
        let first = broken.first.as_ref()?;
        let run = self.failing.iter().find(|run| run.number as u64 == first.run)?;
        let point = self.sampler.points().find(&broken.point.region, broken.point.side);
        let same =
            |own: &Sample| Some(own.point) == point && (own.event, own.strand) == (first.event, first.strand);
        let name = run.strands.get(&first.strand);
        Some(FirstBreak {
            run: run.number,
            strand: name.cloned().unwrap_or_else(|| first.strand.to_string()),
            came_between: broken.told.transition && run.own.iter().any(same),
        })
    }
}

/// Whether a variable is what an operand is of, or a part of it.
fn is_of(variable: &str, operand: &str) -> bool {
    let operand = operand.strip_suffix("@2").unwrap_or(operand);
    let lead = operand.strip_prefix("object(").and_then(|rest| rest.strip_suffix(')'));
    let operand = lead.unwrap_or(operand);
    // How many a vector holds is told by its borders.
    let operand = operand.strip_suffix(".size").unwrap_or(operand);
    variable.strip_prefix(operand).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// All runs, as often as they are needed.
struct Source<'a> {
    recorder: Recorder<'a>,
    order: Vec<usize>,
}

impl Source<'_> {
    /// Makes the first `most` runs again; none for one that was another.
    fn each(
        &mut self,
        most: usize,
        mut take: impl FnMut(usize, Option<Recorded>) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        for chunk in self.order[..self.order.len().min(most)].chunks(CHUNK) {
            if self.recorder.is_late() {
                break;
            }
            for (&number, recorded) in chunk.iter().zip(self.recorder.record(chunk)?) {
                take(number, recorded)?;
            }
        }
        Ok(())
    }

    /// The same with their samples, and with those of runs like them.
    fn samples(
        &mut self,
        sampler: &mut Sampler,
        program: &mut Program,
        mut take: impl FnMut(Samples) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        self.each(usize::MAX, |number, recorded| {
            let Some(mut recorded) = recorded else { return Ok(()) };
            program.part(&mut recorded.recording);
            take(sampler.samples(program, &recorded.recording, number as u64, true))
        })
    }
}

impl Source<'_> {
    /// What the program consists of in memory, and its names and types, from the first run that can be made again.
    fn program(&mut self) -> Result<Option<(Vec<Module>, Program, Recording)>, Trouble> {
        for number in self.order.clone() {
            if self.recorder.is_late() {
                break;
            }
            if let Some(recorded) = self.recorder.record(&[number])?.pop().flatten() {
                let modules = recorded.facts.report.modules;
                let program = record::program(self.recorder.runs, &modules);
                return Ok(Some((modules, program, recorded.recording)));
            }
        }
        Ok(None)
    }

    /// Looks at all accesses of a few runs: what there is to tell beside them, and what says where vectors are. The instructions that touch that are told from now on,
    /// too; nothing that a schedule says depends on it.
    fn look_through(
        &mut self,
        most: usize,
        program: &mut Program,
        locals: &mut Locals,
    ) -> Result<FxHashSet<u64>, Trouble> {
        let mut borders = FxHashSet::default();
        let taken = &self.recorder.runs.taken;
        let some =
            |fails: bool| self.order.iter().copied().filter(move |&it| taken[it].failed == fails).take(most);
        let numbers: Vec<usize> = some(false).chain(some(true)).collect();
        for number in numbers {
            if self.recorder.is_late() {
                break;
            }
            if let Some(mut recorded) = self.recorder.record_all(number)? {
                program.part(&mut recorded.recording);
                borders.extend(program.borders(&recorded.recording));
                locals.add_besides(program, &recorded.recording);
            }
        }
        let runs = self.recorder.runs;
        borders.retain(|pc| !runs.known.contains(pc));
        if !borders.is_empty() {
            self.recorder.add_known(borders.iter().copied());
        }
        Ok(borders)
    }

    /// Lets the sampler look which variables strands share in so many runs, of different classes as far as possible. Keeps what it recorded.
    fn learn(
        &mut self,
        most: usize,
        program: &mut Program,
        sampler: &mut Sampler,
    ) -> Result<HashMap<usize, Recorded>, Trouble> {
        let mut seen = BTreeSet::new();
        let taken = &self.recorder.runs.taken;
        let is_new = |number: &usize| taken[*number].class.is_none_or(|class| seen.insert(class));
        let numbers: Vec<usize> = self.order.iter().copied().filter(is_new).take(most).collect();
        let (mut kept, mut accesses) = (HashMap::new(), 0);
        for chunk in numbers.chunks(CHUNK) {
            if self.recorder.is_late() {
                break;
            }
            for (&number, recorded) in chunk.iter().zip(self.recorder.record(chunk)?) {
                let Some(mut recorded) = recorded else { continue };
                program.part(&mut recorded.recording);
                sampler.learn(program, &recorded.recording);
                accesses += recorded.recording.accesses.len();
                if accesses <= KEPT_ACCESSES {
                    kept.insert(number, recorded);
                }
            }
        }
        Ok(kept)
    }
}

/// Runs of one class differ in nothing but the order of steps that do not concern each other: few of them are enough.
#[derive(Default)]
struct Classes(HashMap<(bool, u64), Looked>);

#[derive(Default)]
struct Looked {
    /// Its runs.
    all: u64,
    /// Those that were chosen, and those that were looked at.
    chosen: u64,
    taken: u64,
    /// What runs like it have is not looked at: all of its runs are.
    long: bool,
}

impl Classes {
    fn of(runs: &Runs, order: &[usize]) -> Self {
        let mut classes = Self::default();
        for number in order {
            let taken = &runs.taken[*number];
            if let Some(class) = taken.class {
                classes.0.entry((taken.failed, class)).or_default().all += 1;
            }
        }
        classes
    }

    fn enough(failed: bool) -> u64 {
        if failed { FAILING_OF_A_CLASS } else { OF_A_CLASS }
    }

    /// Whether a run is to be looked at.
    fn wants(&mut self, runs: &Runs, number: usize) -> bool {
        let taken = &runs.taken[number];
        let Some(looked) = taken.class.and_then(|class| self.0.get_mut(&(taken.failed, class))) else {
            return true;
        };
        looked.chosen += 1;
        looked.long || looked.chosen <= Self::enough(taken.failed)
    }

    /// How many runs one that was made stands for.
    fn times(&mut self, runs: &Runs, number: usize, recorded: Option<&Recorded>) -> u64 {
        let taken = &runs.taken[number];
        let looked = taken.class.and_then(|class| self.0.get_mut(&(taken.failed, class)));
        let (Some(looked), Some(recorded)) = (looked, recorded) else { return 1 };
        looked.taken += 1;
        looked.long |= recorded.recording.is_long() && !taken.failed;
        match looked.taken {
            taken_so_far if looked.long || taken_so_far != Self::enough(taken.failed) => 1,
            last => looked.all.saturating_sub(last - 1).max(1),
        }
    }
}

/// Infers from runs.
pub(crate) fn infer(runs: &Runs, wanted: &Wanted, kept: Option<&Kept>) -> Result<Inferred, Trouble> {
    let mut source = Source { recorder: Recorder::new(runs), order: runs.order() };
    let shown_only = wanted.keep.is_none() && wanted.check.is_none() && wanted.dtrace.is_none();
    // An access by itself tells what it must not find: what failing runs break.
    let single = shown_only && runs.counts().0 > 0;
    let mut sampler = Sampler::new(Options { block: wanted.block.into(), single });
    if shown_only {
        let regions = wanted.clone();
        sampler.only(move |region, place| regions.regions(region, Some(place)));
    }
    // Half of what time there is goes to the choice of variables.
    source.recorder.deadline =
        runs.deadline.map(|end| end - end.saturating_duration_since(Instant::now()) / 2);
    let Some((modules, mut program, first)) = source.program()? else {
        return Err(Trouble::usage(
            "no run could be made again, so there are no values",
            "a program that depends on what no schedule holds (the clock, other processes) shows other runs each time",
        ));
    };
    let mut locals = Locals::new(&mut program, runs.known.iter().copied());
    locals.add_returns(&mut program, runs.known.iter().copied().chain(first.places()));
    let in_haste = runs.deadline.is_some();
    let looked_through = if in_haste { 1 } else { LOOKED_THROUGH };
    sampler.set_aside(source.look_through(looked_through, &mut program, &mut locals)?);
    source.recorder.set_locals(locals.words());
    let looked_at = if in_haste { LOOKED_AT_IN_HASTE } else { LOOKED_AT };
    let mut recordings = source.learn(looked_at, &mut program, &mut sampler)?;
    // Runs that do not tell all that is wanted are made once more.
    let places: Vec<u64> = recordings.values().flat_map(|it| it.recording.places()).collect();
    let mut new = locals.add_returns(&mut program, places);
    for recorded in recordings.values() {
        new |= locals.add_besides(&mut program, &recorded.recording);
    }
    if new {
        source.recorder.set_locals(locals.words());
        // In haste it is for the later ones only.
        recordings.retain(|_, _| in_haste);
    }
    sampler.set_locals(locals);
    sampler.seal(&program, &|name| {
        wanted.variable.is_empty() || wanted.variable.iter().any(|part| name.contains(part.as_str()))
    });
    if wanted.grow.is_some() {
        sampler.by_name(&program);
    }
    source.recorder.deadline = runs.deadline;
    let (parts, failing) = (Parts::new(), Vec::new());
    let (orders, spans) = (Orders::default(), Spans::default());
    let weight = if runs.are_all() { WEIGHT_OF_ALL } else { 1 };
    let (check, not_followed, dropped) = (None, 0, 0);
    let mut inferred =
        Inferred { parts, sampler, failing, not_followed, dropped, check, modules, orders, spans, weight };
    inferred.check = kept.map(|kept| kept.check(inferred.sampler.points()));
    // What every order is inferred from has them all, and where time is short there are few runs anyway.
    let all = runs.are_all() || runs.deadline.is_some() || inferred.check.is_some();
    let mut classes = Classes::of(runs, &source.order);
    // The next runs are made while what the last ones did is looked at.
    let mut made: Vec<(usize, Option<Recorded>)> = Vec::new();
    let mut chunks = source.order.chunks(CHUNK);
    loop {
        let chunk = chunks.next().filter(|_| !source.recorder.is_late());
        let mut wanted = |number: &usize| {
            let passes = !runs.taken[*number].failed;
            all || classes.wants(runs, *number) && (!passes || inferred.sampler.wants_more())
        };
        let chosen: Vec<usize> = chunk.unwrap_or_default().iter().copied().filter(|it| wanted(it)).collect();
        let new: Vec<usize> =
            chosen.iter().copied().filter(|number| !recordings.contains_key(number)).collect();
        let recorded = source.recorder.record_while(&new, || {
            for (number, recorded) in made.drain(..) {
                let times = if all { 1 } else { classes.times(runs, number, recorded.as_ref()) };
                inferred.take(&mut program, runs.taken[number].failed, (number, times), recorded);
            }
        })?;
        let mut recorded: HashMap<usize, Option<Recorded>> = new.into_iter().zip(recorded).collect();
        let of = |number: usize| (number, recordings.remove(&number).or_else(|| recorded.remove(&number)?));
        made.extend(chosen.into_iter().map(of));
        if chunk.is_none() {
            break;
        }
    }
    let counted = inferred.sampler.counted(true);
    inferred.take_counted(counted);
    if let Some(file) = &wanted.dtrace {
        let points = inferred.sampler.points().clone();
        let mut writer = record::DtraceFile::create(file, &points)?;
        source.samples(&mut inferred.sampler, &mut program, |samples| {
            writer.write(&samples.outer)?;
            writer.write(&samples.alike)
        })?;
        writer.finish()?;
    }
    Ok(inferred)
}

impl Inferred {
    fn take_counted(&mut self, counted: Vec<(Sample, u64)>) {
        let weighed = counted.into_iter().map(|(sample, times)| (sample, times * self.weight));
        self.parts.take_counted(self.sampler.points(), weighed);
    }

    /// Holds a run against the kept statements. Nothing is inferred then.
    fn check_run(&mut self, program: &mut Program, failed: bool, number: usize, recorded: &Recorded) {
        let runs = if failed { &mut self.parts.failing_runs } else { &mut self.parts.passing_runs };
        *runs += 1;
        let samples = self.sampler.samples(program, &recorded.recording, number as u64, false);
        let Some(check) = &mut self.check else { return };
        check.meet(self.sampler.points());
        samples.outer.iter().chain(&samples.own).for_each(|sample| check.take(sample));
    }

    fn take(
        &mut self,
        program: &mut Program,
        failed: bool,
        (number, times): (usize, u64),
        recorded: Option<Recorded>,
    ) {
        let Some(mut recorded) = recorded else {
            self.not_followed += 1;
            return;
        };
        program.part(&mut recorded.recording);
        self.dropped += recorded.recording.dropped;
        if self.check.is_some() {
            return self.check_run(program, failed, number, &recorded);
        }
        self.orders.take(program, &recorded.recording, failed);
        self.spans.take(program, &recorded.recording, failed);
        if !failed {
            self.sampler.count(program, &recorded.recording, number as u64, times);
            self.parts.take_passing(times);
            let counted = self.sampler.counted(false);
            self.take_counted(counted);
            return;
        }
        // What is told of a failing run is what its schedule shows.
        let samples = self.sampler.samples(program, &recorded.recording, number as u64, false);
        self.parts.take_views(self.sampler.points(), true, &samples.outer, &samples.own, times);
        if self.failing.len() >= KEPT_RUNS {
            return;
        }
        let mut both = samples.outer;
        both.extend(samples.own.iter().cloned());
        both.sort_by_key(|sample| sample.event);
        let name = |sample: &Sample| (sample.strand, recorded.recording.strand_name(sample.strand as u16));
        self.failing.push(FailingRun {
            number,
            strands: both.iter().map(name).collect(),
            samples: both,
            own: samples.own,
            failure: recorded.facts.counters.events,
        });
    }
}
