//! What a run writes, caught in memory.
//!
//! A stream is an anonymous file opened for appending: the program never blocks on it, and it is empty again for the
//! next run by one system call. A run that writes without end is cut while it runs, so memory stays bounded.

use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl, fstat, ftruncate, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use threadbare_trace::run::Output;

/// What is kept of a stream when it is read.
const KEEP: u64 = 1 << 20;

/// One stream.
#[derive(Debug)]
pub(crate) struct Capture {
    file: File,
    dropped: u64,
    /// More than this is cut while the run is on.
    most: u64,
}

impl Capture {
    pub(crate) fn create(name: &str, most: u64) -> io::Result<Capture> {
        let fd = memfd_create(name, MemfdFlags::CLOEXEC)?;
        fcntl_setfl(&fd, OFlags::APPEND | OFlags::RDWR)?;
        Ok(Capture { file: File::from(fd), dropped: 0, most: if most == 0 { u64::MAX } else { most } })
    }

    /// The stream as a child's standard output or error.
    pub(crate) fn stdio(&self) -> io::Result<Stdio> {
        Ok(Stdio::from(self.file.try_clone()?))
    }

    /// The stream as a descriptor.
    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Empties it.
    pub(crate) fn reset(&mut self) -> io::Result<()> {
        self.dropped = 0;
        if self.len()? > 0 {
            ftruncate(&self.file, 0)?;
        }
        Ok(())
    }

    /// Drops what is there when it is too much.
    pub(crate) fn cut(&mut self) -> io::Result<()> {
        let len = self.len()?;
        if len > self.most {
            ftruncate(&self.file, 0)?;
            self.dropped += len;
        }
        Ok(())
    }

    /// Whether the bound was passed.
    pub(crate) fn was_cut(&self) -> bool {
        self.dropped > 0 || self.len().is_ok_and(|len| len > self.most)
    }

    /// Whether so much passes the bound.
    pub(crate) fn would_cut(&self, written: u64) -> bool {
        written > self.most
    }

    /// The end of what was written.
    pub(crate) fn read(&self) -> io::Result<Output> {
        let len = self.len()?;
        let from = len.saturating_sub(KEEP.min(self.most));
        let mut bytes = vec![0; (len - from) as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], from + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(Output { bytes, dropped: self.dropped + from })
    }

    fn len(&self) -> io::Result<u64> {
        Ok(u64::try_from(fstat(&self.file)?.st_size).unwrap_or(0))
    }
}
