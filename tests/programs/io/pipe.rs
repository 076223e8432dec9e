//@ expect: pass
// std::io::pipe and a Unix socket pair between strands; a file shared by two of them.
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::net::UnixStream;
use std::thread;

fn main() -> io::Result<()> {
    let (mut reader, writer) = io::pipe()?;
    thread::scope(|scope| {
        for letter in [b"a", b"b"] {
            let mut writer = writer.try_clone().unwrap();
            scope.spawn(move || writer.write_all(letter).unwrap());
        }
    });
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text)?;
    assert!(text == "ab" || text == "ba");

    let (mut left, mut right) = UnixStream::pair()?;
    let echo = thread::spawn(move || {
        let mut byte = [0];
        while right.read(&mut byte).unwrap() == 1 {
            right.write_all(&[byte[0] + 1]).unwrap();
        }
    });
    for byte in 0..3 {
        left.write_all(&[byte])?;
        let mut answer = [0];
        left.read_exact(&mut answer)?;
        assert_eq!(answer[0], byte + 1);
    }
    drop(left);
    echo.join().unwrap();

    let path = std::env::temp_dir().join(format!("threadbare-corpus-{}", std::process::id()));
    let file = File::options().create_new(true).read(true).append(true).open(&path)?;
    fs::remove_file(&path)?;
    thread::scope(|scope| {
        for word in ["red ", "blue"] {
            let mut file = &file;
            scope.spawn(move || file.write_all(word.as_bytes()).unwrap());
        }
    });
    let mut text = String::new();
    (&file).rewind()?;
    (&file).read_to_string(&mut text)?;
    assert!(text == "red blue" || text == "bluered ");
    Ok(())
}
