//! Whether two calls that announce a write and a read belong to one copy: nothing between them could have stored.

/// Whether code that ends with a call only computes addresses before it: moves between registers, loads, additions.
pub fn stores_nothing(code: &[u8]) -> bool {
    let mut rest = code;
    loop {
        let after_rex = match rest {
            [0x40..=0x4F, after @ ..] => after,
            _ => rest,
        };
        let used = match *after_rex {
            // A call, direct or through a table, must be the last.
            [0xE8, _, _, _, _] | [0xFF, 0x15, _, _, _, _] => return true,
            // A constant to a register.
            [0xB8..=0xBF, ..] => 5,
            // An address or a load to a register.
            [0x8D | 0x8B, modrm, sib, ..] => 1 + operand(modrm, sib),
            // Between registers: a move, an addition, a subtraction, a constant.
            [0x89 | 0x01 | 0x29 | 0x63, 0xC0..=0xFF, ..] => 2,
            [0x83, 0xC0..=0xC7 | 0xE8..=0xEF, ..] => 3,
            [0x81 | 0xC7, 0xC0..=0xC7, ..] => 6,
            _ => return false,
        };
        match after_rex.get(used..) {
            Some(next) => rest = next,
            None => return false,
        }
    }
}

/// Bytes of an operand: mode, index, displacement.
fn operand(modrm: u8, sib: u8) -> usize {
    let base = modrm & 7;
    let index = usize::from(base == 4 && modrm < 0xC0);
    1 + index
        + match modrm >> 6 {
            0 if base == 5 || index == 1 && sib & 7 == 5 => 4,
            1 => 1,
            2 => 4,
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: [u8; 5] = [0xE8, 1, 2, 3, 4];

    /// Code before a direct call.
    fn before_call(code: &[u8]) -> bool {
        stores_nothing(&[code, &CALL].concat())
    }

    #[test]
    fn a_call_alone_stores_nothing() {
        assert!(stores_nothing(&CALL));
        assert!(stores_nothing(&[0xFF, 0x15, 1, 2, 3, 4]), "through a table");
    }

    #[test]
    fn what_does_not_end_with_a_call_is_not_known() {
        assert!(!stores_nothing(&[]));
        assert!(!stores_nothing(&CALL[..4]));
        assert!(!stores_nothing(&[&CALL[..], &[0x90]].concat()), "something behind it");
        assert!(!stores_nothing(&[0x48, 0x89]), "cut short");
    }

    #[test]
    fn moves_between_registers_store_nothing() {
        assert!(before_call(&[0x48, 0x89, 0xDF]), "mov rdi, rbx");
        assert!(before_call(&[0x89, 0xC7]), "mov edi, eax");
        assert!(before_call(&[0x4C, 0x01, 0xE7]), "add rdi, r12");
        assert!(before_call(&[0x48, 0x63, 0xF8]), "movsxd rdi, eax");
    }

    #[test]
    fn constants_store_nothing() {
        assert!(before_call(&[0xBF, 1, 0, 0, 0]), "mov edi, 1");
        assert!(before_call(&[0x48, 0xC7, 0xC7, 1, 0, 0, 0]), "mov rdi, 1");
        assert!(before_call(&[0x48, 0x83, 0xC7, 8]), "add rdi, 8");
        assert!(before_call(&[0x48, 0x81, 0xC7, 0, 1, 0, 0]), "add rdi, 256");
        assert!(before_call(&[0x48, 0x83, 0xEF, 8]), "sub rdi, 8");
    }

    #[test]
    fn loads_and_addresses_store_nothing_whatever_their_operand() {
        for (code, what) in [
            (&[0x48, 0x8B, 0x3B][..], "mov rdi, [rbx]"),
            (&[0x48, 0x8B, 0x7B, 8], "mov rdi, [rbx+8]"),
            (&[0x48, 0x8B, 0xBB, 0, 1, 0, 0], "mov rdi, [rbx+256]"),
            (&[0x48, 0x8D, 0x3D, 1, 2, 3, 4], "lea rdi, [rip+..]"),
            (&[0x48, 0x8D, 0x3C, 0xC3], "lea rdi, [rbx+rax*8]"),
            (&[0x48, 0x8D, 0x7C, 0x24, 8], "lea rdi, [rsp+8]"),
            (&[0x48, 0x8D, 0xBC, 0x24, 0, 1, 0, 0], "lea rdi, [rsp+256]"),
            (&[0x48, 0x8D, 0x3C, 0xC5, 0, 1, 0, 0], "lea rdi, [rax*8+256]"),
        ] {
            assert!(before_call(code), "{what}");
        }
    }

    #[test]
    fn several_instructions_are_all_read() {
        let (address, constant) = ([0x48, 0x8D, 0x7C, 0x24, 8], [0xBE, 1, 0, 0, 0]);
        assert!(before_call(&[address, constant].concat()));
        assert!(!before_call(&[&address[..], &[0x48, 0x89, 0x07]].concat()), "the last one stores");
    }

    #[test]
    fn stores_and_what_is_not_known_may_store() {
        assert!(!before_call(&[0x48, 0x89, 0x07]), "mov [rdi], rax");
        assert!(!before_call(&[0x89, 0x44, 0x24, 8]), "mov [rsp+8], eax");
        assert!(!before_call(&[0xC7, 0x07, 1, 0, 0, 0]), "mov dword [rdi], 1");
        assert!(!before_call(&[0x83, 0x07, 1]), "add dword [rdi], 1");
        assert!(!before_call(&[0x50]), "push rax");
        assert!(!before_call(&[0xF3, 0xA4]), "rep movsb");
        assert!(!before_call(&CALL), "another call");
    }
}
