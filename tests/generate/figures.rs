// Figures 1 and 4 of the paper: two functions that change one number. With an argument they take a lock.
use std::cell::UnsafeCell;
use std::sync::{Mutex, MutexGuard};
use std::thread;

struct Account {
    x: UnsafeCell<i32>,
    guard: Option<Mutex<()>>,
}

// SAFETY: it is not, without the lock; that is the mistake.
unsafe impl Sync for Account {}

impl Account {
    fn enter(&self) -> Option<MutexGuard<'_, ()>> {
        self.guard.as_ref().map(|guard| guard.lock().unwrap())
    }

    #[inline(never)]
    fn increment(&self, amount: i32) {
        let _held = self.enter();
        unsafe { *self.x.get() += amount } //~ increment
    }

    #[inline(never)]
    fn decrement(&self, amount: i32) {
        let _held = self.enter();
        unsafe {
            if *self.x.get() >= amount {
                *self.x.get() -= amount; //~ decrement
            }
        }
    }
}

fn main() {
    let locked = std::env::args().count() > 1;
    let account = Account { x: UnsafeCell::new(350), guard: locked.then(|| Mutex::new(())) };
    thread::scope(|scope| {
        scope.spawn(|| account.increment(500));
        scope.spawn(|| account.decrement(200));
    });
    println!("{}", unsafe { *account.x.get() } > 0);
}
