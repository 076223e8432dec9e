//@ expect: race
//@ race: fill use
// A bounded channel hands over in one direction: what the receiver does behind recv is not for the sender.
use std::cell::UnsafeCell;
use std::sync::mpsc;
use std::thread;

struct Data(UnsafeCell<u32>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new(0));

fn main() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let strand = thread::spawn(move || {
        let data = DATA.0.get();
        unsafe { *data = 1 }; //~ fill
        receiver.recv().unwrap();
    });
    sender.send(()).unwrap();
    let data = DATA.0.get();
    let seen = unsafe { *data }; //~ use
    std::hint::black_box(seen);
    strand.join().unwrap();
}
