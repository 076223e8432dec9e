//! Figure 7 of the paper: with one lock the two reads see writes of one strand, with two locks they need not.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::thread;

static LOCK: Mutex<()> = Mutex::new(());
#[cfg(two_locks)]
static OTHER: Mutex<()> = Mutex::new(());
static A: AtomicI32 = AtomicI32::new(0);
static B: AtomicI32 = AtomicI32::new(0);

#[cfg(two_locks)]
fn between(held: MutexGuard<'static, ()>) -> MutexGuard<'static, ()> {
    drop(held);
    OTHER.lock().unwrap()
}

#[cfg(not(two_locks))]
fn between(held: MutexGuard<'static, ()>) -> MutexGuard<'static, ()> {
    held
}

fn first() {
    let held = LOCK.lock().unwrap();
    A.store(1, Relaxed); //~ a one
    let _held = between(held);
    B.store(1, Relaxed); //~ b one
}

fn second() {
    let mut x = 0;
    {
        let held = LOCK.lock().unwrap();
        A.store(2, Relaxed); //~ a two
        let _held = between(held);
        // Without an argument it is not assigned then.
        if !cfg!(unassigned) || std::env::args().len() > 1 {
            B.store(2, Relaxed); //~ b two
        }
    }
    let held = LOCK.lock().unwrap();
    let seen = A.load(Relaxed); //~ read a
    let _held = between(held);
    if seen == 1 {
        x = B.load(Relaxed); //~ read b
    }
    println!("{seen}{x}");
    if seen == 1 && x == 2 {
        std::process::exit(3);
    }
}

fn main() {
    let strands = [thread::spawn(first), thread::spawn(second)];
    for strand in strands {
        strand.join().unwrap();
    }
}
