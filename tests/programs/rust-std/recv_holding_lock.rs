//@ expect: deadlock
// The receiver keeps the lock while it waits for a message; the sender needs the lock before it sends.
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

fn main() {
    let state = Arc::new(Mutex::new(0));
    let (sender, receiver) = mpsc::channel();
    let producer = {
        let state = Arc::clone(&state);
        thread::spawn(move || {
            let next = *state.lock().unwrap() + 1;
            sender.send(next).unwrap();
        })
    };
    let mut state = state.lock().unwrap();
    *state = receiver.recv().unwrap(); //~ here
    drop(state);
    producer.join().unwrap();
}
