//! Corpora of fuzzers, as they lie on disk.
//!
//! AFL++ has folders `queue`, `crashes` and `hangs`, alone or for each fuzzer; libFuzzer has files by the hash of their content; cargo-fuzz has `corpus/TARGET` and
//! `artifacts/TARGET`. So a corpus is every file below a folder, without what fuzzers write about themselves. A single file is a corpus of one.

use std::fs;
use std::path::Path;

/// Files of a corpus that are read, and bytes of one.
const MOST: usize = 10_000;
const LARGEST: u64 = 1 << 20;
/// Folders within folders.
const DEPTH: u32 = 5;
/// What AFL++ and others write about themselves.
const OTHERS: [&str; 14] = [
    "README.txt",
    "README.md",
    "README",
    "fuzzer_stats",
    "fuzzer_setup",
    "plot_data",
    "cmdline",
    "fuzz_bitmap",
    "target_hash",
    "fastresume.bin",
    "queue_data",
    "is_main_node",
    "Cargo.toml",
    "Cargo.lock",
];

/// The files' contents, each once, in the order of their names.
///
/// # Errors
/// Why there are none, in words.
pub fn read(folder: &Path) -> Result<Vec<Vec<u8>>, String> {
    let told = |why: &std::io::Error| format!("the corpus `{}` cannot be read: {why}", folder.display());
    let metadata = fs::metadata(folder).map_err(|why| told(&why))?;
    let mut files = Vec::new();
    if metadata.is_file() {
        if metadata.len() > LARGEST {
            return Err(told(&std::io::Error::other(format!("it has more than {} KiB", LARGEST >> 10))));
        }
        files.push(fs::read(folder).map_err(|why| told(&why))?);
    } else {
        collect(folder, DEPTH, &mut files).map_err(|why| told(&why))?;
    }
    let mut seen = std::collections::HashSet::new();
    files.retain(|content| seen.insert(content.clone()));
    if files.is_empty() {
        return Err(format!("the corpus `{}` has no file", folder.display()));
    }
    Ok(files)
}

fn collect(folder: &Path, depth: u32, files: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if files.len() >= MOST || name.starts_with('.') || OTHERS.contains(&&*name) || name == "target" {
            continue;
        }
        let metadata = fs::metadata(entry.path())?;
        if metadata.is_dir() && depth > 0 {
            collect(&entry.path(), depth - 1, files)?;
        } else if metadata.is_file() && metadata.len() <= LARGEST {
            files.push(fs::read(entry.path())?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fuzzers_leave_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, content: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        write("afl/default/queue/id:000000,time:0,execs:0,orig:seed", "one");
        write("afl/default/queue/.state/deterministic_done/id:000000", "");
        write("afl/default/crashes/README.txt", "words");
        write("afl/default/crashes/id:000000,sig:06", "two");
        write("afl/default/fuzzer_stats", "numbers");
        assert_eq!(read(&folder.path().join("afl")).unwrap(), [b"two".to_vec(), b"one".to_vec()]);
        write("fuzz/Cargo.toml", "[package]");
        write("fuzz/corpus/parse/0a1b", "x");
        write("fuzz/corpus/parse/0a1c", "x");
        write("fuzz/artifacts/parse/crash-77", "y");
        assert_eq!(read(&folder.path().join("fuzz")).unwrap(), [b"y".to_vec(), b"x".to_vec()]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        assert!(read(&folder.path().join("empty")).unwrap_err().contains("has no file"));
        assert!(read(&folder.path().join("gone")).unwrap_err().contains("cannot be read"));
    }
}
