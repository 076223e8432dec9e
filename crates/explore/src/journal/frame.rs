//! The bytes of a journal: a line that names format and version, then frames.
//!
//! A frame is its length (a number with 7 bits a byte), a checksum and a [packed](super::pack) record. A writer that is killed leaves at most
//! one frame that is not whole, at the end; a reader takes all frames before the first one that is damaged.

use crate::journal::pack::{self, History};
use crate::journal::record::{Record, RecordRef};
use threadbare_trace::hash::Fnv;

/// The first line of a journal.
pub(crate) const HEAD: &[u8] = b"threadbare campaign 2\n";
/// What the first line of every version begins with.
const NAME: &[u8] = b"threadbare campaign ";

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

/// A record as bytes.
pub(crate) fn encode(record: &RecordRef<'_>) -> Vec<u8> {
    // Only types that cannot be written fail, and there are none of these.
    postcard::to_stdvec(record).unwrap_or_default()
}

/// Adds a record to what is to be written. Records are written in the order they come here.
pub(crate) fn push(bytes: &mut Vec<u8>, history: &mut History, record: &[u8]) {
    let mut payload = Vec::with_capacity(64);
    history.pack(record, &mut payload);
    pack::number(bytes, payload.len());
    bytes.extend(checksum(&payload));
    bytes.extend(payload);
}

/// Sees that the bytes begin as a journal does, and gives its frames.
pub(crate) fn frames(bytes: &[u8]) -> Result<Frames<'_>, Refused> {
    match bytes.strip_prefix(HEAD) {
        Some(_) => Ok(Frames { bytes, at: HEAD.len(), history: History::default() }),
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
    history: History,
}

impl Frames<'_> {
    /// How much of the bytes was whole so far.
    pub(crate) fn good(&self) -> usize {
        self.at
    }

    /// What whoever goes on with the journal has to know.
    pub(crate) fn into_history(self) -> History {
        self.history
    }
}

impl Iterator for Frames<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        let mut rest = &self.bytes[self.at..];
        let length = pack::take(&mut rest)?;
        let (sum, rest) = rest.split_at_checked(4)?;
        let payload = rest.get(..length)?;
        if checksum(payload) != sum {
            return None;
        }
        let record = self.history.unpack(payload)?;
        let record = postcard::from_bytes(record).unwrap_or(Record::Unknown);
        self.at = self.bytes.len() - rest.len() + length;
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

    /// A journal, and where its frames end.
    fn journal() -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut history) = (HEAD.to_vec(), History::default());
        let ends = [1, 2, 3].map(|key| {
            push(&mut bytes, &mut history, &encode(&RecordRef::Note(key, &[7, key as u8, 9])));
            bytes.len()
        });
        (bytes, ends.into())
    }

    #[test]
    fn the_whole_part_of_a_damaged_journal_is_read() {
        let (whole, ends) = journal();
        let read = |bytes: &[u8]| {
            let mut frames = frames(bytes).unwrap();
            let count = frames.by_ref().count();
            (count, frames.good())
        };
        assert_eq!(read(&whole), (3, whole.len()));
        for cut in HEAD.len()..whole.len() {
            let count = ends.iter().filter(|&&end| end <= cut).count();
            let good = count.checked_sub(1).map_or(HEAD.len(), |last| ends[last]);
            assert_eq!(read(&whole[..cut]), (count, good), "{cut}");
        }
        for at in HEAD.len()..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            assert!(read(&damaged).0 <= ends.iter().filter(|&&end| end <= at).count(), "{at}");
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
