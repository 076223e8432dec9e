//@ expect: pass
//@ args: 9 Wxr1Ryr Wyr1Rxr
//@ memory-model: sc
// The same as `litmus.c`, in Rust.
use std::sync::atomic::{AtomicI32, Ordering, fence};
use std::thread;

static CELLS: [AtomicI32; 3] = [AtomicI32::new(0), AtomicI32::new(0), AtomicI32::new(0)];

fn load(at: &AtomicI32, order: u8) -> i32 {
    match order {
        b'r' => at.load(Ordering::Relaxed),
        b'a' => at.load(Ordering::Acquire),
        _ => at.load(Ordering::SeqCst),
    }
}

fn store(at: &AtomicI32, value: i32, order: u8) {
    match order {
        b'r' => at.store(value, Ordering::Relaxed),
        b'l' => at.store(value, Ordering::Release),
        _ => at.store(value, Ordering::SeqCst),
    }
}

fn add(at: &AtomicI32, value: i32, order: u8) -> i32 {
    match order {
        b'r' => at.fetch_add(value, Ordering::Relaxed),
        b'a' => at.fetch_add(value, Ordering::Acquire),
        b'l' => at.fetch_add(value, Ordering::Release),
        b'q' => at.fetch_add(value, Ordering::AcqRel),
        _ => at.fetch_add(value, Ordering::SeqCst),
    }
}

fn between(order: u8) {
    match order {
        b'a' => fence(Ordering::Acquire),
        b'l' => fence(Ordering::Release),
        b'q' => fence(Ordering::AcqRel),
        _ => fence(Ordering::SeqCst),
    }
}

fn strand(script: String) -> Vec<i32> {
    let (mut at, mut found) = (script.as_bytes(), Vec::new());
    let cell = |name: u8| &CELLS[usize::from(name - b'x')];
    let digit = |byte: u8| i32::from(byte - b'0');
    while let Some(kind) = at.first() {
        let length = match kind {
            b'W' => {
                store(cell(at[1]), digit(at[3]), at[2]);
                4
            }
            b'R' => {
                found.push(load(cell(at[1]), at[2]));
                3
            }
            b'A' => {
                found.push(add(cell(at[1]), digit(at[3]), at[2]));
                4
            }
            _ => {
                between(at[1]);
                2
            }
        };
        at = &at[length..];
    }
    found
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let strands: Vec<_> =
        arguments[1..].iter().map(|script| { let script = script.clone(); thread::spawn(move || strand(script)) }).collect();
    let found: Vec<i32> = strands.into_iter().flat_map(|strand| strand.join().unwrap()).collect();
    let mut outcome: String = found.iter().map(i32::to_string).collect();
    outcome.push(':');
    outcome.extend(CELLS.iter().map(|cell| cell.load(Ordering::SeqCst).to_string()));
    let is = arguments[0].bytes().zip(outcome.bytes()).all(|(wanted, found)| wanted == b'.' || wanted == found);
    assert!(!is, "outcome {outcome}");
}
