//@ expect: pass
// A channel without slots hands over in both directions: send ends when the message has been taken.
use std::cell::UnsafeCell;
use std::sync::mpsc;
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));

fn main() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let strand = thread::spawn(move || {
        let data = DATA.0.get();
        unsafe { *data = 1 };
        receiver.recv().unwrap();
    });
    sender.send(()).unwrap();
    let data = DATA.0.get();
    let seen = unsafe { *data };
    std::hint::black_box(seen);
    strand.join().unwrap();
}
