//@ expect: race
//@ race: strand main
// The address of a strand's own value, given to another strand.
use std::cell::{Cell, UnsafeCell};
use std::thread;

thread_local! {
    static OWN: UnsafeCell<u32> = const { UnsafeCell::new(0) };
    static OTHER: Cell<u32> = const { Cell::new(0) };
}

fn main() {
    let address = OWN.with(|own| own.get() as usize);
    let strand = thread::spawn(move || {
        OTHER.set(1);
        let foreign = address as *mut u32;
        unsafe { *foreign = 1 }; //~ strand
    });
    let own = address as *mut u32;
    unsafe { *own = 2 }; //~ main
    strand.join().unwrap();
}
