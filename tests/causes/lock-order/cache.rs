// A cache with a readers' lock and an index with a mutex; a log is written under its own lock.
//@ expect: deadlock
//@ pair: cache_then cache_wants
//@ pair: index_then index_wants
//@ pair: cache_then index_wants
//@ pair: index_then cache_wants
//@ pattern: lock-order-cycle
//@ object: any
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

#[derive(Default)]
struct Store {
    cache: RwLock<u32>,
    index: Mutex<u32>,
    log: Mutex<u32>,
}

impl Store {
    fn say(&self) {
        *self.log.lock().unwrap() += 1;
    }

    fn put(&self) {
        self.say();
        let mut cache = self.cache.write().unwrap(); //~ cache_then
        self.say();
        *self.index.lock().unwrap() += 1; //~ index_wants
        *cache += 1;
    }

    fn look(&self) -> u32 {
        self.say();
        let index = self.index.lock().unwrap(); //~ index_then
        self.say();
        *index + *self.cache.read().unwrap() //~ cache_wants
    }
}

fn main() {
    let store = Arc::new(Store::default());
    let other = Arc::clone(&store);
    let writer = thread::spawn(move || other.put());
    store.look();
    writer.join().unwrap();
}
