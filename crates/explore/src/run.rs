//! One run: plan in, result out.

use crate::advice::Lessons;
use crate::batch::Batch;
use crate::error::Error;
use crate::mode::free::{Places, Quiet, Recorded};
use crate::patience::{MORE, Pace, Patience};
use crate::server::{Message, Server, Target};
use crate::shm::LiveCopy;
use crate::{tasks, verdict};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use threadbare_abi::event::{Event, Segment};
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, Plan, PointMode, Record, WORDS_CAPACITY, Watch, flags};
use threadbare_abi::protocol::{Command, Reply};
use threadbare_abi::verdict::VerdictKind;
use threadbare_coverage::Contribution;
use threadbare_coverage::tasks::Seen;
use threadbare_strategy::StrategyId;
use threadbare_strategy::recorded::Recording;
use threadbare_trace::report::{Module, RunReport};
use threadbare_trace::run::{End, Output, RunFacts, Verdict};

/// How often a long run is looked at (output to cut, time to check).
const TICK: Duration = Duration::from_millis(100);
/// How often the ring is looked at while it is empty, and whether a run has stopped.
const SHORT_TICK: Duration = Duration::from_millis(1);
/// How long a run may take to tell where it is when its time is over.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How long a killed run may take to be gone before its server is given up.
const GRACE: Duration = Duration::from_secs(20);

/// What a run is to do.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its number in the campaign.
    pub run: u64,
    /// The seed of its choices.
    pub seed: u64,
    /// The seed of `getrandom` and friends.
    pub entropy: u64,
    /// The strategy.
    pub strategy: StrategyId,
    /// The strategy's parameters.
    pub params: [u64; 8],
    /// Which operations are points.
    pub points: PointMode,
    /// What is streamed.
    pub record: Record,
    /// Bit set of [`threadbare_abi::layout::flags`].
    pub flags: u32,
    /// The run is a livelock after this many points (0: no bound).
    pub max_points: u64,
    /// How long it may take.
    pub timeout: Duration,
    /// Choices and strands earlier runs had.
    pub estimates: (u64, u64),
    /// What the strategy is told besides.
    pub guide: Arc<[u64]>,
    /// Whether data races are looked for.
    pub races: bool,
    /// What atomic loads may see.
    pub model: MemoryModel,
    /// What the runtime is to tell the stacks of.
    pub watches: Vec<Watch>,
    /// Which faults may happen.
    pub faults: Faults,
}

impl Request {
    /// The same run again, step by step: one that stops elsewhere has diverged. `came_to` is what it came to the first time: a livelock has no
    /// end but where it was noticed.
    #[must_use]
    pub fn strictly(mut self, came_to: VerdictKind) -> Request {
        self.flags |= flags::STRICT;
        if came_to == VerdictKind::Livelock {
            self.flags |= flags::ENDS_IN_LIVELOCK;
        }
        self
    }
}

/// Which choices the run follows before its strategy decides.
#[derive(Clone, Copy, Debug)]
pub enum Follow<'a> {
    /// None.
    Nothing,
    /// These.
    Segments(&'a [Segment]),
    /// The ones the last run on this server took.
    LastRun,
}

/// A run that has ended; its details are still in the server's memory.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// The live page.
    pub live: LiveCopy,
}

/// Takes the events of a run as they come.
pub trait EventSink {
    /// More events.
    fn events(&mut self, events: &[Event]);
    /// The run begins anew; the events so far are of no run.
    fn restart(&mut self);
}

/// A run that waits for a debugger, or has ended without that.
#[derive(Clone, Copy, Debug)]
pub enum Stopped {
    /// It stands where it failed: its process id.
    At(i32, Ended),
    /// It has ended.
    Not(Ended),
}

/// How a run came to its end, or did not.
pub(crate) enum Arrival {
    End(End),
    Again,
    Stopped(Pid),
    /// The batch is over.
    Batch,
}

impl Server {
    /// Makes the pcs known to all later runs on this server. A server reads only what is new at the end of the list, so
    /// a list begins with the one before it.
    pub fn set_known(&mut self, pcs: &[u64]) {
        self.known_count = self.memory.set_known(pcs);
    }

    /// Sets where parameters and locals are at instructions ([`threadbare_abi::local`]), for runs that tell values.
    pub fn set_locals(&mut self, words: &[u64]) {
        self.memory.set_places(words);
    }

    /// Takes what the run that has just ended adds to coverage: what it told is not told again.
    pub fn take_contribution(&mut self, ended: &Ended) -> Contribution {
        let Ended { end, live } = ended;
        let records = self.memory.told(self.told_count, live.told);
        self.told_count += records.len() as u64;
        let whole = !end.was_cut() && live.learnt == 0 && live.class != 0;
        Contribution { class: whole.then_some(live.class), records }
    }

    /// Makes one run.
    pub fn run(
        &mut self,
        request: &Request,
        follow: Follow<'_>,
        mut sink: Option<&mut dyn EventSink>,
    ) -> Result<Ended, Error> {
        self.set_plan(request, follow);
        self.was_slow = false;
        loop {
            self.begin(request)?;
            match self.wait_for_end(request, &mut sink, false)? {
                Arrival::End(end) => return Ok(Ended { end, live: self.memory.live() }),
                Arrival::Again | Arrival::Stopped(_) | Arrival::Batch => {
                    if let Some(sink) = &mut sink {
                        sink.restart();
                    }
                }
            }
        }
    }

    /// Makes one run until it fails and stops there for a debugger; the request has the flag for it.
    pub fn run_until_stopped(&mut self, request: &Request, follow: Follow<'_>) -> Result<Stopped, Error> {
        self.set_plan(request, follow);
        loop {
            self.begin(request)?;
            let arrival = self.wait_for_end(request, &mut None, true)?;
            let live = self.memory.live();
            match arrival {
                Arrival::End(end) => return Ok(Stopped::Not(Ended { end, live })),
                Arrival::Stopped(pid) => {
                    let ended = Ended { end: End::TimedOut, live };
                    return Ok(Stopped::At(pid.as_raw_nonzero().get(), ended));
                }
                Arrival::Again | Arrival::Batch => {}
            }
        }
    }

    /// Ends a run that stands at its failure.
    pub fn end_stopped(&mut self, pid: i32) {
        kill_run(Pid::from_raw(pid));
        self.bury();
    }

    fn set_plan(&mut self, request: &Request, follow: Follow<'_>) {
        self.in_batch = false;
        let follow = match follow {
            Follow::Nothing => 0,
            Follow::Segments(segments) => self.memory.set_follow(segments),
            Follow::LastRun => self.memory.follow_taken(self.memory.live().counters.segments),
        };
        if !self.guide.as_ref().is_some_and(|guide| Arc::ptr_eq(guide, &request.guide)) {
            self.memory.set_guide(&request.guide);
            self.guide = Some(Arc::clone(&request.guide));
        }
        self.memory.set_plan(&self.plan(request, follow));
    }

    /// What the runtime is told of a run.
    pub(crate) fn plan(&self, request: &Request, follow: u64) -> Plan {
        Plan {
            run: request.run,
            seed: request.seed,
            entropy: request.entropy,
            strategy: request.strategy as u32,
            points: request.points as u32,
            record: request.record as u32,
            flags: request.flags | if self.leaks { flags::LEAKS } else { 0 },
            max_points: request.max_points,
            follow,
            known: self.known_count,
            told: self.told_count,
            races: u32::from(request.races),
            watches: self.memory.set_watches(&request.watches),
            estimate_choices: request.estimates.0,
            estimate_strands: request.estimates.1,
            params: request.params,
            memory: self.limits.memory,
            model: request.model as u32,
            faults: request.faults.0,
            choices: self.choices,
        }
    }

    pub(crate) fn begin(&mut self, request: &Request) -> Result<(), Error> {
        self.rewind().map_err(Error::system("empty the output files"))?;
        self.memory.clear_ring();
        self.memory.clear_pid();
        if self.send(Command { code: Command::RUN, reserved: 0, arg: request.run }) {
            Ok(())
        } else {
            Err(self.died(request.run))
        }
    }

    pub(crate) fn wait_for_end(
        &mut self,
        request: &Request,
        sink: &mut Option<&mut dyn EventSink>,
        stops: bool,
    ) -> Result<Arrival, Error> {
        let mut patience = Patience::new(request.timeout, self.processors);
        // From when on the run is over: by its own time, or by the clock once it was asked to end.
        let mut deadline: Option<Instant> = None;
        let mut asked = false;
        let mut killed = false;
        let mut end = End::TimedOut;
        let mut buffer = Vec::new();
        // The run under way, where there are several.
        let mut current = request.run;
        loop {
            let tick = if sink.is_some() || stops { SHORT_TICK } else { TICK };
            let left = match deadline {
                Some(deadline) => deadline.saturating_duration_since(Instant::now()),
                None => patience.next(),
            };
            let message = self.receive(left.min(tick))?;
            let mut drained = 0;
            if let Some(sink) = sink.as_mut() {
                buffer.clear();
                drained = self.memory.drain(&mut buffer);
                if drained > 0 {
                    sink.events(&buffer);
                }
            }
            match message {
                Message::Reply(Reply {
                    code: code @ (Reply::ENDED | Reply::AGAIN | Reply::BATCH),
                    value,
                    arg,
                }) => {
                    self.left_behind = arg;
                    if asked && self.cancel.load(Ordering::Relaxed) {
                        return Err(Error::Cancelled);
                    }
                    return Ok(match code {
                        Reply::BATCH => Arrival::Batch,
                        _ if asked => Arrival::End(end),
                        Reply::AGAIN => Arrival::Again,
                        _ => Arrival::End(decode_status(value)),
                    });
                }
                Message::Reply(Reply { code: Reply::FAILED, value, .. }) => {
                    let source = std::io::Error::from_raw_os_error(value);
                    return Err(Error::ForkFailed { run: request.run, source });
                }
                Message::Reply(_) => {}
                Message::Closed => return Err(self.died(request.run)),
                Message::Nothing => {
                    let pid = self.run_process();
                    if stops && let Some(pid) = pid.filter(|&pid| is_stopped(pid)) {
                        return Ok(Arrival::Stopped(pid));
                    }
                    if drained == 0 {
                        let _ = self.stdout.cut();
                        let _ = self.stderr.cut();
                    }
                    let cancelled = self.cancel.load(Ordering::Relaxed);
                    let large = || pid.is_some_and(|pid| self.limits.are_passed_by(pid));
                    if !asked && !cancelled && large() {
                        end = End::OutOfMemory;
                        deadline = Some(Instant::now());
                    }
                    let live = self.memory.live();
                    if self.in_batch && !asked && live.run != current {
                        current = live.run;
                        patience = Patience::in_between(request.timeout, pid);
                    }
                    let over = match deadline {
                        Some(deadline) => Instant::now() >= deadline,
                        None => patience.is_over(pid, live.used_before),
                    };
                    if !over && (killed || !cancelled) {
                        continue;
                    }
                    if self.in_batch && !asked && self.memory.stop_batch() != current && !cancelled {
                        (deadline, end) = (None, End::TimedOut);
                        continue;
                    }
                    if killed || pid.is_none() {
                        // Not even the server answers: it goes, and its children with it.
                        kill_run(pid);
                        self.bury();
                        return Ok(Arrival::End(end));
                    }
                    if !asked && !cancelled {
                        // The runtime tells where every strand is, and ends. One that cannot is killed.
                        pid.map(|pid| kill_process(pid, Signal::XCPU));
                        deadline = Some(Instant::now() + LAST_WORDS);
                    } else {
                        kill_run(pid);
                        killed = true;
                        deadline = Some(Instant::now() + GRACE);
                    }
                    asked = true;
                }
            }
        }
    }

    /// The run's process by the shared memory. The program may have written there: a number that is none of a
    /// process, or another process's, must not lead to a signal for a stranger.
    fn run_process(&self) -> Option<Pid> {
        let pid = Pid::from_raw(self.memory.live().pid.max(0)).filter(|&pid| pid != Pid::INIT)?;
        match test_kill_process(pid) {
            // Gone: what is left of its group may still be there.
            Err(Errno::SRCH) => Some(pid),
            _ => (parent_of(pid) == Some(self.process_id())).then_some(pid),
        }
    }

    /// The verdict of the run that has just ended.
    pub fn verdict(&self, request: &Request, ended: &Ended) -> Result<Verdict, Error> {
        if verdict::is_clean(ended.end, &ended.live) {
            return Ok(Verdict::clean());
        }
        Ok(self.facts(request, ended, false)?.verdict)
    }

    /// The bytes of the report of the run that has just ended.
    pub fn report_bytes(&self, ended: &Ended) -> Vec<u8> {
        self.memory.report(ended.live.report_len)
    }

    /// The pcs the run that has just ended learnt.
    pub fn learnt(&self, ended: &Ended) -> Vec<u64> {
        self.memory.learnt(ended.live.learnt)
    }

    /// What the run that has just ended teaches.
    pub(crate) fn lessons(&self, ended: &Ended) -> Lessons {
        let (steps, steps_lost) = ended.live.steps;
        let steps = if steps > 0 { self.memory.steps(steps) } else { Vec::new() };
        let (notes, reads) = (self.memory.notes(), self.memory.reads());
        Lessons { notes, reads, steps, steps_lost, ..Lessons::default() }
    }

    /// The order of events that the free run that has just ended recorded.
    pub(crate) fn recording(&self, last: u16) -> Recorded {
        let (paths, events, count) = self.memory.recorded();
        let mut words = Vec::new();
        // A strand that was killed may have taken a number and left its place empty.
        Recording::encode(&paths, last, events.into_iter().filter(|&event| event != 0), &mut words);
        words.truncate(WORDS_CAPACITY - 1);
        let events = (words.len() - 1 - paths.len()) as u64;
        Recorded { words: words.into(), events, cut: count > events }
    }

    /// The choices the run that has just ended took.
    pub fn segments(&self, ended: &Ended) -> Vec<Segment> {
        self.memory.taken(ended.live.counters.segments)
    }

    /// All that is to be kept of the run that has just ended.
    pub fn facts(&self, request: &Request, ended: &Ended, with_segments: bool) -> Result<RunFacts, Error> {
        let read = |what: &'static str| Error::system(what);
        let report = RunReport::decode(&self.report_bytes(ended));
        let stdout = self.stdout.read().map_err(read("read the program's output"))?;
        let stderr = self.stderr.read().map_err(read("read the program's output"))?;
        let mut facts = facts_of(request, ended, report, (stdout, stderr));
        if with_segments {
            facts.segments = self.segments(ended);
        }
        Ok(facts)
    }

    fn died(&mut self, run: u64) -> Error {
        let end = self.bury();
        Error::ServerDied { program: self.program.clone(), run, end }
    }
}

/// What is to be kept of a run with this report and output, but for its choices.
pub(crate) fn facts_of(
    request: &Request,
    ended: &Ended,
    report: RunReport,
    (stdout, stderr): (Output, Output),
) -> RunFacts {
    let verdict = verdict::judge(ended.end, request.timeout, &ended.live, &report, &stdout, &stderr);
    RunFacts {
        run: request.run,
        seed: request.seed,
        end: ended.end,
        verdict,
        counters: ended.live.counters,
        report,
        segments: Vec::new(),
        stdout,
        stderr,
        events: Vec::new(),
    }
}

/// Whether somebody has killed the run.
pub(crate) fn was_killed(ended: &Ended) -> bool {
    ended.end == End::Signalled(Signal::KILL.as_raw()) && ended.live.verdict == VerdictKind::None as u32
}

fn kill_run(pid: Option<Pid>) {
    if let Some(pid) = pid {
        // The group, and the process itself in case it has left the group. Both fail only when it is gone.
        let _ = kill_process_group(pid, Signal::KILL);
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn is_stopped(pid: Pid) -> bool {
    stat_of(pid).starts_with('T')
}

fn parent_of(pid: Pid) -> Option<u32> {
    stat_of(pid).split(' ').nth(1)?.parse().ok()
}

/// What the system tells of a process, from its state on.
pub(crate) fn stat_of(pid: Pid) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // The name before the state may hold anything, a parenthesis too.
    stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

fn decode_status(status: i32) -> End {
    match status & 0x7f {
        0 => End::Exited((status >> 8) & 0xff),
        signal => End::Signalled(signal),
    }
}

/// One job: a server that is started when it is needed and again when it has gone.
#[derive(Debug)]
pub struct Job {
    target: Arc<Target>,
    server: Option<Server>,
    known: Arc<[u64]>,
    places: Places,
    /// Where parameters and locals are, for runs that tell values.
    locals: Arc<[u64]>,
    /// What free runs covered so far, where that is noted.
    tasks: Option<Arc<Seen>>,
    cancel: Arc<AtomicBool>,
    /// What is known of runs that used up their time, where such a run is made again.
    pace: Option<Arc<Pace>>,
}

impl Job {
    /// A job whose server is not started yet. Its runs are given up when `cancel` is set.
    pub fn new(target: Arc<Target>, cancel: Arc<AtomicBool>) -> Job {
        Job {
            target,
            server: None,
            known: Arc::from([]),
            places: Places::default(),
            locals: Arc::from([]),
            tasks: None,
            cancel,
            pace: None,
        }
    }

    /// Runs that use up their time are made again with more of it; all jobs of a campaign know what came of that.
    pub(crate) fn with_pace(mut self, pace: &Arc<Pace>) -> Job {
        self.pace = Some(Arc::clone(pace));
        self
    }

    /// The pcs that all runs from now on know.
    pub fn set_known(&mut self, known: &Arc<[u64]>) {
        if Arc::ptr_eq(known, &self.known) {
            return;
        }
        self.known = Arc::clone(known);
        if let Some(server) = &mut self.server {
            server.set_known(&self.known);
        }
    }

    /// The pcs that runs know.
    pub(crate) fn known(&self) -> &Arc<[u64]> {
        &self.known
    }

    /// Where parameters and locals are at instructions, for runs from now on that tell values.
    pub fn set_locals(&mut self, words: &Arc<[u64]>) {
        self.locals = Arc::clone(words);
        if let Some(server) = &mut self.server {
            server.set_locals(words);
        }
    }

    /// The same for free runs; `quiet` knows where noise is of no use.
    pub(crate) fn set_known_marked(&mut self, known: &Arc<[u64]>, quiet: Option<&dyn Quiet>) {
        let marked = self.places.mark(known, quiet);
        self.set_known(&marked);
    }

    /// What the next free run begins with.
    pub(crate) fn set_tasks(&mut self, covered: &Arc<Seen>) {
        self.tasks = Some(Arc::clone(covered));
    }

    /// The same with what the free run that has just ended added; `quiet` knows which functions are not asked for.
    pub(crate) fn tasks(&mut self, quiet: Option<&dyn Quiet>) -> Option<Box<Seen>> {
        self.tasks.as_ref()?;
        let mut seen = tasks::read(&self.server.as_ref()?.memory);
        self.places.mark_libraries(&mut seen, quiet);
        Some(Box::new(seen))
    }

    /// A free run has ended.
    pub(crate) fn see_places(&mut self, ended: &Ended) {
        if let Some(server) = &self.server {
            self.places.see(server, ended);
        }
    }

    /// The modules of its free runs, as far as they are known.
    pub(crate) fn modules(&self) -> &[Module] {
        self.places.modules()
    }

    /// The server, alive.
    pub fn server(&mut self) -> Result<&mut Server, Error> {
        if self.server.as_ref().is_some_and(|server| !server.is_alive()) {
            self.server = None;
        }
        match &mut self.server {
            Some(server) => Ok(server),
            none => {
                let mut server = Server::start_unless(&self.target, Arc::clone(&self.cancel))?;
                server.set_known(&self.known);
                server.set_locals(&self.locals);
                Ok(none.insert(server))
            }
        }
    }

    /// Whether there is a server that can take another run.
    pub(crate) fn is_alive(&self) -> bool {
        self.server.as_ref().is_some_and(Server::is_alive)
    }

    /// The server of the last run, alive or not: it has the run's details.
    pub fn last(&mut self) -> Option<&mut Server> {
        self.server.as_mut()
    }

    /// Makes several runs with one command, as far as that goes.
    pub(crate) fn run_batch(&mut self, requests: &[Request]) -> Result<Batch, Error> {
        let slow = self.pace.as_ref().is_some_and(|pace| pace.is_slow());
        let server = self.server()?;
        if !slow {
            return server.run_batch(requests);
        }
        let longer = |request: &Request| Request { timeout: request.timeout * MORE, ..request.clone() };
        server.run_batch(&requests.iter().map(longer).collect::<Vec<_>>())
    }

    /// Makes one run. If the run or its server is killed, it is made once more: a program that kills itself does so
    /// again.
    pub fn run(&mut self, request: &Request, follow: &[Segment]) -> Result<Ended, Error> {
        let Some(pace) = self.pace.clone() else { return self.run_kept(request, follow) };
        let longer = Request { timeout: request.timeout * MORE, ..request.clone() };
        if pace.is_slow() {
            return self.run_kept(&longer, follow);
        }
        let ended = self.run_kept(request, follow)?;
        match self.with_more_time(request, &ended, follow)? {
            Some(again) => Ok(again),
            None => Ok(ended),
        }
    }

    /// A run that has used up its time is made again with more of it, if nobody knows yet what comes of that.
    pub(crate) fn with_more_time(
        &mut self,
        request: &Request,
        ended: &Ended,
        follow: &[Segment],
    ) -> Result<Option<Ended>, Error> {
        let Some(pace) = self.pace.clone().filter(|pace| pace.is_unknown() && ended.end == End::TimedOut)
        else {
            return Ok(None);
        };
        let longer = Request { timeout: request.timeout * MORE, ..request.clone() };
        let again = self.run_kept(&longer, follow)?;
        let came_to_its_end = again.end != End::TimedOut;
        pace.learn(came_to_its_end);
        if let Some(server) = &mut self.server {
            server.was_slow = came_to_its_end;
        }
        Ok(Some(again))
    }

    fn run_kept(&mut self, request: &Request, follow: &[Segment]) -> Result<Ended, Error> {
        match self.run_once(request, follow) {
            Err(Error::ServerDied { .. }) => {}
            Ok(ended) if was_killed(&ended) => {}
            other => return other,
        }
        self.run_once(request, follow)
    }

    fn run_once(&mut self, request: &Request, follow: &[Segment]) -> Result<Ended, Error> {
        let covered = self.tasks.clone();
        let server = self.server()?;
        if let Some(covered) = covered {
            tasks::write(&server.memory, &covered);
        }
        server.run(request, Follow::Segments(follow), None)
    }
}
