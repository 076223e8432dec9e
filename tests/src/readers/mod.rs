//! Readers of files, fed with files that are not as they were written: none may panic, take for ever, or take more memory than a file of that
//! size is worth.
//!
//! Inputs are made from real samples ([`samples`]) by [`mutate`], each from a seed and a number alone. A child process reads a range of them with
//! its memory bounded, and says which one it is at; whatever ends it is laid at that one's door ([`hunt`]). What is found is kept in
//! `tests/readers/`, and `tests/tests/readers.rs` reads it again.

pub mod hunt;
pub mod mutate;
pub mod read;
pub mod samples;

/// A reader, and how what it reads is made.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// Its name, and the folder of its cases.
    pub name: &'static str,
    /// Reads, and looks at what was read as the tool would; whether it was taken for what it should be.
    pub read: fn(&[u8]) -> bool,
    /// Words that its files are made of.
    pub words: &'static [&'static str],
    /// Puts right what would keep a damaged input from being looked at: checksums, lengths.
    pub mend: fn(Vec<u8>) -> Vec<u8>,
    /// For how many inputs of the others it makes one: some are slow.
    pub slowness: u64,
}

/// All readers.
pub const READERS: &[Reader] = &[
    Reader {
        name: "schedule",
        read: read::schedule,
        words: &[
            "places:",
            "steps:",
            "end ",
            "( ",
            " )*9",
            "0.1+",
            "w1/3",
            "@a",
            "then: ",
            "known: ",
            "18446744073709551615",
        ],
        mend: mutate::as_it_is,
        slowness: 1,
    },
    Reader {
        name: "journal",
        read: read::journal,
        words: &["threadbare campaign 2\n"],
        mend: mutate::sum_journal,
        slowness: 8,
    },
    Reader {
        name: "coverage",
        read: read::coverage,
        words: &["null", "[]", "{}", "-1", "1e308", "18446744073709551615", "\"\""],
        mend: mutate::as_it_is,
        slowness: 1,
    },
    Reader {
        name: "finding",
        read: read::finding,
        words: &["null", "[]", "{}", "-1", "0", "4294967295", "\"\"", "\u{202e}"],
        mend: mutate::as_it_is,
        slowness: 2,
    },
    Reader {
        name: "trace",
        read: read::trace,
        words: &["threadbare trace 1\n", "threadbare trace ends\n"],
        mend: mutate::as_it_is,
        slowness: 1,
    },
    Reader {
        name: "trace-inside",
        read: read::trace_inside,
        words: &[],
        mend: mutate::as_it_is,
        slowness: 2,
    },
    Reader {
        name: "suppressions",
        read: read::suppressions,
        words: &["race:", "deadlock:", "*", "^", "$", "called_from", "(", "[", "#"],
        mend: mutate::as_it_is,
        slowness: 1,
    },
    Reader {
        name: "invariants",
        read: read::invariants,
        words: &["==", "<=", "one of", "orig(", ")", "%", "->", "[0]", "-9223372036854775808", "+", "*"],
        mend: mutate::as_it_is,
        slowness: 1,
    },
    Reader {
        name: "daikon",
        read: read::daikon,
        words: &[
            "decl-version 2.0",
            "ppt ",
            ":::ENTER",
            ":::EXIT0",
            "variable ",
            "dec-type ",
            "rep-type ",
            "this_invocation_nonce",
        ],
        mend: mutate::as_it_is,
        slowness: 1,
    },
    Reader {
        name: "inputs",
        read: read::inputs,
        words: &[
            "{x:int(",
            "..",
            ")}",
            "{{",
            "}}",
            "string(",
            "one-of(",
            " = ",
            "|",
            "<s>",
            "<n>",
            "cc ",
            "shrinks to ",
        ],
        mend: mutate::as_it_is,
        slowness: 1,
    },
    Reader {
        name: "symbols",
        read: read::symbols,
        words: &[".debug_info", ".debug_line", "\u{7f}ELF"],
        mend: mutate::as_it_is,
        slowness: 8,
    },
    Reader {
        name: "code",
        read: read::code,
        words: &["\u{7f}ELF", ".text", "__tsan_write4"],
        mend: mutate::as_it_is,
        slowness: 16,
    },
];

/// The reader with this name.
pub fn named(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}
