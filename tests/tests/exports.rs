//! The symbols the runtime exports are a checked-in list: one more or one less is a change somebody must see.

use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use threadbare_tests::tool;

/// The names in the `global:` part of a version script.
fn listed(script: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut global = false;
    for line in script.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        match line {
            "global:" => global = true,
            _ if line.starts_with("local:") => global = false,
            _ if global => names.extend(
                line.split(';')
                    .map(str::trim)
                    .filter(|name| !name.is_empty() && *name != "}")
                    .map(str::to_owned),
            ),
            _ => {}
        }
    }
    names
}

fn runtime() -> PathBuf {
    if let Some(path) = std::env::var_os("THREADBARE_RT_SO") {
        return PathBuf::from(path);
    }
    let outcome = tool::run(["runtime-path"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
    PathBuf::from(outcome.stdout.trim())
}

fn exported() -> BTreeSet<String> {
    let path = runtime();
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file = object::File::parse(&*bytes).expect("an ELF file");
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    // The version script may name itself as a symbol.
    defined
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn the_runtime_exports_what_the_list_says() {
    let path = tool::root().join("crates/rt/exports.map");
    let script = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (listed, exported) = (listed(&script), exported());
    let wild: Vec<&String> = listed.iter().filter(|name| name.contains(['*', '?', '['])).collect();
    assert!(wild.is_empty(), "a list names every symbol; these are patterns: {wild:?}");
    let missing: Vec<&String> = listed.difference(&exported).collect();
    let surplus: Vec<&String> = exported.difference(&listed).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "listed, not exported: {missing:?}\nexported, not listed: {surplus:?}"
    );
}

#[test]
fn the_list_is_read_as_the_linker_reads_it() {
    let script = "{\n  global:\n    __tsan_init; # why\n    malloc; free;\n  local: *;\n};\n";
    let names: Vec<String> = listed(script).into_iter().collect();
    assert_eq!(names, ["__tsan_init", "free", "malloc"]);
}
