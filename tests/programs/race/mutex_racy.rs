//@ expect: race
//@ race: inside outside
// A pointer out of the mutex, used without it.
use std::sync::Mutex;
use std::thread;

static X: Mutex<u32> = Mutex::new(0);

fn main() {
    let pointer: *mut u32 = {
        let mut guard = X.lock().unwrap();
        &mut *guard
    };
    let strand = thread::spawn(|| {
        let mut value = X.lock().unwrap();
        *value += 1; //~ inside
    });
    unsafe { pointer.write_volatile(2) }; //~ outside
    strand.join().unwrap();
}
