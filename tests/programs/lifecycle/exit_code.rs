//@ expect: exit
//@ message: 3
// process::exit from a strand that finds the configuration missing.
use std::process;
use std::sync::OnceLock;
use std::thread;

static CONFIG: OnceLock<u32> = OnceLock::new();

fn main() {
    let checker = thread::spawn(|| {
        if CONFIG.get().is_none() {
            process::exit(3);
        }
    });
    CONFIG.set(1).unwrap();
    checker.join().unwrap();
}
