//@ expect: panic
//@ message: never got the address
//@ preemptions: 0
//@ pair: set here
// A server "surely" publishes its address within 200 ms.
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

static ADDRESS: Mutex<Option<String>> = Mutex::new(None);

fn main() {
    let server = thread::spawn(|| {
        let address = format!("127.0.0.1:{}", 4000 + 2);
        *ADDRESS.lock().unwrap() = Some(address); //~ set
    });
    thread::sleep(Duration::from_millis(200));
    let address = ADDRESS.lock().unwrap().clone().expect("never got the address"); //~ here
    assert!(address.ends_with("4002"));
    server.join().unwrap();
}
