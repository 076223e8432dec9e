//@ expect: panic
//@ bare: any
// The manager stops a worker's connection if there is one; the worker may have given it up in between.
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Connection {
    stop: AtomicBool,
}

type Slot = Arc<Mutex<Option<Arc<Connection>>>>;

fn work(slot: &Slot) {
    let connection = Arc::new(Connection::default());
    *slot.lock().unwrap() = Some(Arc::clone(&connection));
    for _ in 0..200 {
        if connection.stop.load(SeqCst) {
            break;
        }
    }
    *slot.lock().unwrap() = None;
}

fn finish(slot: &Slot) {
    if slot.lock().unwrap().is_some() {
        slot.lock().unwrap().as_ref().expect("the connection is still there").stop.store(true, SeqCst);
    }
}

fn main() {
    let slots: Vec<Slot> = (0..4).map(|_| Slot::default()).collect();
    let workers: Vec<_> = slots
        .iter()
        .map(|slot| {
            let slot = Arc::clone(slot);
            thread::spawn(move || work(&slot))
        })
        .collect();
    for _ in 0..4 {
        slots.iter().for_each(finish);
    }
    for worker in workers {
        worker.join().unwrap();
    }
}
