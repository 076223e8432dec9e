//! Where the runtime library lives on this machine.
//!
//! The library travels inside the `threadbare` binary. Before anything is linked or run it is put into
//! `CACHE/threadbare/HASH/libthreadbare_rt.so`, where CACHE is `$XDG_CACHE_HOME`, else `~/.cache`, else a folder of
//! this user alone under `$TMPDIR`. What is already there is used only when it holds the very same bytes.
//!
//! Programs are linked against `CACHE/threadbare/current`, a link to the newest HASH folder: they outlive an upgrade
//! of Threadbare, and cargo does not compile the world again because a path changed. A campaign preloads the
//! library of its own HASH, whatever `current` says.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::{Environment, atomic_file};

/// The file name and soname of the runtime library.
pub const LIBRARY_NAME: &str = "libthreadbare_rt.so";

/// Names a runtime library to use in the place of the embedded one.
pub const OVERRIDE_VARIABLE: &str = "THREADBARE_RUNTIME";

/// The runtime library as the caller carries it.
#[derive(Debug, Clone, Copy)]
pub struct Runtime<'a> {
    /// The shared object.
    pub bytes: &'a [u8],
    /// A name for these bytes, fit for a folder name; other bytes have another name.
    pub hash: &'a str,
}

/// The runtime library as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedRuntime {
    library: PathBuf,
    link_folder: PathBuf,
    cache: PathBuf,
}

impl PlacedRuntime {
    /// The library itself: what a campaign preloads.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The folder programs are linked against and search at run time; it holds [`LIBRARY_NAME`].
    pub fn link_folder(&self) -> &Path {
        &self.link_folder
    }

    /// The folder for other files that must outlive a command (wrapper scripts, compiler specs).
    pub fn cache(&self) -> &Path {
        &self.cache
    }
}

impl Runtime<'_> {
    /// Puts the library into the cache, or takes the one that `THREADBARE_RUNTIME` names.
    pub fn place(&self, env: &Environment) -> Result<PlacedRuntime> {
        let overriding =
            env.get(OVERRIDE_VARIABLE).map(|path| checked_override(Path::new(path))).transpose()?;
        let mut failure = None;
        for candidate in cache_folders(env) {
            let placed = match &overriding {
                Some(library) => place_beside(&candidate, library),
                None => self.place_in(&candidate),
            };
            match placed {
                Ok(placed) => return Ok(placed),
                Err(source) => {
                    failure.get_or_insert(Error::CacheUnwritable { folder: candidate.path, source })
                }
            };
        }
        Err(failure.unwrap_or(Error::CacheNowhere))
    }

    fn place_in(&self, candidate: &Candidate) -> io::Result<PlacedRuntime> {
        candidate.prepare()?;
        let root = &candidate.path;
        let library = root.join(self.hash).join(LIBRARY_NAME);
        atomic_file::place(&library, self.bytes, 0o755)?;
        let current = root.join("current");
        atomic_file::point(&current, Path::new(self.hash))?;
        Ok(PlacedRuntime { library, link_folder: current, cache: root.clone() })
    }
}

fn place_beside(candidate: &Candidate, library: &Path) -> io::Result<PlacedRuntime> {
    candidate.prepare()?;
    let link_folder = library.parent().unwrap_or(Path::new("/")).to_owned();
    Ok(PlacedRuntime { library: library.to_owned(), link_folder, cache: candidate.path.clone() })
}

fn checked_override(path: &Path) -> Result<PathBuf> {
    let refuse = |reason: String| Error::RuntimeOverride { path: path.to_owned(), reason };
    let absolute = std::path::absolute(path).map_err(|error| refuse(error.to_string()))?;
    let bytes = fs::read(&absolute).map_err(|error| refuse(error.to_string()))?;
    if !bytes.starts_with(b"\x7fELF") {
        return Err(refuse("it is not a shared object".into()));
    }
    if absolute.file_name() != Some(LIBRARY_NAME.as_ref()) {
        // The loader looks for the soname, so a library of another name would be found by the linker alone.
        return Err(refuse(format!("its file name is not {LIBRARY_NAME}")));
    }
    Ok(absolute)
}

struct Candidate {
    path: PathBuf,
    /// Others may write beside it, so it must be ours alone.
    shared_parent: bool,
}

impl Candidate {
    fn prepare(&self) -> io::Result<()> {
        if !self.shared_parent {
            return fs::create_dir_all(&self.path);
        }
        match fs::DirBuilder::new().mode(0o700).create(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let found = fs::symlink_metadata(&self.path)?;
        if !found.is_dir() || found.uid() != own_user()? || found.mode() & 0o022 != 0 {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "another user may write there"));
        }
        Ok(())
    }
}

fn cache_folders(env: &Environment) -> Vec<Candidate> {
    let mut folders = Vec::new();
    let base = env
        .absolute_path("XDG_CACHE_HOME")
        .or_else(|| env.absolute_path("HOME").map(|home| home.join(".cache")));
    if let Some(base) = base {
        folders.push(Candidate { path: base.join("threadbare"), shared_parent: false });
    }
    if let Ok(user) = own_user() {
        let temporary = env.absolute_path("TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp"));
        folders.push(Candidate { path: temporary.join(format!("threadbare-{user}")), shared_parent: true });
    }
    folders
}

fn own_user() -> io::Result<u32> {
    Ok(fs::metadata("/proc/self")?.uid())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNTIME: Runtime<'static> = Runtime { bytes: b"\x7fELF library", hash: "cafe" };

    fn env(pairs: &[(&str, &Path)]) -> Environment {
        pairs.iter().map(|(name, path)| ((*name).into(), path.as_os_str().to_owned())).collect()
    }

    #[test]
    fn goes_to_the_cache_and_heals_there() {
        let folder = tempfile::tempdir().unwrap();
        let env = env(&[("XDG_CACHE_HOME", folder.path())]);
        let placed = RUNTIME.place(&env).unwrap();
        assert_eq!(placed.library(), folder.path().join("threadbare/cafe/libthreadbare_rt.so"));
        fs::write(placed.library(), "damaged").unwrap();
        assert_eq!(RUNTIME.place(&env).unwrap(), placed);
        assert_eq!(fs::read(placed.library()).unwrap(), RUNTIME.bytes);
        assert_eq!(fs::read(placed.link_folder().join(LIBRARY_NAME)).unwrap(), RUNTIME.bytes);
    }

    #[test]
    fn the_link_follows_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let env = env(&[("XDG_CACHE_HOME", folder.path())]);
        let old = RUNTIME.place(&env).unwrap();
        let new = Runtime { bytes: b"\x7fELF newer", hash: "beef" }.place(&env).unwrap();
        assert_eq!(old.link_folder(), new.link_folder());
        assert_eq!(fs::read(old.link_folder().join(LIBRARY_NAME)).unwrap(), b"\x7fELF newer");
        assert_eq!(
            fs::read(old.library()).unwrap(),
            RUNTIME.bytes,
            "the old one stays for its own campaigns"
        );
    }

    #[test]
    fn home_that_cannot_be_written_falls_back_to_a_private_folder() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("home");
        fs::write(&blocked, "a file, so nothing can be made below it").unwrap();
        let env = env(&[("HOME", &blocked), ("TMPDIR", folder.path())]);
        let placed = RUNTIME.place(&env).unwrap();
        let root = placed.library().parent().unwrap().parent().unwrap();
        assert_eq!(root.parent().unwrap(), folder.path());
        assert_eq!(fs::metadata(root).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_private_folder_others_may_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(format!("threadbare-{}", own_user().unwrap()));
        fs::create_dir(&root).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o777)).unwrap();
        let error = RUNTIME.place(&env(&[("TMPDIR", folder.path())])).unwrap_err();
        assert!(matches!(error, Error::CacheUnwritable { .. }), "{error:?}");
    }

    #[test]
    fn the_override_must_be_a_library_of_the_right_name() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join(LIBRARY_NAME);
        let other = folder.path().join("other.so");
        let with = |path: &Path| env(&[("XDG_CACHE_HOME", folder.path()), (OVERRIDE_VARIABLE, path)]);
        assert!(RUNTIME.place(&with(&library)).is_err(), "missing file");
        fs::write(&library, "text").unwrap();
        assert!(RUNTIME.place(&with(&library)).is_err(), "not a library");
        fs::write(&library, b"\x7fELF mine").unwrap();
        fs::write(&other, b"\x7fELF mine").unwrap();
        assert!(RUNTIME.place(&with(&other)).is_err(), "wrong name");
        let placed = RUNTIME.place(&with(&library)).unwrap();
        assert_eq!(placed.library(), library);
        assert_eq!(placed.link_folder(), folder.path());
    }
}
