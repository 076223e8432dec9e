//@ expect: pass
// Whoever has the value of a OnceLock or a LazyLock has what its maker did.
use std::cell::UnsafeCell;
use std::sync::{LazyLock, Once, OnceLock};
use std::thread;

struct Data(UnsafeCell<[u32; 3]>);

unsafe impl Sync for Data {}

static DATA: Data = Data(UnsafeCell::new([0; 3]));
static CELL: OnceLock<u32> = OnceLock::new();
static LAZY: LazyLock<u32> = LazyLock::new(|| fill(1));
static ONCE: Once = Once::new();

fn fill(slot: usize) -> u32 {
    let data = DATA.0.get();
    unsafe { (*data)[slot] = 1 };
    1
}

fn ask() {
    CELL.get_or_init(|| fill(0));
    LazyLock::force(&LAZY);
    ONCE.call_once(|| {
        fill(2);
    });
}

fn look() {
    let data = DATA.0.get();
    let seen = unsafe { (*data)[0] + (*data)[1] + (*data)[2] };
    std::hint::black_box(seen);
}

fn main() {
    let strand = thread::spawn(|| {
        ask();
        look();
    });
    ask();
    look();
    strand.join().unwrap();
}
