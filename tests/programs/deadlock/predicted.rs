//@ expect: deadlock
//@ strategy: round-robin
//@ max-runs: 2
//@ message: lock cycle of 2 strands
// Opposite orders of two mutexes of std, a long way apart: only a directed run has both strands there.
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static ACCOUNTS: Mutex<u32> = Mutex::new(1);
static JOURNAL: Mutex<u32> = Mutex::new(2);
static WORK: AtomicU32 = AtomicU32::new(0);

fn busy() {
    for _ in 0..2000 {
        WORK.fetch_add(1, Ordering::Relaxed);
    }
}

fn early() {
    {
        let mut accounts = ACCOUNTS.lock().unwrap();
        *accounts += *JOURNAL.lock().unwrap();
    }
    busy();
}

fn late() {
    busy();
    let mut journal = JOURNAL.lock().unwrap();
    *journal += *ACCOUNTS.lock().unwrap();
}

fn main() {
    let strand = thread::spawn(early);
    late();
    strand.join().unwrap();
}
