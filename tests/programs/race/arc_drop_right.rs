//@ expect: pass
// Arc: the last owner drops what all of them wrote.
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::thread;

struct Values([UnsafeCell<u32>; 2]);

unsafe impl Sync for Values {}
unsafe impl Send for Values {}

impl Drop for Values {
    fn drop(&mut self) {
        for value in &mut self.0 {
            *value.get_mut() += 1;
        }
    }
}

fn work(owner: Arc<Values>, slot: usize) {
    let value = owner.0[slot].get();
    unsafe { *value = 1 };
}

fn main() {
    let owner = Arc::new(Values([UnsafeCell::new(0), UnsafeCell::new(0)]));
    let strands = [0, 1].map(|slot| {
        let own = Arc::clone(&owner);
        thread::spawn(move || work(own, slot))
    });
    drop(owner);
    for strand in strands {
        strand.join().unwrap();
    }
}
