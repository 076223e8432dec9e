//@ expect: deadlock
//@ max-runs: 1500
//@ preemptions: 1
//@ pair: left here
// Five philosophers; a barrier sits them down together.
use std::sync::{Barrier, Mutex};
use std::thread;

fn main() {
    let forks: [Mutex<u32>; 5] = Default::default();
    let seated = Barrier::new(5);
    thread::scope(|scope| {
        for seat in 0..5 {
            let (forks, seated) = (&forks, &seated);
            scope.spawn(move || {
                seated.wait();
                let mut left = forks[seat].lock().unwrap(); //~ left
                let mut right = forks[(seat + 1) % 5].lock().unwrap(); //~ here
                *left += 1;
                *right += 1;
            });
        }
    });
}
