//@ expect: race
//@ race: fill use
// What the strand wrote is used before the join.
use std::cell::UnsafeCell;
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));

fn main() {
    let strand = thread::spawn(|| {
        let data = DATA.0.get();
        unsafe { *data = 1 }; //~ fill
        vec![1, 2, 3]
    });
    let data = DATA.0.get();
    let seen = unsafe { *data }; //~ use
    std::hint::black_box(seen);
    let values = strand.join().unwrap();
    assert_eq!(values.iter().sum::<i32>(), 6);
}
