//@ expect: race
//@ race: fill use
// A strand that panics wrote before, and nobody joined it yet.
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
        unsafe { *data = 1 }; //~ fill
        panic!("on purpose");
    });
    let data = DATA.0.get();
    let seen = unsafe { *data }; //~ use
    std::hint::black_box(seen);
    assert!(strand.join().is_err());
}
