//@ expect: pass
// Functions of every sort that coverage tells apart: before the strands, in one of them, in several, without shared memory,
// and one that does not return.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Bank {
    balance: Mutex<(u32, u32)>,
    changed: Condvar,
}

#[inline(never)]
fn set_up() -> Arc<Bank> {
    let bank = Arc::new(Bank::default());
    bank.balance.lock().unwrap().0 = 100;
    bank
}

/// What it touches is its own.
#[inline(never)]
fn mix(words: &mut [u32]) -> u32 {
    let mut sum = 0u32;
    for word in words {
        *word = word.wrapping_mul(31).wrapping_add(sum);
        sum = sum.wrapping_add(*word);
    }
    sum
}

#[inline(never)]
fn deposit(bank: &Bank) {
    let mut account = bank.balance.lock().unwrap();
    account.0 += 1;
    account.1 += 1;
    bank.changed.notify_one();
}

#[inline(never)]
fn audit(bank: &Bank) -> u32 {
    bank.balance.lock().unwrap().0
}

#[inline(never)]
fn stay(bank: &Bank) {
    let mut account = bank.balance.lock().unwrap();
    loop {
        account = bank.changed.wait(account).unwrap();
    }
}

fn client(bank: &Bank) {
    let mut words = [1, 2, 3];
    for _ in 0..3 {
        deposit(bank);
        std::hint::black_box(mix(std::hint::black_box(&mut words)));
    }
}

fn auditor(bank: &Bank) {
    assert!(audit(bank) <= audit(bank));
    stay(bank);
}

fn main() {
    let bank = set_up();
    let start = |work: fn(&Bank)| {
        let bank = Arc::clone(&bank);
        thread::spawn(move || work(&bank))
    };
    start(auditor);
    for client in [start(client), start(client)] {
        client.join().unwrap();
    }
    assert_eq!(bank.balance.lock().unwrap().0, 106);
}
