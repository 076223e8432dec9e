//@ expect: pass
//@ flags: -Copt-level=0
// Unoptimised code loads a whole enum to look at its tag; what lies behind the tag is another strand's.
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::thread;

#[expect(dead_code, reason = "an enum with a tag")]
enum Slot {
    Empty,
    Full(Wide),
}

#[repr(transparent)]
struct Wide(UnsafeCell<u128>);

unsafe impl Sync for Wide {}

static SLOT: Slot = Slot::Full(Wide(UnsafeCell::new(1)));
static LOCK: Mutex<()> = Mutex::new(());

fn main() {
    let strand = thread::spawn(|| {
        let Slot::Full(wide) = &SLOT else { unreachable!() };
        let _held = LOCK.lock().unwrap();
        unsafe { *wide.0.get() = 2 };
    });
    assert!(matches!(&SLOT, Slot::Full(_)));
    strand.join().unwrap();
}
