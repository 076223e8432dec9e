//@ expect: deadlock
//@ bare: any
// Five philosophers take the left fork first, all of them.
use std::sync::Mutex;
use std::thread;

const SEATS: usize = 5;
static FORKS: [Mutex<u32>; SEATS] = [const { Mutex::new(0) }; SEATS];

fn dine(seat: usize) {
    for _ in 0..10 {
        let mut left = FORKS[seat].lock().unwrap();
        let mut right = FORKS[(seat + 1) % SEATS].lock().unwrap();
        *left += 1;
        *right += 1;
    }
}

fn main() {
    let strands: Vec<_> = (0..SEATS).map(|seat| thread::spawn(move || dine(seat))).collect();
    for strand in strands {
        strand.join().unwrap();
    }
}
