//@ expect: pass
//@ memory-model: c11
// A counted reference. Bugs: 1 the count goes down without a release, 2 no acquire before the value is dropped.
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::thread;

struct Inner {
    count: AtomicUsize,
    value: Vec<u32>,
}

struct Counted(NonNull<Inner>);

unsafe impl Send for Counted {}

impl Counted {
    fn new(value: Vec<u32>) -> Counted {
        Counted(NonNull::from(Box::leak(Box::new(Inner { count: AtomicUsize::new(1), value }))))
    }

    fn get(&self) -> &Inner {
        unsafe { self.0.as_ref() }
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        self.get().count.fetch_add(1, Ordering::Relaxed);
        Counted(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let order = if cfg!(bug = "1") { Ordering::Relaxed } else { Ordering::Release };
        if self.get().count.fetch_sub(1, order) == 1 {
            if !cfg!(bug = "2") {
                fence(Ordering::Acquire);
            }
            let mut inner = unsafe { Box::from_raw(self.0.as_ptr()) };
            inner.value[0] += 1;
        }
    }
}

fn main() {
    let one = Counted::new(vec![1, 2, 3]);
    let other = one.clone();
    let strand = thread::spawn(move || assert_eq!(other.get().value.iter().sum::<u32>(), 6));
    assert_eq!(one.get().value.len(), 3);
    drop(one);
    strand.join().unwrap();
}
