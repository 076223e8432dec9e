//! Where the bytes of a value are.

use super::{Machine, NoValue};

/// The bytes of a value: in the program's memory, or held here.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// At an address.
    Memory(u64),
    /// Put together from registers and constants; `None` for bytes that are nowhere.
    Held(Vec<Option<u8>>),
}

impl Source {
    /// Bytes that are all known.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Source {
        Source::Held(bytes.iter().copied().map(Some).collect())
    }

    /// The value `offset` bytes further on.
    pub(crate) fn part(&self, offset: u64) -> Source {
        match self {
            Source::Memory(address) => Source::Memory(address.wrapping_add(offset)),
            Source::Held(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                Source::Held(bytes[from..].to_vec())
            }
        }
    }

    /// Its first bytes.
    pub(crate) fn bytes(&self, size: usize, machine: &Machine<'_>) -> Result<Vec<u8>, NoValue> {
        match self {
            Source::Memory(address) => {
                let mut bytes = vec![0; size];
                if size == 0 || (machine.memory)(*address, &mut bytes) {
                    Ok(bytes)
                } else {
                    Err(NoValue::Memory(*address))
                }
            }
            Source::Held(bytes) => {
                let known = bytes.get(..size).ok_or(NoValue::Gone)?;
                known.iter().copied().collect::<Option<Vec<u8>>>().ok_or(NoValue::Gone)
            }
        }
    }

    /// Its first bytes as a number.
    pub(crate) fn unsigned(&self, size: u64, machine: &Machine<'_>) -> Result<u128, NoValue> {
        if size > 16 {
            return Err(NoValue::Type);
        }
        let size = usize::try_from(size).map_err(|_| NoValue::Type)?;
        let mut bytes = [0; 16];
        bytes[..size].copy_from_slice(&self.bytes(size, machine)?);
        Ok(u128::from_le_bytes(bytes))
    }
}
