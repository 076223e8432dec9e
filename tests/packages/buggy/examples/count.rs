//! `cargo threadbare run --example count` runs this.

fn main() {
    let counter = buggy::Loose::default();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..3).for_each(|_| counter.add()));
        (0..3).for_each(|_| counter.add());
    });
    assert_eq!(counter.get(), 6);
}
