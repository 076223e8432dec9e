//@ expect: use-after-free|crash
//@ flags: -Copt-level=2
//@ pair: free use
//@ pair: free put
//@ pattern: order-violation
//@ object: any
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::thread;

/// Spawning is put into main behind the compiler's pass, as optimised code of Rust is: main is still known to be what gives the block back.
struct Shared {
    kept: AtomicI32,
    used: AtomicI32,
}

fn work(object: &'static Shared) {
    let kept = object.kept.load(SeqCst); //~ use
    object.used.store(kept + 1, SeqCst); //~ put
}

fn main() {
    let object: &'static Shared = Box::leak(Box::new(Shared { kept: AtomicI32::new(5), used: AtomicI32::new(0) }));
    let worker = thread::spawn(move || work(object));
    let other = thread::spawn(|| {});
    drop(unsafe { Box::from_raw(std::ptr::from_ref(object).cast_mut()) }); //~ free
    worker.join().unwrap();
    other.join().unwrap();
}
