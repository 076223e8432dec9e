//@ expect: pass
// Behind the scope, everything its strands did is there.
use std::thread;

fn main() {
    let mut x = 0u32;
    let pointer = &raw mut x as usize;
    thread::scope(|scope| {
        scope.spawn(move || {
            let x = pointer as *mut u32;
            unsafe { *x = 1 };
        });
    });
    let x = pointer as *mut u32;
    unsafe { *x = 2 };
}
