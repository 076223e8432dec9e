//! What of the environment a run depends on.
//!
//! A run that is made again somewhere else must find what the first one found. Some variables change what a program does without
//! its doing: how a panic is told, the language, what the loader loads. Those are the run's own: they are part of the target,
//! of the schedule and of the journal, and what the driver itself was given does not reach the program. All others pass
//! from the driver to the program; of them a schedule keeps the names with a few bits of the values, enough to say
//! which one differs and too little to tell a secret.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use threadbare_trace::hash::Fnv;

/// Variables that are the run's own, by name.
const NAMES: [&str; 8] = [
    "LANG",
    "LANGUAGE",
    "TZ",
    "GLIBC_TUNABLES",
    "LOCPATH",
    "NLSPATH",
    "POSIXLY_CORRECT",
    "UV_THREADPOOL_SIZE",
];
/// The same by how their names begin.
const BEGINNINGS: [&str; 9] = ["RUST_", "LC_", "LD_", "MALLOC_", "OMP_", "GOMP_", "KMP_", "RAYON_", "TOKIO_"];
/// Variables that are another one in every terminal and say nothing.
const FLEETING: [&str; 10] = [
    "_",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "COLUMNS",
    "LINES",
    "WINDOWID",
    "INVOCATION_ID",
    "TERM_SESSION_ID",
    "NO_COLOR",
];

/// A variable by name, with a few bits of its value.
pub type Sign = (String, u16);

/// Whether a variable is the run's own.
pub(crate) fn matters(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    })
}

/// The driver's variables of that kind, for the runs of a new campaign; those that `given` has stay as they are.
pub fn add_own(given: &mut Vec<(OsString, OsString)>) {
    let mut own: Vec<_> = std::env::vars_os().filter(|(name, _)| matters(name)).collect();
    own.retain(|(name, _)| given.iter().all(|(other, _)| other != name));
    own.sort();
    given.extend(own);
}

/// The signs of the driver's other variables, by name.
pub fn signs() -> Vec<Sign> {
    let mut signs: Vec<Sign> = std::env::vars_os()
        .filter(|(name, _)| !matters(name))
        .filter_map(|(name, value)| {
            let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let name = name.into_string().ok().filter(|name| !name.is_empty() && plain(name))?;
            (!FLEETING.contains(&name.as_str())).then(|| (name, sign(&value)))
        })
        .collect();
    signs.sort();
    signs
}

fn sign(value: &OsStr) -> u16 {
    let mut hash = Fnv::new();
    hash.write(value.as_bytes());
    (hash.finish() >> 48) as u16
}

/// What is another in the second list than in the first, in words.
pub fn difference(then: &[Sign], now: &[Sign]) -> Option<String> {
    let find =
        |list: &[Sign], name: &str| list.iter().find(|(other, _)| other == name).map(|(_, sign)| *sign);
    let mut parts = Vec::new();
    let mut tell = |what: &str, names: Vec<&str>| {
        const MOST: usize = 8;
        if !names.is_empty() {
            let more =
                if names.len() > MOST { format!(" and {} more", names.len() - MOST) } else { String::new() };
            parts.push(format!("{what} {}{more}", names[..names.len().min(MOST)].join(", ")));
        }
    };
    let names = |list: &'_ [Sign], keep: &dyn Fn(&Sign) -> bool| -> Vec<String> {
        list.iter().filter(|sign| keep(sign)).map(|(name, _)| name.clone()).collect()
    };
    let other = names(then, &|(name, sign)| find(now, name).is_some_and(|here| here != *sign));
    let gone = names(then, &|(name, _)| find(now, name).is_none());
    let new = names(now, &|(name, _)| find(then, name).is_none());
    for (what, list) in [("another value of", &other), ("without", &gone), ("with", &new)] {
        tell(what, list.iter().map(String::as_str).collect());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_a_program_unasked_is_the_runs_own() {
        for name in ["RUST_BACKTRACE", "RUST_LOG", "LC_ALL", "LANG", "LD_LIBRARY_PATH", "MALLOC_ARENA_MAX"] {
            assert!(matters(OsStr::new(name)), "{name}");
        }
        for name in ["HOME", "PATH", "LANGUAGES", "TERM", "MY_RUST_LOG"] {
            assert!(!matters(OsStr::new(name)), "{name}");
        }
        let mut given = vec![(OsString::from("RUST_LOG"), OsString::from("mine"))];
        add_own(&mut given);
        assert_eq!(given.iter().filter(|(name, _)| name == "RUST_LOG").count(), 1);
        assert!(given.iter().all(|(name, _)| matters(name)));
    }

    #[test]
    fn differences_are_named() {
        let list = |signs: &[(&str, u16)]| -> Vec<Sign> {
            signs.iter().map(|(name, sign)| ((*name).to_owned(), *sign)).collect()
        };
        let then = list(&[("A", 1), ("B", 2), ("C", 3)]);
        assert_eq!(difference(&then, &then), None);
        let now = list(&[("A", 1), ("B", 7), ("D", 4)]);
        let told = difference(&then, &now).unwrap();
        assert_eq!(told, "another value of B; without C; with D");
        assert_ne!(sign(OsStr::new("one")), sign(OsStr::new("two")));
    }
}
