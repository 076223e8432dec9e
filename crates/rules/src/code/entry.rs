//! Which instructions at a function's entry can be moved, so that a jump takes their place, and how they are written elsewhere.

/// Bytes of a jump to anywhere within 2 GiB.
pub const JUMP: usize = 5;
/// Bytes of a stub at the most.
const STUB: usize = 128;

/// An instruction at a function's entry.
enum Instruction {
    /// It may run anywhere: its bytes.
    Plain(usize),
    /// A conditional jump of two bytes: its condition, and how far it goes.
    Branch(u8, i8),
}

/// The instruction at `code`, if it is one that functions begin with.
fn decode(code: &[u8]) -> Option<Instruction> {
    let plain = |length| Some(Instruction::Plain(length));
    // An operand that is a register, or memory at a register (and nothing with an index or relative to the pc).
    let operand = |form: u8| match (form >> 6, form & 7) {
        (3, _) => Some(0),
        (0, base) if base != 4 && base != 5 => Some(0),
        (1, base) if base != 4 => Some(1),
        _ => None,
    };
    match *code {
        // `push`.
        [0x50..=0x57, ..] => plain(1),
        [0x41, 0x50..=0x57, ..] => plain(2),
        // `mov`, `test`, `xor`, with 64 bits and with 32.
        [0x48 | 0x49 | 0x4c | 0x4d, 0x89 | 0x8b | 0x85 | 0x31, form, ..] => plain(3 + operand(form)?),
        [0x89 | 0x8b | 0x85 | 0x31, form, ..] => plain(2 + operand(form)?),
        // `mov byte, imm`.
        [0xc6, form @ (0x00..=0x07 | 0x40..=0x47), ..] => plain(3 + operand(form)?),
        // `sub rsp, imm`.
        [0x48, 0x83, 0xec, _, ..] => plain(4),
        [0x48, 0x81, 0xec, ..] => plain(7),
        // `endbr64`.
        [0xf3, 0x0f, 0x1e, 0xfa, ..] => plain(4),
        [condition @ 0x70..=0x7f, distance, ..] => Some(Instruction::Branch(condition & 15, distance as i8)),
        _ => None,
    }
}

/// A jump from one address to another.
pub fn jump(from: usize, to: usize) -> [u8; JUMP] {
    let distance = (to.wrapping_sub(from + JUMP) as i32).to_le_bytes();
    [0xe9, distance[0], distance[1], distance[2], distance[3]]
}

/// Code that is put together.
#[derive(Debug)]
pub struct Stub {
    bytes: [u8; STUB],
    used: usize,
}

impl Stub {
    /// An empty one.
    pub const fn new() -> Stub {
        Stub { bytes: [0; STUB], used: 0 }
    }

    /// What is in it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }

    /// Adds code.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// Whole instructions of the function at `at`, at least [`JUMP`] bytes of them, as they do the same in the stub; how
    /// many bytes they were.
    pub fn put_moved(&mut self, code: &[u8], at: usize, stub: usize) -> Option<usize> {
        let (mut done, mut nearest) = (0, usize::MAX);
        while done < JUMP {
            match decode(&code[done..])? {
                Instruction::Plain(length) => {
                    self.put(code.get(done..done + length)?);
                    done += length;
                }
                Instruction::Branch(condition, distance) => {
                    done += 2;
                    let target = (at + done).wrapping_add_signed(distance as isize);
                    nearest = nearest.min(target.checked_sub(at)?);
                    self.put(&[0x0f, 0x80 | condition]);
                    let from = stub + self.used + 4;
                    self.put(&(target.wrapping_sub(from) as i32).to_le_bytes());
                }
            }
        }
        // A branch into what has moved would meet the jump.
        (nearest >= done).then_some(done)
    }
}

impl Default for Stub {
    fn default() -> Stub {
        Stub::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: usize = 0x40_1000;
    const FAR: usize = 0x50_0000;

    /// What is moved of a function, and how many bytes of it that is.
    fn moved(code: &[u8]) -> Option<(std::vec::Vec<u8>, usize)> {
        let mut stub = Stub::new();
        let count = stub.put_moved(code, AT, FAR)?;
        Some((stub.bytes().to_vec(), count))
    }

    fn length(code: &[u8]) -> Option<usize> {
        match decode(code)? {
            Instruction::Plain(length) => Some(length),
            Instruction::Branch(..) => Some(2),
        }
    }

    #[test]
    fn lengths_of_what_functions_begin_with() {
        for (code, what) in [
            (&[0x55][..], "push rbp"),
            (&[0x41, 0x57], "push r15"),
            (&[0x48, 0x89, 0xE5], "mov rbp, rsp"),
            (&[0x49, 0x89, 0xFC], "mov r12, rdi"),
            (&[0x48, 0x8B, 0x07], "mov rax, [rdi]"),
            (&[0x48, 0x8B, 0x47, 0x08], "mov rax, [rdi+8]"),
            (&[0x89, 0xF8], "mov eax, edi"),
            (&[0x31, 0xC0], "xor eax, eax"),
            (&[0x48, 0x85, 0xFF], "test rdi, rdi"),
            (&[0xC6, 0x07, 0x00], "mov byte [rdi], 0"),
            (&[0xC6, 0x47, 0x08, 0x00], "mov byte [rdi+8], 0"),
            (&[0x48, 0x83, 0xEC, 0x18], "sub rsp, 24"),
            (&[0x48, 0x81, 0xEC, 0, 1, 0, 0], "sub rsp, 256"),
            (&[0xF3, 0x0F, 0x1E, 0xFA], "endbr64"),
            (&[0x74, 0x10], "je"),
        ] {
            // What is behind an instruction has no part in it.
            let behind = [code, &[0xC3; 8]].concat();
            assert_eq!(length(&behind), Some(code.len()), "{what}");
        }
    }

    #[test]
    fn operands_with_an_index_or_relative_to_the_instruction_are_not_moved() {
        assert_eq!(length(&[0x48, 0x8B, 0x04, 0x37, 0, 0, 0, 0]), None, "[rdi+rsi]");
        assert_eq!(length(&[0x48, 0x8B, 0x05, 1, 2, 3, 4, 0]), None, "[rip+..]");
        assert_eq!(length(&[0x48, 0x8B, 0x44, 0x24, 8, 0, 0, 0]), None, "[rsp+8]");
        assert_eq!(length(&[0x48, 0x8B, 0x87, 0, 1, 0, 0, 0]), None, "[rdi+256]");
    }

    #[test]
    fn what_is_not_known_is_not_moved() {
        for code in [[0xE8, 0, 0, 0, 0, 0], [0xC3; 6], [0xEB, 0, 0, 0, 0, 0], [0x0F, 0x05, 0, 0, 0, 0]] {
            assert!(moved(&code).is_none(), "{code:x?}");
        }
        assert!(moved(&[]).is_none());
    }

    #[test]
    fn whole_instructions_are_moved_as_they_are() {
        // push rbp; mov rbp, rsp; push r15; ...
        let code = [0x55, 0x48, 0x89, 0xE5, 0x41, 0x57, 0xC3];
        assert_eq!(moved(&code), Some((code[..6].to_vec(), 6)));
        let code = [0xF3, 0x0F, 0x1E, 0xFA, 0x55, 0xC3];
        assert_eq!(moved(&code), Some((code[..5].to_vec(), JUMP)));
    }

    #[test]
    fn a_function_that_is_too_short_stays() {
        assert!(moved(&[0x31, 0xC0, 0xC3, 0x90, 0x90]).is_none());
        assert!(moved(&[0x55, 0x48, 0x89]).is_none(), "cut short");
    }

    #[test]
    fn a_branch_goes_where_it_went() {
        // test edi, edi; je +0x20; push rbp.
        let (bytes, count) = moved(&[0x85, 0xFF, 0x74, 0x20, 0x55, 0xC3]).unwrap();
        assert_eq!((count, &bytes[..4]), (5, &[0x85, 0xFF, 0x0F, 0x84][..]));
        let distance = i32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        let from = FAR + 8;
        assert_eq!(from.wrapping_add_signed(distance as isize), AT + 4 + 0x20);
        assert_eq!(bytes[8..], [0x55]);
    }

    #[test]
    fn every_condition_stays_what_it_is() {
        for condition in 0..16u8 {
            let (bytes, _) = moved(&[0x85, 0xFF, 0x70 | condition, 0x20, 0x55, 0xC3]).unwrap();
            assert_eq!(bytes[2..4], [0x0F, 0x80 | condition]);
        }
    }

    #[test]
    fn a_branch_into_what_is_moved_would_meet_the_jump() {
        assert!(moved(&[0x85, 0xFF, 0x74, 0x00, 0x55, 0xC3]).is_none());
        assert!(moved(&[0x85, 0xFF, 0x74, 0x01, 0x55, 0xC3]).is_some());
        assert!(moved(&[0x85, 0xFF, 0x74, 0xFC, 0x55, 0xC3]).is_none(), "back to its beginning");
        assert!(moved(&[0x85, 0xFF, 0x74, 0xF0, 0x55, 0xC3]).is_none(), "before it");
    }

    #[test]
    fn a_jump_goes_forth_and_back() {
        for (from, to) in [(AT, FAR), (FAR, AT), (AT, AT + JUMP), (AT, AT)] {
            let [code, distance @ ..] = jump(from, to);
            assert_eq!(code, 0xE9);
            let distance = i32::from_le_bytes(distance);
            assert_eq!((from + JUMP).wrapping_add_signed(distance as isize), to);
        }
    }

    #[test]
    fn code_is_put_one_behind_the_other() {
        let mut stub = Stub::default();
        stub.put(&[1, 2]);
        stub.put(&[]);
        stub.put(&[3]);
        assert_eq!(stub.bytes(), [1, 2, 3]);
    }
}
