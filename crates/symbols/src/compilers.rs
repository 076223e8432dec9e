//! What compiled a program, by its own words.

use crate::map::map;
use object::{Object, ObjectSection};
use std::path::Path;

/// LLVM before this version does not announce accesses to parts of a variable on the stack, unless their own address is
/// taken: its pass looked whether a field's address, and not the variable's, may reach another thread.
const CLANG: u32 = 21;
/// The first rustc, as 1.N, with such an LLVM.
const RUSTC: u32 = 91;
/// More than any linker makes of it.
const MOST: usize = 1 << 20;

/// Whether a part of the program was compiled by an LLVM that leaves out accesses to fields of variables on the stack.
pub fn leaves_out_stack_fields(program: &Path) -> bool {
    let Ok(bytes) = map(program) else { return false };
    let Ok(elf) = object::File::parse(&*bytes) else { return false };
    let Some(section) = elf.section_by_name(".comment").filter(|section| section.size() < MOST as u64) else {
        return false;
    };
    section.data().is_ok_and(|bytes| bytes.split(|&byte| byte == 0).any(is_old))
}

fn is_old(words: &[u8]) -> bool {
    let words = String::from_utf8_lossy(words);
    let number = |text: &str| {
        let digits = text.find(|c: char| !c.is_ascii_digit()).map_or(text, |end| &text[..end]);
        digits.parse::<u32>().ok()
    };
    let after = |what: &str| words.split_once(what).map(|(_, rest)| rest);
    after("clang version ").and_then(number).is_some_and(|major| major < CLANG)
        || after("rustc version 1.").and_then(number).is_some_and(|minor| minor < RUSTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for old in ["Debian clang version 19.1.7 (3)", "clang version 9.0.0", "rustc version 1.90.0 (x)"] {
            assert!(is_old(old.as_bytes()), "{old}");
        }
        for new in [
            "clang version 21.1.0",
            "rustc version 1.95.0",
            "GCC: (Debian 12.2.0) 12.2.0",
            "clang version x",
            "",
        ] {
            assert!(!is_old(new.as_bytes()), "{new}");
        }
    }

    #[test]
    fn what_is_no_program() {
        assert!(!leaves_out_stack_fields(Path::new("/dev/null")));
        assert!(!leaves_out_stack_fields(Path::new("/nowhere")));
    }
}
