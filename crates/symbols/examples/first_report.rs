//! How long the first report on a program takes: `first_report PROGRAM [FRAMES]`.
//!
//! Asks for a variable and for as many addresses of code as a report of two stacks has, spread over the whole program
//! so that few are in one unit, and prints the milliseconds. `--list` prints the addresses instead, for a peer to look
//! up. `cargo xtask bench symbols` calls it.

use std::path::Path;
use std::time::Instant;

use object::{Object, ObjectSymbol, SymbolKind};
use threadbare_symbols::{Module, Pc, Symbols};

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = arguments.iter().position(|argument| argument == "--list").map(|at| arguments.remove(at));
    let [program, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: first_report [--list] PROGRAM [FRAMES]");
        std::process::exit(2);
    };
    let count = rest.first().and_then(|count| count.parse().ok()).unwrap_or(10);
    let (code, data) = addresses(Path::new(program), count);
    if list.is_some() {
        code.iter().for_each(|address| println!("{address:#x}"));
        return;
    }
    let start = Instant::now();
    let symbols = Symbols::new([Module::new(program, 0, u64::MAX)]);
    let variable = symbols.variable(data);
    let after_variable = start.elapsed();
    let frames: Vec<_> = code.iter().map(|address| symbols.frames(Pc::At(*address))).collect();
    let fields = symbols.locals(Pc::At(code[0]));
    let elapsed = start.elapsed();
    println!("{:.3}", elapsed.as_secs_f64() * 1e3);
    eprintln!("variable after {:.3} ms", after_variable.as_secs_f64() * 1e3);
    eprintln!("{}", variable.map_or("?".to_owned(), |variable| variable.to_string()));
    for frame in frames.iter().flat_map(|frames| frames.iter()) {
        eprintln!("{frame}");
    }
    eprintln!("{} locals", fields.len());
}

/// Addresses inside functions, spread evenly, and one inside a variable.
fn addresses(program: &Path, count: usize) -> (Vec<u64>, u64) {
    let bytes = std::fs::read(program).expect("the program can be read");
    let file = object::File::parse(&*bytes).expect("the program is an object file");
    let of_kind = |kind, least| {
        let mut found: Vec<(u64, u64)> = file
            .symbols()
            .filter(|symbol| symbol.kind() == kind && symbol.size() >= least && symbol.is_definition())
            .map(|symbol| (symbol.address(), symbol.size()))
            .collect();
        found.sort_unstable();
        found
    };
    let functions = of_kind(SymbolKind::Text, 32);
    let data = of_kind(SymbolKind::Data, 64);
    let step = (functions.len() / count.max(1)).max(1);
    let code = functions.iter().skip(step / 2).step_by(step).take(count).map(|(at, size)| at + size / 2);
    let (start, size) = data[data.len() / 2];
    (code.collect(), start + size / 2)
}
