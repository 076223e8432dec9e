//! How many addresses are known, by compiler and level: a table, and a floor under it.

mod build;

use std::collections::BTreeMap;
use std::path::Path;

use build::Compiler;
use threadbare_code::Code;

/// The optimisation levels; all of them take minutes, so that `THREADBARE_FULL` asks for them.
fn levels() -> &'static [u8] {
    if std::env::var_os("THREADBARE_FULL").is_some() { &[0, 1, 2, 3] } else { &[0, 2] }
}

/// Known, of all; by the address itself, not by who runs it.
#[derive(Default, Clone, Copy)]
struct Share {
    known: usize,
    all: usize,
}

fn share(code: &Code, own: &dyn Fn(&str) -> bool, reasons: &mut BTreeMap<String, usize>) -> Share {
    let mut share = Share::default();
    for (at, access) in code.accesses() {
        let function = &code.functions[at];
        if !own(&function.shown()) {
            continue;
        }
        share.all += 1;
        if access.address.is_known() {
            share.known += 1;
        } else {
            *reasons
                .entry(format!("{:?}", access.address.reason()).chars().take(30).collect())
                .or_default() += 1;
        }
    }
    share
}

#[test]
fn most_addresses_are_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs");
    let own = ["bank.c", "queue.cc", "shared.rs"].map(|name| programs.join(name));
    let others = [
        "condvar/queue.cc",
        "check-then-act/withdraw.c",
        "condvar/two_condvars.c",
        "atomics/ring.cc",
        "cxx/thread_pool.cc",
        "deadlock/philosophers.rs",
        "check-then-act/entry.rs",
        "atomics/tagged_stack.rs",
        "rwlock/upgrade.c",
    ]
    .map(|name| corpus.join(name));
    let sources: Vec<_> = own.into_iter().chain(others).collect();
    for source in &sources {
        assert!(source.exists(), "{}", source.display());
    }
    println!("| compiler | level | known | of | share |\n|---|---|---|---|---|");
    let mut poor = Vec::new();
    for compiler in [Compiler::Gcc, Compiler::Clang, Compiler::Rustc] {
        for &level in levels() {
            let (mut sum, mut reasons) = (Share::default(), BTreeMap::new());
            for source in &sources {
                let rust = source.extension().is_some_and(|extension| extension == "rs");
                if rust != (compiler == Compiler::Rustc) {
                    continue;
                }
                let Some(program) = build::build(source, compiler, level, folder.path(), &[]) else {
                    continue;
                };
                let code = Code::read(&program).expect("a program");
                let one = share(&code, &|_| true, &mut reasons);
                sum.known += one.known;
                sum.all += one.all;
                if std::env::var_os("CODE_SHOW").is_some() {
                    println!("    {} {}/{}", program.display(), one.known, one.all);
                }
            }
            if sum.all == 0 {
                println!("| {compiler:?} | {level} | no such compiler | | |");
                continue;
            }
            let percent = 100.0 * sum.known as f64 / sum.all as f64;
            println!("| {compiler:?} | {level} | {} | {} | {percent:.1}% | {reasons:?}", sum.known, sum.all);
            if percent < 90.0 {
                poor.push((compiler, level, percent));
            }
        }
    }
    assert!(poor.is_empty(), "{poor:?}");
}
