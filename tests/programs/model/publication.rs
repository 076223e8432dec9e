//@ expect: pass
//@ flags: --cfg right
// A structure with an atomic field is published by an atomic pointer: in three shapes, right or relaxed.
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::thread;

struct Node {
    count: AtomicUsize,
    data: u32,
}

static PUBLISHED: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn make() -> *mut Node {
    if cfg!(shape = "2") {
        let nodes: Vec<Node> = (0..3).map(|at| Node { count: AtomicUsize::new(1), data: at }).collect();
        return &raw mut nodes.leak()[1];
    }
    if cfg!(shape = "3") {
        let mut node: Box<Node> = Box::new(Node { count: AtomicUsize::new(0), data: 0 });
        *node.count.get_mut() = 1;
        node.data = 42;
        return Box::into_raw(node);
    }
    Box::into_raw(Box::new(Node { count: AtomicUsize::new(1), data: 42 }))
}

fn main() {
    let publish = if cfg!(right) { Ordering::Release } else { Ordering::Relaxed };
    let look = if cfg!(right) { Ordering::Acquire } else { Ordering::Relaxed };
    let writer = thread::spawn(move || PUBLISHED.store(make(), publish));
    let reader = thread::spawn(move || {
        let node = unsafe { PUBLISHED.load(look).as_ref() }?;
        (node.count.load(Ordering::Acquire) == 1).then(|| std::hint::black_box(node).data)
    });
    writer.join().unwrap();
    reader.join().unwrap();
}
