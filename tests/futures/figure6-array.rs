//! Figure 6 of the paper as it was: a hundred strands count in an array, and main adds up without joining them.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

const COUNT: usize = 100;

static N: [AtomicI32; COUNT] = [const { AtomicI32::new(0) }; COUNT];

fn increment(mine: &AtomicI32) {
    let seen = mine.load(Relaxed);
    mine.store(seen + 1, Relaxed); //~ write
}

fn main() {
    for mine in &N {
        thread::spawn(move || increment(mine));
    }
    thread::sleep(Duration::from_millis(10));
    let mut sum = 0;
    for n in &N {
        sum += n.load(Relaxed); //~ read
    }
    println!("{sum}");
    if sum != COUNT as i32 {
        std::process::exit(3);
    }
}
