use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static LEDGER: Mutex<Vec<u64>> = Mutex::new(Vec::new());

struct Account {
    balance: Mutex<u64>,
    hits: AtomicUsize,
}

#[inline(never)]
fn deposit(account: &Account, amount: u64) {
    let mut balance = account.balance.lock().unwrap();
    *balance += amount; //~ address=arg0+0x8 lock=arg0
    drop(balance);
    account.hits.fetch_add(1, Ordering::Relaxed);
}

fn main() {
    let account = Arc::new(Account { balance: Mutex::new(0), hits: AtomicUsize::new(0) });
    let queue = Arc::new(Mutex::new(VecDeque::new()));
    let strands: Vec<_> = (0..3u64)
        .map(|i| {
            let (account, queue) = (account.clone(), queue.clone());
            thread::spawn(move || {
                deposit(&account, i);
                queue.lock().unwrap().push_back(i);
                LEDGER.lock().unwrap().push(i);
                COUNT.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    for strand in strands {
        strand.join().unwrap();
    }
    assert_eq!(COUNT.load(Ordering::SeqCst), 3);
    println!("{} {:?}", account.balance.lock().unwrap(), queue.lock().unwrap().len());
}
