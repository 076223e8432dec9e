//! Source files as other tools name them: relative to the folder they work in, or as a URI.

use std::fmt::Write;
use std::path::Path;

/// A file relative to a folder, if it lies in it.
pub fn relative(file: &str, folder: &Path) -> Option<String> {
    let path = Path::new(file);
    let within = match path.is_absolute() {
        true => path.strip_prefix(folder).ok()?,
        false => path,
    };
    let within = within.to_str()?.trim_start_matches("./");
    // What leads out of the folder is not in it.
    (!within.is_empty() && !within.split('/').any(|part| part == "..")).then(|| within.to_owned())
}

/// A path as the path of a URI.
pub fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'+'
            | b'@'
            | b'='
            | b',' => {
                out.push(char::from(byte));
            }
            byte => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}

/// An absolute path as a URI.
pub fn file_uri(path: &str) -> String {
    format!("file://{}", encoded(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_folder() {
        let folder = Path::new("/home/me/bank");
        assert_eq!(relative("/home/me/bank/src/a.c", folder).as_deref(), Some("src/a.c"));
        assert_eq!(relative("./src/a.c", folder).as_deref(), Some("src/a.c"));
        assert_eq!(relative("/home/me/banks/a.c", folder), None);
        assert_eq!(relative("../a.c", folder), None);
        assert_eq!(encoded("a b/ü%:1"), "a%20b/%C3%BC%25%3A1");
    }
}
