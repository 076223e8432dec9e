use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{self, Instant};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sleeps_last_their_time() {
    let began = Instant::now();
    let naps: Vec<_> = [3, 1, 2]
        .map(|ms| {
            tokio::spawn(async move {
                time::sleep(Duration::from_millis(ms)).await;
                ms
            })
        })
        .into();
    let mut total = 0;
    for nap in naps {
        total += nap.await.unwrap();
    }
    assert_eq!(total, 6);
    assert!(began.elapsed() >= Duration::from_millis(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timeouts_end_waits() {
    let outcome = time::timeout(Duration::from_millis(2), std::future::pending::<()>()).await;
    assert!(outcome.is_err());
    let mut ticker = time::interval(Duration::from_millis(1));
    for _ in 0..3 {
        ticker.tick().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn select_loses_nothing() {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let producer = tokio::spawn(async move {
        for n in 0..4 {
            time::sleep(Duration::from_millis(1)).await;
            sender.send(n).unwrap();
        }
    });
    let mut got = Vec::new();
    loop {
        tokio::select! {
            message = receiver.recv() => match message {
                Some(n) => got.push(n),
                None => break,
            },
            () = time::sleep(Duration::from_millis(1)) => {}
        }
    }
    assert_eq!(got, [0, 1, 2, 3]);
    producer.await.unwrap();
}
