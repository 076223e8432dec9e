//@ expect: pass
// A mutex on both sides.
use std::sync::Mutex;
use std::thread;

static X: Mutex<u32> = Mutex::new(0);

fn main() {
    let strand = thread::spawn(|| {
        let mut value = X.lock().unwrap();
        *value += 1;
    });
    *X.lock().unwrap() = 2;
    strand.join().unwrap();
}
