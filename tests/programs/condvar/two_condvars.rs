//@ expect: pass
// The correct bounded buffer.
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

struct Buffer {
    items: Mutex<VecDeque<u32>>,
    not_full: Condvar,
    not_empty: Condvar,
}

impl Buffer {
    fn put(&self, item: u32) {
        let mut items = self.items.lock().unwrap();
        while items.len() == 1 {
            items = self.not_full.wait(items).unwrap();
        }
        items.push_back(item);
        self.not_empty.notify_one();
    }

    fn take(&self) -> u32 {
        let mut items = self.items.lock().unwrap();
        loop {
            if let Some(item) = items.pop_front() {
                self.not_full.notify_one();
                return item;
            }
            items = self.not_empty.wait(items).unwrap();
        }
    }
}

fn main() {
    let buffer = Arc::new(Buffer {
        items: Mutex::new(VecDeque::new()),
        not_full: Condvar::new(),
        not_empty: Condvar::new(),
    });
    let producers: Vec<_> = (0..2u32)
        .map(|n| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || (0..3).for_each(|i| buffer.put(n * 10 + i)))
        })
        .collect();
    let consumers: Vec<_> = (0..2)
        .map(|_| {
            let buffer = Arc::clone(&buffer);
            thread::spawn(move || (0..3).map(|_| buffer.take()).sum::<u32>())
        })
        .collect();
    producers.into_iter().for_each(|p| p.join().unwrap());
    let sum: u32 = consumers.into_iter().map(|c| c.join().unwrap()).sum();
    assert_eq!(sum, 3 + 33);
}
