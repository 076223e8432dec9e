//@ expect: pass
//@ warns: none
// Whoever waits for a condition has given its lock back: the other order is no cycle.
use std::sync::{Condvar, Mutex};
use std::thread;

static QUEUE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static TOTAL: Mutex<u32> = Mutex::new(0);
static FILLED: Condvar = Condvar::new();

fn consume() {
    for _ in 0..2 {
        let mut queue = FILLED.wait_while(QUEUE.lock().unwrap(), |queue| queue.is_empty()).unwrap();
        let item = queue.pop().unwrap();
        drop(queue);
        *TOTAL.lock().unwrap() += item;
    }
}

fn main() {
    let strand = thread::spawn(consume);
    for item in [3, 4] {
        let _total = TOTAL.lock().unwrap();
        QUEUE.lock().unwrap().push(item);
        FILLED.notify_one();
    }
    strand.join().unwrap();
    assert_eq!(*TOTAL.lock().unwrap(), 7);
}
