// The channel's end says that it is closed before the last message was sent; a test of libtest.
//@ expect: panic|exit|assertion
//@ flags: --test
//@ pair: close send
//@ pattern: order-violation
//@ object: any
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

struct Channel {
    open: AtomicBool,
    sent: AtomicUsize,
}

#[test]
fn everything_is_sent() {
    let channel = Arc::new(Channel { open: AtomicBool::new(false), sent: AtomicUsize::new(0) });
    channel.open.store(true, SeqCst);
    let other = Arc::clone(&channel);
    let sender = thread::spawn(move || {
        other.sent.fetch_add(1, SeqCst);
        let open = other.open.load(SeqCst); //~ send
        assert!(open, "sent to a closed channel"); //~ end
    });
    channel.open.store(false, SeqCst); //~ close
    sender.join().unwrap(); //~ join
}
