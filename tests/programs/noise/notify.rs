//@ expect: panic|assertion
//@ bare: any
// The strands that wait are told before what they are told of is there.
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::Mutex;
use std::thread;

static NOTIFIED: AtomicBool = AtomicBool::new(false);
static SUBJECT: Mutex<Option<u32>> = Mutex::new(None);

fn wait_for_change() {
    while !NOTIFIED.load(SeqCst) {
        thread::yield_now();
    }
    let subject = *SUBJECT.lock().unwrap();
    assert_eq!(subject, Some(7));
}

fn change_notification(value: u32) {
    NOTIFIED.store(true, SeqCst);
    *SUBJECT.lock().unwrap() = Some(value);
}

fn main() {
    let strands: Vec<_> = (0..4).map(|_| thread::spawn(wait_for_change)).collect();
    change_notification(7);
    for strand in strands {
        strand.join().unwrap();
    }
}
