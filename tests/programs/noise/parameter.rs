//@ expect: panic
//@ bare: any
// A strand looks for its parameter, which its creator puts into a table after it was started.
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

static PARAMETERS: Mutex<Option<HashMap<u32, u32>>> = Mutex::new(None);

fn parameter(number: u32) -> Option<u32> {
    PARAMETERS.lock().unwrap().as_ref()?.get(&number).copied()
}

fn work(number: u32) {
    parameter(number).expect("the parameter is there");
}

fn main() {
    let strands: Vec<_> = (0..6)
        .map(|number| {
            let strand = thread::spawn(move || work(number));
            PARAMETERS.lock().unwrap().get_or_insert_default().insert(number, 7);
            strand
        })
        .collect();
    for strand in strands {
        strand.join().expect("no strand has failed");
    }
}
