//@ expect: race
//@ race: strand main
// The scope's own strand and its child write the same place.
use std::thread;

fn main() {
    let mut x = 0u32;
    let pointer = &raw mut x as usize;
    thread::scope(|scope| {
        scope.spawn(move || {
            let x = pointer as *mut u32;
            unsafe { *x = 1 }; //~ strand
        });
        let x = pointer as *mut u32;
        unsafe { *x = 2 }; //~ main
    });
}
