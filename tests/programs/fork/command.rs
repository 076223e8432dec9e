//@ expect: pass
//@ replays: 0
//@ runs: 50
// std::process::Command from two strands.
use std::process::{Command, Stdio};
use std::thread;

fn main() {
    let strands: Vec<_> = (0..2)
        .map(|n| {
            thread::spawn(move || {
                let output = Command::new("/bin/sh").arg("-c").arg(format!("echo {n}; exit {n}")).output().unwrap();
                assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), n.to_string());
                assert_eq!(output.status.code(), Some(n));
            })
        })
        .collect();
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    for strand in strands {
        strand.join().unwrap();
    }
}
