// A function that is called twice finds its local where the first call's was; what it then holds comes from code that nobody sees.
use std::arch::asm;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::thread;

fn looks_first(at: usize) {
    let seen = unsafe { *(at as *const i32) }; //~ first
    black_box(seen);
}

fn looks_second(at: usize) {
    let seen = unsafe { *(at as *const i32) }; //~ second
    black_box(seen);
}

#[inline(never)]
fn turn(second: bool) {
    let mut mine: MaybeUninit<i32> = MaybeUninit::uninit();
    let at = mine.as_mut_ptr() as usize;
    if second {
        unsafe { asm!("mov dword ptr [{}], 2", in(reg) at) };
    }
    let strand = thread::spawn(move || if second { looks_second(at) } else { looks_first(at) });
    if !second {
        unsafe { *(at as *mut i32) = 2 }; //~ shared
    }
    strand.join().unwrap();
}

fn main() {
    turn(false);
    turn(true);
}
