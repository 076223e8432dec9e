//! A C header's tests: one file with the harness, compiled with the sources or libraries that implement the header.

use super::rust::write_all;
use super::{Built, Failing, Language};
use crate::conduct::cannot;
use crate::embedded;
use crate::exit::Trouble;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use threadbare_api::c::{self, Api, Limits};
use threadbare_api::{Drawn, LeftOut, Recipes, Test};
use threadbare_explore::files;
use threadbare_explore::server::Target;
use threadbare_explore::surroundings;
use threadbare_toolchain::cc::CompilerCall;
use threadbare_toolchain::{Environment, Language as Compiler, PlacedRuntime};

/// Times that tests which do not compile are taken out.
const ROUNDS: usize = 6;

/// A header under test.
pub(crate) struct Header {
    api: Api,
    recipes: Recipes,
    include: String,
    /// Where it lies.
    folder: PathBuf,
    /// What it is compiled and linked with.
    arguments: Vec<OsString>,
    /// Where tests are written.
    out: PathBuf,
    env: Environment,
    runtime: PlacedRuntime,
}

impl Header {
    /// Reads a header as the compiler sees it with these arguments.
    pub(crate) fn read(
        header: &Path,
        arguments: &[OsString],
        out: &Path,
        recipes: Recipes,
    ) -> Result<Header, Trouble> {
        let path = files::open(header)
            .and_then(|_| std::fs::canonicalize(header))
            .map_err(|error| cannot(&format!("read `{}`", header.display()), &error))?;
        let env = Environment::of_process();
        let runtime = embedded::place(&env)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let include = format!("{name:?}");
        let folder = header.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        let mut header = Header {
            api: Api::default(),
            recipes,
            include,
            folder,
            arguments: arguments.to_vec(),
            out: out.to_owned(),
            env,
            runtime,
        };
        let text = header.preprocessed(&path)?;
        let same = |file: &str| std::fs::canonicalize(file).is_ok_and(|file| file == path);
        header.api = c::read(&text, &same);
        if header.api.functions.is_empty() {
            return Err(Trouble::usage(
                format!("`{}` declares no function", path.display()),
                "name the header that has the prototypes",
            ));
        }
        Ok(header)
    }

    /// Flags for the preprocessor: what names no file and no library.
    fn flags(&self) -> Vec<OsString> {
        let mut flags = Vec::new();
        let mut rest = self.arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if matches!(&*text, "-I" | "-D" | "-U" | "-include" | "-isystem") {
                flags.push(argument.clone());
                flags.extend(rest.next().cloned());
            } else if text.starts_with("-I")
                || text.starts_with("-D")
                || text.starts_with("-U")
                || text.starts_with("-std")
            {
                flags.push(argument.clone());
            }
        }
        flags
    }

    fn preprocessed(&self, header: &Path) -> Result<String, Trouble> {
        let mut arguments: Vec<OsString> = ["-E", "-x", "c"].iter().map(OsString::from).collect();
        arguments.extend(self.flags());
        arguments.push(header.as_os_str().to_owned());
        let output =
            self.compiler(&arguments)?.output().map_err(|error| cannot("run the compiler", &error))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            return Err(Trouble::usage(
                format!("the header does not compile:\n{said}"),
                "give the compiler's flags after `--`: `-- -Iinclude queue.c`",
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn compiler(&self, arguments: &[OsString]) -> Result<Command, Trouble> {
        let folder = std::env::current_dir().map_err(|error| cannot("find the current folder", &error))?;
        let call = CompilerCall {
            language: Compiler::C,
            arguments,
            folder: &folder,
            env: &self.env,
            runtime: &self.runtime,
        };
        Ok(call.command()?)
    }

    /// Tests over the header.
    pub(crate) fn tests(&self, limits: &Limits, drawn: &mut Drawn) -> (Vec<Test>, Vec<LeftOut>) {
        c::generate(&self.api, &self.recipes, limits, drawn)
    }

    fn work(&self) -> PathBuf {
        self.out.join("generate")
    }
}

impl Language for Header {
    fn build(&self, tests: &[Test]) -> Result<Built, Trouble> {
        let mut left: Vec<Test> = tests.to_vec();
        let mut refused: Vec<(u32, String)> = Vec::new();
        let source = self.work().join("tests.c");
        let program = std::path::absolute(self.work().join("program")).unwrap_or_default();
        for round in 0.. {
            let (text, lines) = c::harness(std::slice::from_ref(&self.include), &left);
            write_all(&source, &text)?;
            let mut arguments: Vec<OsString> =
                ["-g", "-O1", "-w", "-fno-diagnostics-show-caret"].iter().map(OsString::from).collect();
            arguments.push("-I".into());
            arguments.push(self.folder.clone().into_os_string());
            arguments.push(source.clone().into_os_string());
            arguments.extend(self.arguments.iter().cloned());
            if self.arguments.iter().any(is_cxx) {
                // The tests are in C, so the compiler does not think of it.
                arguments.push("-lstdc++".into());
            }
            arguments.extend(["-pthread", "-o"].iter().map(OsString::from));
            let name = format!("{}-{}", program.display(), stamp(&text));
            arguments.push(name.clone().into());
            let output =
                self.compiler(&arguments)?.output().map_err(|error| cannot("run the compiler", &error))?;
            if output.status.success() {
                let mut target = Target::new(name, Vec::new());
                surroundings::add_own(&mut target.env);
                target.cwd = std::env::current_dir().unwrap_or_default();
                target.runtime = Some(self.runtime.library().to_owned());
                return Ok(Built { target, refused });
            }
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let mut gone = BTreeSet::new();
            for line in said.lines().filter(|line| line.contains("tests.c:") && line.contains("error:")) {
                let at = line.split("tests.c:").nth(1).and_then(|rest| rest.split(':').next());
                let at: usize = at.and_then(|at| at.parse().ok()).unwrap_or_default();
                if let Some((number, _)) = lines.iter().find(|(_, range)| range.contains(&at))
                    && gone.insert(*number)
                {
                    let why = line.split("error:").nth(1).unwrap_or_default().trim().to_owned();
                    refused.push((*number, why));
                }
            }
            if gone.is_empty() || round == ROUNDS {
                return Err(Trouble::usage(
                    format!("the tests do not compile:\n{}", said.trim_end()),
                    "give the sources or libraries of the header after `--`: `-- queue.c`",
                ));
            }
            left.retain(|test| !gone.contains(&test.number));
        }
        Err(Trouble::internal("no test was built", "this is an error of Threadbare, please report it"))
    }

    fn keep(&self, failing: &[Failing<'_>]) -> Result<Vec<PathBuf>, Trouble> {
        let given: Vec<String> =
            self.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let mut files = Vec::new();
        for kept in failing {
            let path = self.out.join(format!("{}.c", kept.name));
            let (file, folder, given) = (path.display(), self.folder.display(), given.join(" "));
            let cxx = if self.arguments.iter().any(is_cxx) { " -lstdc++" } else { "" };
            let build = format!(
                "threadbare cc -g -O1 -I{folder} {file} {given}{cxx} -pthread -o test && threadbare run -- ./test"
            );
            let outcomes: &[String] = if kept.class == "not-atomic" { &kept.outcomes } else { &[] };
            let shows = kept.message.lines().next().unwrap_or_default();
            write_all(
                &path,
                &c::plain(std::slice::from_ref(&self.include), kept.test, shows, &build, outcomes),
            )?;
            files.push(path);
        }
        Ok(files)
    }
}

/// Whether a word is a source in C++.
fn is_cxx(word: &OsString) -> bool {
    let ends = ["cc", "cpp", "cxx", "C"];
    Path::new(word).extension().is_some_and(|end| ends.iter().any(|it| end == *it))
}

/// A short name for a text.
fn stamp(text: &str) -> String {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

pub(crate) use c::Limits as CLimits;
