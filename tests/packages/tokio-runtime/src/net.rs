use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket, UnixStream};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tcp_echo() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        for _ in 0..2 {
            let (mut peer, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let (mut reader, mut writer) = peer.split();
                tokio::io::copy(&mut reader, &mut writer).await.unwrap();
            });
        }
    });
    let clients: Vec<_> = ["hello", "world"]
        .map(|word| {
            tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(word.as_bytes()).await.unwrap();
                stream.shutdown().await.unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).await.unwrap();
                assert_eq!(answer, word);
            })
        })
        .into();
    for client in clients {
        client.await.unwrap();
    }
    server.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn udp_and_unix_sockets() {
    let (a, b) =
        (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let to = b.local_addr().unwrap();
    let sender = tokio::spawn(async move { a.send_to(b"ping", to).await.unwrap() });
    let mut buffer = [0; 16];
    let (length, _) = b.recv_from(&mut buffer).await.unwrap();
    assert_eq!((&buffer[..length], sender.await.unwrap()), (&b"ping"[..], 4));

    let (mut left, mut right) = UnixStream::pair().unwrap();
    let echo = tokio::spawn(async move {
        let byte = right.read_u8().await.unwrap();
        right.write_u8(byte + 1).await.unwrap();
    });
    left.write_u8(41).await.unwrap();
    assert_eq!(left.read_u8().await.unwrap(), 42);
    echo.await.unwrap();
}
