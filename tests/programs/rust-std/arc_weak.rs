//@ expect: pass
// Arc and Weak shared by strands: dropped once, upgraded only while alive, unwrapped by the last.
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::thread;

static DROPS: AtomicUsize = AtomicUsize::new(0);

struct Noted(u32);

impl Drop for Noted {
    fn drop(&mut self) {
        DROPS.fetch_add(1, SeqCst);
    }
}

fn main() {
    let shared = Arc::new(Noted(7));
    let strands: Vec<_> = (0..3)
        .map(|i| {
            let (strong, weak): (Arc<Noted>, Weak<Noted>) = (Arc::clone(&shared), Arc::downgrade(&shared));
            thread::spawn(move || {
                assert_eq!(strong.0, 7);
                drop(strong);
                if i == 0 {
                    return None;
                }
                weak.upgrade().map(|again| again.0)
            })
        })
        .collect();
    drop(shared);
    for strand in strands {
        assert!(matches!(strand.join().unwrap(), None | Some(7)));
    }
    assert_eq!(DROPS.load(SeqCst), 1);

    let shared = Arc::new(5);
    let halves = [Arc::clone(&shared), shared].map(|half| thread::spawn(move || Arc::into_inner(half)));
    let winners = halves.map(|half| half.join().unwrap()).into_iter().flatten().count();
    assert_eq!(winners, 1);
}
