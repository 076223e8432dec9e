//@ expect: use-after-free
// A raw pointer to an element is kept while another strand pushes.
use std::sync::Mutex;
use std::thread;

static NUMBERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn main() {
    *NUMBERS.lock().unwrap() = vec![1, 2, 3, 4];
    let other = thread::spawn(|| NUMBERS.lock().unwrap().push(5));
    let last = {
        let mut numbers = NUMBERS.lock().unwrap();
        &raw mut numbers[3]
    };
    {
        let _held = NUMBERS.lock().unwrap();
        unsafe { *last = 7 } //~ here
    }
    other.join().unwrap();
}
