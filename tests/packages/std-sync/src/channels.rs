use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use std::thread;
use std::time::Duration;

#[test]
fn many_senders() {
    let (sender, receiver) = mpsc::channel();
    for n in 0..3 {
        let sender = sender.clone();
        thread::spawn(move || [n, n + 10].map(|value| sender.send(value).unwrap()));
    }
    drop(sender);
    assert_eq!(receiver.iter().sum::<u32>(), 36);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn bounded_waits() {
    let (sender, receiver) = mpsc::sync_channel(1);
    let producer = thread::spawn(move || (0..4).for_each(|n| sender.send(n).unwrap()));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    producer.join().unwrap();
}

#[test]
fn rendezvous_hands_over() {
    let (sender, receiver) = mpsc::sync_channel(0);
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    let taker = thread::spawn(move || receiver.recv());
    sender.send(2).unwrap();
    assert_eq!(taker.join().unwrap(), Ok(2));
    assert!(sender.send(3).is_err());
}

#[test]
fn receive_with_a_deadline() {
    let (sender, receiver) = mpsc::channel();
    assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    let late = thread::spawn(move || {
        thread::sleep(Duration::from_millis(1));
        sender.send(4).unwrap();
    });
    match receiver.recv_timeout(Duration::from_millis(1)) {
        Ok(value) => assert_eq!(value, 4),
        Err(error) => {
            assert_eq!(error, RecvTimeoutError::Timeout);
            assert_eq!(receiver.recv(), Ok(4));
        }
    }
    late.join().unwrap();
}

#[test]
fn what_nobody_received_is_dropped() {
    let (sender, receiver) = mpsc::channel();
    let value = std::sync::Arc::new(());
    let strands: Vec<_> = (0..2)
        .map(|_| {
            let (sender, value) = (sender.clone(), value.clone());
            // The receiver may be gone already.
            thread::spawn(move || drop(sender.send(value)))
        })
        .collect();
    drop(receiver);
    strands.into_iter().for_each(|strand| strand.join().unwrap());
    drop(sender);
    assert_eq!(std::sync::Arc::strong_count(&value), 1);
}
