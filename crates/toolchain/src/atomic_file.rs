//! Files that appear whole or not at all.
//!
//! `make -j` starts many compilers at once, each of which may find the cache empty: every one writes a file of its
//! own and renames it over the final name, so that none ever reads half a library.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Makes `path` hold exactly `bytes` with the permissions `mode`. A file that does already is left alone.
pub(crate) fn place(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if holds(path, bytes, mode) {
        return Ok(());
    }
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    file.persist(path)?;
    Ok(())
}

/// Makes `link` a symbolic link to `target`, replacing what was there.
pub(crate) fn point(link: &Path, target: &Path) -> io::Result<()> {
    if fs::read_link(link).is_ok_and(|found| found == target) {
        return Ok(());
    }
    let folder = link.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let scratch = tempfile::Builder::new().prefix(".new-").tempdir_in(folder)?;
    let fresh = scratch.path().join("link");
    symlink(target, &fresh)?;
    fs::rename(&fresh, link)
}

fn holds(path: &Path, bytes: &[u8], mode: u32) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    metadata.is_file()
        && metadata.len() == bytes.len() as u64
        && metadata.permissions().mode() & 0o777 == mode
        && fs::read(path).is_ok_and(|found| found == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        place(&path, b"good", 0o644).unwrap();
        fs::write(&path, b"evil").unwrap();
        place(&path, b"good", 0o644).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"good");
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "nothing but the file itself stays: {left:?}");
    }

    #[test]
    fn a_link_is_moved() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("current");
        point(&link, Path::new("one")).unwrap();
        point(&link, Path::new("two")).unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("two"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
