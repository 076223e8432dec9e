//! Splitting text into words as gcc and clang do for response files.
//!
//! Blanks separate, single and double quotes join, a backslash takes the next character as it is. The same rules
//! serve `THREADBARE_CC`, which may hold a program and arguments.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The words of `text`. An open quote at the end closes there.
pub(crate) fn split(text: &OsStr) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.as_bytes().iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, Some(open)) if byte == open => quote = None,
            (_, None) if byte.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// `text` as one word of a POSIX shell.
pub(crate) fn shell_quote(text: &OsStr) -> OsString {
    let mut quoted = vec![b'\''];
    for &byte in text.as_bytes() {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\\''"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        split(OsStr::new(text)).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn blanks_quotes_and_backslashes() {
        assert_eq!(words("a  b\n\tc"), ["a", "b", "c"]);
        assert_eq!(words(r#"-DA="x y" 'it''s' a\ b "" "#), ["-DA=x y", "its", "a b", ""]);
        assert_eq!(words(r#"-DS=\"q\""#), ["-DS=\"q\""]);
        assert_eq!(words("'open end"), ["open end"]);
        assert!(words(" \n ").is_empty());
    }

    #[test]
    fn shell_words_survive_a_shell() {
        let odd = "it's $HOME \\ \"x\"\n`y`";
        let command = format!("printf %s {}", shell_quote(OsStr::new(odd)).into_string().unwrap());
        let output = std::process::Command::new("sh").arg("-c").arg(command).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), odd);
    }
}
