// The guard is given back between the look and the change; a counter of calls beside it, in a test of libtest.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: look change
//@ pattern: lost-update
//@ object: any
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

static CALLS: AtomicUsize = AtomicUsize::new(0);

fn deposit(account: &Mutex<u64>, amount: u64) {
    CALLS.fetch_add(1, Relaxed);
    let old = {
        let now = account.lock().unwrap();
        *now //~ look
    };
    CALLS.fetch_add(1, Relaxed);
    let mut now = account.lock().unwrap();
    *now = old + amount; //~ change
}

#[test]
fn deposits_add_up() {
    let account = Arc::new(Mutex::new(0));
    let workers: Vec<_> = (1..3)
        .map(|amount| {
            let account = Arc::clone(&account);
            thread::spawn(move || deposit(&account, amount))
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(*account.lock().unwrap(), 3); //~ end
}
