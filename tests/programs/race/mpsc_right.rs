//@ expect: pass
// A channel hands over the message and what came before it.
use std::sync::mpsc;
use std::thread;

struct Pointer(*mut u32);

unsafe impl Send for Pointer {}

fn main() {
    let (sender, receiver) = mpsc::channel();
    let strand = thread::spawn(move || {
        let data: *mut u32 = Box::leak(Box::new(0));
        unsafe { *data = 1 };
        sender.send(Pointer(data)).unwrap();
    });
    let Pointer(data) = receiver.recv().unwrap();
    let seen = unsafe { *data };
    std::hint::black_box(seen);
    strand.join().unwrap();
}
