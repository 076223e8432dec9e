//@ expect: deadlock
//@ preemptions: 1
//@ pair: accounts-taken accounts-wanted
//@ pair: journal-taken here
// Two mutexes, taken in opposite orders.
use std::sync::Mutex;
use std::thread;

static ACCOUNTS: Mutex<i64> = Mutex::new(10);
static JOURNAL: Mutex<Vec<i64>> = Mutex::new(Vec::new());

fn deposit() {
    let mut accounts = ACCOUNTS.lock().unwrap(); //~ accounts-taken
    *accounts += 1;
    JOURNAL.lock().unwrap().push(*accounts); //~ here
}

fn audit() -> usize {
    let journal = JOURNAL.lock().unwrap(); //~ journal-taken
    let accounts = ACCOUNTS.lock().unwrap(); //~ accounts-wanted
    journal.len() + *accounts as usize
}

fn main() {
    let strand = thread::spawn(deposit);
    audit();
    strand.join().unwrap();
}
