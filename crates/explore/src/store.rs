//! The output folder: findings and the campaign's summary, as files.
//!
//! A finding is `ID.schedule` and `ID.json`; the summary is `campaign.json`, or `tests.json` for the tests of a package. A
//! file appears whole or not at all.

use crate::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How a schedule's file name ends.
pub const SCHEDULE: &str = "schedule";

/// An output folder that can be written to.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    created: bool,
}

impl Store {
    /// Makes the folder if need be, and sees that it can be written to.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Store, Error> {
        let folder = folder.into();
        let failed = |source| Error::Store { path: folder.clone(), source };
        let created = !folder.exists();
        fs::create_dir_all(&folder).map_err(failed)?;
        let store = Store { folder: folder.clone(), created };
        let probe = store.scratch("probe");
        fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).map_err(failed)?;
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
        self.folder.join(format!(".{name}.{}", std::process::id()))
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
    let mut file = fs::File::create(path)?;
    file.write_all(content)
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
    fn a_folder_that_is_a_file_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, b"x").unwrap();
        assert!(matches!(Store::open(&file), Err(Error::Store { .. })));
        assert_eq!(fs::read(&file).unwrap(), b"x");
    }
}
