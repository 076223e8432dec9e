//! crossbeam-channel, unmodified, in tests that pass under every schedule.

#[cfg(test)]
mod tests {
    use crossbeam_channel::{
        RecvTimeoutError, TryRecvError, TrySendError, after, bounded, never, select, tick, unbounded,
    };
    use std::thread;
    use std::time::Duration;

    #[test]
    fn bounded_keeps_order_and_waits() {
        let (sender, receiver) = bounded(1);
        let producer = thread::spawn(move || (0..5).for_each(|n| sender.send(n).unwrap()));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        producer.join().unwrap();
    }

    #[test]
    fn rendezvous_hands_over() {
        let (sender, receiver) = bounded(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        let taker = thread::spawn(move || receiver.recv());
        sender.send(2).unwrap();
        assert_eq!(taker.join().unwrap(), Ok(2));
        assert!(sender.send(3).is_err());
    }

    #[test]
    fn unbounded_many_to_many() {
        let (sender, receiver) = unbounded();
        let consumers: Vec<_> = (0..2)
            .map(|_| {
                let receiver = receiver.clone();
                thread::spawn(move || receiver.iter().sum::<u32>())
            })
            .collect();
        let producers: Vec<_> = (0..2)
            .map(|n| {
                let sender = sender.clone();
                thread::spawn(move || (0..4).for_each(|i| sender.send(n * 10 + i).unwrap()))
            })
            .collect();
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        drop(sender);
        let sum: u32 = consumers.into_iter().map(|consumer| consumer.join().unwrap()).sum();
        assert_eq!(sum, 6 + 46);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn select_takes_from_both() {
        let (a, mut from_a) = unbounded();
        let (b, mut from_b) = bounded(1);
        let one = thread::spawn(move || (0..3).for_each(|n| a.send(n).unwrap()));
        let two = thread::spawn(move || (10..13).for_each(|n| b.send(n).unwrap()));
        let mut got = Vec::new();
        while got.len() < 6 {
            select! {
                recv(from_a) -> n => n.map_or_else(|_| from_a = never(), |n| got.push(n)),
                recv(from_b) -> n => n.map_or_else(|_| from_b = never(), |n| got.push(n)),
            }
        }
        one.join().unwrap();
        two.join().unwrap();
        got.sort_unstable();
        assert_eq!(got, [0, 1, 2, 10, 11, 12]);
    }

    #[test]
    fn timeouts_and_timers() {
        let (sender, receiver) = unbounded::<u32>();
        assert_eq!(receiver.recv_timeout(Duration::from_millis(2)), Err(RecvTimeoutError::Timeout));
        let silent = never::<u32>();
        select! {
            recv(silent) -> _ => unreachable!("nobody can send here"),
            recv(after(Duration::from_millis(2))) -> at => assert!(at.is_ok()),
        }
        assert_eq!(tick(Duration::from_millis(1)).iter().take(3).count(), 3);
        let late = thread::spawn(move || {
            thread::sleep(Duration::from_millis(1));
            sender.send(9).unwrap();
        });
        select! {
            recv(receiver) -> n => assert_eq!(n, Ok(9)),
            default(Duration::from_millis(1)) => assert_eq!(receiver.recv(), Ok(9)),
        }
        late.join().unwrap();
    }

    #[test]
    fn scoped_workers_share_a_queue() {
        let (jobs, queue) = bounded::<u32>(2);
        let (results, done) = unbounded();
        crossbeam_utils::thread::scope(|scope| {
            for _ in 0..2 {
                let (queue, results) = (queue.clone(), results.clone());
                scope.spawn(move |_| queue.iter().for_each(|job| results.send(job * job).unwrap()));
            }
            (1..=4).for_each(|job| jobs.send(job).unwrap());
            drop(jobs);
        })
        .unwrap();
        drop(results);
        assert_eq!(done.iter().sum::<u32>(), 30);
    }
}
