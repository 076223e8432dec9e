//! A place in the source that an address belongs to.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::demangle::Name;

/// An address of code to look up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Pc {
    /// The instruction at this address.
    At(u64),
    /// The call before this address: what a stack and the runtime's hooks hold.
    Return(u64),
}

impl Pc {
    /// The address as given.
    pub fn value(self) -> u64 {
        let (Pc::At(value) | Pc::Return(value)) = self;
        value
    }

    /// An address inside the instruction meant.
    pub(crate) fn inside(self) -> u64 {
        match self {
            Pc::At(value) => value,
            Pc::Return(value) => value.saturating_sub(1),
        }
    }
}

/// Who wrote the code of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Origin {
    /// The program's own code.
    User,
    /// A package from a registry.
    Dependency,
    /// The language's or the system's library, or Threadbare's runtime.
    Library,
}

/// One function at an address; an address in inlined code has several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The address as asked for.
    pub address: u64,
    /// The function, demangled.
    pub name: Option<Name>,
    /// The address's distance from the function's start, where only the symbol table knows the function.
    pub offset: Option<u64>,
    /// The source file, with its folder as the compiler saw it.
    pub file: Option<Arc<Path>>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// Whether the compiler put this function's code into the next frame's function.
    pub inlined: bool,
    /// The index of the module.
    pub module: Option<usize>,
    /// The module's file.
    pub module_path: Option<Arc<Path>>,
}

impl Frame {
    /// The function with parameters and type arguments, or `??`.
    pub fn function(&self) -> &str {
        self.name.as_ref().map_or("??", |name| &name.full)
    }

    /// The function without parameters and type arguments, or `??`.
    pub fn short_name(&self) -> &str {
        self.name.as_ref().map_or("??", |name| &name.short)
    }

    /// Who wrote the code.
    pub fn origin(&self) -> Origin {
        if let Some(module) = &self.module_path
            && is_library_module(module)
        {
            return Origin::Library;
        }
        match &self.file {
            Some(file) => origin_of_file(file),
            None if is_library_function(self.function()) => Origin::Library,
            None => Origin::User,
        }
    }

    /// Whether the code is the language's or the system's, so that a report looks for a frame further out.
    pub fn is_library(&self) -> bool {
        self.origin() == Origin::Library
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, &self.module_path) {
            (Some(name), _) => f.write_str(&name.full)?,
            (None, Some(module)) => write!(f, "{:#x} in {}", self.address, module.display())?,
            (None, None) => write!(f, "{:#x}", self.address)?,
        }
        if let Some(file) = &self.file {
            write!(f, " at {}", file.display())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
        }
        Ok(())
    }
}

/// The frame a report shows first: the innermost of the user's own, else of a dependency, else the innermost.
pub fn first_user_frame(frames: &[Frame]) -> Option<&Frame> {
    let of = |origin| frames.iter().find(|frame| frame.origin() == origin);
    of(Origin::User).or_else(|| of(Origin::Dependency)).or(frames.first())
}

pub(crate) fn origin_of_file(file: &Path) -> Origin {
    const SYSTEM: [&str; 8] = [
        "/rustc/",
        "/usr/include/",
        "/usr/lib/",
        "/usr/src/glibc",
        "/usr/local/include/c++/",
        "/build/glibc",
        "/build/gcc",
        "/rust/deps/",
    ];
    let text = file.to_string_lossy();
    if SYSTEM.iter().any(|prefix| text.starts_with(prefix))
        || text.contains("/lib/rustlib/src/rust/library/")
        || text.contains("/include/c++/")
        || (text.starts_with("library/") && file.is_relative())
    {
        return Origin::Library;
    }
    if text.contains("/registry/src/") || text.contains("/git/checkouts/") {
        return Origin::Dependency;
    }
    Origin::User
}

fn is_library_module(module: &Path) -> bool {
    const STEMS: [&str; 18] = [
        "libc",
        "libm",
        "libpthread",
        "libdl",
        "librt",
        "libresolv",
        "libutil",
        "libanl",
        "ld-linux-x86-64",
        "ld-linux-aarch64",
        "ld-musl-x86_64",
        "libstdc++",
        "libc++",
        "libc++abi",
        "libgcc_s",
        "libatomic",
        "libthreadbare_rt",
        "linux-vdso",
    ];
    let name = module.file_name().unwrap_or_default().to_string_lossy();
    let Some((stem, _)) = name.split_once(".so") else { return name == "[vdso]" };
    // Old glibc put its version before the dot: `libc-2.31.so`.
    let stem = stem.split_once("-2.").map_or(stem, |(stem, _)| stem);
    STEMS.contains(&stem)
}

/// Functions that compilers and linkers add to every program, and libraries known by name only.
fn is_library_function(name: &str) -> bool {
    const PREFIXES: [&str; 9] =
        ["std::", "core::", "alloc::", "__gnu_cxx::", "__libc_", "__tsan_", "__cxa_", "_Unwind_", "<std::"];
    const NAMES: [&str; 9] = [
        "_start",
        "_init",
        "_fini",
        "_dl_relocate_static_pie",
        "deregister_tm_clones",
        "register_tm_clones",
        "__do_global_dtors_aux",
        "frame_dummy",
        "__rust_begin_short_backtrace",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.starts_with("<core::")
        || name.starts_with("<alloc::")
        || NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: Option<&str>, file: Option<&str>, module: &str) -> Frame {
        Frame {
            address: 0x1000,
            name: function.map(Name::of_symbol),
            offset: None,
            file: file.map(|file| Path::new(file).into()),
            line: file.map(|_| 7),
            column: None,
            inlined: false,
            module: Some(0),
            module_path: Some(Path::new(module).into()),
        }
    }

    #[test]
    fn libraries_are_told_from_the_users_code() {
        for (function, file, module, origin) in [
            (Some("main"), Some("/home/me/bank.c"), "/home/me/bank", Origin::User),
            (Some("helper"), None, "/home/me/bank", Origin::User),
            (Some("work"), Some("/home/me/libs/stack.c"), "/home/me/libcustom.so", Origin::User),
            (Some("work"), Some("/home/me/registry/src.c"), "/home/me/libcc.so.1", Origin::User),
            (Some("_start"), None, "/home/me/bank", Origin::Library),
            (Some("malloc"), None, "/lib/x86_64-linux-gnu/libc.so.6", Origin::Library),
            (Some("malloc"), None, "/lib/libc-2.31.so", Origin::Library),
            (Some("x"), None, "[vdso]", Origin::Library),
            (Some("x"), Some("/w/crates/rt/src/lib.rs"), "/c/libthreadbare_rt.so", Origin::Library),
            (Some("std::rt::lang_start"), None, "/home/me/bank", Origin::Library),
            (Some("f"), Some("/rustc/abc/library/std/src/rt.rs"), "/home/me/bank", Origin::Library),
            (Some("f"), Some("/usr/include/c++/12/bits/invoke.h"), "/home/me/bank", Origin::Library),
            (
                Some("f"),
                Some("/root/.cargo/registry/src/index-1/dashmap-6.0.0/src/lib.rs"),
                "/home/me/bank",
                Origin::Dependency,
            ),
        ] {
            let frame = frame(function, file, module);
            assert_eq!(frame.origin(), origin, "{frame} in {module}");
            assert_eq!(frame.is_library(), origin == Origin::Library);
        }
    }

    #[test]
    fn the_first_user_frame_wins() {
        let frames = [
            frame(Some("malloc"), None, "/lib/libc.so.6"),
            frame(Some("insert"), Some("/r/registry/src/i/dashmap/lib.rs"), "/home/me/bank"),
            frame(Some("main"), Some("/home/me/bank.rs"), "/home/me/bank"),
        ];
        assert_eq!(first_user_frame(&frames).unwrap().function(), "main");
        assert_eq!(first_user_frame(&frames[..2]).unwrap().function(), "insert");
        assert_eq!(first_user_frame(&frames[..1]).unwrap().function(), "malloc");
        assert!(first_user_frame(&[]).is_none());
    }
}
