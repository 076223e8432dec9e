//@ expect: panic
//@ message: no answer
//@ max-runs: 2000
// A second without an answer is taken for no answer at all.
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn main() {
    let (ask, asked) = mpsc::channel::<u32>();
    let (answer, answered) = mpsc::channel();
    let server = thread::spawn(move || {
        for question in asked {
            // The client may have left.
            let _ = answer.send(question * 2);
        }
    });
    for question in 0..3 {
        ask.send(question).unwrap();
        let reply = answered.recv_timeout(Duration::from_secs(1)).expect("no answer"); //~ here
        assert_eq!(reply, question * 2);
    }
    drop(ask);
    server.join().unwrap();
}
