//@ expect: pass
// The box is taken out of its place when it is dropped.
use std::sync::Mutex;
use std::thread;

struct Node {
    key: u64,
    value: u64,
}

static NODE: Mutex<Option<Box<Node>>> = Mutex::new(None);

fn bump() {
    if let Some(node) = NODE.lock().unwrap().as_mut() {
        node.value += node.key;
    }
}

fn main() {
    *NODE.lock().unwrap() = Some(Box::new(Node { key: 1, value: 2 }));
    let other = thread::spawn(bump);
    drop(NODE.lock().unwrap().take());
    other.join().unwrap();
}
