//! A vector behind a lock: it is to have room for one more, which is looked at under another lock.
use std::sync::Mutex;

static QUEUE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
const ROOM: usize = 2;

fn has_room() -> bool {
    QUEUE.lock().unwrap().len() < ROOM
}

fn push(what: u32) {
    if has_room() {
        QUEUE.lock().unwrap().push(what); //~ push
    }
}

fn main() {
    let all: Vec<_> = (0..3).map(|what| std::thread::spawn(move || push(what))).collect();
    for one in all {
        one.join().unwrap();
    }
    assert!(QUEUE.lock().unwrap().len() <= ROOM);
}
