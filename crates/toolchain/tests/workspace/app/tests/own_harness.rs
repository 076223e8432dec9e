fn main() {
    println!("a harness of its own: {}", app::doubled(1));
}
