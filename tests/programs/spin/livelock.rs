//@ expect: livelock
//@ flags: -O
//@ timeout: 20s
// Two strands hold one try-lock each and spin for the other's.
use std::hint;
use std::sync::Mutex;
use std::thread;

fn main() {
    let (a, b) = (Mutex::new(0), Mutex::new(0));
    let take_both = |first: &Mutex<i32>, second: &Mutex<i32>| {
        let mut mine = first.lock().unwrap();
        loop {
            if let Ok(mut other) = second.try_lock() {
                *mine += 1;
                *other += 1;
                return;
            }
            hint::spin_loop();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| take_both(&a, &b));
        take_both(&b, &a);
    });
}
