//! The output folder: findings and the campaign's summary, as files.
//!
//! A finding is `ID.schedule` and `ID.json`; the summary is `campaign.json`, or `tests.json` for the tests of a package. A
//! file appears whole or not at all.
//!
//! A finding is not lost with the folder. What is [kept](Store::keep) is remembered until the campaign ends: when the folder was
//! taken away, it is made again with all of it. What the folder does not take (the disk is full) goes to another folder, and if
//! that is not possible either, to whoever reads the error output.

use crate::error::Error;
use crate::files::unforeseen;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a schedule's file name ends.
pub const SCHEDULE: &str = "schedule";

/// An output folder that can be written to.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    created: bool,
    kept: Mutex<BTreeMap<String, Vec<u8>>>,
    elsewhere: Mutex<Option<PathBuf>>,
}

/// Where something was kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Its file.
    pub path: PathBuf,
    /// Why it is not where it should be, to be told.
    pub trouble: Option<String>,
}

/// Bytes of findings that are remembered at the most.
const REMEMBERED: usize = 64 << 20;

impl Store {
    /// Makes the folder if need be, and sees that it can be written to.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Store, Error> {
        let folder = folder.into();
        let failed = |source| Error::Store { path: folder.clone(), source };
        let created = !folder.exists();
        fs::create_dir_all(&folder).map_err(failed)?;
        let store =
            Store { folder: folder.clone(), created, kept: Mutex::default(), elsewhere: Mutex::default() };
        let probe = store.scratch("probe");
        write_new(&probe, b"").and_then(|()| fs::remove_file(&probe)).map_err(failed)?;
        Ok(store)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file of the folder; what was there is replaced at once.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, Error> {
        let path = self.folder.join(name);
        let scratch = self.scratch(name);
        let written = write_new(&scratch, content).and_then(|()| fs::rename(&scratch, &path));
        written.map_err(|source| {
            let _ = fs::remove_file(&scratch);
            Error::Store { path: self.folder.clone(), source }
        })?;
        Ok(path)
    }

    /// Writes a file that must not be lost.
    pub fn keep(&self, name: &str, content: &[u8]) -> Result<Kept, Error> {
        let mut kept = self.kept();
        if kept.values().map(Vec::len).sum::<usize>() + content.len() <= REMEMBERED {
            kept.insert(name.to_owned(), content.to_owned());
        }
        drop(kept);
        let gone = !self.folder.exists();
        let written = fs::create_dir_all(&self.folder)
            .map_err(|source| Error::Store { path: self.folder.clone(), source })
            .and_then(|()| self.write(name, content));
        let first = match written {
            Ok(path) => {
                if gone {
                    self.write_missing()?;
                }
                let again =
                    || format!("the folder `{}` was taken away; it was made again", self.folder.display());
                return Ok(Kept { path, trouble: gone.then(again) });
            }
            Err(error) => error,
        };
        let path = match self.elsewhere() {
            Ok(elsewhere) => elsewhere.join(name),
            Err(_) => return Err(first),
        };
        let _ = fs::remove_file(&path);
        match write_new(&path, content) {
            Ok(()) => {
                let trouble = format!("{}; the finding is in `{}`", told(&first), path.display());
                Ok(Kept { path, trouble: Some(trouble) })
            }
            Err(_) => Err(first),
        }
    }

    /// The folder for what this one does not take. The temporary folder is everybody's: this one is new and the user's own.
    fn elsewhere(&self) -> io::Result<PathBuf> {
        let mut elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*elsewhere {
            return Ok(folder.clone());
        }
        let folder = std::env::temp_dir().join(format!("threadbare-{}", unforeseen()));
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(elsewhere.insert(folder).clone())
    }

    /// Writes what was kept and is no longer there; whether there was such.
    pub fn write_missing(&self) -> Result<bool, Error> {
        let kept = self.kept();
        let missing = kept.iter().filter(|(name, _)| !self.folder.join(name).exists());
        let mut some = false;
        for (name, content) in missing {
            fs::create_dir_all(&self.folder)
                .map_err(|source| Error::Store { path: self.folder.clone(), source })?;
            self.write(name, content)?;
            some = true;
        }
        Ok(some)
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a file away that was kept.
    pub fn forget(&self, name: &str) -> Result<(), Error> {
        self.kept().remove(name);
        self.remove(name)
    }

    /// Takes a file of the folder away, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        match fs::remove_file(self.folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::Store { path: self.folder.clone(), source: error })
            }
            _ => Ok(()),
        }
    }

    fn scratch(&self, name: &str) -> PathBuf {
        self.folder.join(format!(".{name}.{}", unforeseen()))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.created {
            // Nothing was found and nothing written: the folder goes. It stays when it is not empty.
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(content)?;
    if path.to_string_lossy().contains(&format!(".{SCHEDULE}")) {
        // The one thing that cannot be made again from others: it outlives the machine's end, too.
        file.sync_data()?;
    }
    Ok(())
}

fn told(error: &Error) -> String {
    let cause = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{cause}")
}

/// The files of a folder whose names end so, by name.
pub fn files(folder: &Path, extension: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_appear_whole_and_an_unused_folder_goes() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("deep/er");
        drop(Store::open(&folder).unwrap());
        assert!(!folder.exists());
        let store = Store::open(&folder).unwrap();
        store.write("a.schedule", b"one").unwrap();
        store.write("a.schedule", b"two").unwrap();
        store.write("campaign.json", b"{}").unwrap();
        store.remove("campaign.json").unwrap();
        store.remove("campaign.json").unwrap();
        drop(store);
        assert!(!folder.join("campaign.json").exists());
        assert_eq!(fs::read(folder.join("a.schedule")).unwrap(), b"two");
        assert_eq!(files(&folder, SCHEDULE).unwrap(), [folder.join("a.schedule")]);
    }

    #[test]
    fn what_is_kept_survives_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("out");
        let store = Store::open(&folder).unwrap();
        assert_eq!(store.keep("a.schedule", b"one").unwrap().trouble, None);
        fs::remove_dir_all(&folder).unwrap();
        let kept = store.keep("b.schedule", b"two").unwrap();
        assert!(kept.trouble.unwrap().contains("made again"));
        assert_eq!(fs::read(folder.join("a.schedule")).unwrap(), b"one");
        fs::remove_dir_all(&folder).unwrap();
        assert!(store.write_missing().unwrap() && !store.write_missing().unwrap());
        store.keep("d.schedule", b"four").unwrap();
        store.forget("d.schedule").unwrap();
        assert!(!store.write_missing().unwrap() && !folder.join("d.schedule").exists());
        // Something else is in the way: it goes elsewhere.
        fs::remove_dir_all(&folder).unwrap();
        fs::write(&folder, b"").unwrap();
        let kept = store.keep("c.schedule", b"three").unwrap();
        assert!(!kept.path.starts_with(&folder) && kept.trouble.is_some());
        assert_eq!(fs::read(&kept.path).unwrap(), b"three");
        fs::remove_dir_all(kept.path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_folder_that_is_a_file_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, b"x").unwrap();
        assert!(matches!(Store::open(&file), Err(Error::Store { .. })));
        assert_eq!(fs::read(&file).unwrap(), b"x");
    }
}
