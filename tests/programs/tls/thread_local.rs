//@ expect: pass
// thread_local! with Drop, lazily made, gone when join returns; Cell, RefCell, with_borrow_mut and try_with.
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static MADE: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Noted(usize);

impl Drop for Noted {
    fn drop(&mut self) {
        DROPPED.fetch_add(self.0, SeqCst);
        // A value that needs no destructor can still be reached here.
        assert_eq!(DEPTH.try_with(Cell::get), Ok(self.0));
    }
}

thread_local! {
    static NOTED: RefCell<Noted> = RefCell::new({
        MADE.fetch_add(1, SeqCst);
        Noted(0)
    });
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

fn main() {
    let strands: Vec<_> = (1..=3)
        .map(|n| {
            thread::spawn(move || {
                for _ in 0..n {
                    NOTED.with_borrow_mut(|noted| noted.0 += 1);
                    DEPTH.set(DEPTH.get() + 1);
                }
            })
        })
        .collect();
    thread::spawn(|| DEPTH.set(9)).join().unwrap();
    for strand in strands {
        strand.join().unwrap();
    }
    assert_eq!((MADE.load(SeqCst), DROPPED.load(SeqCst)), (3, 6));
    assert_eq!(DEPTH.get(), 0);
}
