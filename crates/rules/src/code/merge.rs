//! Whether code that was announced as a store first loads what it stores to.
//!
//! For a bit-field gcc announces the write alone: the code behind the call loads the byte or word that the field lies in, puts its bits
//! in, and stores it. Anything that is not known here ends the look, and nothing is told then.

/// Instructions looked at, at the most.
const MOST: usize = 16;

/// A place in memory as an instruction has it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Place {
    /// Registers, as they are encoded.
    base: u32,
    /// What is added, or the address itself.
    offset: i64,
}

impl Place {
    fn is_near(self, other: Place) -> bool {
        self.base == other.base && self.offset.abs_diff(other.offset) < 8
    }
}

/// What an instruction does to its operand in memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Nothing,
    Loads,
    Stores,
    Both,
}

/// Whether the code at `at` loads a place and then stores to it, before any call or jump.
///
/// Its bytes are what `byte` gives for an address; it is asked for those of known instructions and of the one behind them.
pub fn loads_what_it_stores(at: u64, byte: impl Fn(u64) -> u8) -> bool {
    let mut reader = Reader { at, byte };
    let mut loaded = [Place::default(); MOST];
    for count in 0..MOST {
        let Some((does, place)) = reader.instruction() else { return false };
        match does {
            Does::Both => return true,
            Does::Loads => loaded[count] = place,
            Does::Stores if loaded[..count].iter().any(|it| it.base != 0 && it.is_near(place)) => {
                return true;
            }
            Does::Stores | Does::Nothing => {}
        }
    }
    false
}

struct Reader<F> {
    at: u64,
    byte: F,
}

impl<F: Fn(u64) -> u8> Reader<F> {
    fn byte(&mut self) -> u8 {
        let byte = (self.byte)(self.at);
        self.at += 1;
        byte
    }

    fn instruction(&mut self) -> Option<(Does, Place)> {
        let mut code = self.byte();
        let narrow = code == 0x66;
        if narrow {
            code = self.byte();
        }
        let mut rex = 0;
        if code & 0xF0 == 0x40 {
            rex = code;
            code = self.byte();
        }
        let wide = if narrow { 2 } else { 4 };
        let (does, constant): (fn(u8) -> Does, u64) = match code {
            // Additions and their kind: to memory, from memory, a constant to the accumulator.
            0x00..=0x3F if code & 7 < 2 => (if code >= 0x38 { loads } else { both }, 0),
            0x00..=0x3F if code & 7 < 4 => (loads, 0),
            0x00..=0x3F if code & 7 == 4 => return self.skip(1),
            0x00..=0x3F if code & 7 == 5 => return self.skip(wide),
            0x63 | 0x84 | 0x85 | 0x8A | 0x8B => (loads, 0),
            0x80 | 0x83 => (arithmetic, 1),
            0x81 => (arithmetic, wide),
            0x88 | 0x89 => (stores, 0),
            0x8D => (nothing, 0),
            0x98 | 0x99 => return self.skip(0),
            0xA8 | 0xB0..=0xB7 => return self.skip(1),
            0xA9 => return self.skip(wide),
            0xB8..=0xBF => return self.skip(if rex & 8 != 0 { 8 } else { wide }),
            0xC0 | 0xC1 => (both, 1),
            0xC6 => (stores, 1),
            0xC7 => (stores, wide),
            0xD0..=0xD3 => (both, 0),
            0xFE => (both, 0),
            0x0F => match self.byte() {
                0xB6 | 0xB7 | 0xBE | 0xBF | 0xAF | 0x40..=0x4F => (loads, 0),
                0x90..=0x9F => (stores, 0),
                _ => return None,
            },
            _ => return None,
        };
        self.operand(rex, constant).map(|(what, place)| match place {
            Some(place) => (does(what), place),
            None => (Does::Nothing, Place::default()),
        })
    }

    fn skip(&mut self, bytes: u64) -> Option<(Does, Place)> {
        self.at += bytes;
        Some((Does::Nothing, Place::default()))
    }

    /// The operand, with the digit that may belong to the opcode; a constant follows it. No place where it is a register.
    fn operand(&mut self, rex: u8, constant: u64) -> Option<(u8, Option<Place>)> {
        let modrm = self.byte();
        let (mode, digit, base) = (modrm >> 6, modrm >> 3 & 7, modrm & 7);
        if mode == 3 {
            self.at += constant;
            return Some((digit, None));
        }
        let index = if base == 4 { self.byte() } else { 0 };
        let alone = mode == 0 && (base == 5 || base == 4 && index & 7 == 5);
        let mut offset = match mode {
            1 => self.byte() as i8 as i64,
            0 if !alone => 0,
            _ => {
                let bytes = [self.byte(), self.byte(), self.byte(), self.byte()];
                i32::from_le_bytes(bytes) as i64
            }
        };
        self.at += constant;
        let relative = mode == 0 && base == 5;
        if relative {
            offset += self.at as i64;
        }
        let registers = u32::from(base) | u32::from(index) << 8 | u32::from(rex & 3) << 16;
        // Never 0, which is no place.
        let base = 1 << 24 | if relative { 0 } else { 1 << 25 | registers };
        Some((digit, Some(Place { base, offset })))
    }
}

fn nothing(_: u8) -> Does {
    Does::Nothing
}

fn loads(_: u8) -> Does {
    Does::Loads
}

fn stores(_: u8) -> Does {
    Does::Stores
}

fn both(_: u8) -> Does {
    Does::Both
}

/// Only a comparison does not store.
fn arithmetic(digit: u8) -> Does {
    if digit == 7 { Does::Loads } else { Does::Both }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RET: u8 = 0xC3;

    /// Code that lies at an address and returns.
    fn merges(code: &[&[u8]]) -> bool {
        const AT: u64 = 0x40_1000;
        let code = code.concat();
        loads_what_it_stores(AT, |at| code.get((at - AT) as usize).copied().unwrap_or(RET))
    }

    const LOAD: &[u8] = &[0x0F, 0xB6, 0x07]; // movzx eax, byte [rdi]
    const MASK: &[u8] = &[0x83, 0xE0, 0xF8]; // and eax, -8
    const BITS: &[u8] = &[0x83, 0xC8, 0x01]; // or eax, 1
    const STORE: &[u8] = &[0x88, 0x07]; // mov [rdi], al

    #[test]
    fn a_bit_field_is_loaded_masked_and_stored() {
        assert!(merges(&[LOAD, MASK, BITS, STORE]));
        assert!(merges(&[LOAD, STORE]));
    }

    #[test]
    fn a_store_alone_merges_nothing() {
        assert!(!merges(&[STORE]));
        assert!(!merges(&[&[0xC7, 0x07, 1, 0, 0, 0]]), "mov dword [rdi], 1");
        assert!(!merges(&[MASK, BITS, STORE]), "only registers before it");
        assert!(!merges(&[]));
    }

    #[test]
    fn a_store_elsewhere_merges_nothing() {
        assert!(!merges(&[LOAD, &[0x88, 0x06]]), "mov [rsi], al");
        assert!(!merges(&[LOAD, &[0x88, 0x47, 0x08]]), "mov [rdi+8], al");
        assert!(!merges(&[LOAD, &[0x41, 0x88, 0x07]]), "mov [r15], al");
    }

    #[test]
    fn a_part_of_the_word_is_near() {
        assert!(merges(&[&[0x8B, 0x07], &[0x88, 0x47, 0x03]]), "mov eax, [rdi]; mov [rdi+3], al");
        assert!(merges(&[&[0x8B, 0x47, 0x07], STORE]), "behind it");
        assert!(!merges(&[&[0x8B, 0x47, 0xF8], STORE]), "a word before it");
    }

    #[test]
    fn operations_on_memory_load_and_store() {
        assert!(merges(&[&[0x80, 0x0F, 0x01]]), "or byte [rdi], 1");
        assert!(merges(&[&[0x83, 0x27, 0xFE]]), "and dword [rdi], -2");
        assert!(merges(&[&[0x09, 0x07]]), "or [rdi], eax");
        assert!(merges(&[&[0xC0, 0x27, 0x02]]), "shl byte [rdi], 2");
        assert!(merges(&[&[0xFE, 0x07]]), "inc byte [rdi]");
    }

    #[test]
    fn comparisons_only_load() {
        assert!(!merges(&[&[0x80, 0x3F, 0x01]]), "cmp byte [rdi], 1");
        assert!(!merges(&[&[0x39, 0x07]]), "cmp [rdi], eax");
        assert!(merges(&[&[0x80, 0x3F, 0x01], STORE]), "what it looked at is stored to");
    }

    #[test]
    fn addresses_are_no_accesses() {
        assert!(!merges(&[&[0x48, 0x8D, 0x07], STORE]), "lea rax, [rdi]");
        assert!(merges(&[LOAD, &[0x48, 0x8D, 0x07], STORE]));
    }

    #[test]
    fn constants_are_skipped_whole() {
        assert!(merges(&[LOAD, &[0xB8, 0xC3, 0xC3, 0xC3, 0xC3], STORE]), "mov eax, ..");
        assert!(merges(&[LOAD, &[0x48, 0xB8, 1, 2, 3, 4, 5, 6, 7, 0xC3], STORE]), "movabs");
        assert!(merges(&[LOAD, &[0x66, 0xB8, 0xC3, 0xC3], STORE]), "mov ax, ..");
        assert!(merges(&[LOAD, &[0x25, 0xC3, 0xC3, 0xC3, 0xC3], STORE]), "and eax, ..");
        assert!(merges(&[LOAD, &[0x0C, 0xC3], STORE]), "or al, ..");
        assert!(merges(&[LOAD, &[0xA8, 0xC3], STORE]), "test al, ..");
    }

    #[test]
    fn places_relative_to_the_instruction_are_one_address() {
        // movzx eax, byte [rip+16]; mov [rip+10], al: the second is six bytes further on.
        assert!(merges(&[&[0x0F, 0xB6, 0x05, 0x10, 0, 0, 0], &[0x88, 0x05, 0x0A, 0, 0, 0]]));
        assert!(!merges(&[&[0x0F, 0xB6, 0x05, 0x10, 0, 0, 0], &[0x88, 0x05, 0x1A, 0, 0, 0]]));
    }

    #[test]
    fn an_index_is_a_part_of_the_place() {
        assert!(merges(&[&[0x0F, 0xB6, 0x04, 0x37], &[0x88, 0x04, 0x37]]), "[rdi+rsi]");
        assert!(!merges(&[&[0x0F, 0xB6, 0x04, 0x37], &[0x88, 0x04, 0x77]]), "[rdi+rsi*2]");
    }

    #[test]
    fn the_look_ends_at_calls_jumps_and_what_is_not_known() {
        for end in [
            &[0xE8, 0, 0, 0, 0][..],
            &[0xEB, 0],
            &[0x74, 0],
            &[0xC3],
            &[0x0F, 0x05],
            &[0xF0, 0x0F, 0xB1, 0x07],
        ] {
            assert!(!merges(&[LOAD, end, STORE]), "{end:x?}");
        }
    }

    #[test]
    fn flags_are_stored_without_a_load() {
        assert!(!merges(&[&[0x0F, 0x94, 0x07]]), "sete [rdi]");
        assert!(merges(&[LOAD, &[0x0F, 0x94, 0x07]]));
        assert!(!merges(&[LOAD, &[0x0F, 0x94, 0xC0]]), "sete al");
    }

    #[test]
    fn constants_behind_an_operand_belong_to_it() {
        // mov word [rdi], 0x0f80: the constant would be an operation on memory if it were code.
        assert!(!merges(&[&[0x66, 0xC7, 0x07, 0x80, 0x0F]]));
        assert!(merges(&[LOAD, &[0xC6, 0x46, 0x08, 0xC3], STORE]), "mov byte [rsi+8], ..");
        assert!(merges(&[LOAD, &[0x81, 0xC6, 0xC3, 0xC3, 0xC3, 0xC3], STORE]), "add esi, ..");
    }

    #[test]
    fn the_look_is_short() {
        let many = [MASK; MOST];
        assert!(!merges(&[&[LOAD][..], &many, &[STORE]].concat()));
        assert!(merges(&[&[LOAD][..], &many[2..], &[STORE]].concat()));
    }
}
