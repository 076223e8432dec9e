//@ expect: deadlock
// A lazy static locks the registry when it is made; another strand makes it while it holds the registry.
use std::sync::{LazyLock, Mutex};
use std::thread;

static REGISTRY: Mutex<Vec<&str>> = Mutex::new(Vec::new());
static TABLE: LazyLock<u32> = LazyLock::new(|| {
    REGISTRY.lock().unwrap().push("table"); //~ here
    5
});

fn main() {
    let strand = thread::spawn(|| {
        let registry = REGISTRY.lock().unwrap();
        registry.len() as u32 + *TABLE
    });
    assert_eq!(*TABLE, 5);
    assert!(strand.join().unwrap() <= 6);
}
