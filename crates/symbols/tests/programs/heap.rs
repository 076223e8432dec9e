use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

unsafe extern "C" {
    fn heap(label: *const c_char, block: *const c_void, size: usize, part: *const c_void);
}

pub struct Account {
    pub id: u32,
    pub hits: AtomicU64,
    pub history: [u16; 6],
}

pub enum State {
    Idle,
    Busy { since: u64, worker: u32 },
}

pub struct Job {
    pub state: State,
    pub name: String,
}

/// The block of an `Arc`: two counters are before the value.
fn counted<T>(value: &Arc<T>) -> (*const c_void, usize) {
    (Arc::as_ptr(value).cast::<u8>().wrapping_sub(16).cast(), 16 + size_of::<T>())
}

#[inline(never)]
fn touch(one: &Arc<Account>, locked: &Arc<Mutex<Account>>, boxed: &Box<Account>, all: &Vec<Account>) {
    let (block, size) = counted(one);
    unsafe { heap(c"arc".as_ptr(), block, size, (&raw const one.hits).cast()) };
    one.hits.fetch_add(1, Ordering::Relaxed);
    let (block, size) = counted(locked);
    let guard = locked.lock().unwrap();
    unsafe { heap(c"mutex".as_ptr(), block, size, (&raw const guard.history[2]).cast()) };
    unsafe { heap(c"box".as_ptr(), (&raw const **boxed).cast(), size_of::<Account>(), (&raw const boxed.id).cast()) };
    unsafe { heap(c"vec".as_ptr(), all.as_ptr().cast(), size_of_val(&all[..]), (&raw const all[2].id).cast()) };
}

#[inline(never)]
fn vary(job: &Box<Job>) {
    let State::Busy { since, .. } = &job.state else { return };
    unsafe { heap(c"enum".as_ptr(), (&raw const **job).cast(), size_of::<Job>(), (&raw const *since).cast()) };
}

fn account() -> Account {
    Account { id: 1, hits: AtomicU64::new(0), history: [0; 6] }
}

fn main() {
    let all = vec![account(), account(), account()];
    touch(&Arc::new(account()), &Arc::new(Mutex::new(account())), &Box::new(account()), &all);
    vary(&Box::new(Job { state: State::Idle, name: String::new() }));
    vary(&Box::new(Job { state: State::Busy { since: 4, worker: 2 }, name: String::new() }));
}
