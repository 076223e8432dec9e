//@ expect: pass
// Scoped strands borrow, return values, spawn more, and pass panics on.
use std::panic;
use std::thread;

fn main() {
    let mut values = vec![1, 2, 3, 4];
    let (left, right) = values.split_at_mut(2);
    let total: i32 = thread::scope(|scope| {
        let a = scope.spawn(|| {
            left.iter_mut().for_each(|v| *v *= 10);
            left.iter().sum::<i32>()
        });
        let b = scope.spawn(|| scope.spawn(|| right.iter().sum::<i32>()).join().unwrap());
        a.join().unwrap() + b.join().unwrap()
    });
    assert_eq!((total, values), (37, vec![10, 20, 3, 4]));

    panic::set_hook(Box::new(|_| {}));
    let caught = panic::catch_unwind(|| {
        thread::scope(|scope| {
            scope.spawn(|| panic!("unseen"));
            scope.spawn(|| 5);
        })
    });
    assert!(caught.is_err());
    let named = thread::Builder::new().name("worker".into()).stack_size(256 * 1024);
    let name = thread::scope(|scope| {
        named.spawn_scoped(scope, || thread::current().name().map(str::to_owned)).unwrap().join().unwrap()
    });
    assert_eq!(name.as_deref(), Some("worker"));
}
