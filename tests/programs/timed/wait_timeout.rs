//@ expect: pass
// Condvar::wait_timeout, wait_timeout_while, recv_timeout and park_timeout, answered in time or not.
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let (flag, changed) = (Mutex::new(false), Condvar::new());
    let began = Instant::now();
    let (guard, result) = changed.wait_timeout_while(flag.lock().unwrap(), Duration::from_millis(3), |set| !*set).unwrap();
    assert!(result.timed_out() && !*guard && began.elapsed() >= Duration::from_millis(3));
    drop(guard);

    let (sender, receiver) = mpsc::channel();
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    thread::scope(|scope| {
        scope.spawn(|| {
            *flag.lock().unwrap() = true;
            changed.notify_one();
            sender.send(7).unwrap();
        });
        let mut set = flag.lock().unwrap();
        while !*set {
            set = changed.wait_timeout(set, Duration::from_millis(1)).unwrap().0;
        }
        drop(set);
        loop {
            match receiver.recv_timeout(Duration::from_millis(1)) {
                Ok(value) => break assert_eq!(value, 7),
                Err(error) => assert_eq!(error, RecvTimeoutError::Timeout),
            }
        }
    });
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(2) {
        thread::park_timeout(Duration::from_millis(2));
    }
    drop(sender);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Disconnected));
}
