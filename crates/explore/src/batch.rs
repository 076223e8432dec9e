//! Several runs with one command (`abi::batch`): most runs tell so little that a word to the driver, and the turn it takes, would cost more than the run.
//!
//! What a run is does not depend on it. The runtime leaves what each run told in shared memory; a run that has more to tell ends the batch
//! and is answered like a run of its own, also one whose time is over. Whatever else happens (somebody kills the worker or the server) ends the
//! batch with the runs that are made for good, and the next one is made by itself.

use crate::advice::Lessons;
use crate::error::Error;
use crate::outcome::{Remains, WAS_CUT, tells_more};
use crate::run::{Arrival, Ended, Request, facts_of};
use crate::server::Server;
use crate::shm::Told;
use std::sync::Arc;
use std::time::{Duration, Instant};
use threadbare_abi::batch::RUNS;
use threadbare_abi::event::Segment;
use threadbare_coverage::Contribution;
use threadbare_trace::report::{RunReport, Warning};
use threadbare_trace::run::{End, Output, RunFacts};

/// What came of a batch.
#[derive(Debug)]
pub(crate) struct Batch {
    /// What the first runs told.
    pub(crate) told: Vec<Told>,
    /// How the one behind them ended, if it did; its details are in the server's memory.
    pub(crate) then: Option<Ended>,
}

impl Server {
    /// Makes as many of the runs as one command does; they differ in strategy, seed and guide only.
    pub(crate) fn run_batch(&mut self, requests: &[Request]) -> Result<Batch, Error> {
        let Some(first) = requests.first() else { return Ok(Batch { told: Vec::new(), then: None }) };
        let plans: Vec<_> =
            requests.iter().map(|request| (self.plan(request, 0), Arc::clone(&request.guide))).collect();
        self.memory.set_batch(&plans);
        (self.guide, self.in_batch, self.was_slow) = (None, true, false);
        let arrival = self.begin(first).and_then(|()| self.wait_for_end(first, &mut None, false));
        self.in_batch = false;
        let told = self.memory.results();
        let coverage: usize = told.iter().map(|told| told.coverage.len()).sum();
        self.told_count += coverage as u64;
        let then = match arrival {
            Ok(Arrival::End(end)) => Some(Ended { end, live: self.memory.live() }),
            Ok(_) => None,
            Err(Error::ServerDied { .. }) if !told.is_empty() => None,
            Err(error) => return Err(error),
        };
        Ok(Batch { told, then })
    }
}

/// A run of a batch as one that has ended.
pub(crate) fn ended(told: &Told) -> Ended {
    Ended { end: End::Exited(0), live: told.live }
}

/// What it adds to coverage.
pub(crate) fn contribution(told: &mut Told) -> Contribution {
    let whole = told.live.learnt == 0 && told.live.class != 0;
    Contribution { class: whole.then_some(told.live.class), records: std::mem::take(&mut told.coverage) }
}

impl Remains for (&Server, &mut Told) {
    fn learnt(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.1.learnt)
    }

    fn lessons(&mut self) -> Lessons {
        let Told { notes, reads, steps, live, .. } = &mut *self.1;
        let steps_lost = live.steps.1;
        let [notes, reads, steps] = [notes, reads, steps].map(std::mem::take);
        Lessons { notes, reads, steps, steps_lost, ..Lessons::default() }
    }

    fn limits_met(&self) -> Vec<Warning> {
        let cut = self.0.stdout.would_cut(self.1.written[0]) || self.0.stderr.would_cut(self.1.written[1]);
        if cut { vec![Warning::new(WAS_CUT)] } else { Vec::new() }
    }

    fn has_more(&self) -> bool {
        tells_more(&self.1.report)
    }

    fn report(&self) -> Vec<u8> {
        // What comes before is told once, and stays.
        let before = self.1.live.report_len.saturating_sub(self.1.report.len() as u64);
        [self.0.memory.report(before), self.1.report.clone()].concat()
    }

    fn facts(&self, request: &Request) -> Result<RunFacts, Error> {
        // What it wrote is gone: whoever wants to read that makes the run again.
        let nothing = || Output { bytes: Vec::new(), dropped: 0 };
        Ok(facts_of(request, &ended(self.1), RunReport::decode(&self.report()), (nothing(), nothing())))
    }

    fn segments(&self) -> Option<Vec<Segment>> {
        None
    }
}

/// How many runs a job asks for at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// As many as the last ones let hope for.
    most: usize,
    /// With fewer than these, a batch costs more than it takes to wait for the other jobs.
    least: u64,
}

/// How long a batch is to take: its end is what everybody waits for who wants to stop.
const LONG: Duration = Duration::from_millis(5);
/// How long it is to take where several jobs share what is left: asking, answering and waking cost a tenth of it.
const SHORT: Duration = Duration::from_micros(300);

impl Size {
    pub(crate) fn new() -> Size {
        Size { most: 1, least: 1 }
    }

    /// How many there are to be of `left`, which so many jobs share.
    pub(crate) fn of(self, left: u64, jobs: usize) -> usize {
        // The last ones are small, so that all jobs come to the end of an epoch at the same time; but not of runs that take next to no time.
        let (jobs, least) = (jobs.max(1) as u64, self.least);
        let share = if jobs > 1 { left.div_ceil(2 * jobs).max(least.min(left.div_ceil(jobs))) } else { left };
        self.most.min(usize::try_from(share).unwrap_or(RUNS)).max(1)
    }

    /// So many of the runs that were asked for were made since then.
    pub(crate) fn learn(&mut self, made: usize, asked: usize, since: Instant) {
        let run = since.elapsed() / u32::try_from(made.max(1)).unwrap_or(1);
        let in_time = LONG.as_nanos() / run.as_nanos().max(1);
        self.least = u64::try_from(SHORT.as_nanos() / run.as_nanos().max(1)).unwrap_or(u64::MAX);
        let hoped_for = if made >= asked { 2 * self.most.max(made) } else { (made + self.most) / 2 };
        self.most = hoped_for.min(usize::try_from(in_time).unwrap_or(RUNS)).clamp(1, RUNS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_while_they_come_back_whole() {
        let mut size = Size::new();
        for asked in [1, 2, 4, 8, 16, 32] {
            assert_eq!(size.of(1000, 1), asked);
            size.learn(asked, asked, Instant::now());
        }
        assert_eq!((size.of(1000, 1), size.of(3, 1)), (RUNS, 3));
        // With several jobs and runs that take next to no time, each has its share.
        assert_eq!((size.of(64, 2), size.of(5, 2), size.of(1, 2)), (32, 3, 1));
        // Of others the last ones are small.
        let a_moment_ago = Instant::now().checked_sub(SHORT * 8);
        size.learn(8, RUNS, a_moment_ago.unwrap());
        assert_eq!((size.of(64, 2), size.of(5, 2), size.of(1, 2)), (16, 2, 1));
        size = Size { most: RUNS, ..size };
        size.learn(1, RUNS, Instant::now());
        assert_eq!(size.of(1000, 1), RUNS.div_ceil(2));
        let long_ago = Instant::now().checked_sub(LONG * 100);
        size.learn(10, 10, long_ago.unwrap());
        assert_eq!(size.of(1000, 1), 1);
    }
}
