//! Compiles a program of `tests/programs`, runs it, and keeps what it told of itself.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use threadbare_symbols::{Module, Symbols};

/// A program that was run once.
pub(crate) struct Program {
    /// What the addresses below belong to.
    pub(crate) symbols: Symbols,
    /// Where each `mark` returned to.
    pub(crate) pcs: HashMap<String, u64>,
    /// Where each `show` pointed.
    pub(crate) data: HashMap<String, u64>,
    /// Each `heap`: where it returned to, the block's size and the offset in it.
    pub(crate) blocks: HashMap<String, (u64, u64, u64)>,
    /// The first strand's thread pointer.
    pub(crate) strand: u64,
    source: PathBuf,
    folder: TempDir,
}

/// What a program tells of itself, line by line.
#[derive(Default)]
pub(crate) struct Told {
    modules: Vec<Module>,
    pcs: HashMap<String, u64>,
    data: HashMap<String, u64>,
    blocks: HashMap<String, (u64, u64, u64)>,
    /// The first strand's thread pointer.
    pub(crate) strand: u64,
}

impl Told {
    /// A number in hexadecimal.
    pub(crate) fn number(text: &str) -> u64 {
        u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
    }

    /// Takes a line in.
    pub(crate) fn line(&mut self, line: &str) {
        let number = Told::number;
        match line.splitn(5, ' ').collect::<Vec<_>>()[..] {
            ["module", base, size, path] => self.modules.push(Module::new(path, number(base), number(size))),
            ["strand", thread_pointer] => self.strand = number(thread_pointer),
            ["pc", label, address] => drop(self.pcs.insert(label.to_owned(), number(address))),
            ["data", label, address] => drop(self.data.insert(label.to_owned(), number(address))),
            ["heap", label, pc, size, offset] => {
                self.blocks.insert(label.to_owned(), (number(pc), number(size), number(offset)));
            }
            _ => {}
        }
    }

    /// The symbols of the modules.
    pub(crate) fn symbols(&self) -> Symbols {
        assert!(!self.modules.is_empty());
        Symbols::with_folder(self.modules.clone(), sources())
    }
}

/// The folder with the sources.
pub(crate) fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Whether a tool can be called; tests of optional compilers ask.
pub(crate) fn has(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Runs a command in a folder and insists on its success.
pub(crate) fn run(folder: &Path, command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{command}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command} {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl Program {
    /// Compiles `source` with `compiler` and `flags`, then calls `after` on the folder with the program `bank`.
    pub(crate) fn build(compiler: &str, source: &str, flags: &[&str], after: impl FnOnce(&Path)) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        let probe = sources().join("probe.c");
        run(here, "gcc", &["-O1", "-c", probe.to_str().unwrap(), "-o", "probe.o"]);
        let source = sources().join(source);
        let path = source.to_str().unwrap();
        if compiler == "rustc" {
            let mut arguments = vec!["--edition=2024", "-Clink-arg=probe.o", "-obank", path];
            arguments.extend(flags);
            run(here, compiler, &arguments);
        } else {
            // In two steps, as a build system does it: split debug info is then named after the object.
            let compile: Vec<&str> = flags.iter().copied().chain(["-c", path, "-o", "bank.o"]).collect();
            run(here, compiler, &compile);
            let link: Vec<&str> =
                flags.iter().copied().chain(["bank.o", "probe.o", "-o", "bank", "-pthread"]).collect();
            run(here, compiler, &link);
        }
        after(here);
        let program = here.join("bank");
        let output = run(here, program.to_str().unwrap(), &[]);
        let mut told = Told::default();
        output.lines().for_each(|line| told.line(line));
        let symbols = told.symbols();
        let Told { pcs, data, blocks, strand, .. } = told;
        Program { symbols, pcs, data, blocks, strand, source, folder }
    }

    /// The compiled program.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("bank")
    }

    /// The line on which a call with this label stands.
    pub(crate) fn line_of(&self, label: &str) -> u32 {
        let text = std::fs::read_to_string(&self.source).unwrap();
        let quoted = format!("\"{label}\"");
        let at = text.lines().position(|line| line.contains(&quoted)).unwrap();
        u32::try_from(at + 1).unwrap()
    }
}
