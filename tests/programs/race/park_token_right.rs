//@ expect: pass
//@ faults: none
// What came before unpark is there behind park, which finds the token and does not wait.
// (A park that ends for no reason would be another matter: who relies on it must look again.)
use std::cell::UnsafeCell;
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));

fn main() {
    let main = thread::current();
    let strand = thread::spawn(move || {
        let data = DATA.0.get();
        unsafe { *data = 1 };
        main.unpark();
    });
    thread::yield_now();
    thread::park();
    let data = DATA.0.get();
    let seen = unsafe { *data };
    std::hint::black_box(seen);
    strand.join().unwrap();
}
