//! What a `Mutex` behind an `Arc` guards: looked at and changed under two locks instead of one.
use std::sync::{Arc, Mutex};

struct Account {
    balance: i64,
}

fn deposit(account: &Mutex<Account>) {
    let seen = account.lock().unwrap().balance; //~ first
    account.lock().unwrap().balance = seen + 10; //~ last
}

fn main() {
    let account = Arc::new(Mutex::new(Account { balance: 5 }));
    let all: Vec<_> = (0..2)
        .map(|_| {
            let account = Arc::clone(&account);
            std::thread::spawn(move || deposit(&account))
        })
        .collect();
    for one in all {
        one.join().unwrap();
    }
    assert_eq!(account.lock().unwrap().balance, 25);
}
