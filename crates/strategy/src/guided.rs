//! How likely noise is in a free run that is guided by what was covered.
//!
//! After ConTest: noise goes where a task is open, and leaves alone what is covered, so that running through is covered too.
//! Three things are different. Where nothing is open a little noise stays, because tasks that come up later begin
//! somewhere. Where noise was made often and the task stayed open it grows less likely, because some tasks cannot be covered.
//! And noise that looks at the history of a strand leaves long stretches alone: with noise at every event that might have
//! some, no strand would ever get far.

/// Whether a task is open where noise may be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
    /// None.
    Nothing,
    /// One for which another strand has to be interrupted next.
    Next,
    /// One that is covered if others, come to the right place meanwhile, are interrupted there.
    Wanted,
    /// One that noise here may cover if others come to the right place meanwhile.
    Soon,
    /// One that noise here may cover.
    Here,
}

/// The part of the probability that stays where nothing is open.
const FLOOR: u64 = 32;
/// Tries after which a task that stays open is half as likely tried again.
const HALF: u64 = 8;

/// How likely noise is. `probability`: where it is most likely; `usual`: what it would be by chance alone; `tries`: how often noise
/// was made for this task.
pub fn likely(open: Open, tries: u64, probability: u64, usual: u64) -> u64 {
    let wish = match open {
        Open::Nothing => 0,
        Open::Next => probability / 8,
        Open::Soon | Open::Wanted => probability / 2,
        Open::Here => probability,
    };
    (wish * HALF / (HALF + tries)).max(usual.min(probability / FLOOR))
}

/// Doublings of the longest stretch that is not endless: where nothing is known of the strands, and at the most.
const DOUBLINGS: u32 = 10;
const MOST_DOUBLINGS: u32 = 16;

/// How many events a strand passes without noise before it is due: each order of magnitude up to what strands have
/// (`reach`, 0 if unknown) as likely as the others, now and then none, and now and then all there are.
pub fn stretch(random: u64, reach: u64) -> u64 {
    match random % 8 {
        0 => u64::MAX,
        1 => 0,
        _ => {
            let doublings = reach.checked_ilog2().map_or(DOUBLINGS, |most| (most + 1).min(MOST_DOUBLINGS));
            let base = 1u64 << ((random >> 3) % doublings as u64);
            base + (random >> 32) % base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    const P: u64 = 60_000;

    #[test]
    fn noise_goes_where_a_task_is_open() {
        assert_eq!(likely(Open::Here, 0, P, 100), P);
        assert_eq!([Open::Soon, Open::Next].map(|open| likely(open, 0, P, 100)), [P / 2, P / 8]);
        assert_eq!(likely(Open::Nothing, 0, P, P), P / 32);
        assert_eq!(likely(Open::Nothing, 0, P, 7), 7);
    }

    #[test]
    fn what_stays_open_is_tried_less_and_less() {
        let tries: [u64; 4] = [0, 1, 8, 1000].map(|tries| likely(Open::Here, tries, P, 1));
        assert!(tries.is_sorted_by(|a, b| a > b) && tries[2] == P / 2 && tries[3] > 0, "{tries:?}");
    }

    #[test]
    fn long_stretches_are_likely() {
        let mut rng = Rng::new(3);
        let lengths: [u64; 8000] = core::array::from_fn(|_| stretch(rng.next(), 0));
        let count =
            |from: u64, to: u64| lengths.iter().filter(|&&length| from <= length && length <= to).count();
        // An eighth each: 1000, of which 850 is five standard deviations (30) below.
        assert!(count(u64::MAX, u64::MAX) > 850 && count(0, 0) > 850);
        // Of the other six eighths, three and a third of ten doublings are from 100 on: about 2000.
        assert!(count(100, 1023) > 1700, "{}", count(100, 1023));
        assert_eq!(count(1024, u64::MAX - 1), 0);
        let short = core::array::from_fn::<u64, 1000, _>(|_| stretch(rng.next(), 6));
        assert!(short.iter().all(|&length| length < 8 || length == u64::MAX) && short.contains(&5));
    }
}
