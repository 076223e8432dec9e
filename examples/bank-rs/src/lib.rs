//! An account that several threads pay into.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// An account whose balance is updated in two steps.
#[derive(Default)]
pub struct HastyAccount {
    balance: AtomicU64,
}

impl HastyAccount {
    /// Pays in.
    pub fn deposit(&self, amount: u64) {
        let before = self.balance.load(Ordering::SeqCst);
        self.balance.store(before + amount, Ordering::SeqCst);
    }

    /// What is in it.
    pub fn balance(&self) -> u64 {
        self.balance.load(Ordering::SeqCst)
    }
}

/// An account with a lock.
#[derive(Default)]
pub struct CarefulAccount {
    balance: Mutex<u64>,
}

impl CarefulAccount {
    /// Pays in.
    pub fn deposit(&self, amount: u64) {
        *self.balance.lock().unwrap() += amount;
    }

    /// What is in it.
    pub fn balance(&self) -> u64 {
        *self.balance.lock().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_deposits_in_a_hurry() {
        let account = HastyAccount::default();
        std::thread::scope(|scope| {
            scope.spawn(|| account.deposit(100));
            scope.spawn(|| account.deposit(100));
        });
        assert_eq!(account.balance(), 200);
    }

    #[test]
    fn two_deposits_with_care() {
        let account = CarefulAccount::default();
        std::thread::scope(|scope| {
            scope.spawn(|| account.deposit(100));
            scope.spawn(|| account.deposit(100));
        });
        assert_eq!(account.balance(), 200);
    }
}
