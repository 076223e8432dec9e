//@ expect: panic
//@ message: nobody took the value
// "The count is one, so it is mine": both see two and leave the value to the other.
use std::sync::{Arc, Mutex};
use std::thread;

static TAKEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn finish(shared: Arc<String>) {
    if Arc::strong_count(&shared) == 1 {
        TAKEN.lock().unwrap().push(shared.to_string());
    }
}

fn main() {
    let shared = Arc::new("result".to_string());
    let other = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || finish(shared))
    };
    finish(shared);
    other.join().unwrap();
    let taken = TAKEN.lock().unwrap().pop();
    assert_eq!(taken.expect("nobody took the value"), "result"); //~ here
}
