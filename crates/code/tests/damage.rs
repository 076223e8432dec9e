//! Whatever the bytes are, reading ends, and does not panic.

mod build;

use std::path::Path;

use build::Compiler;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use threadbare_code::{Code, terms};

/// An ELF file around the bytes: one function `f` over all of them.
fn around(code: &[u8], folder: &Path) -> Vec<u8> {
    let list: Vec<String> = code.iter().map(ToString::to_string).collect();
    let text = format!(".text\n.globl f\n.type f,@function\nf:\n.byte {}\n.size f,.-f\n", list.join(","));
    let (source, library) = (folder.join("f.s"), folder.join("f.so"));
    std::fs::write(&source, text).expect("a file");
    let done = std::process::Command::new("gcc")
        .args(["-shared", "-nostdlib", "-o"])
        .arg(&library)
        .arg(&source)
        .status()
        .expect("gcc");
    assert!(done.success());
    std::fs::read(library).expect("a library")
}

/// Code that jumps into itself: short jumps, calls, indirect jumps, conditional ones and whatever lies between.
fn weird() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<i8>().prop_map(|to| vec![0xeb, to.cast_unsigned()]),
        (0x70u8..0x80, any::<i8>()).prop_map(|(op, to)| vec![op, to.cast_unsigned()]),
        any::<i8>().prop_map(|to| {
            let mut b = vec![0xe8];
            b.extend(i32::from(to).to_le_bytes());
            b
        }),
        Just(vec![0xff, 0xe0]),
        Just(vec![0xff, 0xd0]),
        Just(vec![0xff, 0x24, 0xc5, 0, 0, 0, 0]),
        Just(vec![0x48, 0x8b, 0x07]),
        Just(vec![0x48, 0x89, 0x44, 0x24, 0xf8]),
        Just(vec![0x48, 0x01, 0xc7]),
        Just(vec![0x48, 0x83, 0xc7, 0x08]),
        Just(vec![0x50]),
        Just(vec![0x58]),
        Just(vec![0xc9]),
        Just(vec![0xc3]),
        prop::collection::vec(any::<u8>(), 1..6),
    ];
    prop::collection::vec(piece, 1..80).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strange_code_is_read_to_the_end(code in weird()) {
        let folder = tempfile::tempdir().expect("a folder");
        let read = Code::parse(around(&code, folder.path())).expect("a library");
        prop_assert!(read.function_named("f").is_some());
        terms::table(&read);
    }
}

#[test]
fn damaged_files_are_read_as_far_as_they_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/bank.c");
    let program = build::build(&source, Compiler::Gcc, 1, folder.path(), &[]).expect("gcc");
    let whole = std::fs::read(program).expect("a program");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = prop::collection::vec((0..whole.len(), any::<u8>()), 1..40);
    let (mut read, mut refused) = (0, 0);
    for case in 0..300 {
        let mut bytes = whole.clone();
        let changes = strategy.new_tree(&mut runner).expect("a case").current();
        for (at, byte) in changes {
            // The beginning has the headers, where damage does most.
            let at = if case % 2 == 0 { at % 0x800 } else { at };
            bytes[at] = byte;
        }
        if case % 5 == 0 {
            bytes.truncate(whole.len() * (case + 1) / 301);
        }
        match Code::parse(bytes) {
            Ok(code) => {
                terms::table(&code);
                read += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused");
}
