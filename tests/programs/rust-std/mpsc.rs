//@ expect: pass
// Channels: unbounded, bounded, rendezvous; order per sender, the end when all senders or the receiver are gone.
use std::sync::mpsc::{self, TryRecvError, TrySendError};
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    for id in 0..2 {
        let sender = sender.clone();
        thread::spawn(move || (0..3).for_each(|n| sender.send((id, n)).unwrap()));
    }
    drop(sender);
    let mut next = [0, 0];
    for (id, n) in &receiver {
        assert_eq!(n, next[id]);
        next[id] += 1;
    }
    assert_eq!(next, [3, 3]);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));

    let (bounded, items) = mpsc::sync_channel(1);
    let producer = thread::spawn(move || (0..4).for_each(|n| bounded.send(n).unwrap()));
    assert_eq!(items.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    producer.join().unwrap();

    let (rendezvous, meeting) = mpsc::sync_channel(0);
    assert_eq!(rendezvous.try_send(1), Err(TrySendError::Full(1)));
    let meeter = thread::spawn(move || {
        assert_eq!(meeting.recv(), Ok(2));
        drop(meeting);
    });
    rendezvous.send(2).unwrap();
    meeter.join().unwrap();
    assert!(rendezvous.send(3).is_err());
}
