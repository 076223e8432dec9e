//@ expect: pass
// A strand panics holding the mutex: who finds it poisoned has what the strand did.
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));
static LOCK: Mutex<u32> = Mutex::new(0);

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let strand = thread::spawn(|| {
        let data = DATA.0.get();
        let _guard = LOCK.lock().unwrap();
        unsafe { *data = 1 };
        panic!("on purpose");
    });
    while !LOCK.is_poisoned() {
        thread::yield_now();
    }
    let _guard = LOCK.lock().unwrap_err();
    let data = DATA.0.get();
    let seen = unsafe { *data };
    std::hint::black_box(seen);
    assert!(strand.join().is_err());
}
