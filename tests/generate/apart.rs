//! One of two strands does its work, whichever comes first: no run has both calls.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
struct Tank { level: UnsafeCell<i64>, names: Vec<String> }
unsafe impl Sync for Tank {}
impl Tank {
    #[inline(never)]
    fn fill(&self, by: i64) { unsafe { *self.level.get() += by } }
    #[inline(never)]
    fn drain(&self, by: i64) -> i64 { unsafe { *self.level.get() -= by; *self.level.get() } }
}
static TAKEN: AtomicBool = AtomicBool::new(false);
fn main() {
    let tank = Arc::new(Tank { level: UnsafeCell::new(10), names: vec!["one".to_owned()] });
    let other = Arc::clone(&tank);
    let filler = thread::spawn(move || if !TAKEN.swap(true, Ordering::Relaxed) { other.fill(3) });
    let other = Arc::clone(&tank);
    let drainer = thread::spawn(move || if !TAKEN.swap(true, Ordering::Relaxed) { other.drain(2); });
    filler.join().unwrap();
    drainer.join().unwrap();
    assert!(tank.names.len() == 1);
}
