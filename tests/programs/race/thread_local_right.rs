//@ expect: pass
// Every strand has its own value, and its destructor runs before the join.
use std::cell::{Cell, UnsafeCell};
use std::thread;

struct Total(UnsafeCell<u32>);

unsafe impl Sync for Total {}

static TOTAL: Total = Total(UnsafeCell::new(0));

struct Own(Cell<u32>);

impl Drop for Own {
    fn drop(&mut self) {
        let total = TOTAL.0.get();
        unsafe { *total += self.0.get() };
    }
}

thread_local! {
    static OWN: Own = const { Own(Cell::new(1)) };
}

fn main() {
    OWN.with(|own| own.0.set(5));
    thread::spawn(|| OWN.with(|own| own.0.set(7))).join().unwrap();
    let total = TOTAL.0.get();
    assert_eq!(unsafe { *total }, 7);
}
