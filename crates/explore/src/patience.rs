//! How long a run may take.
//!
//! Time on the clock says how busy the machine is, not how far a run came: with other work beside it, a run that needs a second
//! may take ten. So a run's own processor time counts. Two bounds on the clock are left, both far behind: for a run that
//! sleeps in the kernel, where it uses no processor, and for one that is kept from going on for longer than anybody waits.
//!
//! A run that uses up its time is made again with more of it before it counts as stuck. If it ends then, it is slow, and the
//! campaign's later runs have the longer time from the start; if it does not, it is stuck, and no later one is made twice.

use rustix::process::Pid;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// How much longer than its time a run may sleep in the kernel.
const ASLEEP: u32 = 3;
/// How much longer than its time a run may take on the clock.
const CLOCK: u32 = 30;
/// How much more time a run has that is made again.
pub(crate) const MORE: u32 = 4;
/// How often a run is looked at.
const LOOK: Duration = Duration::from_millis(100);
const SOONEST: Duration = Duration::from_millis(2);

/// What is seen of a run at one look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Look {
    /// Processor time used so far.
    pub(crate) used: Duration,
    /// Whether it waits for the kernel, not for a processor.
    pub(crate) sleeps: bool,
}

impl Look {
    /// Looks at a process.
    pub(crate) fn at(process: Option<Pid>) -> Look {
        let stat = process.map(crate::run::stat_of).unwrap_or_default();
        Look::read(&stat)
    }

    /// Reads a process's `stat`, from its state on.
    fn read(stat: &str) -> Look {
        let ticks = |field: usize| stat.split(' ').nth(field).and_then(|word| word.parse::<u64>().ok());
        // utime, stime, and the same of its children that were waited for.
        let used: u64 = (11..15).filter_map(ticks).sum();
        let rate = rustix::param::clock_ticks_per_second().max(1);
        let used = Duration::from_nanos(used.saturating_mul(1_000_000_000 / rate));
        // One that is not there, or not any more, does nothing either.
        Look { used, sleeps: !stat.starts_with(['R', 'D']) }
    }
}

/// The patience with one run.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    processors: u32,
    began: Instant,
    /// The last look, and when it was.
    last: Option<(Duration, Look)>,
    asleep: Duration,
    /// What the process had used when the run was first seen, where nobody tells what it had used when the run began.
    seen: Option<Duration>,
}

impl Patience {
    /// With a run that begins now, and may use so many processors at a time.
    pub(crate) fn new(limit: Duration, processors: u32) -> Patience {
        Patience { limit, processors, began: Instant::now(), last: None, asleep: Duration::ZERO, seen: None }
    }

    /// With a run that has begun a moment ago, after others in the same process.
    pub(crate) fn in_between(limit: Duration, process: Option<Pid>) -> Patience {
        Patience { seen: Some(Look::at(process).used), ..Patience::new(limit, 1) }
    }

    /// When it is to be looked at next, from now.
    pub(crate) fn next(&self) -> Duration {
        (self.limit / 4).clamp(SOONEST, LOOK)
    }

    /// Whether the run's time is over. Looks only if it is time to. `before` is what the process had used when the run
    /// began.
    pub(crate) fn is_over(&mut self, process: Option<Pid>, before: Duration) -> bool {
        let now = self.began.elapsed();
        if self.last.is_some_and(|(then, _)| now < then + self.next() / 2) {
            return false;
        }
        let (look, before) = (Look::at(process), self.seen.unwrap_or(before));
        self.look(now, Look { used: look.used.saturating_sub(before), ..look })
    }

    /// The same for what was seen so long after the beginning.
    fn look(&mut self, now: Duration, look: Look) -> bool {
        if let Some((then, before)) = self.last.replace((now, look)) {
            match look.sleeps && look.used == before.used {
                true => self.asleep += now.saturating_sub(then),
                false => self.asleep = Duration::ZERO,
            }
        }
        look.used >= self.limit.saturating_mul(self.processors)
            || self.asleep >= self.limit.saturating_mul(ASLEEP)
            || now >= self.limit.saturating_mul(CLOCK)
    }
}

/// What a campaign knows of the runs that used up their time.
#[derive(Debug, Default)]
pub struct Pace(AtomicU8);

const UNKNOWN: u8 = 0;
const SLOW: u8 = 1;
const STUCK: u8 = 2;

impl Pace {
    /// Whether a run that used up its time is to be made again.
    pub(crate) fn is_unknown(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// Whether runs have the longer time from the start.
    pub(crate) fn is_slow(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SLOW
    }

    /// A run was made again: whether it came to its end.
    pub(crate) fn learn(&self, ended: bool) {
        self.0.store(if ended { SLOW } else { STUCK }, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// When a run is over that gets one part in `share` of a processor and sleeps or not, in seconds.
    fn over_after(share: u32, sleeps: bool) -> u32 {
        let mut patience = Patience::new(SECOND * 10, 1);
        (0..10_000)
            .find(|&second| {
                let used = if share == 0 { Duration::ZERO } else { SECOND * second / share };
                patience.look(SECOND * second, Look { used, sleeps })
            })
            .unwrap()
    }

    #[test]
    fn a_run_that_others_keep_from_the_processor_is_not_over() {
        assert_eq!(over_after(1, false), 10);
        // Four campaigns on two processors, and far more than that.
        assert_eq!(over_after(4, false), 40);
        assert_eq!(over_after(20, false), 200);
        assert_eq!(over_after(0, false), 300);
    }

    #[test]
    fn a_run_that_sleeps_is_over_sooner() {
        assert_eq!(over_after(0, true), 30);
        // Asleep whenever it is looked at, and yet it goes on.
        assert_eq!(over_after(4, true), 40);
    }

    #[test]
    fn a_free_run_has_the_time_of_all_its_processors() {
        let mut patience = Patience::new(SECOND * 10, 4);
        let look = |used: u64| Look { used: SECOND * used as u32, sleeps: false };
        assert!(!patience.look(SECOND * 5, look(20)) && !patience.look(SECOND * 9, look(39)));
        assert!(patience.look(SECOND * 10, look(40)));
    }

    #[test]
    fn a_process_is_read() {
        let stat = "R 1 2 2 0 -1 4194560 5 0 0 0 150 50 0 0 20 0 1 0 9";
        let look = Look::read(stat);
        assert!(!look.sleeps && look.used >= Duration::from_millis(200), "{look:?}");
        assert_eq!(Look::read(""), Look { used: Duration::ZERO, sleeps: true });
        assert!(Look::at(Some(rustix::process::getpid())).used <= SECOND * 3600);
    }

    #[test]
    fn a_campaign_learns_its_pace_once() {
        let pace = Pace::default();
        assert!(pace.is_unknown() && !pace.is_slow());
        pace.learn(true);
        assert!(!pace.is_unknown() && pace.is_slow());
        pace.learn(false);
        assert!(!pace.is_unknown() && !pace.is_slow());
    }
}
