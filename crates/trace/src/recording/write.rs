//! Writing a recorded run, entry by entry.

use super::code;
use super::entry::Entry;
use super::table::Table;
use super::{END, ENTRIES, FRAME, NAME, TABLE, VERSION, checksum};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{self, Write};

/// Writes a recorded run.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    /// Bytes written.
    at: u64,
    frame: Vec<u8>,
    last: Option<u16>,
    entries: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    pub fn new(mut out: W) -> io::Result<Writer<W>> {
        let head = format!("{NAME}{VERSION}\n");
        out.write_all(head.as_bytes())?;
        let at = head.len() as u64;
        Ok(Writer { out, at, frame: Vec::with_capacity(FRAME), last: None, entries: 0 })
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: &Entry) -> io::Result<()> {
        code::push(&mut self.frame, entry, &mut self.last);
        self.entries += 1;
        if self.frame.len() >= FRAME { self.close_frame() } else { Ok(()) }
    }

    fn close_frame(&mut self) -> io::Result<()> {
        let frame = std::mem::take(&mut self.frame);
        self.write_frame(ENTRIES, &frame)?;
        self.frame = frame;
        self.frame.clear();
        // Every frame can be read for itself.
        self.last = None;
        Ok(())
    }

    fn write_frame(&mut self, kind: u8, bytes: &[u8]) -> io::Result<()> {
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::default());
        packer.write_all(bytes)?;
        let packed = packer.finish()?;
        let mut head = vec![kind];
        head.extend((bytes.len() as u32).to_le_bytes());
        head.extend((packed.len() as u32).to_le_bytes());
        head.extend(checksum(&packed).to_le_bytes());
        self.out.write_all(&head)?;
        self.out.write_all(&packed)?;
        self.at += (head.len() + packed.len()) as u64;
        Ok(())
    }

    /// Ends the file; the bytes and entries it has.
    pub fn finish(mut self, mut table: Table) -> io::Result<(W, u64, u64)> {
        if !self.frame.is_empty() {
            self.close_frame()?;
        }
        table.entries = self.entries;
        let bytes = postcard::to_stdvec(&table).map_err(io::Error::other)?;
        if bytes.len() > super::LARGEST_TABLE {
            return Err(io::Error::other("the run has more places and objects than a trace can hold"));
        }
        let table_at = self.at;
        self.write_frame(TABLE, &bytes)?;
        self.out.write_all(&table_at.to_le_bytes())?;
        self.out.write_all(END)?;
        self.out.flush()?;
        let size = self.at + 8 + END.len() as u64;
        Ok((self.out, size, self.entries))
    }
}

/// A file around the bytes of entries and of a table, whatever they are: what a reader meets when no checksum keeps damage from it.
pub fn around(entries: &[u8], table: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new())?;
    if !entries.is_empty() {
        writer.write_frame(ENTRIES, entries)?;
    }
    let table_at = writer.at;
    writer.write_frame(TABLE, table)?;
    let mut file = writer.out;
    file.extend(table_at.to_le_bytes());
    file.extend(END);
    Ok(file)
}
