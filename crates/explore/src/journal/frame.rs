//! The bytes of a journal: a line that names format and version, then frames.
//!
//! A frame is its length (a variable-length number), a checksum and a record. A writer that is killed leaves at most
//! one frame that is not whole, at the end; a reader takes all frames before the first one that is damaged.

use crate::journal::record::{Record, RecordRef};
use threadbare_trace::hash::Fnv;

/// The first line of a journal.
pub(crate) const HEAD: &[u8] = b"threadbare campaign 1\n";
/// What the first line of every version begins with.
const NAME: &[u8] = b"threadbare campaign ";
/// More is no record of ours.
const LONGEST: usize = 64 << 20;

/// Why a file is no journal of this version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// Nothing was written to it.
    Empty,
    /// It is something else.
    Foreign,
    /// Its version.
    Version(String),
}

/// Adds a record to what is to be written.
pub(crate) fn push(bytes: &mut Vec<u8>, record: &RecordRef<'_>) {
    // Only types that cannot be written fail, and there are none of these.
    let Ok(payload) = postcard::to_stdvec(record) else { return };
    let mut length = payload.len();
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend(checksum(&payload));
    bytes.extend(payload);
}

/// Sees that the bytes begin as a journal does, and gives its frames.
pub(crate) fn frames(bytes: &[u8]) -> Result<Frames<'_>, Refused> {
    match bytes.strip_prefix(HEAD) {
        Some(_) => Ok(Frames { bytes, at: HEAD.len() }),
        None if bytes.is_empty() => Err(Refused::Empty),
        None => match bytes.strip_prefix(NAME) {
            Some(rest) => {
                let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
                Err(Refused::Version(String::from_utf8_lossy(&line[..line.len().min(20)]).into_owned()))
            }
            None => Err(Refused::Foreign),
        },
    }
}

/// The records of a journal, up to the first that is damaged.
#[derive(Clone, Debug)]
pub(crate) struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Frames<'_> {
    /// How much of the bytes was whole so far.
    pub(crate) fn good(&self) -> usize {
        self.at
    }
}

impl Iterator for Frames<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let rest = &self.bytes[self.at..];
        let mut length = 0usize;
        let mut used = 0;
        loop {
            let byte = *rest.get(used)?;
            length |= usize::from(byte & 0x7f) << (7 * used);
            used += 1;
            match byte {
                0..0x80 => break,
                _ if used == 4 => return None,
                _ => {}
            }
        }
        let sum = rest.get(used..used + 4)?;
        let payload = rest.get(used + 4..used + 4 + length).filter(|_| length <= LONGEST)?;
        if checksum(payload) != sum {
            return None;
        }
        let record = postcard::from_bytes(payload).ok()?;
        self.at += used + 4 + length;
        Some(record)
    }
}

fn checksum(payload: &[u8]) -> [u8; 4] {
    let mut hash = Fnv::new();
    hash.write(payload);
    let folded = hash.finish() ^ (hash.finish() >> 32);
    (folded as u32).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Vec<u8> {
        let mut bytes = HEAD.to_vec();
        for key in [1, 2, 3] {
            push(&mut bytes, &RecordRef::Note(key, &[7; 300]));
        }
        bytes
    }

    #[test]
    fn the_whole_part_of_a_damaged_journal_is_read() {
        let whole = journal();
        let read = |bytes: &[u8]| {
            let mut frames = frames(bytes).unwrap();
            let count = frames.by_ref().count();
            (count, frames.good())
        };
        assert_eq!(read(&whole), (3, whole.len()));
        let frame = (whole.len() - HEAD.len()) / 3;
        for cut in HEAD.len()..whole.len() {
            let (count, good) = read(&whole[..cut]);
            assert_eq!((count, good), ((cut - HEAD.len()) / frame, HEAD.len() + count * frame), "{cut}");
        }
        for at in HEAD.len()..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert!(read(&damaged).0 <= (at - HEAD.len()) / frame, "{at}");
        }
    }

    #[test]
    fn what_is_no_journal_is_refused() {
        assert_eq!(frames(b"").unwrap_err(), Refused::Empty);
        assert_eq!(frames(b"\x7fELF").unwrap_err(), Refused::Foreign);
        let newer = frames(b"threadbare campaign 27\nxyz").unwrap_err();
        assert_eq!(newer, Refused::Version("27".to_owned()));
    }
}
