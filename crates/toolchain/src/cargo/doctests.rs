//! Are there doctests? A note on what is not run is of use only where something is left out.

use std::fs;
use std::path::Path;

/// Whether a source file in `folder`, or below it, has code in a doc comment. Indented code is not looked for.
pub(super) fn are_in(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => are_in(&path),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") => {
                fs::read_to_string(&path).is_ok_and(|text| has_code(&text))
            }
            _ => false,
        }
    })
}

fn has_code(source: &str) -> bool {
    let mut in_block = false;
    source.lines().map(str::trim_start).any(|line| {
        in_block |= line.starts_with("/**") || line.starts_with("/*!");
        let documents = in_block || ["///", "//!"].iter().any(|mark| line.starts_with(mark));
        in_block &= !line.contains("*/");
        let fence = documents && (line.contains("```") || line.contains("~~~"));
        fence || line.contains("doc = include_str!")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_comments_that_document() {
        assert!(has_code("//! Why.\n//!\n//! ```\n//! f();\n//! ```\n"));
        assert!(has_code("mod a {\n    /// ```no_run\n    fn f() {}\n}"));
        assert!(has_code("/**\n * ```\n */\nfn f() {}"));
        assert!(has_code("#![doc = include_str!(\"../README.md\")]"));
        assert!(!has_code("/// Plain words.\nfn f() {}\n/** One line. */\nconst A: &str = \"```\";"));
        assert!(!has_code("// ```\nfn f() {}"));
    }

    #[test]
    fn folders_are_looked_through() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("deep")).unwrap();
        fs::write(root.path().join("lib.rs"), "fn f() {}").unwrap();
        fs::write(root.path().join("deep/notes.md"), "/// ```").unwrap();
        assert!(!are_in(root.path()));
        fs::write(root.path().join("deep/a.rs"), "/// ```\n/// f()\n/// ```\nfn f() {}").unwrap();
        assert!(are_in(root.path()));
    }
}
