// What reads are of, by name, where the accesses are in functions of the library.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Shared {
    counter: AtomicU32,
    names: Mutex<Vec<String>>,
    state: Mutex<(u32, u32)>,
}

fn work(shared: &Shared, id: u32) {
    let counted = shared.counter.load(Ordering::SeqCst); //~ reads shared.counter
    shared.counter.store(counted + 1, Ordering::SeqCst);
    shared.names.lock().unwrap().push(format!("worker {id}")); //~ reads shared.names
}

struct Cache {
    hits: AtomicU32,
}

impl Cache {
    fn hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed); //~ reads self.hits
    }
}

fn main() {
    let shared = Shared {
        counter: AtomicU32::new(0),
        names: Mutex::new(Vec::new()),
        state: Mutex::new((0, 0)),
    };
    let cache = Arc::new(Cache { hits: AtomicU32::new(0) });
    thread::scope(|scope| {
        for id in 0..2 {
            let (shared, cache) = (&shared, Arc::clone(&cache));
            scope.spawn(move || {
                work(shared, id);
                cache.hit();
                shared.state.lock().unwrap().0 += 1;
            });
        }
    });
    let counted = shared.counter.load(Ordering::SeqCst); //~ reads shared.counter
    assert!(counted == 1 || counted == 2);
    assert_eq!(shared.names.lock().unwrap().len(), 2); //~ reads shared.names
}
