// `read_exact` goes on after a short read, and after an interruption.
//@ expect: pass
//@ runs: 300
//@ faults: io
use std::io::{Read, Write, pipe};

fn main() {
    let (mut reader, mut writer) = pipe().unwrap();
    let teller = std::thread::spawn(move || writer.write_all(b"01234567").unwrap());
    teller.join().unwrap();
    let mut text = [0; 8];
    reader.read_exact(&mut text).unwrap();
    assert_eq!(&text, b"01234567");
}
