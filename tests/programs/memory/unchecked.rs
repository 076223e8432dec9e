//@ expect: heap-overflow
// Room is looked for and used in two critical sections, the second of which trusts the first.
use std::sync::Mutex;
use std::thread;

static ITEMS: Mutex<(Vec<u16>, usize)> = Mutex::new((Vec::new(), 0));

fn push() {
    let room = {
        let items = ITEMS.lock().unwrap();
        items.1 < items.0.len()
    };
    if room {
        let mut items = ITEMS.lock().unwrap();
        let at = items.1;
        unsafe { *items.0.as_mut_ptr().add(at) = 1 } //~ here
        items.1 += 1;
    }
}

fn main() {
    *ITEMS.lock().unwrap() = (vec![0; 3], 2);
    let other = thread::spawn(push);
    push();
    other.join().unwrap();
}
