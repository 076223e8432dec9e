// Work counts as done before its result is there; it comes through a channel.
//@ expect: panic|exit|assertion
//@ pair: sums pushes
//@ pair: sums counts
//@ pair: counts looks
//@ pattern: torn-pair|order-violation|use-before-init
//@ object: any
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
struct Shared { left: AtomicUsize, results: Mutex<Vec<u32>>, polls: AtomicUsize }
fn worker(shared: &Shared, jobs: &Mutex<mpsc::Receiver<u32>>) {
    loop {
        let job = match jobs.lock().unwrap().recv() { Ok(job) => job, Err(_) => return };
        let answer = job * job;
        shared.left.fetch_sub(1, SeqCst); //~ counts
        shared.results.lock().unwrap().push(answer); //~ pushes
    }
}
fn main() {
    let shared = Arc::new(Shared { left: AtomicUsize::new(2), results: Mutex::new(vec![]), polls: AtomicUsize::new(0) });
    let (tx, rx) = mpsc::channel();
    let rx = Arc::new(Mutex::new(rx));
    let hands: Vec<_> = (0..2).map(|_| { let (s, r) = (shared.clone(), rx.clone()); thread::spawn(move || worker(&s, &r)) }).collect();
    tx.send(3).unwrap();
    tx.send(4).unwrap();
    while shared.left.load(SeqCst) > 0 { //~ looks
        shared.polls.fetch_add(1, SeqCst); thread::yield_now(); }
    let sum: u32 = shared.results.lock().unwrap().iter().sum(); //~ sums
    assert_eq!(sum, 25); //~ end
    drop(tx);
    for hand in hands { hand.join().unwrap(); }
}
