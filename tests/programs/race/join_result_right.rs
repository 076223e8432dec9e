//@ expect: pass
// The result of a strand, and what it wrote, behind the join.
use std::cell::UnsafeCell;
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));

fn main() {
    let strand = thread::spawn(|| {
        let data = DATA.0.get();
        unsafe { *data = 1 };
        vec![1, 2, 3]
    });
    let values = strand.join().unwrap();
    let data = DATA.0.get();
    let seen = unsafe { *data };
    std::hint::black_box(seen);
    assert_eq!(values.iter().sum::<i32>(), 6);
}
