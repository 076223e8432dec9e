//! The peer's side of `cargo xtask bench engine`: two threads add to one counter, a load and a store at a time, under
//! Shuttle's random scheduler. Prints points per second (each load and each store is a point).

use shuttle::scheduler::RandomScheduler;
use shuttle::sync::Arc;
use shuttle::sync::atomic::{AtomicU64, Ordering};
use shuttle::{Config, MaxSteps, Runner, thread};
use std::time::Instant;

fn main() {
    let additions: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(200_000);
    let executions: usize = std::env::args().nth(2).and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut config = Config::new();
    config.max_steps = MaxSteps::None;
    let began = Instant::now();
    Runner::new(RandomScheduler::new_from_seed(1, executions), config).run(move || {
        let counter = Arc::new(AtomicU64::new(0));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let counter = counter.clone();
                thread::spawn(move || {
                    for _ in 0..additions {
                        let before = counter.load(Ordering::SeqCst);
                        counter.store(before + 1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.join().unwrap();
        }
    });
    let points = 4 * additions * executions as u64;
    println!("{:.0}", points as f64 / began.elapsed().as_secs_f64());
}
