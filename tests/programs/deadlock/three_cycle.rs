//@ expect: deadlock
//@ max-runs: 800
// Three locks in a ring: no two strands alone can deadlock.
use std::sync::Mutex;
use std::thread;

fn main() {
    let ring = [Mutex::new(()), Mutex::new(()), Mutex::new(())];
    thread::scope(|scope| {
        for i in 0..3 {
            let ring = &ring;
            scope.spawn(move || {
                let _mine = ring[i].lock().unwrap();
                let _next = ring[(i + 1) % 3].lock().unwrap(); //~ here
            });
        }
    });
}
