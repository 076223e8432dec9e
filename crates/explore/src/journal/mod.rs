//! The state of a campaign on disk, from which it goes on after any end.
//!
//! What the books of a campaign hold follows from what its runs taught, in the order of the runs. So the journal has
//! one record for each run and nothing else of the books: to go on, the records are fed to new books (`resume`), and all
//! advisers learn again what they knew. What a new adviser needs of a run is a field of [`Outcome`](crate::outcome), and
//! is in the journal by that.
//!
//! - A record is written when its run is taken into the books, with one system call, so a driver that is killed loses the runs
//!   under way and no others. The kernel has the bytes then; they are forced to the disk every few seconds, because
//!   only a machine that fails loses them, and runs can be made again.
//! - A run that shows something new is written after its findings are, so a finding that the journal knows is there.
//! - One campaign at a time writes a journal: it holds a lock on the file, which ends with the process.
//! - A journal that cannot be written any more (a full disk, its bound) keeps what it has; the campaign goes on.
//!
//! A log of runs instead of snapshots of the books is one small format, nothing to keep in step with a new adviser,
//! and no run is lost between snapshots. It costs bytes (20 a run for small programs, packed by `journal::pack`), so a
//! journal has a bound.

mod frame;
mod log;
mod overview;
mod pack;
mod record;

pub(crate) use log::Log;
pub use overview::{Overview, overview};
pub(crate) use record::Record;
pub use record::{Close, Session};

use crate::error::Error;
use crate::files;
use frame::{HEAD, Refused};
use pack::History;
use record::RecordRef;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a journal's file name ends.
pub const CAMPAIGN: &str = "campaign";
/// A journal does not grow beyond this.
const LARGEST: u64 = 256 << 20;

/// A campaign's journal, open for writing and locked.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
    /// Up to here the file is whole and ours.
    length: u64,
    /// Whether the file is still what it was before this process.
    untouched: bool,
    /// Whether this process made it, and no run is in it yet.
    bare: bool,
    /// The bytes of the sittings before this one.
    past: Vec<u8>,
    history: History,
    broken: bool,
}

impl Journal {
    /// A journal for a new campaign. What an earlier one wrote there stays until the first run is written.
    pub fn create(path: &Path, session: &Session) -> Result<Journal, Error> {
        let created = path.symlink_metadata().is_err();
        let file = open(path, true)?;
        let (mut past, mut history) = (HEAD.to_vec(), History::default());
        frame::push(&mut past, &mut history, &frame::encode(&RecordRef::Session(session)));
        let mut journal = Journal {
            path: path.to_owned(),
            file,
            length: 0,
            untouched: true,
            bare: created,
            past,
            history,
            broken: false,
        };
        if created {
            // A campaign that is killed before its first run can go on, too.
            journal.append(&[]).map_err(refused(path))?;
            journal.bare = true;
        }
        Ok(journal)
    }

    /// The journal of a campaign that is to go on. The bytes that are not whole at its end are dropped with the first write.
    pub fn resume(path: &Path) -> Result<(Journal, Overview), Error> {
        let file = open(path, false)?;
        let mut past = files::read_open(&file).map_err(refused(path))?;
        let (overview, history) = overview::of_bytes(path, &past)?;
        past.truncate(overview.good as usize);
        let length = overview.good;
        let journal = Journal {
            path: path.to_owned(),
            file,
            length,
            untouched: true,
            bare: false,
            past,
            history,
            broken: false,
        };
        Ok((journal, overview))
    }

    /// Adds a sitting to a campaign that goes on.
    pub fn add_session(&mut self, session: &Session) {
        frame::push(&mut self.past, &mut self.history, &frame::encode(&RecordRef::Session(session)));
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The records of earlier sittings.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + use<'_> {
        frame::frames(&self.past).into_iter().flatten()
    }

    /// Writes records at the end, all or none. After a failure it writes no more: what comes later would be packed against
    /// what is not there.
    fn append(&mut self, records: &[Vec<u8>]) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier write has failed"));
        }
        let mut bytes = Vec::new();
        if self.untouched {
            bytes = self.past.split_off(self.length as usize);
            self.past = Vec::new();
        }
        for record in records {
            frame::push(&mut bytes, &mut self.history, record);
        }
        let written = self.put(&bytes);
        self.broken = written.is_err();
        self.bare = false;
        written
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.length + bytes.len() as u64 > LARGEST {
            return Err(io::Error::other(format!("it has grown to {} MiB", LARGEST >> 20)));
        }
        let mut file = &*self.file;
        if self.untouched {
            self.file.set_len(self.length)?;
            file.seek(SeekFrom::Start(self.length))?;
            self.untouched = false;
        }
        if let Err(error) = file.write_all(bytes) {
            // What was written of it is of no use, and would be told as damage.
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Tells how the sitting ended.
    pub fn close(mut self, close: &Close) -> io::Result<()> {
        if self.bare || self.broken {
            return Ok(());
        }
        self.append(&[frame::encode(&RecordRef::Close(close))])?;
        self.file.sync_data()
    }

    /// Puts the file back if somebody has taken it away; whether that was so.
    fn restore(&mut self) -> io::Result<bool> {
        if self.untouched || self.file.metadata()?.nlink() > 0 {
            return Ok(false);
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut bytes = Vec::new();
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(0))?;
        let read = file.read_to_end(&mut bytes);
        file.seek(SeekFrom::Start(self.length))?;
        read?;
        let new = File::options().read(true).write(true).create_new(true).open(&self.path)?;
        flock(&new, FlockOperation::NonBlockingLockExclusive)?;
        (&new).write_all(&bytes)?;
        self.file = Arc::new(new);
        Ok(true)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.bare {
            // No run was written: there is nothing to go on with.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Opens a journal and locks it.
fn open(path: &Path, create: bool) -> Result<Arc<File>, Error> {
    let file = files::no_link()
        .read(true)
        .write(true)
        .create(create)
        .truncate(false)
        .open(path)
        .map_err(refused(path))?;
    if !file.metadata().map_err(refused(path))?.is_file() {
        return Err(refused(path)(io::Error::other("it is no file")));
    }
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Arc::new(file)),
        Err(Errno::AGAIN) => Err(Error::Busy { path: path.to_owned(), process: overview::holder(&file) }),
        // Where files cannot be locked, nobody is kept out.
        Err(Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOLCK) => Ok(Arc::new(file)),
        Err(errno) => Err(refused(path)(errno.into())),
    }
}

fn refused(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| {
        let is_link = source.raw_os_error() == Some(Errno::LOOP.raw_os_error());
        let why = if is_link { "it is a link, which is not followed".to_owned() } else { source.to_string() };
        Error::Journal { path, why }
    }
}

impl Refused {
    fn error(self, path: &Path) -> Error {
        let why = match self {
            Refused::Empty => "nothing was written to it".to_owned(),
            Refused::Foreign => "it is no campaign of Threadbare's".to_owned(),
            Refused::Version(version) => format!("it is of version {version}, and this tool knows version 1"),
        };
        Error::Journal { path: path.to_owned(), why }
    }
}
