//@ expect: race
//@ race: late use
// The sender goes on writing to what it sent a pointer to.
use std::sync::mpsc;
use std::thread;

struct Pointer(*mut u32);

unsafe impl Send for Pointer {}

fn main() {
    let (sender, receiver) = mpsc::channel();
    let strand = thread::spawn(move || {
        let data: *mut u32 = Box::leak(Box::new(0));
        sender.send(Pointer(data)).unwrap();
        unsafe { *data = 1 }; //~ late
    });
    let Pointer(data) = receiver.recv().unwrap();
    let seen = unsafe { *data }; //~ use
    std::hint::black_box(seen);
    strand.join().unwrap();
}
