//@ expect: pass
//@ runs: 100
// std::net: a server on port 0, one strand a connection, lines both ways.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..2 {
                let (peer, _) = listener.accept().unwrap();
                scope.spawn(move || {
                    let mut lines = BufReader::new(peer.try_clone().unwrap());
                    let mut line = String::new();
                    lines.read_line(&mut line).unwrap();
                    (&peer).write_all(line.to_uppercase().as_bytes()).unwrap();
                    peer.shutdown(Shutdown::Write).unwrap();
                });
            }
        });
        for word in ["one", "two"] {
            scope.spawn(move || {
                let mut stream = TcpStream::connect(address).unwrap();
                writeln!(stream, "{word}").unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                assert_eq!(answer.trim(), word.to_uppercase());
            });
        }
    });
}
