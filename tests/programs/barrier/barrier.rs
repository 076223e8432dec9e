//@ expect: pass
// std::sync::Barrier over several phases: one leader a phase, nobody runs ahead.
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

fn main() {
    let barrier = Barrier::new(3);
    let (leaders, arrived) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for phase in 1..=3 {
                    arrived.fetch_add(1, SeqCst);
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, SeqCst);
                    }
                    assert!(arrived.load(SeqCst) >= 3 * phase);
                }
            });
        }
    });
    assert_eq!((leaders.into_inner(), arrived.into_inner()), (3, 9));
}
