//! An `Option` behind a lock: whoever finds it full empties it, and two may find it so.
use std::sync::Mutex;

static SLOT: Mutex<Option<u32>> = Mutex::new(Some(7));

fn is_full() -> bool {
    SLOT.lock().unwrap().is_some()
}

fn empty() {
    if is_full() { //~ first
        SLOT.lock().unwrap().take().expect("it was full"); //~ last
    }
}

fn main() {
    let all: Vec<_> = (0..2).map(|_| std::thread::spawn(empty)).collect();
    for one in all {
        one.join().unwrap();
    }
}
