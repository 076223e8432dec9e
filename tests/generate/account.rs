// An account with a text, a list of enums, a boxed number and a lock, behind an `Arc`. With an argument it changes its balance in one step.
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone, Debug)]
pub enum Entry {
    Deposit(i64),
    Withdrawal { amount: i64, fee: u16 },
    Closed,
}

pub struct Account {
    owner: String,
    balance: AtomicI64,
    history: Mutex<Vec<Entry>>,
    limit: Option<Box<i64>>,
    careful: bool,
}

impl Account {
    #[inline(never)]
    fn change(&self, by: i64) -> i64 {
        if self.careful {
            return self.balance.fetch_add(by, Ordering::SeqCst) + by;
        }
        let now = self.balance.load(Ordering::SeqCst) + by; //~ load
        self.balance.store(now, Ordering::SeqCst); //~ store
        now
    }

    #[inline(never)]
    pub fn deposit(&self, amount: i64) {
        self.change(amount);
        self.history.lock().unwrap().push(Entry::Deposit(amount));
    }

    #[inline(never)]
    pub fn withdraw(&self, amount: i64, rate: f64) -> Option<String> {
        if amount > self.limit.as_deref().copied().unwrap_or(0) {
            return None;
        }
        let fee = (amount as f64 * rate) as u16;
        self.change(-amount - i64::from(fee));
        self.history.lock().unwrap().push(Entry::Withdrawal { amount, fee });
        Some(self.owner.clone())
    }
}

fn main() {
    let account = Arc::new(Account {
        owner: "Ada".to_owned(),
        balance: AtomicI64::new(100),
        history: Mutex::new(vec![Entry::Deposit(100), Entry::Withdrawal { amount: 1, fee: 7 }, Entry::Closed]),
        limit: Some(Box::new(70)),
        careful: std::env::args().count() > 1,
    });
    let (one, two) = (Arc::clone(&account), Arc::clone(&account));
    let one = thread::spawn(move || one.deposit(10));
    let two = thread::spawn(move || two.withdraw(50, 0.125).map_or(0, |owner| owner.len()));
    one.join().unwrap();
    two.join().unwrap();
    println!("{}", account.balance.load(Ordering::SeqCst) > 0);
}
