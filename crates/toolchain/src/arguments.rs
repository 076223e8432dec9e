//! What a compiler's command line asks for.
//!
//! The driver of gcc or clang stays the judge of its own arguments: nothing is taken apart or put together again
//! here. This reading answers the few questions that decide what is added: does the command link, does it only ask
//! the compiler something, which sanitizers does it want, is it something that cannot work.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::words;

/// How far the command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// A question to the compiler, or nothing to work on: passed on untouched.
    Query,
    /// Compiles, preprocesses, assembles or precompiles, but links nothing.
    Compile,
    /// `ld -r`: joins objects into one object.
    Relocatable,
    /// Makes a program or a shared library.
    Link,
}

/// The answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) stage: Stage,
    /// The flag that asks for a static link.
    pub(crate) static_flag: Option<String>,
    /// The flag that asks for another word size.
    pub(crate) width_flag: Option<String>,
    /// The user's own last word on `-fsanitize=thread`.
    pub(crate) thread_sanitizer: Option<bool>,
    /// Another sanitizer that cannot share a program with our runtime.
    pub(crate) other_sanitizer: Option<String>,
}

/// Flags whose value is the next word, so that the next word is no flag and no input.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-u",
    "-T",
    "-e",
    "-z",
    "-A",
    "-F",
    "-B",
    "-G",
    "-J",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-include-pch",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "--param",
    "-wrapper",
    "-framework",
    "-gcc-toolchain",
    "--sysroot",
    "--config",
    "-rpath",
    "-ccc-install-dir",
    "-resource-dir",
    "-working-directory",
    "--serialize-diagnostics",
    "-dependency-file",
];

/// Flags that stop the driver before the linker.
const NO_LINK: &[&str] = &[
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--precompile",
    "--analyze",
    "-emit-ast",
    "-emit-pch",
    "-emit-module",
    "--compile",
    "--assemble",
    "--preprocess",
    "--dependencies",
    "--user-dependencies",
    "-emit-merged-ifs",
    "-fmodule-only",
    "-verify-pch",
    "-rewrite-objc",
    "--migrate",
];

/// Sanitizers whose runtimes or shadow memory exclude ours.
const OTHER_RUNTIMES: &[&str] = &[
    "address",
    "kernel-address",
    "hwaddress",
    "kernel-hwaddress",
    "memory",
    "kernel-memory",
    "leak",
    "dataflow",
    "type",
    "realtime",
    "numerical",
    "pointer-compare",
    "pointer-subtract",
    "memtag",
    "memtag-stack",
    "memtag-heap",
    "safe-stack",
    "scudo",
];

const HEADERS: &[&str] = &["h", "H", "hh", "hp", "hpp", "hxx", "h++", "HPP", "tcc", "inl"];

/// A response file may name others; gcc gives up at the same depth of a chain that names itself.
const DEEPEST_RESPONSE: usize = 100;

impl Arguments {
    /// Reads `arguments` as a compiler started in `folder` would.
    pub(crate) fn read(arguments: &[OsString], folder: &Path) -> Self {
        let mut words = Vec::with_capacity(arguments.len());
        expand(arguments, folder, 0, &mut words);
        let mut reader = Reader::default();
        let mut rest = words.iter().map(|word| word.to_string_lossy());
        while let Some(word) = rest.next() {
            let value = if WITH_VALUE.contains(&word.as_ref()) { rest.next() } else { None };
            reader.word(&word, value.as_deref());
        }
        reader.finish()
    }
}

#[derive(Default)]
struct Reader {
    query: bool,
    stops_early: bool,
    relocatable: bool,
    options_over: bool,
    language: Option<String>,
    inputs: usize,
    headers: usize,
    static_flag: Option<String>,
    width_flag: Option<String>,
    thread: Option<bool>,
    others: BTreeSet<String>,
}

impl Reader {
    fn word(&mut self, word: &str, value: Option<&str>) {
        if self.options_over || word == "-" || !word.starts_with('-') {
            return self.input(word);
        }
        match word {
            "--" => self.options_over = true,
            "-x" => self.language = value.filter(|language| *language != "none").map(str::to_owned),
            "-static" | "--static" | "-static-pie" | "--static-pie" => self.static_flag = Some(word.into()),
            "-m32" | "-mx32" | "-m16" => self.width_flag = Some(word.into()),
            "-m64" => self.width_flag = None,
            "-r" | "--relocatable" => self.relocatable = true,
            "--version" | "-dumpversion" | "-dumpfullversion" | "-dumpmachine" | "-dumpspecs" | "--help"
            | "-help" | "--target-help" | "-cc1" | "-cc1as" => self.query = true,
            "-Xlinker" => self.linker_words(value.unwrap_or_default()),
            _ if NO_LINK.contains(&word) => self.stops_early = true,
            _ => self.joined(word),
        }
    }

    fn joined(&mut self, word: &str) {
        if let Some(names) = word.strip_prefix("-fsanitize=") {
            names.split(',').for_each(|name| self.sanitizer(name, true));
        } else if let Some(names) = word.strip_prefix("-fno-sanitize=") {
            names.split(',').for_each(|name| self.sanitizer(name, false));
        } else if let Some(words) = word.strip_prefix("-Wl,") {
            words.split(',').for_each(|word| self.linker_words(word));
        } else if let Some(language) = word.strip_prefix("-x").or_else(|| word.strip_prefix("--language=")) {
            self.language = Some(language.to_owned()).filter(|language| language != "none");
        } else if word.starts_with("-l") {
            self.inputs += 1;
        } else if word.starts_with("-print-") || word.starts_with("--print-") || word.starts_with("--help=") {
            self.query = true;
        }
    }

    fn input(&mut self, word: &str) {
        self.inputs += 1;
        let header = match &self.language {
            Some(language) => language.ends_with("-header"),
            None => Path::new(word)
                .extension()
                .and_then(OsStr::to_str)
                .is_some_and(|extension| HEADERS.contains(&extension)),
        };
        self.headers += usize::from(header);
    }

    fn linker_words(&mut self, word: &str) {
        self.inputs += 1;
        if matches!(word, "-r" | "-i" | "--relocatable" | "-relocatable") {
            self.relocatable = true;
        }
    }

    fn sanitizer(&mut self, name: &str, on: bool) {
        match name {
            "thread" => self.thread = Some(on),
            "all" if !on => {
                self.thread = Some(false);
                self.others.clear();
            }
            _ if !OTHER_RUNTIMES.contains(&name) => {}
            _ if on => _ = self.others.insert(name.to_owned()),
            _ => _ = self.others.remove(name),
        }
    }

    fn finish(self) -> Arguments {
        let stage = if self.query || self.inputs == 0 {
            Stage::Query
        } else if self.stops_early || self.headers == self.inputs {
            Stage::Compile
        } else if self.relocatable {
            Stage::Relocatable
        } else {
            Stage::Link
        };
        Arguments {
            stage,
            static_flag: self.static_flag,
            width_flag: self.width_flag,
            thread_sanitizer: self.thread,
            other_sanitizer: self.others.into_iter().next(),
        }
    }
}

/// Puts the words of response files in the place of `@file`. A file that cannot be read is a word like any other,
/// as it is for gcc and clang.
fn expand(arguments: &[OsString], folder: &Path, depth: usize, words: &mut Vec<OsString>) {
    for argument in arguments {
        let file = argument.as_encoded_bytes().strip_prefix(b"@").filter(|_| depth < DEEPEST_RESPONSE);
        let text = file.and_then(|file| {
            let file = OsString::from_vec(file.to_vec());
            fs::read(folder.join(file)).ok()
        });
        match text {
            Some(text) => {
                expand(&words::split(&OsString::from_vec(text)), folder, depth + 1, words);
            }
            None => words.push(argument.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Arguments {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Arguments::read(&words, Path::new("/nowhere"))
    }

    #[test]
    fn stages() {
        for line in [
            "a.c",
            "a.o b.o -o prog",
            "-shared a.c",
            "-g -O2 a.c -lm",
            "-o -c a.c",
            "-MMD a.c -o a",
            "a.h a.c",
            "-x c - ",
            "-MF -E a.c",
            "-Xlinker -v a.o",
            "-D -c a.c",
            "-### a.c",
            "-v a.c",
            "-save-temps a.c",
        ] {
            assert_eq!(read(line).stage, Stage::Link, "{line}");
        }
        for line in [
            "-c a.c",
            "a.c -S",
            "-E -",
            "-M a.c",
            "-MM a.c",
            "-fsyntax-only a.c",
            "a.h",
            "-x c++-header a",
            "a.hpp -o b",
            "-xc-header a.txt",
            "--analyze a.c",
            "-c -static a.c",
        ] {
            assert_eq!(read(line).stage, Stage::Compile, "{line}");
        }
        for line in ["-r a.o -o b.o", "-nostdlib -Wl,-r a.o", "-Wl,--foo,-r a.o", "-Xlinker -r a.o"] {
            assert_eq!(read(line).stage, Stage::Relocatable, "{line}");
        }
        for line in [
            "",
            "-v",
            "--version",
            "-print-libgcc-file-name",
            "--print-search-dirs a.c",
            "-dumpmachine",
            "-c",
        ] {
            assert_eq!(read(line).stage, Stage::Query, "{line}");
        }
    }

    #[test]
    fn static_and_width() {
        assert_eq!(read("-static a.c").static_flag.as_deref(), Some("-static"));
        assert_eq!(read("-static-libgcc -static-libstdc++ a.c").static_flag, None);
        assert_eq!(read("-o -static a.c").static_flag, None);
        assert_eq!(read("-m32 a.c").width_flag.as_deref(), Some("-m32"));
        assert_eq!(read("-m32 -m64 a.c").width_flag, None);
    }

    #[test]
    fn sanitizers_in_order() {
        assert_eq!(read("a.c").thread_sanitizer, None);
        assert_eq!(read("-fsanitize=undefined,thread a.c").thread_sanitizer, Some(true));
        assert_eq!(read("-fsanitize=thread -fno-sanitize=all a.c").thread_sanitizer, Some(false));
        assert_eq!(read("-fno-sanitize=thread -fsanitize=thread a.c").thread_sanitizer, Some(true));
        assert_eq!(read("-fsanitize=undefined a.c").other_sanitizer, None);
        assert_eq!(read("-fsanitize=undefined,address a.c").other_sanitizer.as_deref(), Some("address"));
        assert_eq!(read("-fsanitize=address -fno-sanitize=address a.c").other_sanitizer, None);
        assert_eq!(read("-Xclang -fsanitize=memory a.c").other_sanitizer, None, "not the driver's");
    }

    #[test]
    fn response_files_nest_and_a_loop_ends() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "-c @b").unwrap();
        fs::write(folder.path().join("b"), "'x y.c' -fsanitize=address").unwrap();
        fs::write(folder.path().join("loop"), "a.c @loop").unwrap();
        let read = |word: &str| Arguments::read(&[OsString::from(word)], folder.path());
        assert_eq!(read("@a").stage, Stage::Compile);
        assert_eq!(read("@a").other_sanitizer.as_deref(), Some("address"));
        assert_eq!(read("@loop").stage, Stage::Link);
        assert_eq!(read("@missing").stage, Stage::Link, "a word like any other");
    }
}
