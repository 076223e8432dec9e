//@ expect: deadlock
//@ message: waits for the lock it holds itself
//@ preemptions: 1
//@ pair: set check
// A method that locks calls another that locks the same, when there is something to log.
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static STATE: Mutex<u32> = Mutex::new(0);
static VERBOSE: AtomicBool = AtomicBool::new(false);

fn level() -> u32 {
    *STATE.lock().unwrap() //~ here
}

fn step() {
    let mut state = STATE.lock().unwrap();
    *state += 1;
    if VERBOSE.load(Ordering::SeqCst) { //~ check
        assert!(level() > 0);
    }
}

fn main() {
    let strand = thread::spawn(|| VERBOSE.store(true, Ordering::SeqCst)); //~ set
    step();
    strand.join().unwrap();
}
