//! Many runs on many servers, with one result.
//!
//! Run `k` of a seed is the same run whatever the number of jobs. Two things make it so. Runs depend on the pcs that
//! earlier runs learnt, so they are grouped in epochs (1, 1, 2, 4, … 64, 64, …, after thousands of runs up to 1,024): all runs of an epoch know what all
//! runs of the earlier epochs learnt, and nothing else. And results are taken in the order of the runs, so counts, the
//! first failure and the end of the campaign do not depend on which job was faster.
//!
//! Between two epochs, predicted deadlocks are tried (`predict`). These runs have no number of their own and teach the
//! campaign nothing, so its own runs stay what they are.

use crate::advice::Assignment;
use crate::again::Taker;
use crate::batch::Size;
use crate::error::Error;
use crate::futures::{Found, Order};
use crate::idioms;
use crate::journal::{Journal, Log};
use crate::ledger::{Failure, Ledger, Stop, Ticket};
use crate::mode::free::Quiet;
use crate::mode::{FirstLook, Made};
use crate::outcome::{Filter, Policy, Races};
use crate::pairs;
use crate::patience::Pace;
use crate::predict::Unproved;
use crate::run::Request;
use crate::search::Search;
use crate::server::Target;
use crate::task_ledger::{Earlier, TaskLedger};
use crate::{interrupt, planner, resume};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, PointMode, Record, Watch, flags};
use threadbare_abi::noise::Noise;
use threadbare_coverage::tasks::Goal;
use threadbare_coverage::{Books, Estimate, TaskBooks, TaskCounts};
use threadbare_strategy::{Spec, rng};
use threadbare_trace::report::{Module, Warning};
use threadbare_trace::run::RunFacts;

/// What a campaign is to do.
#[derive(Clone, Debug)]
pub struct Config {
    /// The program.
    pub target: Arc<Target>,
    /// Who decides in the runs.
    pub search: Search,
    /// Whether deadlines only fire when nothing else can go on.
    pub in_order: bool,
    /// Which faults may happen.
    pub faults: Faults,
    /// The seed of the campaign.
    pub seed: u64,
    /// The most runs.
    pub runs: Option<u64>,
    /// The most time.
    pub time: Option<Duration>,
    /// Servers at a time.
    pub jobs: usize,
    /// Go on after a failure.
    pub keep_going: bool,
    /// How much processor time one run may take.
    pub timeout: Duration,
    /// Which operations are points.
    pub points: PointMode,
    /// A run is a livelock after this many points (0: no bound).
    pub max_points: u64,
    /// Make every run a second time from its own schedule and compare.
    pub check_replay: bool,
    /// End when every order that makes a difference was run, though runs are left. (A planner's campaign always does.)
    pub ends_complete: bool,
    /// Try deadlocks that the order of locks predicts.
    pub predict: bool,
    /// What is done with data races.
    pub races: Races,
    /// What atomic loads may see.
    pub model: MemoryModel,
    /// How long a new finding is looked at when the campaign is over; by whoever makes it.
    pub shrink: Option<Closer>,
    /// Who knows what is not to be told.
    pub filter: Option<Arc<dyn Filter>>,
    /// Coverage is told.
    pub coverage: bool,
    /// The chance of something new below which it is enough.
    pub until: Option<f64>,
    /// What the noise maker is to do, where the target runs free; there is no strategy then.
    pub noise: Noise,
    /// Who knows where noise is of no use.
    pub quiet: Option<Arc<dyn Quiet>>,
    /// Who knows what earlier campaigns of free runs covered.
    pub earlier: Option<Arc<dyn Earlier>>,
    /// How much free runs are to cover until it is enough.
    pub goal: Option<Goal>,
    /// Who takes the choices of controlled runs, to make them again.
    pub taker: Option<Arc<dyn Taker>>,
    /// What reads are to see, or that it is looked at what they see.
    pub futures: Option<Arc<Order>>,
    /// Which iroots are looked at or forced.
    pub idioms: Option<Arc<idioms::Order>>,
    /// Which calls are looked at, or run against each other.
    pub pairs: Option<Arc<pairs::Order>>,
    /// Parts of the code that strands are held at, to see what that mends.
    pub parts: Arc<Parts>,
}

/// How long findings are looked at more closely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Closer {
    /// How long a schedule is made smaller, and explained.
    pub time: Duration,
    /// How long the invariant that it breaks is looked for.
    pub invariants: Option<Duration>,
}

/// Parts of the program's code, by return addresses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// What is made atomic: of each part, which is by itself, the first and the last of each stretch.
    pub atomic: Vec<Vec<(u64, u64)>>,
    /// A place that is made to come before another, and that one.
    pub before: (Vec<u64>, Vec<u64>),
    /// Instructions that are known to be shared before the first run.
    pub known: Vec<u64>,
}

impl Config {
    pub(crate) fn policy(&self) -> Policy<'_> {
        Policy { races: self.races, leaks: self.target.leaks, filter: self.filter.as_deref() }
    }

    /// What its runs tell.
    fn flags(&self) -> u32 {
        let looks_closely = self.futures.is_some() || self.pairs.is_some() || self.taker.is_some();
        let coverage = if self.coverage { flags::COVERAGE } else { 0 };
        coverage | if looks_closely { flags::ORDERED } else { 0 }
    }

    /// The request of one run with this strategy.
    pub fn request(&self, run: u64, strategy: &Spec) -> Request {
        Request {
            run,
            seed: rng::run_seed(self.seed, run),
            entropy: rng::mix(self.seed),
            strategy: strategy.id,
            params: self.target.mode.params(self, strategy),
            points: self.points,
            record: Record::Nothing,
            flags: self.flags(),
            max_points: self.max_points,
            timeout: self.timeout,
            estimates: (0, 0),
            guide: Arc::default(),
            races: self.races != Races::Off,
            model: self.model,
            watches: {
                let Parts { atomic, before, .. } = &*self.parts;
                let before = Watch::before(&before.0, &before.1);
                let stretches = atomic
                    .iter()
                    .zip(0..)
                    .flat_map(|(part, number)| part.iter().map(move |&stretch| Watch::part(number, stretch)));
                stretches.chain(before).collect()
            },
            faults: self.faults,
        }
    }

    /// The request of a ticket's run.
    pub(crate) fn request_of(&self, ticket: &Ticket) -> Request {
        let Assignment { strategy, guide, flags } = &ticket.assignment;
        let mut request = self.request(ticket.run, strategy);
        request.estimates = ticket.estimates;
        request.guide = Arc::clone(guide);
        request.flags |= *flags;
        request
    }

    /// Who decides in its runs, in words.
    pub fn decider(&self) -> String {
        self.target.mode.decider(self, None)
    }

    /// Whether its runs note which functions were interrupted.
    pub fn covers_tasks(&self) -> bool {
        self.target.mode.covers_tasks(self)
    }
}

/// How far a campaign is.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Progress {
    /// Runs done.
    pub runs: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Points in all runs.
    pub points: u64,
    /// Switches in all runs.
    pub switches: u64,
    /// Time since the campaign began.
    pub elapsed: Duration,
    /// How likely something new is, if that is known.
    pub estimate: Option<Estimate>,
    /// What free runs covered, if that is known.
    pub tasks: Option<TaskCounts>,
}

/// Who is told of a campaign while it goes on. Failures come in the order of their runs.
pub trait Observer {
    /// A run showed something. A run that showed several things is told of several times.
    fn failed(&mut self, failure: Failure) -> Result<(), Error>;
    /// What is to be given back with the first failure of this key when the campaign goes on in another process.
    fn note(&mut self, _key: u64) -> Option<Vec<u8>> {
        None
    }
    /// A failure of an earlier sitting; the first of its key comes with what [`Observer::note`] gave.
    fn restored(&mut self, _failure: &Failure, _note: Option<&[u8]>) {}
    /// Something the user is to know at once.
    fn trouble(&mut self, _message: &str) {}
    /// A little time has passed.
    fn progress(&mut self, progress: &Progress);
}

/// Why a campaign ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// All runs were made.
    Runs,
    /// The time was over.
    Time,
    /// A run failed.
    Failure,
    /// Something new is unlikely enough.
    Enough,
    /// Free runs covered as much as they were to.
    Covered,
    /// A planner has no other run to make.
    Complete,
    /// The user asked for the end.
    Interrupt,
    /// Threadbare failed: the run, and what happened.
    Internal(Box<RunFacts>, String),
}

/// What a campaign came to.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The counts.
    pub progress: Progress,
    /// The first run that failed.
    pub first_failure: Option<u64>,
    /// Why it ended.
    pub ending: Ending,
    /// The pcs known in the end.
    pub known: Arc<[u64]>,
    /// The most strands in one run.
    pub strands: u64,
    /// Hash over the traces of all runs, in order.
    pub trace_hash: u64,
    /// Runs that were made again and were the same.
    pub replays: u64,
    /// What the runtime warned of, each once, in the order it came.
    pub warnings: Vec<Warning>,
    /// The modules of a run: where the places of warnings and of coverage are.
    pub modules: Vec<Module>,
    /// Cycles in the order of locks that were tried and did not deadlock.
    pub unproved: Vec<Unproved>,
    /// What was covered.
    pub coverage: Books,
    /// What free runs covered.
    pub tasks: TaskBooks,
    /// How far the planner came, if one chose the runs.
    pub planner: Option<planner::Status>,
    /// What reads saw, if that was looked at.
    pub futures: Option<Found>,
    /// Which iroots runs predicted and showed, if that was looked at.
    pub idioms: Option<idioms::Found>,
    /// Which calls there were, if that was looked at, and what came of those that ran against each other.
    pub pairs: Option<pairs::Found>,
}

struct Shared {
    ledger: Mutex<Ledger>,
    /// Jobs wait here for an epoch to be complete.
    epoch: Condvar,
    /// The main thread waits here for something to do.
    news: Condvar,
    /// Runs under way are to be given up.
    cancel: Arc<AtomicBool>,
    /// Whether runs that use up their time are slow or stuck.
    pace: Arc<Pace>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        // A job that panicked took nothing half-done with it: every change to the ledger is one call.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, ledger: &mut Ledger, stop: Stop) {
        ledger.stop(stop);
        self.cancel.store(true, Ordering::Relaxed);
        self.epoch.notify_all();
    }
}

/// Makes a campaign.
pub fn run(config: &Config, observer: &mut dyn Observer) -> Result<Summary, Error> {
    run_kept(config, observer, &mut None)
}

/// Makes a campaign that is kept in a journal; if the journal has runs already, goes on with the next one.
pub fn run_kept(
    config: &Config,
    observer: &mut dyn Observer,
    journal: &mut Option<Journal>,
) -> Result<Summary, Error> {
    let mut ledger = Ledger::new(
        config.runs.unwrap_or(u64::MAX),
        config.keep_going,
        config.search,
        config.seed,
        config.predict,
    )
    .with_model(config.model)
    .until(config.until);
    ledger.ends_complete |= config.ends_complete;
    if let Some(order) = &config.futures {
        ledger.order(config.search, config.seed, order);
        ledger = ledger.with_model(config.model);
    }
    if let Some(order) = &config.idioms {
        ledger.look_for(config.search, config.seed, order);
        ledger = ledger.with_model(config.model);
    }
    if let Some(order) = &config.pairs {
        ledger.pair(config.search, config.seed, order);
    }
    ledger.know(config.parts.known.clone());
    ledger.allow(config.faults);
    ledger.tasks = TaskLedger::new(config.goal, config.earlier.clone());
    let before = match journal {
        Some(journal) => resume::feed(&mut ledger, journal, observer)?,
        None => Duration::ZERO,
    };
    ledger.log = Log::new(journal.take());
    let now = Instant::now();
    let started = now.checked_sub(before).unwrap_or(now);
    let cancel = Arc::new(AtomicBool::new(false));
    let FirstLook { learnt, modules, functions } = config.target.mode.first_look(config, &cancel)?;
    ledger.know(learnt);
    ledger.see_modules(modules);
    ledger.tasks.know(&functions.unwrap_or_default());
    let (ledger, pace) = (Mutex::new(ledger), Arc::default());
    let shared = Shared { ledger, epoch: Condvar::new(), news: Condvar::new(), cancel, pace };
    let watched = std::thread::scope(|scope| {
        let mut jobs = Vec::new();
        for job in 0..config.jobs.max(1) {
            let shared = &shared;
            let name = format!("job {job}");
            let started =
                std::thread::Builder::new().name(name).spawn_scoped(scope, move || work(config, job, shared));
            match started {
                Ok(job) => jobs.push(job),
                // The campaign does not depend on how many there are.
                Err(_) if !jobs.is_empty() => break,
                Err(source) => {
                    return Err(Error::System { what: "start a thread for a job".to_owned(), source });
                }
            }
        }
        let watched = watch(config, &shared, started, observer);
        if watched.is_err() {
            shared.stop(&mut shared.lock(), Stop::Interrupt);
        }
        for job in jobs {
            if let Err(panic) = job.join() {
                std::panic::resume_unwind(panic);
            }
        }
        watched
    });
    let mut ledger = shared.ledger.into_inner().unwrap_or_else(PoisonError::into_inner);
    let progress = ledger.progress(started.elapsed());
    *journal = ledger.log.finish(&progress);
    watched?;
    if let Some(trouble) = ledger.log.trouble() {
        observer.trouble(&trouble);
    }
    ledger.summary(started.elapsed())
}

/// What the main thread does while the jobs work.
fn watch(
    config: &Config,
    shared: &Shared,
    started: Instant,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    const TICK: Duration = Duration::from_millis(100);
    let mut ledger = shared.lock();
    loop {
        let failures = ledger.take_failures();
        let finished = ledger.is_finished();
        let progress = ledger.progress(started.elapsed());
        if failures.iter().any(|failure| failure.facts.is_some()) {
            ledger.log.hold();
        }
        let (file, trouble) = (ledger.log.tick(&progress), ledger.log.trouble());
        drop(ledger);
        if let Some(trouble) = trouble {
            observer.trouble(&trouble);
        }
        if let Some(file) = file {
            // Where that fails, writing fails sooner or later, and is told then.
            let _ = file.sync_data();
        }
        let mut notes = Vec::new();
        for failure in failures {
            let first = failure.facts.is_some().then_some(failure.key);
            observer.failed(failure)?;
            notes.extend(first.and_then(|key| Some((key, observer.note(key)?))));
        }
        ledger = shared.lock();
        ledger.log.release(&notes);
        ledger.write_log();
        drop(ledger);
        observer.progress(&progress);
        if finished {
            return Ok(());
        }
        ledger = shared.lock();
        if interrupt::requested() {
            shared.stop(&mut ledger, Stop::Interrupt);
        } else if config.time.is_some_and(|time| started.elapsed() >= time) {
            shared.stop(&mut ledger, Stop::Time);
        }
        if !ledger.has_news() {
            let left = config.time.map_or(TICK, |time| time.saturating_sub(started.elapsed()).min(TICK));
            ledger = match shared.news.wait_timeout(ledger, left) {
                Ok((ledger, _)) => ledger,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

/// What each job does.
fn work(config: &Config, number: usize, shared: &Shared) {
    let mut maker = config.target.mode.maker(config, number, &shared.cancel, &shared.pace);
    let wants = |run: u64, keys: &[u64]| shared.lock().wants(keys, run);
    let mut size = maker.takes_several().then(Size::new);
    while let Some(mut tickets) = next(shared, size, config.jobs) {
        while !tickets.is_empty() {
            let (asked, began) = (tickets.len(), Instant::now());
            let made = match asked {
                1 => Vec::new(),
                _ => maker.several(&tickets, &wants),
            };
            let count = made.len();
            let mut done: Vec<_> = tickets.drain(..count).zip(made).collect();
            if count == 0 {
                let ticket = tickets.remove(0);
                let made = maker.one(&ticket, &wants);
                done.push((ticket, made));
            }
            if let Some(size) = &mut size {
                size.learn(done.len(), asked, began);
            }
            if settle(config, shared, done) {
                // Nobody wants the others.
                let mut ledger = shared.lock();
                tickets.drain(..).for_each(|_| ledger.abandon());
                shared.epoch.notify_all();
            }
        }
    }
    shared.news.notify_one();
}

/// Puts what was made into the books; whether the campaign is to end.
fn settle(config: &Config, shared: &Shared, mut made: Vec<(Ticket, Result<Made, Error>)>) -> bool {
    for (_, result) in &mut made {
        if let (Some(taker), Ok(Made::Run(outcome))) = (&config.taker, result)
            && let Some(taken) = outcome.taken.take()
        {
            taker.take(*taken);
        }
    }
    let mut ledger = shared.lock();
    for (ticket, result) in made {
        match result {
            Ok(Made::Run(outcome)) => ledger.finish(ticket.run, *outcome),
            Ok(Made::Tried(tried)) => ledger.tried(tried.prediction.number, tried),
            Err(Error::Cancelled) => ledger.abandon(),
            Err(error) => {
                ledger.abandon();
                shared.stop(&mut ledger, Stop::Error(error));
            }
        }
    }
    ledger.write_log();
    let stopping = ledger.is_stopping();
    if stopping {
        shared.cancel.store(true, Ordering::Relaxed);
    }
    if ledger.at_border() || stopping || ledger.is_finished() {
        shared.epoch.notify_all();
    }
    if ledger.has_news() {
        shared.news.notify_one();
    }
    stopping
}

/// The next tickets: several runs of one epoch, if `size` lets them be made with one command.
fn next(shared: &Shared, size: Option<Size>, jobs: usize) -> Option<Vec<Ticket>> {
    let mut ledger = shared.lock();
    loop {
        if ledger.is_stopping() {
            return None;
        }
        if let Some(ticket) = ledger.take_ticket() {
            let mut tickets = vec![ticket];
            if let Some(size) = size.filter(|_| tickets[0].prediction.is_none()) {
                let most = size.of(ledger.left_of_epoch() + 1, jobs);
                while tickets.len() < most
                    && let Some(ticket) = ledger.take_ticket()
                {
                    tickets.push(ticket);
                }
            }
            return Some(tickets);
        }
        if ledger.is_finished() {
            return None;
        }
        ledger = shared.epoch.wait(ledger).unwrap_or_else(PoisonError::into_inner);
    }
}
