//! A hundred thousand messages through a channel; whoever waits for one gives up after a second in all.

use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

const MESSAGES: usize = 100_000;

fn main() {
    let end = Instant::now() + Duration::from_secs(1);
    let (sender, receiver) = sync_channel(1);
    let sends = thread::spawn(move || {
        for message in 0..MESSAGES {
            sender.send(message).unwrap();
        }
    });
    for message in 0..MESSAGES {
        let left = end.saturating_duration_since(Instant::now());
        assert_eq!(receiver.recv_timeout(left), Ok(message));
    }
    sends.join().unwrap();
}
