//! rayon, unmodified, in tests that pass under every schedule.

#[cfg(test)]
mod tests {
    use rayon::prelude::*;
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::sync::mpsc;

    fn pool(strands: usize) -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(strands).build().unwrap()
    }

    #[test]
    fn sum_over_the_global_pool() {
        assert_eq!((1..=100u64).into_par_iter().map(|n| n * n).sum::<u64>(), 338_350);
    }

    #[test]
    fn join_recurses() {
        fn fib(n: u32) -> u32 {
            if n < 2 {
                return n;
            }
            let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
            a + b
        }
        assert_eq!(pool(3).install(|| fib(7)), 13);
    }

    #[test]
    fn scope_waits_for_nested_jobs() {
        let count = AtomicU32::new(0);
        pool(3).scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|scope| {
                    count.fetch_add(1, SeqCst);
                    scope.spawn(|_| {
                        count.fetch_add(10, SeqCst);
                    });
                });
            }
        });
        assert_eq!(count.into_inner(), 33);
    }

    #[test]
    fn sort_and_collect_keep_order() {
        pool(2).install(|| {
            let mut numbers: Vec<u32> = (0..41).map(|n| n * 17 % 41).collect();
            numbers.par_sort_unstable();
            assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
            let halves: Vec<u32> = numbers.par_iter().filter(|&&n| n % 2 == 0).map(|n| n / 2).collect();
            assert!(halves.iter().copied().eq(0..=20));
        });
    }

    #[test]
    fn spawned_jobs_answer_and_panics_pass_on() {
        let pool = pool(2);
        let (sender, receiver) = mpsc::channel();
        for n in 0..3 {
            let sender = sender.clone();
            pool.spawn(move || sender.send(n).unwrap());
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<i32>(), 3);
        let caught = panic::catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| rayon::join(|| 1, || -> i32 { panic::resume_unwind(Box::new("thrown")) }))
        }));
        assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "thrown");
        assert_eq!(pool.broadcast(|context| context.index()), [0, 1]);
    }
}
