//! Kept between runs: what was read of a program's code, by its build id.
//!
//! One file a program in a folder of the tool's cache. A file of another version of this crate, a damaged one or one for another program
//! is read as none, and a folder that cannot be written to costs nothing but time.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use threadbare_symbols::ProgramId;

use crate::{Code, Error};

/// Counts up whenever what is kept changes its form or its meaning.
const VERSION: u32 = 4;
const MAGIC: &[u8; 8] = b"tb-code\0";

impl Code {
    /// Reads the code of a program, or what an earlier call kept in `folder`.
    pub fn cached(path: &Path, folder: &Path) -> Result<Code, Error> {
        let id = ProgramId::of(path)?.to_string();
        let file = folder.join(name(&id));
        if let Some(known) = fs::read(&file).ok().and_then(|bytes| decode(&bytes, &id)) {
            return Ok(known);
        }
        let code = Code::read(path)?;
        // Without a place to keep it, it is read again next time.
        let _ = keep(&file, &encode(&code, &id));
        Ok(code)
    }
}

fn name(id: &str) -> PathBuf {
    PathBuf::from(id.replace(':', "-")).with_extension("code")
}

fn encode(code: &Code, id: &str) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    postcard::to_extend(&(id, code), bytes).unwrap_or_default()
}

fn decode(bytes: &[u8], id: &str) -> Option<Code> {
    let rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&VERSION.to_le_bytes())?;
    let (known, code): (&str, Code) = postcard::from_bytes(rest).ok()?;
    (known == id).then_some(code)
}

/// Written aside and renamed, so that nobody reads half a file.
fn keep(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let aside = file.with_extension(format!("{}.new", std::process::id()));
    let mut out = fs::File::create(&aside)?;
    out.write_all(bytes)?;
    drop(out);
    fs::rename(&aside, file).inspect_err(|_| drop(fs::remove_file(&aside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again_and_damage_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let program = std::env::current_exe().unwrap();
        let first = Code::cached(&program, folder.path()).unwrap();
        let files: Vec<_> =
            fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        let id = ProgramId::of(&program).unwrap().to_string();
        let bytes = fs::read(&files[0]).unwrap();
        assert_eq!(decode(&bytes, &id).as_ref(), Some(&first));
        assert_eq!(decode(&bytes, "build:00"), None);
        assert_eq!(decode(&bytes[..bytes.len() / 2], &id), None);
        fs::write(&files[0], &bytes[..20]).unwrap();
        assert_eq!(Code::cached(&program, folder.path()).unwrap(), first);
        assert_eq!(fs::read(&files[0]).unwrap(), bytes);
    }
}
