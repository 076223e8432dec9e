//! An enum with fields: whoever finds the job idle takes it, and both may find it so.
use std::sync::Mutex;

enum Job {
    Idle,
    Taken(u64),
    Done { by: u64 },
}

static JOB: Mutex<Job> = Mutex::new(Job::Idle);

fn is_idle() -> bool {
    matches!(*JOB.lock().unwrap(), Job::Idle)
}

fn take(who: u64) {
    if is_idle() { //~ first
        let before = std::mem::replace(&mut *JOB.lock().unwrap(), Job::Taken(who)); //~ last
        assert!(matches!(before, Job::Idle));
    }
}

fn finish() {
    let mut job = JOB.lock().unwrap();
    if let Job::Taken(by) = *job {
        *job = Job::Done { by };
    }
}

fn main() {
    let all: Vec<_> = (1..3).map(|who| std::thread::spawn(move || take(who))).collect();
    for one in all {
        one.join().unwrap();
    }
    finish();
    assert!(matches!(*JOB.lock().unwrap(), Job::Done { by } if by > 0));
}
