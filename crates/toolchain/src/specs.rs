//! A specs file that teaches gcc's driver our way of building.
//!
//! `-fsanitize=thread` on gcc's command line does two things: it turns on the pass in the compiler proper and it
//! links libtsan. Only the first is wanted. A specs file can say exactly that: the driver itself never sees the
//! flag, the compiler proper always does, and the link line begins with our library. Everything the driver knows
//! (several sources at once, `-save-temps`, dependency files, precompiled headers, LTO, plugins) stays its business.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::atomic_file;
use crate::error::{Error, Result};
use crate::runtime::{LIBRARY_NAME, PlacedRuntime};

/// What the specs file adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Additions {
    /// The pass, in every compilation.
    pub(crate) instrument: bool,
    /// The runtime, in every link.
    pub(crate) link: bool,
}

/// The path of a specs file that makes `additions`.
pub(crate) fn place(runtime: &PlacedRuntime, additions: Additions) -> Result<PathBuf> {
    let text = text(runtime.link_folder(), additions);
    let path = runtime.cache().join("specs").join(format!("{:016x}.specs", fingerprint(&text)));
    atomic_file::place(&path, &text, 0o644).map_err(|source| Error::File {
        action: "write the compiler specs",
        path: path.clone(),
        source,
    })?;
    Ok(path)
}

fn text(link_folder: &Path, additions: Additions) -> Vec<u8> {
    let mut text = Vec::new();
    if additions.instrument {
        // Both come after the user's own `-f` flags, so that the last word is ours. The second is for `-E`,
        // which must see the same __SANITIZE_THREAD__. The blank at the end parts them from what a distribution adds.
        // A fence is told as one the sanitizer does not understand; ours does.
        text.extend_from_slice(
            b"*cc1_options:\n+ -fsanitize=thread -Wno-tsan \n\n*cpp_options:\n+ -fsanitize=thread \n\n",
        );
    }
    if additions.link {
        let folder = escaped(link_folder);
        text.extend_from_slice(b"*link:\n+ %{!r:--push-state --no-as-needed ");
        text.extend_from_slice(&folder);
        text.extend_from_slice(format!("/{LIBRARY_NAME} --pop-state -rpath ").as_bytes());
        text.extend_from_slice(&folder);
        text.extend_from_slice(b"}\n\n");
    }
    text
}

/// A path as one word of a spec.
fn escaped(path: &Path) -> Vec<u8> {
    let mut word = Vec::new();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' => word.extend_from_slice(b"%%"),
            b' ' | b'\t' | b'\\' | b'{' | b'}' | b'|' | b';' | b':' | b'&' | b'*' | b'<' | b'(' | b')' => {
                word.extend_from_slice(&[b'\\', byte]);
            }
            _ => word.push(byte),
        }
    }
    word
}

/// FNV-1a: a file name for a text, the same in every run.
pub(crate) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
