//! What a test may ask of Threadbare.
//!
//! Run by `cargo threadbare test` or `threadbare run`, the values are choices of the schedule: drawn by strategies, tried one by one by planners,
//! made again by a replay. In a plain `cargo test` every choice is the first one, and nothing else happens.
//!
//! ```
//! let parts = threadbare::choose(3) + 1;
//! let kind = *threadbare::one_of(&["pull", "push"]);
//! threadbare::assume(parts < 3 || kind == "pull");
//! if threadbare::any::<bool>() {
//!     threadbare::reached("the other way");
//! }
//! ```

mod announce;
mod check;
mod drops;
mod runtime;
mod task;
mod value;

#[doc(hidden)]
pub use check::Outcome;
pub use check::{Check, check};
pub use drops::{Counted, Drops};
pub use task::{
    WakeCount, block_on, block_on_with_changing_wakers, cancel_anywhere, counting_waker, poll_once_and_drop,
    poll_with,
};
#[cfg(feature = "macros")]
pub use threadbare_test_macros::test;
pub use value::Any;

/// One of the numbers from 0 to `options - 1`.
///
/// # Panics
/// If there is none.
pub fn choose(options: usize) -> usize {
    assert!(options > 0, "there is nothing to choose from");
    runtime::choose(options as u64) as usize
}

/// One of the elements.
///
/// # Panics
/// If there is none.
pub fn one_of<T>(list: &[T]) -> &T {
    &list[choose(list.len())]
}

/// Any value of a type. Planners try every one of up to 16 bits; of larger ones they take the first, and say so.
pub fn any<T: Any>() -> T {
    T::any()
}

/// A run for which this does not hold is of no use: the process ends here, and the run counts as passed.
///
/// In a plain run the first option was taken everywhere; a test that does not hold with those ends well, and says so.
pub fn assume(holds: bool) {
    if !holds {
        runtime::abandon();
        eprintln!("threadbare: what is assumed does not hold for the first options");
        std::process::exit(0);
    }
}

/// The campaign tells which labels its runs came to.
pub fn reached(label: &str) {
    runtime::reached(label);
}

/// No other strand goes on until this is done, unless it has to wait.
pub fn atomic<T>(work: impl FnOnce() -> T) -> T {
    let _open = runtime::Atomic::begin();
    work()
}

/// Runs so many strands, each with its number, and waits for all of them.
pub fn strands(count: usize, work: impl Fn(usize) + Sync) {
    let work = &work;
    std::thread::scope(|scope| {
        for number in 0..count {
            scope.spawn(move || work(number));
        }
    });
}

#[cfg(test)]
mod tests {
    // Not all: the attribute `test` is another one here.
    use super::{Check, Drops, any, assume, atomic, check, choose, one_of, reached, strands};
    use super::{block_on, block_on_with_changing_wakers, cancel_anywhere, poll_once_and_drop};
    use std::future::{Future, poll_fn, ready};
    use std::panic::catch_unwind;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Poll;

    #[test]
    fn a_plain_run_takes_the_first_options() {
        assert_eq!((choose(7), *one_of(&["a", "b"])), (0, "a"));
        assert_eq!((any::<u8>(), any::<i64>(), any::<bool>()), (0, 0, false));
        assert_eq!((any::<Option<u8>>(), any::<[bool; 2]>()), (None, [false; 2]));
        assert_eq!(atomic(|| 3), 3);
        assume(true);
        reached("here");
    }

    #[test]
    fn strands_have_their_numbers() {
        let sum = AtomicUsize::new(0);
        strands(4, |number| {
            sum.fetch_add(number, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 6);
    }

    #[test]
    fn a_plain_run_checks_once() {
        let mut times = 0;
        check(|| times += 1);
        assert_eq!(Check::new().runs(50).strategy("dpor").run(|| times + 1), 2);
    }

    /// Gives way so many times.
    fn yields(times: usize) -> impl Future<Output = usize> {
        let mut left = times;
        poll_fn(move |context| {
            if left == 0 {
                return Poll::Ready(times);
            }
            left -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }

    #[test]
    fn futures_are_polled_and_dropped() {
        assert_eq!((block_on(yields(3)), block_on_with_changing_wakers(yields(3))), (3, 3));
        assert_eq!((poll_once_and_drop(ready(5)), poll_once_and_drop(yields(1))), (Some(5), None));
        assert_eq!((cancel_anywhere(yields(2), 3), cancel_anywhere(yields(3), 3)), (Some(2), None));
    }

    #[test]
    fn drops_are_counted() {
        let drops = Drops::new();
        let (one, two) = (drops.payload(), drops.payload());
        assert_eq!((one.number(), two.number(), drops.made()), (0, 1, 2));
        let third = two.clone();
        drop(two);
        assert_eq!((drops.alive(), drops.dropped(), third.number()), (2, 1, 2));
        drop((one, third));
        drops.assert_all_dropped();
        let lost = drops.payload();
        assert!(catch_unwind(|| drops.assert_all_dropped()).is_err());
        drop(lost);
    }
}
