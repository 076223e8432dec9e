//! Files as memory: the only place of this crate with `unsafe`.
//!
//! A debug binary may be gigabytes of which a report reads a few pages, so files are mapped, not read.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file; an empty file has no map.
pub(crate) struct Mapped(Option<Mmap>);

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

/// Maps a whole regular file for reading.
pub(crate) fn map(path: &Path) -> io::Result<Mapped> {
    // Asked before opening: opening a pipe would wait for its writer.
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if about.len() == 0 {
        return Ok(Mapped(None));
    }
    let file = File::open(path)?;
    // SAFETY: the map is private and read-only. Linkers and package tools replace a file (unlink, then create), so the
    // mapped inode keeps its bytes. A file that is overwritten in place while it is mapped gives changed bytes, which
    // every reader takes as input of unknown quality, or ends this process by a signal when it was made shorter.
    let map = unsafe { Mmap::map(&file) }?;
    Ok(Mapped(Some(map)))
}
