//! `cargo xtask bench symbols`: how soon the first report on a big debug binary comes.
//!
//! A C++ and a Rust program are generated, each with more than 50 MB of file, most of it debug info in the shape real
//! programs have: generic containers of many types, inlined calls, tables. A report is ten frames spread over the whole
//! program, the variable at an address of data, the locals of one frame and the fields of three heap blocks. The peer is
//! binutils' `addr2line` with the same ten addresses and nothing else. Every measurement is a new process; the files are in the page cache.

use super::{Row, in_turns, output, table};
use crate::packages;
use crate::steps::{Outcome, cargo, command, root, run};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const CPP_UNITS: usize = 20;
const RUST_MODULES: usize = 4;
/// What the issue asks of the first report, and of the binary it is on.
const MOST_SECONDS: f64 = 1.0;
const LEAST_BYTES: u64 = 50 << 20;

/// Measures the first report on both programs.
pub(crate) fn first_report() -> Outcome {
    packages::ensure(&[packages::COMPILERS, packages::SYMBOL_TOOLS])?;
    let folder = root().join("target/bench/symbols");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    run(cargo(&["build", "--release", "--package", "threadbare-symbols", "--example", "first_report"])
        .env("CARGO_TARGET_DIR", &folder))?;
    let asker = folder.join("release/examples/first_report");
    let mut rows = Vec::new();
    for (what, program) in [
        ("first reports/s, C++; peer: addr2line, frames only", cpp_program(&folder)?),
        ("first reports/s, Rust; peer: addr2line, frames only", rust_program(&folder)?),
    ] {
        let size = std::fs::metadata(&program).map_err(|error| error.to_string())?.len();
        if size < LEAST_BYTES {
            return Err(format!("{} has only {size} bytes", program.display()));
        }
        let listed = output(Command::new(&asker).arg("--list").arg(&program))?;
        let (data, code) = listed.split_once('\n').ok_or("no addresses")?;
        let code: Vec<&str> = code.lines().collect();
        let (ours, peer) = in_turns(
            || per_second(Command::new(&asker).arg(&program).arg(data).args(&code)),
            || per_second(Command::new("addr2line").args(["-f", "-i", "-C", "-e"]).arg(&program).args(&code)),
        )?;
        let seconds = 1.0 / ours;
        println!("{}: {} MB, first report in {:.0} ms", program.display(), size >> 20, seconds * 1e3);
        if seconds > MOST_SECONDS {
            return Err(format!("the first report took {seconds:.2} s"));
        }
        rows.push(Row { what: what.into(), ours, peer, at_least: 1.0 });
    }
    table(&rows)
}

fn per_second(command: &mut Command) -> Outcome<f64> {
    let start = Instant::now();
    output(command)?;
    Ok(1.0 / start.elapsed().as_secs_f64())
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn cpp_program(folder: &Path) -> Outcome<PathBuf> {
    let program = folder.join("big-cpp");
    if program.exists() {
        return Ok(program);
    }
    let mut main = String::new();
    let mut objects = Vec::new();
    for unit in 0..CPP_UNITS {
        let name = format!("unit{unit}");
        write(&folder.join(format!("{name}.cc")), &cpp_unit(&name))?;
        let _ = writeln!(main, "namespace {name} {{ int all(int); }}");
        objects.push(format!("{name}.o"));
    }
    let calls: Vec<String> = (0..CPP_UNITS).map(|unit| format!("unit{unit}::all(argc)")).collect();
    let _ = writeln!(main, "int main(int argc, char **) {{ return {}; }}", calls.join(" + "));
    write(&folder.join("main.cc"), &main)?;
    // Two at a time: one unit takes seconds.
    let units: Vec<usize> = (0..CPP_UNITS).collect();
    for pair in units.chunks(2) {
        let compilers = pair.iter().map(|unit| {
            let (source, object) = (format!("unit{unit}.cc"), format!("unit{unit}.o"));
            let mut compiler = command("g++", &["-g", "-O1", "-c", &source, "-o", &object]);
            compiler.current_dir(folder).spawn().map_err(|error| error.to_string())
        });
        for compiler in compilers.collect::<Vec<_>>() {
            if !compiler?.wait().map_err(|error| error.to_string())?.success() {
                return Err("g++ failed".to_owned());
            }
        }
    }
    let mut linker = command("g++", &["-g", "main.cc", "-o", "big-cpp"]);
    run(linker.args(&objects).current_dir(folder))?;
    Ok(program)
}

fn cpp_unit(name: &str) -> String {
    let mut text = String::new();
    for header in ["algorithm", "functional", "map", "memory", "mutex", "string", "vector"] {
        let _ = writeln!(text, "#include <{header}>");
    }
    let _ = writeln!(text, "namespace {name} {{");
    let mut calls = Vec::new();
    for t in 0..40 {
        let below = if t == 0 { 0 } else { t - 1 };
        let length = t + 1;
        let _ = write!(
            text,
            "struct Type{t} {{
    long id; std::string name; std::vector<Type{below} *> children; std::mutex lock; int cells[{length}];
    std::map<int, Type{below} *> index;
}};
Type{t} table{t}[4];
static inline int step{t}(Type{t} &o, int by) {{ o.cells[0] += by; return o.cells[0]; }}
int work{t}(int n) {{
    auto &o = table{t}[n % 4];
    std::lock_guard<std::mutex> guard(o.lock);
    o.index[n] = nullptr;
    o.children.push_back(nullptr);
    auto f = [&](int x) {{ return step{t}(o, x); }};
    return f(n) + (int)o.name.size();
}}
"
        );
        calls.push(format!("work{t}(n)"));
    }
    let _ = writeln!(text, "int all(int n) {{ return {}; }}\n}}", calls.join(" + "));
    text
}

fn rust_program(folder: &Path) -> Outcome<PathBuf> {
    let program = folder.join("big-rust");
    if program.exists() {
        return Ok(program);
    }
    let mut text = "#![allow(dead_code)]\n".to_owned();
    for module in 0..RUST_MODULES {
        let _ = write!(
            text,
            "pub mod unit{module} {{
use std::collections::{{BTreeMap, HashMap}};
use std::sync::{{Arc, Mutex}};
"
        );
        for t in 0..30 {
            let below = if t == 0 { 0 } else { t - 1 };
            let length = t + 1;
            let _ = write!(
                text,
                "#[derive(Debug, Clone, Default)]
pub struct Type{t} {{
    pub id: u64, pub name: String, pub children: Vec<Arc<Type{below}>>, pub cells: [u32; {length}],
    pub index: HashMap<u32, Vec<Type{below}>>, pub tree: BTreeMap<String, Option<Box<Type{below}>>>,
}}
pub static TABLE{t}: [Mutex<Option<Type{t}>>; 4] = [const {{ Mutex::new(None) }}; 4];
pub fn work{t}(n: u32) -> u32 {{
    let mut guard = TABLE{t}[n as usize % 4].lock().unwrap();
    let o = guard.get_or_insert_with(Default::default);
    o.cells[0] += n;
    o.index.entry(n).or_default().push(Default::default());
    o.tree.insert(o.name.clone(), None);
    let shown: Vec<String> = o.index.values().map(|x| format!(\"{{x:?}}\")).collect();
    shown.len() as u32 + o.cells[0]
}}
"
            );
        }
        let calls: Vec<String> = (0..30).map(|t| format!("work{t}(n)")).collect();
        let _ = writeln!(text, "pub fn all(n: u32) -> u32 {{ {} }}\n}}", calls.join(" + "));
    }
    let calls: Vec<String> = (0..RUST_MODULES).map(|module| format!("unit{module}::all(n)")).collect();
    let _ =
        writeln!(text, "fn main() {{ let n = std::env::args().count() as u32; println!(\"{{}}\", {}); }}", {
            calls.join(" + ")
        });
    write(&folder.join("big.rs"), &text)?;
    run(command("rustc", &["-g", "big.rs", "-o", "big-rust"]).current_dir(folder))?;
    Ok(program)
}
