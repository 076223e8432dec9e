//@ expect: use-after-free
//@ preemptions: 0
//@ pair: free here
// A raw pointer outlives the box it points into.
use std::sync::Mutex;
use std::thread;

struct Node {
    key: u64,
    value: u64,
}

struct Pointer(*mut Node);
unsafe impl Send for Pointer {}

static NODE: Mutex<Pointer> = Mutex::new(Pointer(std::ptr::null_mut()));

fn bump() {
    let held = NODE.lock().unwrap();
    let node = held.0;
    unsafe { (*node).value += (*node).key } //~ here
}

fn main() {
    NODE.lock().unwrap().0 = Box::into_raw(Box::new(Node { key: 1, value: 2 }));
    let other = thread::spawn(bump);
    {
        let node = NODE.lock().unwrap();
        drop(unsafe { Box::from_raw(node.0) }); //~ free
    }
    other.join().unwrap();
}
