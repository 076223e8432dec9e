//@ expect: panic
//@ message: registered twice
//@ preemptions: 1
//@ pair: check insert
// `contains_key`, then `insert`, with the map unlocked between them.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

fn register(names: &Mutex<HashMap<String, usize>>, id: usize) {
    if !names.lock().unwrap().contains_key("leader") { //~ check
        let before = names.lock().unwrap().insert("leader".to_string(), id); //~ insert
        if let Some(other) = before {
            panic!("registered twice: {other} and {id}"); //~ here
        }
    }
}

fn main() {
    let names = Arc::new(Mutex::new(HashMap::new()));
    let strands: Vec<_> = (0..2)
        .map(|id| {
            let names = Arc::clone(&names);
            thread::spawn(move || register(&names, id))
        })
        .collect();
    for strand in strands {
        strand.join().unwrap();
    }
}
