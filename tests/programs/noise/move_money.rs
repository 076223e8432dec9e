//@ expect: assertion
//@ bare: any
// Money is in no account for a moment while it is moved; the sum is taken meanwhile. Most of the time is busywork.
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

static ACCOUNTS: [AtomicI64; 8] = [const { AtomicI64::new(0) }; 8];

fn busywork() {
    for i in 0..4000 {
        black_box(i);
    }
}

fn move_money(mover: usize, amount: i64) {
    busywork();
    ACCOUNTS[mover * 2].fetch_sub(amount, Relaxed);
    ACCOUNTS[mover * 2 + 1].fetch_add(amount, Relaxed);
    busywork();
}

fn check_sum() -> i64 {
    ACCOUNTS.iter().map(|account| account.load(Relaxed)).sum()
}

fn main() {
    let movers: Vec<_> =
        (0..4).map(|mover| thread::spawn(move || (1..9).for_each(|amount| move_money(mover, amount)))).collect();
    for _ in 0..5 {
        thread::sleep(Duration::from_micros(100));
        assert_eq!(check_sum(), 0);
    }
    for mover in movers {
        mover.join().unwrap();
    }
}
