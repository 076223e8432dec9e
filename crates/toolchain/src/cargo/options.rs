//! Reading and rewriting cargo's arguments.
//!
//! Only the few options that Threadbare has an opinion on are known here; all else is cargo's business.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Whether `flag` is among `arguments`.
pub(super) fn has(arguments: &[OsString], flag: &str) -> bool {
    arguments.iter().any(|argument| argument == flag)
}

/// Whether `option` is given, as `--option VALUE` or `--option=VALUE`.
pub(super) fn has_option(arguments: &[OsString], option: &str) -> bool {
    arguments.iter().any(|argument| argument == option || joined_value(argument, option).is_some())
}

/// The values of `option`, in order.
pub(super) fn values(arguments: &[OsString], option: &str) -> Vec<OsString> {
    take(arguments, option).0
}

/// The values of `option`, and the arguments without it.
pub(super) fn take(arguments: &[OsString], option: &str) -> (Vec<OsString>, Vec<OsString>) {
    let (mut values, mut rest) = (Vec::new(), Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == option {
            values.extend(arguments.next().cloned());
        } else if let Some(value) = joined_value(argument, option) {
            values.push(value);
        } else {
            rest.push(argument.clone());
        }
    }
    (values, rest)
}

/// The arguments that say which manifest, lock file and configuration are meant, and how the network may be used:
/// `cargo metadata` takes them too.
pub(super) fn describing(arguments: &[OsString]) -> Vec<OsString> {
    const WITH_VALUE: [&str; 4] = ["--manifest-path", "--config", "--lockfile-path", "-Z"];
    const ALONE: [&str; 3] = ["--locked", "--offline", "--frozen"];
    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if WITH_VALUE.iter().any(|option| argument == option) {
            kept.push(argument.clone());
            kept.extend(rest.next().cloned());
        } else if ALONE.iter().any(|flag| argument == flag)
            || WITH_VALUE.iter().any(|option| joined_value(argument, option).is_some())
        {
            kept.push(argument.clone());
        }
    }
    kept
}

/// Whether the arguments choose the targets to test (`--lib`, `--test NAME` and so on) rather than leave it to cargo.
pub(super) fn choose_targets(arguments: &[OsString]) -> bool {
    const FLAGS: [&str; 6] = ["--lib", "--bins", "--examples", "--tests", "--benches", "--all-targets"];
    const OPTIONS: [&str; 4] = ["--bin", "--example", "--test", "--bench"];
    FLAGS.iter().any(|flag| has(arguments, flag))
        || OPTIONS.iter().any(|option| has_option(arguments, option))
}

fn joined_value(argument: &OsString, option: &str) -> Option<OsString> {
    let value = argument.as_bytes().strip_prefix(option.as_bytes())?;
    if option.starts_with("--") {
        return value.strip_prefix(b"=").map(|value| OsString::from_vec(value.to_vec()));
    }
    (!value.is_empty()).then(|| OsString::from_vec(value.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn options_in_both_spellings() {
        let line = words("--release --target a -p x --target=b name --target-dir t");
        let (values, rest) = take(&line, "--target");
        assert_eq!(values, ["a", "b"]);
        assert_eq!(rest, words("--release -p x name --target-dir t"));
    }

    #[test]
    fn what_describes_the_package() {
        let line = words("--release --config a.b=1 --config=c --locked -Zx -p y --manifest-path m");
        assert_eq!(describing(&line), words("--config a.b=1 --config=c --locked -Zx --manifest-path m"));
    }

    #[test]
    fn choices_of_targets() {
        assert!(!choose_targets(&words("--release -p x filter")));
        assert!(choose_targets(&words("--test=it")));
        assert!(choose_targets(&words("--lib")));
    }
}
