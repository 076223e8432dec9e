//! Something of each of these is told.

use harness::two;
use std::cell::Cell;
use std::process::abort;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;

#[test]
fn asserts() {
    assert_eq!(two(), 3);
}

#[test]
fn gives_an_error() -> Result<(), String> {
    Err(format!("{} and no more", two()))
}

#[test]
fn gives_an_empty_error() -> Result<(), String> {
    two();
    Err(String::new())
}

#[test]
#[should_panic]
fn does_not_panic() {
    two();
}

#[test]
#[should_panic(expected = "three")]
fn panics_with_other_words() {
    assert_eq!(two(), 4, "not four");
}

/// What a strand has of its own ends with it, behind the test.
#[test]
fn fails_behind_the_test() {
    struct Last(Cell<bool>);
    impl Drop for Last {
        fn drop(&mut self) {
            if self.0.get() {
                abort();
            }
        }
    }
    thread_local!(static LAST: Last = const { Last(Cell::new(false)) });
    LAST.with(|last| last.0.set(two() == 2));
}

/// Nobody waits for it, and it may come to its end before the process does.
#[test]
fn leaves_a_strand() {
    static OVER: AtomicBool = AtomicBool::new(false);
    thread::spawn(|| {
        if OVER.load(SeqCst) {
            abort();
        }
    });
    OVER.store(true, SeqCst);
}
