//@ expect: pass
// A write through a lock for writers.
use std::cell::UnsafeCell;
use std::sync::RwLock;
use std::thread;

struct Value(UnsafeCell<u32>);

unsafe impl Sync for Value {}

static X: RwLock<Value> = RwLock::new(Value(UnsafeCell::new(0)));

fn main() {
    let strands = [(); 2].map(|()| {
        thread::spawn(|| {
            let guard = X.read().unwrap();
            let value = guard.0.get();
            unsafe { *value }
        })
    });
    let guard = X.write().unwrap();
    let value = guard.0.get();
    unsafe { *value = 1 };
    drop(guard);
    for strand in strands {
        strand.join().unwrap();
    }
}
