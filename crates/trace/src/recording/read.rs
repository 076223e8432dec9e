//! Reading a recorded run: nothing in the file is believed.

use super::code::{self, Bytes};
use super::entry::{Entry, What};
use super::table::Table;
use super::{END, ENTRIES, FRAME_HEAD, LARGEST_FRAME, LARGEST_TABLE, NAME, TABLE, VERSION, checksum};
use flate2::read::DeflateDecoder;
use std::io::{self, Read, Seek, SeekFrom};

/// The longest first line.
const LINE: usize = 40;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is something else.
    #[error("it is no trace")]
    Foreign,
    /// It is of a version that is not known.
    #[error("it has version {0}, and this tool reads version {VERSION}")]
    Version(String),
    /// Its end is missing.
    #[error("it is cut off: its end is missing")]
    CutOff,
    /// A part of it is not as it was written.
    #[error("it is damaged at byte {0}")]
    Damaged(u64),
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A recorded run.
#[derive(Debug)]
pub struct Recording<R> {
    file: R,
    table: Table,
    /// Where entries begin, and the table.
    begin: u64,
    end: u64,
}

impl<R: Read + Seek> Recording<R> {
    /// Reads all but the entries.
    pub fn open(mut file: R) -> Result<Recording<R>, Refused> {
        let size = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(0))?;
        let mut line = Vec::new();
        (&mut file).take(LINE as u64).read_to_end(&mut line)?;
        let version = line.strip_prefix(NAME.as_bytes()).ok_or(Refused::Foreign)?;
        let length = version.iter().position(|&byte| byte == b'\n').ok_or(Refused::Foreign)?;
        let version = String::from_utf8_lossy(&version[..length]).into_owned();
        if version != VERSION.to_string() {
            return Err(match version.parse::<u32>() {
                Ok(_) => Refused::Version(version),
                Err(_) => Refused::Foreign,
            });
        }
        let begin = (NAME.len() + length + 1) as u64;
        let tail = 8 + END.len() as u64;
        let tail_at = size.checked_sub(tail).filter(|&at| at >= begin).ok_or(Refused::CutOff)?;
        file.seek(SeekFrom::Start(tail_at))?;
        let mut end = [0; 8];
        file.read_exact(&mut end)?;
        let mut last = Vec::new();
        (&mut file).take(END.len() as u64).read_to_end(&mut last)?;
        if last != END {
            return Err(Refused::CutOff);
        }
        let end = u64::from_le_bytes(end);
        if end < begin || end >= tail_at {
            return Err(Refused::Damaged(tail_at));
        }
        file.seek(SeekFrom::Start(end))?;
        let bytes = frame(&mut file, TABLE, LARGEST_TABLE, end, tail_at)?.0;
        let table: Table = postcard::from_bytes(&bytes).map_err(|_| Refused::Damaged(end))?;
        if !table.is_sound() {
            return Err(Refused::Damaged(end));
        }
        Ok(Recording { file, table, begin, end })
    }

    /// What the entries name, and what is known of the run.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The entries, in order; after an error there are none.
    pub fn entries(&mut self) -> Result<Entries<'_, R>, Refused> {
        self.file.seek(SeekFrom::Start(self.begin))?;
        Ok(Entries {
            file: &mut self.file,
            table: &self.table,
            at: self.begin,
            end: self.end,
            frame: Vec::new(),
            used: 0,
            last: None,
            count: 0,
            failed: false,
        })
    }

    /// The table and all entries.
    pub fn read_all(mut self, most: u64) -> Result<(Table, Vec<Entry>), Refused> {
        let limit = most.min(self.table.entries) as usize;
        let entries = self.entries()?.take(limit).collect::<Result<Vec<Entry>, Refused>>()?;
        Ok((self.table, entries))
    }
}

/// Reads the frame that begins here; its bytes, and where the next one is.
fn frame(file: &mut impl Read, kind: u8, most: usize, at: u64, end: u64) -> Result<(Vec<u8>, u64), Refused> {
    let damaged = || Refused::Damaged(at);
    let mut head = [0; FRAME_HEAD];
    file.read_exact(&mut head).map_err(|_| damaged())?;
    let [found, rest @ ..] = head;
    let word = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
    let (raw, packed) = (word(0) as usize, u64::from(word(4)));
    let sum = u64::from(word(8)) | u64::from(word(12)) << 32;
    let next = at + FRAME_HEAD as u64 + packed;
    // What cannot be packed grows a little.
    if found != kind || raw > most || next > end || packed > most as u64 + 1024 {
        return Err(damaged());
    }
    let mut bytes = Vec::new();
    file.take(packed).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != packed || checksum(&bytes) != sum {
        return Err(damaged());
    }
    let mut unpacked = Vec::new();
    let unpacker = DeflateDecoder::new(&bytes[..]);
    unpacker.take(raw as u64 + 1).read_to_end(&mut unpacked).map_err(|_| damaged())?;
    if unpacked.len() != raw {
        return Err(damaged());
    }
    Ok((unpacked, next))
}

/// The entries of a recorded run.
#[derive(Debug)]
pub struct Entries<'a, R> {
    file: &'a mut R,
    table: &'a Table,
    at: u64,
    end: u64,
    frame: Vec<u8>,
    used: usize,
    last: Option<u16>,
    count: u64,
    failed: bool,
}

impl<R: Read + Seek> Entries<'_, R> {
    fn read(&mut self) -> Result<Option<Entry>, Refused> {
        if self.used == self.frame.len() {
            if self.at == self.end {
                return if self.count == self.table.entries {
                    Ok(None)
                } else {
                    Err(Refused::Damaged(self.end))
                };
            }
            let (bytes, next) = frame(self.file, ENTRIES, LARGEST_FRAME, self.at, self.end)?;
            if bytes.is_empty() {
                return Err(Refused::Damaged(self.at));
            }
            (self.frame, self.used, self.at, self.last) = (bytes, 0, next, None);
        }
        let mut rest = Bytes(&self.frame[self.used..]);
        let entry = code::take(&mut rest, &mut self.last).filter(|entry| self.fits(entry));
        let entry = entry.ok_or(Refused::Damaged(self.at))?;
        self.used = self.frame.len() - rest.0.len();
        self.count += 1;
        Ok(Some(entry))
    }

    /// Whether the table has what an entry names.
    fn fits(&self, entry: &Entry) -> bool {
        let strands = self.table.strands.len();
        let parent = matches!(entry.what, What::Created { parent, .. } if usize::from(parent) >= strands);
        usize::from(entry.strand) < strands
            && !parent
            && entry.place as usize <= self.table.places.len()
            && entry.object as usize <= self.table.objects.len()
    }
}

impl<R: Read + Seek> Iterator for Entries<'_, R> {
    type Item = Result<Entry, Refused>;

    fn next(&mut self) -> Option<Result<Entry, Refused>> {
        if self.failed {
            return None;
        }
        let read = self.read();
        self.failed = read.is_err();
        read.transpose()
    }
}

/// The bytes of a file's entries, of its table, and in 4 bytes where the one ends: what [`super::around`] makes a file of.
pub fn inside(bytes: &[u8]) -> Result<Vec<u8>, Refused> {
    let mut recording = Recording::open(io::Cursor::new(bytes))?;
    let (mut at, end) = (recording.begin, recording.end);
    recording.file.seek(SeekFrom::Start(at))?;
    let mut parts = Vec::new();
    while at < end {
        let (entries, next) = frame(&mut recording.file, ENTRIES, LARGEST_FRAME, at, end)?;
        parts.extend(entries);
        at = next;
    }
    let border = parts.len() as u32;
    parts.extend(frame(&mut recording.file, TABLE, LARGEST_TABLE, end, bytes.len() as u64)?.0);
    parts.extend(border.to_le_bytes());
    Ok(parts)
}
