//@ expect: race
//@ race: late use
// The data come behind the unpark.
use std::cell::UnsafeCell;
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));

fn main() {
    let main = thread::current();
    let strand = thread::spawn(move || {
        let data = DATA.0.get();
        main.unpark();
        unsafe { *data = 1 }; //~ late
    });
    thread::park();
    let data = DATA.0.get();
    let seen = unsafe { *data }; //~ use
    std::hint::black_box(seen);
    strand.join().unwrap();
}
