//@ expect: pass
// Every operation of the atomic types, from several strands.
use std::ptr;
use std::sync::atomic::*;
use std::thread;
use Ordering::*;

static WORDS: [&str; 2] = ["left", "right"];

fn main() {
    let (small, signed, big, flag) = (AtomicU8::new(0), AtomicI16::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let (least, most, bits) = (AtomicI64::new(100), AtomicI64::new(0), AtomicU32::new(0));
    let word = AtomicPtr::<&str>::new(ptr::null_mut());
    thread::scope(|scope| {
        for i in 0..3u8 {
            let (small, signed, big, flag) = (&small, &signed, &big, &flag);
            let (least, most, bits, word) = (&least, &most, &bits, &word);
            scope.spawn(move || {
                small.fetch_add(100, Relaxed);
                signed.fetch_sub(i16::from(i), AcqRel);
                big.fetch_update(SeqCst, SeqCst, |seen| Some(seen * 2 + 1)).unwrap();
                flag.fetch_or(true, Release);
                least.fetch_min(i64::from(i), SeqCst);
                most.fetch_max(i64::from(i), SeqCst);
                bits.fetch_xor(1 << i, AcqRel);
                fence(SeqCst);
                compiler_fence(SeqCst);
                let mine = ptr::from_ref(&WORDS[usize::from(i) % 2]).cast_mut();
                let _ = word.compare_exchange(ptr::null_mut(), mine, AcqRel, Acquire);
                assert!(!word.load(Acquire).is_null());
            });
        }
    });
    assert_eq!((small.into_inner(), signed.into_inner(), big.into_inner()), (44, -3, 7));
    assert_eq!((flag.into_inner(), least.into_inner(), most.into_inner(), bits.into_inner()), (true, 0, 2, 7));
}
