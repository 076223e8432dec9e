//@ expect: deadlock
//@ max-runs: 2000
//@ preemptions: 0
// Producers and consumers of a one-place buffer wait on the same condition variable.
use std::sync::{Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Place {
    item: Mutex<Option<u32>>,
    changed: Condvar,
}

impl Place {
    fn put(&self, value: u32) {
        let mut item = self.changed.wait_while(self.item.lock().unwrap(), |item| item.is_some()).unwrap();
        *item = Some(value);
        self.changed.notify_one();
    }

    fn take(&self) -> u32 {
        let mut item = self.changed.wait_while(self.item.lock().unwrap(), |item| item.is_none()).unwrap();
        self.changed.notify_one();
        item.take().unwrap()
    }
}

fn main() {
    let place = Place::default();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..2).map(|_| place.take()).sum::<u32>());
        }
        for _ in 0..2 {
            scope.spawn(|| (0..2).for_each(|i| place.put(i)));
        }
    });
}
