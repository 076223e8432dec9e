//! Figure 5 of the paper: a barrier of two of three strands keeps the initial value out, and not the zero.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

static LOCK: Mutex<()> = Mutex::new(());
static BOTH: Barrier = Barrier::new(2);
static N: AtomicI32 = AtomicI32::new(1);

fn first() {
    if cfg!(sleep_first) {
        thread::sleep(Duration::from_millis(10));
    }
    let _held = LOCK.lock().unwrap();
    N.store(0, Relaxed); //~ zero
}

fn second() {
    {
        let _held = LOCK.lock().unwrap();
        if !cfg!(sleep_first) {
            thread::sleep(Duration::from_millis(10));
        }
        N.store(3, Relaxed); //~ three
    }
    BOTH.wait();
}

fn third() {
    BOTH.wait();
    let _held = LOCK.lock().unwrap();
    let seen = N.load(Relaxed); //~ read
    println!("{}", 21 / seen);
}

fn main() {
    let strands = [thread::spawn(first), thread::spawn(second), thread::spawn(third)];
    for strand in strands {
        if strand.join().is_err() {
            std::process::exit(3);
        }
    }
}
