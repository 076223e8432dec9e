use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

unsafe extern "C" {
    fn mark(label: *const c_char);
    fn show(label: *const c_char, address: *const c_void);
}

#[inline(always)]
fn here(label: &CStr) {
    // SAFETY: the label ends with a zero byte.
    unsafe { mark(label.as_ptr()) }
}

fn at<T: ?Sized>(label: &CStr, object: *const T) {
    // SAFETY: the label ends with a zero byte.
    unsafe { show(label.as_ptr(), object.cast()) }
}

pub struct Account {
    pub id: u32,
    pub balance: i64,
    pub history: [u16; 6],
}

static COUNTER: AtomicU64 = AtomicU64::new(0);
static TABLE: [Mutex<Account>; 3] = [const { Mutex::new(Account { id: 0, balance: 0, history: [0; 6] }) }; 3];
static PAIR: Mutex<(u8, u64)> = Mutex::new((1, 2));

thread_local! {
    static MINE: Cell<u64> = const { Cell::new(0) };
    static LAZY: RefCell<Account> = RefCell::new(Account { id: 1, balance: 2, history: [0; 6] });
}

pub mod vault {
    use super::*;

    pub static DOORS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

    pub struct Vault<T>(pub T);

    impl<T: fmt::Debug> Vault<T> {
        #[inline(never)]
        pub fn open(&self) -> String {
            static OPENED: AtomicU64 = AtomicU64::new(0);
            OPENED.fetch_add(1, Ordering::Relaxed);
            at(c"OPENED", &OPENED);
            here(c"open");
            format!("{:?}", self.0)
        }
    }

    impl<T> fmt::Display for Vault<T> {
        #[inline(never)]
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            here(c"fmt");
            f.write_str("vault")
        }
    }
}

fn main() {
    COUNTER.fetch_add(1, Ordering::SeqCst);
    at(c"COUNTER", &COUNTER);
    let vault = vault::Vault(5);
    println!("{} {}", vault, vault.open());
    at(c"DOORS[2]", &vault::DOORS[2]);
    at(c"TABLE[1]", &TABLE[1]);
    {
        let guard = TABLE[2].lock().unwrap();
        at(c"TABLE[2].balance", &guard.balance);
        at(c"TABLE[2].history[4]", &guard.history[4]);
    }
    at(c"PAIR.1", &PAIR.lock().unwrap().1);
    MINE.with(|mine| at(c"tls:bank::MINE", mine));
    LAZY.with(|lazy| at(c"tls:bank::LAZY.balance", &lazy.borrow().balance));
    let work = || {
        here(c"closure");
    };
    std::thread::spawn(work).join().unwrap();
    here(c"main");
}
