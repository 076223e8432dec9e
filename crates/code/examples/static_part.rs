//! How long the static part takes: `static_part PROG FOLDER` prints seconds without what was kept, with it, and the bytes of code.

use std::path::Path;
use std::time::Instant;

use threadbare_code::Code;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, folder] = &arguments[..] else { return eprintln!("usage: static_part PROG FOLDER") };
    let mut times = Vec::new();
    for _ in 0..2 {
        let begun = Instant::now();
        match Code::cached(Path::new(program), Path::new(folder)) {
            Ok(code) => {
                times.push(begun.elapsed().as_secs_f64());
                if times.len() == 2 {
                    let bytes: u64 =
                        code.functions.iter().map(|function| function.end - function.start).sum();
                    println!("{} {} {bytes}", times[0], times[1]);
                }
            }
            Err(error) => return eprintln!("{error}"),
        }
    }
}
