//! Figure 2 of the paper: of two writes in one critical section only the second can be seen.

use std::sync::Mutex;
use std::thread;

static A: Mutex<i32> = Mutex::new(0);

fn first() {
    let mut a = A.lock().unwrap();
    *a = 1; //~ one
    std::hint::black_box(&mut *a);
    *a = 2; //~ two
}

fn second() {
    *A.lock().unwrap() = 3; //~ three
}

fn third() {
    let seen = *A.lock().unwrap(); //~ read
    println!("{seen}");
}

fn main() {
    let strands = [thread::spawn(first), thread::spawn(second), thread::spawn(third)];
    for strand in strands {
        strand.join().unwrap();
    }
}
