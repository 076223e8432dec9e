//! The calls that the compilers' pass puts before accesses, by name: the list of the runtime's (`crates/rt/src/tsan`).

use serde::{Deserialize, Serialize};

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It reads and writes.
    Update,
    /// It reads, and writes if it found what it expected.
    CompareExchange,
}

impl Kind {
    /// Whether it may see a value.
    pub fn reads(self) -> bool {
        self != Kind::Write
    }

    /// Whether it may leave one.
    pub fn writes(self) -> bool {
        self != Kind::Read
    }
}

/// How many bytes an access touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Size {
    /// So many.
    Bytes(u64),
    /// As many as the program computes.
    Unknown,
}

/// One access that a call stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    pub(crate) kind: Kind,
    pub(crate) atomic: bool,
    /// The argument that holds the address.
    pub(crate) address: usize,
    /// Bytes, or the argument that holds how many.
    pub(crate) size: Extent,
}

/// Where the size of an access is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Fixed(u64),
    Argument(usize),
    /// Until a zero, as strings.
    Open,
}

/// What a hook does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// Announces accesses.
    Accesses(Vec<Announced>),
    /// Function entry and exit, fences, annotations.
    Other,
}

/// What a hook of this name does; `None` if it is none.
pub(crate) fn named(name: &str) -> Option<Hook> {
    if let Some(rest) = name.strip_prefix("__tsan_") {
        return Some(tsan(rest).map_or(Hook::Other, Hook::Accesses));
    }
    let plain = |kind, address, size| Announced { kind, atomic: false, address, size };
    let accesses = match name {
        "memcpy" | "memmove" | "mempcpy" | "__memcpy_chk" | "__memmove_chk" => {
            let size = Extent::Argument(2);
            vec![plain(Kind::Read, 1, size), plain(Kind::Write, 0, size)]
        }
        "memset" | "__memset_chk" => vec![plain(Kind::Write, 0, Extent::Argument(2))],
        "bzero" => vec![plain(Kind::Write, 0, Extent::Argument(1))],
        "memcmp" | "bcmp" => {
            let size = Extent::Argument(2);
            vec![plain(Kind::Read, 0, size), plain(Kind::Read, 1, size)]
        }
        "memchr" => vec![plain(Kind::Read, 0, Extent::Argument(2))],
        "strlen" | "strchr" | "strrchr" | "strdup" | "atoi" | "puts" | "perror" => {
            vec![plain(Kind::Read, 0, Extent::Open)]
        }
        "strcmp" | "strncmp" | "strcasecmp" | "strstr" => {
            vec![plain(Kind::Read, 0, Extent::Open), plain(Kind::Read, 1, Extent::Open)]
        }
        "strcpy" | "strncpy" | "stpcpy" | "strcat" | "strncat" => {
            vec![plain(Kind::Read, 1, Extent::Open), plain(Kind::Write, 0, Extent::Open)]
        }
        _ => return None,
    };
    Some(Hook::Accesses(accesses))
}

fn tsan(name: &str) -> Option<Vec<Announced>> {
    if let Some(atomic) = name.strip_prefix("atomic") {
        let digits = atomic.bytes().take_while(u8::is_ascii_digit).count();
        let bytes = atomic[..digits].parse::<u64>().ok()? / 8;
        let operation = atomic[digits..].strip_prefix('_')?;
        let kind = match operation {
            "load" => Kind::Read,
            "store" => Kind::Write,
            _ if operation.starts_with("compare_exchange") => Kind::CompareExchange,
            _ => Kind::Update,
        };
        return Some(vec![Announced { kind, atomic: true, address: 0, size: Extent::Fixed(bytes) }]);
    }
    let plain = |kind, size| vec![Announced { kind, atomic: false, address: 0, size }];
    let copy = Extent::Argument(2);
    match name {
        "vptr_read" => return Some(plain(Kind::Read, Extent::Fixed(8))),
        "vptr_update" => return Some(plain(Kind::Write, Extent::Fixed(8))),
        "read_range" | "read_range_pc" => return Some(plain(Kind::Read, Extent::Argument(1))),
        "write_range" | "write_range_pc" => return Some(plain(Kind::Write, Extent::Argument(1))),
        "memset" => return Some(plain(Kind::Write, copy)),
        "memcpy" | "memmove" => {
            let read = Announced { kind: Kind::Read, atomic: false, address: 1, size: copy };
            return Some(vec![read, Announced { kind: Kind::Write, address: 0, ..read }]);
        }
        _ => {}
    }
    let name = name.strip_suffix("_pc").unwrap_or(name);
    let name = name.strip_prefix("unaligned_").unwrap_or(name);
    let name = name.strip_prefix("volatile_").unwrap_or(name);
    let (kind, size) = [("read_write", Kind::Update), ("read", Kind::Read), ("write", Kind::Write)]
        .into_iter()
        .find_map(|(word, kind)| Some((kind, name.strip_prefix(word)?.parse().ok()?)))?;
    Some(plain(kind, Extent::Fixed(size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(name: &str) -> Option<(Kind, bool, Extent)> {
        match named(name)? {
            Hook::Accesses(accesses) => Some((accesses[0].kind, accesses[0].atomic, accesses[0].size)),
            Hook::Other => None,
        }
    }

    #[test]
    fn names_tell_kind_and_size() {
        assert_eq!(first("__tsan_read8"), Some((Kind::Read, false, Extent::Fixed(8))));
        assert_eq!(first("__tsan_unaligned_volatile_write4"), Some((Kind::Write, false, Extent::Fixed(4))));
        assert_eq!(first("__tsan_read_write16"), Some((Kind::Update, false, Extent::Fixed(16))));
        assert_eq!(first("__tsan_read2_pc"), Some((Kind::Read, false, Extent::Fixed(2))));
        assert_eq!(first("__tsan_vptr_update"), Some((Kind::Write, false, Extent::Fixed(8))));
        assert_eq!(first("__tsan_atomic32_load"), Some((Kind::Read, true, Extent::Fixed(4))));
        assert_eq!(
            first("__tsan_atomic128_compare_exchange_val"),
            Some((Kind::CompareExchange, true, Extent::Fixed(16)))
        );
        assert_eq!(first("__tsan_atomic8_fetch_nand"), Some((Kind::Update, true, Extent::Fixed(1))));
        for other in ["__tsan_func_entry", "__tsan_atomic_thread_fence", "__tsan_init"] {
            assert_eq!(named(other), Some(Hook::Other), "{other}");
        }
        assert_eq!(named("malloc"), None);
    }
}
