//@ expect: pass
// A panic in a strand is a value to whoever joins it; locals are dropped on the way.
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static DROPS: AtomicU32 = AtomicU32::new(0);

struct Noted;

impl Drop for Noted {
    fn drop(&mut self) {
        assert!(thread::panicking());
        DROPS.fetch_add(1, SeqCst);
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let strands: Vec<_> = (0..3)
        .map(|i| {
            thread::spawn(move || {
                let _outer = Noted;
                let inner = panic::catch_unwind(AssertUnwindSafe(|| {
                    let _inner = Noted;
                    panic!("first {i}");
                }));
                panic::resume_unwind(inner.unwrap_err());
            })
        })
        .collect();
    for (i, strand) in strands.into_iter().enumerate() {
        let error: Box<dyn std::any::Any + Send> = strand.join().map(|()| unreachable!("it panicked")).unwrap_err();
        assert_eq!(*error.downcast_ref::<String>().unwrap(), format!("first {i}"));
    }
    assert_eq!(DROPS.load(SeqCst), 6);
    assert!(!thread::panicking());
}
