//! Where the debug info of a stripped file is: gdb's rules.
//!
//! Searched in order: the build-id folders, then the file that `.gnu_debuglink` names beside the binary, in its
//! `.debug` folder and under `/usr/lib/debug`. A file of another build is never taken: the build ids must agree, or,
//! where there is none, the checksum in the link.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Object;

use crate::map::{Mapped, map};

const GLOBAL: &str = "/usr/lib/debug";

/// The separate debug file of `object`, which was read from `path`.
pub(crate) fn find(path: &Path, object: &object::File<'_>) -> Option<(PathBuf, Mapped)> {
    let build_id = object.build_id().ok().flatten();
    if let Some(id) = build_id {
        for candidate in build_id_files(id) {
            if let Some(mapped) = open_if(&candidate, |found| found.build_id().ok().flatten() == Some(id)) {
                return Some((candidate, mapped));
            }
        }
    }
    let (name, checksum) = object.gnu_debuglink().ok().flatten()?;
    let folder = std::fs::canonicalize(path).ok()?.parent()?.to_owned();
    let name = OsStr::from_bytes(name);
    let global = Path::new(GLOBAL).join(folder.strip_prefix("/").unwrap_or(&folder));
    for candidate in [folder.join(name), folder.join(".debug").join(name), global.join(name)] {
        if same_file(&candidate, path) {
            continue;
        }
        let Ok(mapped) = map(&candidate) else { continue };
        let Ok(found) = object::File::parse(&*mapped) else { continue };
        let fits = match (build_id, found.build_id().ok().flatten()) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => crc32fast::hash(&mapped) == checksum,
        };
        if fits {
            return Some((candidate, mapped));
        }
    }
    None
}

/// The file shared by several debug files (`dwz -m`), named by `.gnu_debugaltlink` of the debug file at `path`.
pub(crate) fn find_supplementary(path: &Path, object: &object::File<'_>) -> Option<Mapped> {
    let (name, id) = object.gnu_debugaltlink().ok().flatten()?;
    let name = Path::new(OsStr::from_bytes(name));
    let beside = std::fs::canonicalize(path).ok()?.parent()?.join(name);
    std::iter::once(beside)
        .chain(build_id_files(id))
        .find_map(|candidate| open_if(&candidate, |found| found.build_id().ok().flatten() == Some(id)))
}

/// The package of split debug info beside a binary: `bank` has `bank.dwp`.
pub(crate) fn package_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".dwp");
    PathBuf::from(name)
}

fn build_id_files(id: &[u8]) -> Vec<PathBuf> {
    let Some((first, rest)) = id.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return Vec::new();
    };
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut files = vec![PathBuf::from(format!("{GLOBAL}/.build-id/{first:02x}/{rest}.debug"))];
    let cache = std::env::var_os("DEBUGINFOD_CACHE_PATH").map(PathBuf::from).or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
        Some(cache?.join("debuginfod_client"))
    });
    files.extend(cache.map(|cache| cache.join(format!("{first:02x}{rest}")).join("debuginfo")));
    files
}

fn open_if(path: &Path, fits: impl Fn(&object::File<'_>) -> bool) -> Option<Mapped> {
    let mapped = map(path).ok()?;
    let accepted = fits(&object::File::parse(&*mapped).ok()?);
    accepted.then_some(mapped)
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_keep_the_extension() {
        assert_eq!(package_path(Path::new("/a/bank")), Path::new("/a/bank.dwp"));
        assert_eq!(package_path(Path::new("/a/libbank.so.1")), Path::new("/a/libbank.so.1.dwp"));
    }

    #[test]
    fn build_ids_name_files() {
        assert!(build_id_files(&[0xab, 0x01, 0x2f])[0].ends_with(".build-id/ab/012f.debug"));
        assert!(build_id_files(&[0xab]).is_empty());
    }
}
