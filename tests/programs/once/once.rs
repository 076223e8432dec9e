//@ expect: pass
// Once, OnceLock and LazyLock: one initialisation each; a poisoned Once can be forced.
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

static RUNS: AtomicUsize = AtomicUsize::new(0);
static ONCE: Once = Once::new();
static CELL: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<Vec<usize>> = LazyLock::new(|| {
    RUNS.fetch_add(100, SeqCst);
    vec![1, 2, 3]
});

fn main() {
    let strands: Vec<_> = (0..3)
        .map(|i| {
            thread::spawn(move || {
                ONCE.call_once(|| {
                    RUNS.fetch_add(1, SeqCst);
                });
                assert!(ONCE.is_completed());
                let name = CELL.get_or_init(|| {
                    RUNS.fetch_add(10, SeqCst);
                    format!("strand {i}")
                });
                assert_eq!(Some(name), CELL.get());
                assert!(CELL.set(String::new()).is_err());
                LAZY.iter().sum::<usize>()
            })
        })
        .collect();
    for strand in strands {
        assert_eq!(strand.join().unwrap(), 6);
    }
    assert_eq!(RUNS.load(SeqCst), 111);

    panic::set_hook(Box::new(|_| {}));
    let broken = Once::new();
    thread::scope(|scope| {
        let outcome = scope.spawn(|| broken.call_once(|| panic!("half done"))).join();
        assert!(outcome.is_err());
    });
    assert!(panic::catch_unwind(panic::AssertUnwindSafe(|| broken.call_once(|| {}))).is_err());
    broken.call_once_force(|state| assert!(state.is_poisoned()));
    assert!(broken.is_completed());
}
