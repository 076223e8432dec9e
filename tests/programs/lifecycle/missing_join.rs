//@ expect: assertion
// A dropped JoinHandle detaches: nobody waits for the write.
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let log = Arc::new(Mutex::new(Vec::new()));
    for line in 0..2 {
        let log = Arc::clone(&log);
        thread::spawn(move || log.lock().unwrap().push(line));
    }
    thread::yield_now();
    assert_eq!(log.lock().unwrap().len(), 2); //~ here
}
