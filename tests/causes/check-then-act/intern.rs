// The next number is read under one lock, and used under another.
//@ expect: panic|exit|assertion
//@ pair: next inserts
//@ pair: looks inserts
//@ pattern: check-then-act|lost-update
//@ object: any
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::thread;
fn intern(map: &RwLock<HashMap<String, usize>>, word: &str) -> usize {
    if let Some(&id) = map.read().unwrap().get(word) { return id; } //~ looks
    let next = map.read().unwrap().len(); //~ next
    map.write().unwrap().insert(word.to_string(), next); //~ inserts
    next
}
fn main() {
    let map = Arc::new(RwLock::new(HashMap::new()));
    let m1 = map.clone(); let m2 = map.clone();
    let a = thread::spawn(move || (intern(&m1, "x"), intern(&m1, "y")));
    let b = thread::spawn(move || intern(&m2, "z"));
    let ((x, y), z) = (a.join().unwrap(), b.join().unwrap());
    assert!(x != y && y != z && x != z, "ids {x} {y} {z} are not unique"); //~ end
}
