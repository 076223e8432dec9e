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
/// # Safety
/// Code of the program's, which goes on behind `at` for as long as instructions do.
pub unsafe fn loads_what_it_stores(at: u64) -> bool {
    let mut reader = Reader { at };
    let mut loaded = [Place::default(); MOST];
    for count in 0..MOST {
        // SAFETY: the caller's promise; each instruction before this one was known and ends there.
        let Some((does, place)) = (unsafe { reader.instruction() }) else { return false };
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

struct Reader {
    at: u64,
}

impl Reader {
    /// # Safety
    /// Code goes on at `at`.
    unsafe fn byte(&mut self) -> u8 {
        // SAFETY: the caller's promise.
        let byte = unsafe { (self.at as *const u8).read() };
        self.at += 1;
        byte
    }

    /// # Safety
    /// An instruction that is known begins at `at`.
    unsafe fn instruction(&mut self) -> Option<(Does, Place)> {
        // SAFETY: the caller's promise, for all bytes of the instruction.
        unsafe {
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
    }

    fn skip(&mut self, bytes: u64) -> Option<(Does, Place)> {
        self.at += bytes;
        Some((Does::Nothing, Place::default()))
    }

    /// The operand, with the digit that may belong to the opcode; a constant follows it. No place where it is a register.
    ///
    /// # Safety
    /// As [`Reader::instruction`].
    unsafe fn operand(&mut self, rex: u8, constant: u64) -> Option<(u8, Option<Place>)> {
        // SAFETY: the caller's promise.
        unsafe {
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
                    let bytes = (self.at as *const [u8; 4]).read();
                    self.at += 4;
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
