// The same in Rust: `std::env`, `std::io`, `std::fs`.
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(early)]
mod early {
    pub static SEEN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    extern "C" fn look() {
        let words: Vec<String> = std::env::args().collect();
        SEEN.store(words[1].len(), std::sync::atomic::Ordering::Relaxed);
    }
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [number, path] = words.as_slice() else { panic!("two words, not {words:?}") };
    let mut line = String::new();
    std::io::stdin().read_to_string(&mut line).unwrap();
    let length = std::fs::read(path).unwrap().len();
    let level = std::env::var("LEVEL").unwrap();
    assert!(std::env::vars().any(|(name, value)| name == "LEVEL" && value == level));
    println!("{number} {} {length} {level}", line.trim());
    let rounds = 1 + usize::from(number.len() > 1) + usize::from(line.len() > 2) + usize::from(length > 3);
    let balance = Arc::new(AtomicUsize::new(0));
    let deposit = move |balance: Arc<AtomicUsize>| {
        for _ in 0..rounds {
            let seen = balance.load(Ordering::SeqCst);
            balance.store(seen + 1, Ordering::SeqCst);
        }
    };
    let other = {
        let balance = Arc::clone(&balance);
        std::thread::spawn(move || deposit(balance))
    };
    let both = level == "2";
    if both {
        deposit(Arc::clone(&balance));
    }
    other.join().unwrap();
    assert!(!both || number != "7" || line.is_empty() || balance.load(Ordering::SeqCst) == 2 * rounds);
}
