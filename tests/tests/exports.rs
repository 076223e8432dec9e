//! The symbols the runtime exports are a checked-in list, `tests/exports.txt`: one more or one less is a change that
//! somebody must see. `THREADBARE_BLESS=1 cargo test -p threadbare-tests --test exports` writes the list anew.

use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use threadbare_tests::tool;

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
    let names = defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned));
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_runtime_exports_what_the_list_says() {
    let exported = exported();
    let path = tool::root().join("tests/exports.txt");
    if std::env::var_os("THREADBARE_BLESS").is_some() {
        let text: String = exported.iter().map(|name| format!("{name}\n")).collect();
        fs::write(&path, text).expect("the list can be written");
    }
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let listed: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    let missing: Vec<&String> = listed.difference(&exported).collect();
    let surplus: Vec<&String> = exported.difference(&listed).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "listed, not exported: {missing:?}\nexported, not listed: {surplus:?}\n\
         help: if it is meant, THREADBARE_BLESS=1 cargo test -p threadbare-tests --test exports"
    );
}

#[test]
fn compilers_find_every_call_of_their_pass() {
    let exported = exported();
    let sizes = ["1", "2", "4", "8", "16"];
    for size in sizes {
        for access in
            ["read", "write", "unaligned_read", "unaligned_write", "volatile_read", "volatile_write"]
        {
            // One byte is never unaligned.
            if size != "1" || !access.starts_with("unaligned") {
                assert!(exported.contains(&format!("__tsan_{access}{size}")), "{access} of {size} bytes");
            }
        }
    }
    for bits in ["8", "16", "32", "64", "128"] {
        for operation in [
            "load",
            "store",
            "exchange",
            "fetch_add",
            "fetch_sub",
            "fetch_and",
            "fetch_or",
            "fetch_xor",
            "fetch_nand",
            "compare_exchange_strong",
            "compare_exchange_weak",
            "compare_exchange_val",
        ] {
            assert!(
                exported.contains(&format!("__tsan_atomic{bits}_{operation}")),
                "{operation} of {bits} bits"
            );
        }
    }
    for name in [
        "init",
        "func_entry",
        "func_exit",
        "vptr_update",
        "vptr_read",
        "read_range",
        "write_range",
        "memcpy",
        "memmove",
        "memset",
        "atomic_thread_fence",
        "atomic_signal_fence",
        "acquire",
        "release",
        "mutex_create",
        "mutex_destroy",
        "mutex_pre_lock",
        "mutex_post_lock",
        "mutex_pre_unlock",
        "mutex_post_unlock",
    ] {
        assert!(exported.contains(&format!("__tsan_{name}")), "{name}");
    }
}
