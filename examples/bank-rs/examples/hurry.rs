//! Two deposits in a hurry: `cargo threadbare run --example hurry`.

use bank_rs::HastyAccount;

fn main() {
    let account = HastyAccount::default();
    std::thread::scope(|scope| {
        scope.spawn(|| account.deposit(100));
        account.deposit(100);
    });
    assert_eq!(account.balance(), 200);
}
