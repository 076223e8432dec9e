//@ expect: deadlock
// Two unparks before the first park are one token; the second park never ends.
use std::thread;

fn main() {
    let sleeper = thread::spawn(|| {
        thread::park();
        thread::park(); //~ here
    });
    sleeper.thread().unpark();
    thread::yield_now();
    sleeper.thread().unpark();
    sleeper.join().unwrap();
}
