//@ expect: stack-use-after-end
// A raw pointer to a local of a thread that has been joined.
use std::thread;

fn main() {
    let address = thread::spawn(|| {
        let mut local = [1u64, 2, 3];
        std::hint::black_box(&mut local);
        &raw const local[1] as usize
    })
    .join()
    .unwrap();
    let value = unsafe { (address as *const u64).read() }; //~ here
    assert!(value < u64::MAX);
}
