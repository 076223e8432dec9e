// The same with weak references; and a list that lives as long as the process.
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;

static ALL: OnceLock<Mutex<Vec<String>>> = OnceLock::new();

struct Node {
    other: Mutex<Option<Weak<Node>>>,
    open: Mutex<bool>,
}

fn node() -> Arc<Node> {
    Arc::new(Node { other: Mutex::new(None), open: Mutex::new(true) })
}

fn introduce(one: &Arc<Node>, other: &Arc<Node>) {
    if *one.open.lock().unwrap() {
        *one.other.lock().unwrap() = Some(Arc::downgrade(other));
    }
    ALL.get_or_init(Mutex::default).lock().unwrap().push("introduced".to_owned());
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
