//@ expect: pass
// A write to a closed pipe is an error, not the end: std ignores SIGPIPE, in every strand.
use std::io::{self, ErrorKind, Write};
use std::thread;

fn main() -> io::Result<()> {
    let strands: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn(|| {
                let (reader, mut writer) = io::pipe().unwrap();
                drop(reader);
                writer.write_all(b"x").unwrap_err().kind()
            })
        })
        .collect();
    for strand in strands {
        assert_eq!(strand.join().unwrap(), ErrorKind::BrokenPipe);
    }
    Ok(())
}
