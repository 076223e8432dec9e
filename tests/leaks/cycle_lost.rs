// Two nodes that come to know each other keep each other alive, in the order in which both are asked in time.
use std::sync::{Arc, Mutex};
use std::thread;

struct Node {
    other: Mutex<Option<Arc<Node>>>,
    open: Mutex<bool>,
}

fn node() -> Arc<Node> {
    Arc::new(Node { other: Mutex::new(None), open: Mutex::new(true) }) //~ here
}

fn introduce(one: &Arc<Node>, other: &Arc<Node>) {
    if *one.open.lock().unwrap() {
        *one.other.lock().unwrap() = Some(Arc::clone(other));
    }
}

fn main() {
    let (one, two) = (node(), node());
    let strands = [(Arc::clone(&one), Arc::clone(&two)), (Arc::clone(&two), Arc::clone(&one))]
        .map(|(one, other)| thread::spawn(move || introduce(&one, &other)));
    *one.open.lock().unwrap() = false;
    for strand in strands {
        strand.join().unwrap();
    }
}
