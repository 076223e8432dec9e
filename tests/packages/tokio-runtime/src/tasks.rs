use std::sync::Arc;
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::task::{self, JoinSet};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mpsc_delivers_everything_once() {
    let (sender, mut receiver) = mpsc::channel(2);
    for n in 0..3u32 {
        let sender = sender.clone();
        tokio::spawn(async move {
            for i in 0..3 {
                sender.send(n * 10 + i).await.unwrap();
            }
        });
    }
    drop(sender);
    let mut sum = 0;
    while let Some(n) = receiver.recv().await {
        sum += n;
    }
    assert_eq!(sum, 99);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oneshot_and_join_handles() {
    let (sender, receiver) = oneshot::channel();
    let asker = tokio::spawn(receiver);
    let teller = tokio::spawn(async move { sender.send(4).unwrap() });
    teller.await.unwrap();
    assert_eq!(asker.await.unwrap(), Ok(4));
    assert!(tokio::spawn(async { panic!("in a task") }).await.unwrap_err().is_panic());
    let endless = tokio::spawn(std::future::pending::<()>());
    endless.abort();
    assert!(endless.await.unwrap_err().is_cancelled());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn join_set_and_blocking_work() {
    let mut set = JoinSet::new();
    for n in 0..4 {
        set.spawn(async move {
            task::yield_now().await;
            task::spawn_blocking(move || n * n).await.unwrap()
        });
    }
    assert_eq!(set.join_all().await.into_iter().sum::<i32>(), 14);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locks_and_permits() {
    let (total, shared, permits) =
        (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)), Arc::new(Semaphore::new(2)));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let (total, shared, permits) = (Arc::clone(&total), Arc::clone(&shared), Arc::clone(&permits));
            tokio::spawn(async move {
                let _permit = permits.acquire().await.unwrap();
                *shared.write().await += 1;
                let seen = *shared.read().await;
                let mut total = total.lock().await;
                task::yield_now().await;
                *total += 1;
                assert!(seen >= 1);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!((*total.lock().await, *shared.read().await, permits.available_permits()), (3, 3, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notify_watch_broadcast_barrier() {
    let (notify, barrier) = (Arc::new(Notify::new()), Arc::new(Barrier::new(2)));
    let (state, mut seen) = watch::channel(0);
    let (cast, mut first) = broadcast::channel(4);
    let mut second = cast.subscribe();
    let (told, met) = (Arc::clone(&notify), Arc::clone(&barrier));
    let other = tokio::spawn(async move {
        told.notified().await;
        seen.wait_for(|state| *state == 2).await.unwrap();
        met.wait().await;
        second.recv().await.unwrap() + second.recv().await.unwrap()
    });
    notify.notify_one();
    state.send(1).unwrap();
    state.send(2).unwrap();
    cast.send(10).unwrap();
    cast.send(20).unwrap();
    barrier.wait().await;
    assert_eq!(other.await.unwrap(), 30);
    assert_eq!(first.recv().await.unwrap(), 10);
}
