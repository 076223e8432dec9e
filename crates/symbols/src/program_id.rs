//! Which program a schedule belongs to.
//!
//! A schedule counts events of one binary; following it in another one is meaningless. The linker's build id names the
//! binary exactly; where there is none, a hash of the whole file does.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

use object::{Object, ObjectKind};
use xxhash_rust::xxh3::xxh3_128;

use crate::map::map;

/// The identity of a program's file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ProgramId {
    /// The linker's build id.
    Build(Vec<u8>),
    /// A hash of the file's bytes.
    Content(u128),
}

impl ProgramId {
    /// The identity of the file at `path`.
    pub fn of(path: &Path) -> io::Result<ProgramId> {
        let bytes = map(path)?;
        Ok(match build_id_of(&bytes) {
            Some(id) => ProgramId::Build(id),
            None => ProgramId::Content(xxh3_128(&bytes)),
        })
    }
}

/// The linker's build id of an ELF file; `None` if the file is no ELF file or has none.
pub fn build_id(path: &Path) -> io::Result<Option<Vec<u8>>> {
    Ok(build_id_of(&map(path)?))
}

fn build_id_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = object::File::parse(bytes).ok()?;
    if !matches!(file.kind(), ObjectKind::Executable | ObjectKind::Dynamic) {
        return None;
    }
    file.build_id().ok()?.filter(|id| !id.is_empty()).map(<[u8]>::to_vec)
}

impl fmt::Display for ProgramId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramId::Build(id) => {
                f.write_str("build:")?;
                id.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            ProgramId::Content(hash) => write!(f, "content:{hash:032x}"),
        }
    }
}

/// A text that is no [`ProgramId`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAProgramId(String);

impl fmt::Display for NotAProgramId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no program id (expected `build:` or `content:` and hexadecimal digits)", self.0)
    }
}

impl std::error::Error for NotAProgramId {}

impl FromStr for ProgramId {
    type Err = NotAProgramId;

    fn from_str(text: &str) -> Result<ProgramId, NotAProgramId> {
        let parse = || {
            let (kind, digits) = text.split_once(':')?;
            if !digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
                return None;
            }
            match kind {
                "build" if !digits.is_empty() && digits.len() % 2 == 0 => (0..digits.len() / 2)
                    .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok())
                    .collect::<Option<_>>()
                    .map(ProgramId::Build),
                "content" if digits.len() == 32 => {
                    u128::from_str_radix(digits, 16).ok().map(ProgramId::Content)
                }
                _ => None,
            }
        };
        parse().ok_or_else(|| NotAProgramId(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip() {
        for id in
            [ProgramId::Build(vec![0, 0xab, 0x10]), ProgramId::Content(7), ProgramId::Content(u128::MAX)]
        {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for bad in ["", "build:", "build:abc", "build:AB", "content:12", "sha:00", "build:+1"] {
            assert!(bad.parse::<ProgramId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_content_counts_without_a_build_id() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("script");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let before = ProgramId::of(&file).unwrap();
        assert!(matches!(before, ProgramId::Content(_)));
        assert_eq!(build_id(&file).unwrap(), None);
        std::fs::write(&file, "#!/bin/sh\n\n").unwrap();
        assert_ne!(ProgramId::of(&file).unwrap(), before);
        std::fs::write(&file, "").unwrap();
        assert!(matches!(ProgramId::of(&file).unwrap(), ProgramId::Content(_)));
        assert!(ProgramId::of(&dir.path().join("missing")).is_err());
    }
}
