//! An enum of the program's own, whose field is counted up in two steps.
use std::sync::Mutex;

enum Job {
    #[allow(dead_code)]
    Idle,
    Busy { done: u64 },
}

static JOB: Mutex<Job> = Mutex::new(Job::Busy { done: 0 });

fn done() -> u64 {
    match *JOB.lock().unwrap() {
        Job::Idle => 0,
        Job::Busy { done } => done, //~ first
    }
}

fn step() {
    let now = done();
    if let Job::Busy { done } = &mut *JOB.lock().unwrap() {
        *done = now + 1; //~ last
    }
}

fn main() {
    let all: Vec<_> = (0..2).map(|_| std::thread::spawn(step)).collect();
    for one in all {
        one.join().unwrap();
    }
    assert_eq!(done(), 2);
}
