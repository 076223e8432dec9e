//@ expect: pass
//@ warns: none
// Opposite orders of two mutexes of std, but the second one is only tried.
use std::sync::Mutex;
use std::thread;

static ACCOUNTS: Mutex<u32> = Mutex::new(1);
static JOURNAL: Mutex<u32> = Mutex::new(2);

fn there() -> bool {
    let accounts = ACCOUNTS.lock().unwrap();
    JOURNAL.try_lock().map(|journal| *journal > *accounts).unwrap_or(true)
}

fn back() -> bool {
    let journal = JOURNAL.lock().unwrap();
    ACCOUNTS.try_lock().map(|accounts| *journal > *accounts).unwrap_or(true)
}

fn main() {
    let strand = thread::spawn(there);
    assert!(back());
    assert!(strand.join().unwrap());
}
