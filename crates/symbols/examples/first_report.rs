//! The first report on a program: `first_report PROGRAM DATA CODE...`, all addresses as linked, in hexadecimal.
//!
//! Prints the variable at the address of data, the frames at those of code, the locals of the first of them and the
//! fields of heap blocks that the code may touch, and to stderr how long each took. `first_report --list PROGRAM` prints addresses to ask for: one inside a variable, then ten
//! inside functions, spread over the whole program so that few are in one unit. `cargo xtask bench symbols` calls it.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use object::{Object, ObjectSymbol, SymbolKind};
use threadbare_symbols::{Module, Pc, Symbols};

const FRAMES: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [list, program] if list == "--list" => print_addresses(Path::new(program)),
        [program, data, code @ ..] if !code.is_empty() => report(program, number(data), code),
        _ => {
            eprintln!("usage: first_report PROGRAM DATA CODE...\n       first_report --list PROGRAM");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn number(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("an address in hexadecimal")
}

fn report(program: &str, data: u64, code: &[String]) {
    let start = Instant::now();
    let symbols = Symbols::new([Module::new(program, 0, u64::MAX)]);
    match symbols.variable(data) {
        Some(variable) => println!("{variable}"),
        None => println!("{data:#x}"),
    }
    let after_variable = start.elapsed();
    for address in code {
        symbols.frames(Pc::At(number(address))).iter().for_each(|frame| println!("{frame}"));
    }
    for local in symbols.locals(Pc::At(number(&code[0]))) {
        println!("{}: {}", local.name, local.type_name.unwrap_or_default());
    }
    let after_frames = start.elapsed();
    let stack: Vec<Pc> = code.iter().map(|address| Pc::At(number(address))).collect();
    for block in [48, 64, 96] {
        if let Some(field) = symbols.field_access(&stack, block, 16, 8) {
            println!("{field}");
        }
    }
    eprintln!(
        "variable {after_variable:?}, frames and locals {:?}, heap fields {:?}",
        after_frames - after_variable,
        start.elapsed() - after_frames
    );
}

fn print_addresses(program: &Path) {
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
    let data = of_kind(SymbolKind::Data, 64);
    let (start, size) = data[data.len() / 2];
    println!("{:#x}", start + size / 2);
    let functions = of_kind(SymbolKind::Text, 32);
    let step = (functions.len() / FRAMES).max(1);
    for (start, size) in functions.iter().skip(step / 2).step_by(step).take(FRAMES) {
        println!("{:#x}", start + size / 2);
    }
}
