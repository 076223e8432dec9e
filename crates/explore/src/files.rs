//! Reading and making files that others may have had their hands on.
//!
//! What is read may be anything that has a name: a device that never ends, a pipe that nobody writes to, a link that leads
//! elsewhere. A read is of a regular file, and has a bound; a file that is made is new.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest file that is read at once: more than any schedule or report has.
pub const LARGEST: u64 = 256 << 20;

/// Reads a file, up to [`LARGEST`]; one that is larger, or no file with an end, is refused.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_open(&open(path)?)
}

/// Opens a file with an end, to be read piece by piece; anything else is refused.
pub fn open(path: &Path) -> io::Result<File> {
    // Opening a pipe would wait for its writer.
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::options().read(true).custom_flags(flags.bits() as i32).open(path)?;
    refuse_others(&file)?;
    Ok(file)
}

/// The same as text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text");
    String::from_utf8(read(path)?).map_err(not_text)
}

/// Reads an open file from where it stands.
pub(crate) fn read_open(file: &File) -> io::Result<Vec<u8>> {
    refuse_others(file)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other(format!("it has more than {} MiB", LARGEST >> 20)));
    }
    Ok(bytes)
}

fn refuse_others(file: &File) -> io::Result<()> {
    let kind = file.metadata()?.file_type();
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "it is a folder",
        () if kind.is_fifo() => "it is a pipe",
        () if kind.is_char_device() || kind.is_block_device() => "it is a device",
        () => "it is no file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Options for a file that must be where its name says: a link in its place is refused.
pub(crate) fn no_link() -> OpenOptions {
    let mut options = File::options();
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32);
    options
}

/// A word for a name that nobody can know beforehand.
pub fn unforeseen() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 8];
    let drawn = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    match drawn {
        Ok(()) => format!("{:016x}", u64::from_ne_bytes(bytes) ^ count),
        // Files are made new, so a name that is known costs no more than the file.
        Err(_) => format!("{}-{count}", std::process::id()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_an_end_are_read() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        std::fs::write(&file, "text").unwrap();
        assert_eq!(read_text(&file).unwrap(), "text");
        let why = |path: &Path| read(path).unwrap_err().to_string();
        assert_eq!(why(Path::new("/dev/zero")), "it is a device");
        assert_eq!(why(root.path()), "it is a folder");
        let pipe = root.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        assert_eq!(why(&pipe), "it is a pipe");
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        assert_eq!(read_text(&file).unwrap_err().to_string(), "it is not text");
        File::create(&file).unwrap().set_len(LARGEST + 1).unwrap();
        assert!(why(&file).contains("256 MiB"));
    }

    #[test]
    fn names_are_not_the_same_twice() {
        assert_ne!(unforeseen(), unforeseen());
    }
}
