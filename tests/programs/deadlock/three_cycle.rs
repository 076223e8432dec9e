//@ expect: deadlock
//@ max-runs: 1000
//@ preemptions: 1
//@ pair: taken here
// Three locks in a ring: no two strands alone can deadlock.
use std::sync::{Barrier, Mutex};
use std::thread;

fn main() {
    let ring = [Mutex::new(()), Mutex::new(()), Mutex::new(())];
    let start = Barrier::new(3);
    thread::scope(|scope| {
        for i in 0..3 {
            let (ring, start) = (&ring, &start);
            scope.spawn(move || {
                start.wait();
                let _mine = ring[i].lock().unwrap(); //~ taken
                let _next = ring[(i + 1) % 3].lock().unwrap(); //~ here
            });
        }
    });
}
