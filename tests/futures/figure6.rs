//! Figure 6 of the paper: who adds up does not wait for those who count.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

static N0: AtomicI32 = AtomicI32::new(0);
static N1: AtomicI32 = AtomicI32::new(0);

fn count0() {
    N0.fetch_add(1, Relaxed); //~ zero
}

fn count1() {
    N1.fetch_add(1, Relaxed); //~ one
}

fn add() {
    thread::sleep(Duration::from_millis(10));
    let first = N0.load(Relaxed); //~ read zero
    let second = N1.load(Relaxed); //~ read one
    println!("{}", first + second);
    if first + second < 1 {
        std::process::exit(3);
    }
}

fn main() {
    let strands = [thread::spawn(count0), thread::spawn(count1), thread::spawn(add)];
    for strand in strands {
        strand.join().unwrap();
    }
}
