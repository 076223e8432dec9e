//! Fields of heap blocks: named where debug info and source leave no doubt, else not at all.

use crate::program::{Program, has};
use threadbare_symbols::Pc;

/// A label and the field there.
type Fields = [(&'static str, Option<&'static str>)];

const C_FIELDS: &Fields = &[
    ("field", Some("account.balance")),
    ("lock", Some("account.lock")),
    ("array", Some("account.history[3]")),
    ("deep", Some("account.id")),
    ("cast", Some("hidden.price")),
    ("unnamed", None),
    ("right", Some("right.d")),
    ("doubt", None),
    ("range", Some("range_t.last")),
    ("element", Some("account[2].balance")),
    ("open", Some("packet.body[7]")),
    ("counts", Some("int[5]")),
    ("other", None),
];

const CPP_FIELDS: &Fields = &[
    ("this", Some("bank::Account.balance")),
    ("vector", Some("bank::Account[2].balance")),
    ("unique", Some("bank::Account.id")),
    ("shared", Some("bank::Account.balance")),
    ("node", Some("bank::Account.balance")),
];

const RUST_FIELDS: &Fields = &[
    ("arc", Some("heap::Account.hits")),
    ("mutex", Some("heap::Account.history[2]")),
    ("box", Some("heap::Account.id")),
    ("vec", Some("heap::Account[2].id")),
    ("enum", Some("heap::Job.state.Busy.since")),
];

fn check(compiler: &str, source: &str, flags: &[&str], fields: &Fields) {
    if !has(compiler) {
        return;
    }
    let program = Program::build(compiler, source, flags, |_| ());
    let mut wrong = Vec::new();
    for (label, field) in fields {
        let (pc, size, offset) = program.blocks[*label];
        let found = program.symbols.field_of(&[Pc::Return(pc)], size, offset);
        if found.as_deref() != *field {
            wrong.push((label, found));
        }
        assert_eq!(program.symbols.field_of(&[Pc::Return(pc)], size, size), None, "{label}: outside");
        assert_eq!(program.symbols.field_of(&[Pc::Return(pc)], 7, 3), None, "{label}: nothing has 7 bytes");
    }
    assert!(wrong.is_empty(), "{compiler} {flags:?}: {wrong:?}");
    assert_eq!(program.blocks.len(), fields.len());
}

#[test]
fn c() {
    for compiler in ["gcc", "clang-19"] {
        check(compiler, "heap.c", &["-O0", "-g"], C_FIELDS);
        check(compiler, "heap.c", &["-O1", "-g", "-gsplit-dwarf"], C_FIELDS);
        check(compiler, "heap.c", &["-O1", "-gdwarf-4"], C_FIELDS);
    }
}

#[test]
fn cpp() {
    for compiler in ["g++", "clang++-19"] {
        check(compiler, "heap.cc", &["-O0", "-g"], CPP_FIELDS);
        check(compiler, "heap.cc", &["-O1", "-gdwarf-4"], CPP_FIELDS);
    }
}

#[test]
fn rust() {
    check("rustc", "heap.rs", &["-g"], RUST_FIELDS);
    check("rustc", "heap.rs", &["-g", "-Copt-level=1", "-Csplit-debuginfo=unpacked"], RUST_FIELDS);
}

#[test]
fn an_access_of_several_fields_is_to_the_object() {
    let program = Program::build("gcc", "heap.c", &["-O0", "-g"], |_| ());
    let (pc, size, offset) = program.blocks["field"];
    let field = program.symbols.field_access(&[Pc::Return(pc)], size, offset, 8).unwrap();
    assert_eq!((field.to_string().as_str(), &*field.type_name), ("account.balance", "long int"));
    let object = program.symbols.field_access(&[Pc::Return(pc)], size, offset - 8, 16).unwrap();
    assert_eq!((object.to_string().as_str(), &*object.type_name), ("account", "account_t"));
    assert_eq!(program.symbols.field_access(&[], size, offset, 8), None);
    assert_eq!(program.symbols.field_access(&[Pc::Return(12)], size, offset, 8), None);
}
