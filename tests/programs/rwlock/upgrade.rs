//@ expect: deadlock
//@ preemptions: 2
//@ pair: write here
//@ pair: read write
// The outer read guard still lives when a helper reads again; a writer that waits between them closes the cycle.
use std::sync::RwLock;
use std::thread;

static CONFIG: RwLock<Vec<u32>> = RwLock::new(Vec::new());

fn total() -> u32 {
    CONFIG.read().unwrap().iter().sum() //~ here
}

fn main() {
    let reader = thread::spawn(|| {
        let config = CONFIG.read().unwrap(); //~ read
        (config.len() as u32).max(total())
    });
    CONFIG.write().unwrap().push(3); //~ write
    assert!(reader.join().unwrap() <= 3);
}
