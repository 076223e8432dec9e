fn main() {
    println!("example {}", app::doubled(4));
}
