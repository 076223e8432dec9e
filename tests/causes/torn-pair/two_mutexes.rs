// Name and number have a lock each; a log with a third one beside them.
//@ expect: panic|exit|assertion
//@ pair: set_name get_name
//@ pair: set_number get_number
//@ pattern: torn-pair
//@ object: any
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Shared {
    name: Mutex<u32>,
    number: Mutex<u32>,
    log: Mutex<u32>,
}

impl Shared {
    fn say(&self) {
        *self.log.lock().unwrap() += 1;
    }
}

fn main() {
    let shared = Arc::new(Shared::default());
    let writer = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            shared.say();
            *shared.name.lock().unwrap() = 1; //~ set_name
            shared.say();
            *shared.number.lock().unwrap() = 1; //~ set_number
            shared.say();
        })
    };
    shared.say();
    let name = *shared.name.lock().unwrap(); //~ get_name
    shared.say();
    let number = *shared.number.lock().unwrap(); //~ get_number
    assert_eq!(name, number); //~ end
    writer.join().unwrap();
}
