//! Which test binaries have a harness of their own.
//!
//! cargo's messages and metadata do not say; the manifest does.

use std::fs;
use std::path::Path;

/// Whether the manifest says `harness = false` for this target. A manifest that cannot be read says nothing.
pub(super) fn is_custom(manifest: &Path, kind: &str, name: &str) -> bool {
    let Some(table) = fs::read_to_string(manifest).ok().and_then(|text| text.parse::<toml::Table>().ok())
    else {
        return false;
    };
    let without = |target: &toml::Value| target.get("harness").and_then(toml::Value::as_bool) == Some(false);
    let section = match kind {
        "bin" | "test" | "example" | "bench" => kind,
        _ => return table.get("lib").is_some_and(without),
    };
    let targets = table.get(section).and_then(toml::Value::as_array);
    targets.is_some_and(|targets| {
        targets
            .iter()
            .any(|target| target.get("name").and_then(toml::Value::as_str) == Some(name) && without(target))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_manifest_says() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        fs::write(
            &manifest,
            "[package]\nname='p'\n[lib]\nharness=false\n[[test]]\nname='own'\nharness=false\n[[test]]\nname='usual'\n",
        )
        .unwrap();
        assert!(is_custom(&manifest, "test", "own"));
        assert!(!is_custom(&manifest, "test", "usual"));
        assert!(!is_custom(&manifest, "bin", "own"));
        assert!(is_custom(&manifest, "lib", "p"));
        assert!(is_custom(&manifest, "rlib", "p"));
        assert!(!is_custom(&folder.path().join("missing"), "lib", "p"));
    }
}
