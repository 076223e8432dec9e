//! The peer's side of `cargo xtask bench engine` for short runs: two threads add one to a counter under a lock, under Shuttle's random
//! scheduler. Prints runs per second.

use shuttle::scheduler::RandomScheduler;
use shuttle::sync::{Arc, Mutex};
use shuttle::{Config, Runner, thread};
use std::time::Instant;

fn main() {
    let executions: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(50_000);
    let began = Instant::now();
    Runner::new(RandomScheduler::new_from_seed(1, executions), Config::new()).run(|| {
        let counter = Arc::new(Mutex::new(0));
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let counter = counter.clone();
                thread::spawn(move || *counter.lock().unwrap() += 1)
            })
            .collect();
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(*counter.lock().unwrap(), 2);
    });
    println!("{:.0}", executions as f64 / began.elapsed().as_secs_f64());
}
