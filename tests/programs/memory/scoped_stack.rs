//@ expect: pass
// Scoped threads use each other's stacks while they live.
use std::sync::mpsc;
use std::thread;

fn main() {
    let mut total = [0u64; 4];
    for _ in 0..3 {
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for slot in total.iter_mut() {
                let sender = sender.clone();
                scope.spawn(move || {
                    let local = [1u64, 2, 3];
                    *slot += local.iter().sum::<u64>();
                    sender.send(*slot).unwrap();
                });
            }
        });
        drop(sender);
        assert_eq!(receiver.iter().count(), 4);
    }
    assert_eq!(total, [18; 4]);
}
