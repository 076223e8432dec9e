//@ expect: pass
// The same with a lock of Rust's, whose word is taken and given back in the program's own code.
use std::sync::Mutex;
use std::thread;

static BARRIER: Mutex<(u32, u32)> = Mutex::new((0, 0));

fn wait() {
    let mine = {
        let mut state = BARRIER.lock().unwrap();
        let mine = state.1;
        state.0 += 1;
        if state.0 == 3 {
            *state = (0, mine + 1);
        }
        mine
    };
    while BARRIER.lock().unwrap().1 == mine {}
}

fn main() {
    let strands: Vec<_> = (0..3).map(|_| thread::spawn(|| (0..2).for_each(|_| wait()))).collect();
    for strand in strands {
        strand.join().unwrap();
    }
}
