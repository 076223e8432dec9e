// Two locks around one value; a test of libtest with a log beside it.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: read_one write_two
//@ pair: read_two write_one
//@ pattern: lost-update
//@ object: SUM|guards::SUM
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::thread;

static ONE: Mutex<()> = Mutex::new(());
static TWO: Mutex<()> = Mutex::new(());
static SUM: AtomicU64 = AtomicU64::new(0);
static LINES: AtomicUsize = AtomicUsize::new(0);

#[test]
fn sums_are_kept() {
    let other = thread::spawn(|| {
        LINES.fetch_add(1, SeqCst);
        let _guard = ONE.lock().unwrap();
        let sum = SUM.load(SeqCst); //~ read_one
        LINES.fetch_add(1, SeqCst);
        SUM.store(sum + 1, SeqCst); //~ write_one
    });
    {
        LINES.fetch_add(1, SeqCst);
        let _guard = TWO.lock().unwrap();
        let sum = SUM.load(SeqCst); //~ read_two
        LINES.fetch_add(1, SeqCst);
        SUM.store(sum + 2, SeqCst); //~ write_two
    }
    other.join().unwrap();
    assert_eq!(SUM.load(SeqCst), 3); //~ end
}
