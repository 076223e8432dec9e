// The limit is set after the worker has begun; a test of libtest.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: set use
//@ pattern: use-before-init
//@ object: LIMIT|limit::LIMIT
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static LIMIT: AtomicUsize = AtomicUsize::new(0);

#[test]
fn the_worker_knows_its_limit() {
    let worker = thread::spawn(|| {
        let limit = LIMIT.load(SeqCst); //~ use
        assert_ne!(limit, 0); //~ end
    });
    LIMIT.store(64, SeqCst); //~ set
    worker.join().unwrap(); //~ join
}
