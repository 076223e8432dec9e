fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!("{} {}", app::doubled(21), arguments.join(","));
}

#[test]
fn in_the_binary() {
    std::thread::spawn(|| assert_eq!(app::doubled(2), 4)).join().unwrap();
}
