//! `cargo threadbare run --example count` runs this.

fn main() {
    let counter = buggy::Loose::default();
    std::thread::scope(|scope| {
        scope.spawn(|| counter.add());
        scope.spawn(|| counter.add());
    });
    assert_eq!(counter.get(), 2);
}
