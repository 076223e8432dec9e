// Takes one `read` for the whole message.
//@ expect: assertion|panic
//@ max-runs: 200
//@ faults: io
//@ bare: any
use std::io::{Read, Write, pipe};

fn main() {
    let (mut reader, mut writer) = pipe().unwrap();
    let teller = std::thread::spawn(move || writer.write_all(b"01234567").unwrap());
    teller.join().unwrap();
    let mut text = [0; 8];
    assert_eq!(reader.read(&mut text).unwrap(), 8);
    assert_eq!(&text, b"01234567");
}
