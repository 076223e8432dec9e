// A test of libtest whose helper says that it is ready too early.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: fill use
//@ pair: mark look
//@ pattern: torn-pair|use-before-init
//@ object: VALUE|READY|ready::VALUE|ready::READY
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);
static VALUE: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<()> = Mutex::new(());

fn get() -> u32 {
    if !READY.load(SeqCst) { //~ look
        let _guard = LOCK.lock().unwrap(); //~ lock
        if !READY.load(SeqCst) { //~ again
            READY.store(true, SeqCst); //~ mark
            VALUE.store(3, SeqCst); //~ fill
        }
    }
    VALUE.load(SeqCst) //~ use
}

#[test]
fn everybody_gets_the_value() {
    let users: Vec<_> = (0..2).map(|_| thread::spawn(get)).collect();
    for user in users {
        assert_eq!(user.join().unwrap(), 3); //~ end
    }
}
