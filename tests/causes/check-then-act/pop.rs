// The stack is not empty when it is asked, and is when it is popped; calls are counted beside it.
//@ expect: panic|exit|assertion
//@ pair: ask pop
//@ pair: pop pop
//@ pattern: check-then-act
//@ object: any
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

struct Stack {
    items: Mutex<Vec<u32>>,
    asked: AtomicUsize,
}

impl Stack {
    fn is_empty(&self) -> bool {
        self.asked.fetch_add(1, Relaxed);
        self.items.lock().unwrap().is_empty() //~ ask
    }

    fn pop(&self) -> Option<u32> {
        self.asked.fetch_add(1, Relaxed);
        self.items.lock().unwrap().pop() //~ pop
    }
}

fn main() {
    let stack = Arc::new(Stack { items: Mutex::new(vec![9]), asked: AtomicUsize::new(0) });
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let stack = Arc::clone(&stack);
            thread::spawn(move || {
                if !stack.is_empty() { //~ asks
                    stack.pop().expect("it was not empty"); //~ end
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap(); //~ joins
    }
}
