//! A Rust crate's tests: a package of our own, below the target folder, depends on the crate and has them all.

use super::{Built, Failing, Language};
use crate::conduct::cannot;
use crate::embedded;
use crate::exit::Trouble;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use threadbare_api::rust::{self, Api, Asserts, Limits, Plain};
use threadbare_api::{Drawn, LeftOut, Recipes, Test};
use threadbare_explore::server::Target;
use threadbare_explore::surroundings;
use threadbare_toolchain::cargo::{self, CargoRequest};
use threadbare_toolchain::{Environment, PlacedRuntime};

/// The file of the kept tests, in the package.
const KEPT: &str = "tests/threadbare_generated.rs";
/// How it begins, so that nobody's own file is written over.
const OURS: &str = "//! Tests that `cargo threadbare generate` found to fail.";
/// Times that tests which do not compile are taken out.
const ROUNDS: usize = 6;

/// A package under test.
pub(crate) struct Package {
    folder: PathBuf,
    /// Where ours lies.
    generated: PathBuf,
    api: Api,
    recipes: Recipes,
    env: Environment,
    runtime: PlacedRuntime,
    out: PathBuf,
}

/// What the user said of the package.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) package: Option<String>,
    pub(crate) features: Vec<String>,
    pub(crate) all_features: bool,
    pub(crate) no_default_features: bool,
    pub(crate) out: Option<PathBuf>,
}

impl Package {
    /// Reads the package in the current folder.
    pub(crate) fn read(chosen: &Chosen, recipes: Recipes) -> Result<Package, Trouble> {
        let metadata = metadata()?;
        let package = find(&metadata, chosen.package.as_deref())?;
        let name = text(&package["name"]);
        let manifest = PathBuf::from(text(&package["manifest_path"]));
        let folder = manifest.parent().unwrap_or(Path::new("/")).to_owned();
        let is_lib =
            |target: &&Value| {
                target["kind"].as_array().into_iter().flatten().any(|kind| {
                    matches!(kind.as_str(), Some("lib" | "rlib" | "dylib" | "cdylib" | "staticlib"))
                })
            };
        let library = package["targets"].as_array().into_iter().flatten().find(is_lib).ok_or_else(|| {
            Trouble::usage(
                format!("package `{name}` has no library, so nobody can call it"),
                "`threadbare generate -- PROG` makes tests of a program",
            )
        })?;
        let krate = text(&library["name"]).replace('-', "_");
        let root = PathBuf::from(text(&library["src_path"]));
        let mut files = BTreeMap::new();
        sources(root.parent().unwrap_or(&folder), &mut files);
        let api = rust::read(&krate, &files, &root);
        let generated =
            PathBuf::from(text(&metadata["target_directory"])).join("threadbare-generate").join(&name);
        let env = Environment::of_process();
        let runtime = embedded::place(&env)?;
        let out = chosen.out.clone().unwrap_or_else(|| folder.join(KEPT));
        refuse_other(&out)?;
        let package = Package { folder, generated, api, recipes, env, runtime, out };
        package.prepare(&name, &krate, chosen, &metadata)?;
        Ok(package)
    }

    /// Makes our package.
    fn prepare(&self, name: &str, krate: &str, chosen: &Chosen, metadata: &Value) -> Result<(), Trouble> {
        let mut dependency = format!("package = {name:?}, path = {:?}", self.folder.display().to_string());
        let mut features: Vec<String> =
            chosen.features.iter().flat_map(|list| list.split([',', ' '])).map(str::to_owned).collect();
        if chosen.all_features {
            let package = find(metadata, Some(name))?;
            let all = package["features"].as_object().into_iter().flat_map(|all| all.keys());
            features.extend(all.filter(|feature| *feature != "default").cloned());
        }
        if !features.is_empty() {
            dependency.push_str(&format!(", features = {features:?}"));
        }
        if chosen.no_default_features {
            dependency.push_str(", default-features = false");
        }
        let manifest = format!(
            "[package]\nname = \"threadbare-generated\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n\
             [dependencies]\n{krate} = {{ {dependency} }}\n\n[profile.dev]\nopt-level = 1\n"
        );
        self.write("Cargo.toml", &manifest)?;
        for program in ["probes", "tests"] {
            self.write(&format!("src/bin/{program}/harness.rs"), rust::HARNESS)?;
            let main = format!("src/bin/{program}/main.rs");
            if !self.generated.join(&main).exists() {
                self.write(&main, "fn main() {}\n")?;
            }
        }
        // The versions are those that the package is built with.
        let lock = PathBuf::from(text(&metadata["workspace_root"])).join("Cargo.lock");
        if lock.exists() && !self.generated.join("Cargo.lock").exists() {
            let _ = std::fs::copy(&lock, self.generated.join("Cargo.lock"));
        }
        Ok(())
    }

    fn write(&self, name: &str, content: &str) -> Result<(), Trouble> {
        let path = self.generated.join(name);
        write_all(&path, content)
    }

    /// Tests over the API; what the compiler refuses is found out before.
    pub(crate) fn tests(
        &mut self,
        limits: &Limits,
        drawn: &mut Drawn,
    ) -> Result<(Vec<Test>, Vec<LeftOut>), Trouble> {
        self.probe()?;
        let (tests, mut left_out) = rust::generate(&self.api, &self.recipes, limits, drawn);
        left_out.extend(self.api.left_out.iter().cloned());
        let wanted = |left: &LeftOut| {
            limits.types.is_empty()
                || limits
                    .types
                    .iter()
                    .any(|ty| left.what == *ty || left.what.split("::").next() == ty.rsplit("::").next())
        };
        left_out.retain(wanted);
        left_out.sort();
        left_out.dedup_by(|a, b| a.what == b.what);
        Ok((tests, left_out))
    }

    /// Further tests.
    pub(crate) fn more(&self, limits: &Limits, drawn: &mut Drawn) -> Vec<Test> {
        rust::generate(&self.api, &self.recipes, limits, drawn).0
    }

    /// Finds out what the compiler refuses. A name that it does not know keeps it from looking at the rest, so it is asked again.
    fn probe(&mut self) -> Result<(), Trouble> {
        for _ in 0..ROUNDS {
            let probes = rust::probes(&self.api, &self.recipes);
            if probes.is_empty() {
                break;
            }
            let (program, first) = rust::probe_program(&self.api, &probes);
            self.write("src/bin/probes/main.rs", &program)?;
            let errors = self.errors("probes")?;
            let gone: BTreeSet<String> =
                errors.iter().filter_map(|(line, _)| rust::import_at(&self.api, *line)).collect();
            for path in &gone {
                self.api.hide(path);
            }
            if !gone.is_empty() {
                // Functions have other numbers now.
                continue;
            }
            for (line, why) in &errors {
                if let Some(probe) = line.checked_sub(first).and_then(|at| probes.get(at)) {
                    self.api.refuse(probe, why);
                }
            }
            if errors.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// The compiler's errors in one of our programs: line and message. None if it compiles.
    fn errors(&self, program: &str) -> Result<Vec<(usize, String)>, Trouble> {
        let output = cargo()
            .args(["check", "--quiet", "--message-format=json", "--bin", program])
            .current_dir(&self.generated)
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| cannot("run cargo", &error))?;
        let mut found = Vec::new();
        let mut foreign = None;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            if message["reason"] != "compiler-message" || message["message"]["level"] != "error" {
                continue;
            }
            let message_text = text(&message["message"]["message"]);
            if message["target"]["name"] != program {
                foreign.get_or_insert(text(&message["message"]["rendered"]));
                continue;
            }
            let spans: Vec<&Value> = message["message"]["spans"].as_array().into_iter().flatten().collect();
            for span in spans.iter().filter(|span| span["is_primary"] == true) {
                if text(&span["file_name"]).ends_with("main.rs") {
                    let at = span["line_start"].as_u64().unwrap_or_default();
                    found.push((usize::try_from(at).unwrap_or_default(), message_text.clone()));
                }
            }
        }
        if !output.status.success() && found.is_empty() {
            let said = foreign.unwrap_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned());
            return Err(Trouble::usage(
                format!("the package does not compile:\n{}", said.trim_end()),
                "`cargo check` shows what is wrong with it",
            ));
        }
        Ok(found)
    }
}

impl Language for Package {
    fn build(&self, tests: &[Test]) -> Result<Built, Trouble> {
        let mut left: Vec<Test> = tests.to_vec();
        let mut refused: Vec<(u32, String)> = Vec::new();
        for round in 0.. {
            let (program, lines) = rust::harness(&self.api, &left);
            self.write("src/bin/tests/main.rs", &program)?;
            let errors = self.errors("tests")?;
            if errors.is_empty() {
                break;
            }
            let mut gone: BTreeSet<u32> = BTreeSet::new();
            for (line, why) in errors {
                let at = |(_, range): &&(u32, Range<usize>)| range.contains(&line);
                if let Some((number, _)) = lines.iter().find(at)
                    && gone.insert(*number)
                {
                    refused.push((*number, why));
                }
            }
            if gone.is_empty() || round == ROUNDS {
                return Err(Trouble::internal(
                    "the tests do not compile, and no test is to blame",
                    format!("this is an error of Threadbare; see `{}`", self.generated.display()),
                ));
            }
            left.retain(|test| !gone.contains(&test.number));
        }
        let tool = std::env::current_exe().map_err(|error| cannot("find this program's file", &error))?;
        let arguments: Vec<OsString> = ["--quiet", "--bin", "tests"].iter().map(OsString::from).collect();
        let request = CargoRequest {
            arguments,
            program_arguments: Vec::new(),
            folder: self.generated.clone(),
            env: self.env.clone(),
            runtime: &self.runtime,
            tool,
        };
        let built = cargo::build(&request)?;
        let program = built.into_iter().find(|built| built.name == "tests").ok_or_else(|| {
            Trouble::internal("cargo built no program", "this is an error of Threadbare, please report it")
        })?;
        // A later build must not take the program of the findings away.
        let kept = self.generated.join("programs");
        let copy = keep_program(&program.program, &kept)?;
        let mut target = Target::new(&copy, Vec::new());
        surroundings::add_own(&mut target.env);
        target.cwd = self.generated.clone();
        target.runtime = Some(self.runtime.library().to_owned());
        Ok(Built { target, refused })
    }

    fn keep(&self, failing: &[Failing<'_>]) -> Result<Vec<PathBuf>, Trouble> {
        let plain: Vec<Plain<'_>> = failing
            .iter()
            .map(|kept| {
                let outcomes = if kept.class == "not-atomic" {
                    let mut outcomes: Vec<String> = kept
                        .outcomes
                        .iter()
                        .filter_map(|outcome| outcome.rsplit_once(" leaked "))
                        .map(|(outcome, _)| outcome.to_owned())
                        .collect();
                    outcomes.dedup();
                    outcomes
                } else {
                    Vec::new()
                };
                let asserts = Asserts { drops: kept.class == "leak", outcomes };
                let shows = kept.message.lines().next().unwrap_or_default().to_owned();
                Plain { test: kept.test, name: kept.name.clone(), shows, asserts }
            })
            .collect();
        write_all(&self.out, &rust::plain(&self.api, &plain))?;
        let here = std::env::current_dir().unwrap_or_default();
        let shown = self.out.strip_prefix(&here).unwrap_or(&self.out).to_owned();
        Ok(vec![shown; failing.len()])
    }
}

/// A copy of a program under a name of its own.
fn keep_program(program: &Path, folder: &Path) -> Result<PathBuf, Trouble> {
    std::fs::create_dir_all(folder).map_err(|error| cannot("make a folder for programs", &error))?;
    let id = crate::conduct::program_id(program)?;
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
    let copy = folder.join(format!("tests-{id}"));
    if !copy.exists() {
        std::fs::copy(program, &copy).map_err(|error| cannot("copy the program", &error))?;
    }
    Ok(copy)
}

fn refuse_other(out: &Path) -> Result<(), Trouble> {
    match std::fs::read_to_string(out) {
        Ok(text) if !text.starts_with(OURS) => Err(Trouble::usage(
            format!("`{}` is not a file of generated tests", out.display()),
            "`--write FILE` names another file",
        )),
        _ => Ok(()),
    }
}

pub(super) fn write_all(path: &Path, content: &str) -> Result<(), Trouble> {
    // What is as it should be keeps its time, and is not built again.
    if std::fs::read_to_string(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, content))
        .map_err(|error| cannot(&format!("write `{}`", path.display()), &error))
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.env_remove("RUSTC_WRAPPER");
    command
}

fn metadata() -> Result<Value, Trouble> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|error| cannot("run cargo", &error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Trouble::usage(
            said.trim().trim_start_matches("error: ").to_owned(),
            "call it in the folder of a Rust package",
        ));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| Trouble::internal(format!("cargo's metadata: {error}"), "is cargo intact?"))
}

fn find<'a>(metadata: &'a Value, name: Option<&str>) -> Result<&'a Value, Trouble> {
    let packages: Vec<&Value> = metadata["packages"].as_array().into_iter().flatten().collect();
    let here = std::env::current_dir().unwrap_or_default().join("Cargo.toml");
    let found = match name {
        Some(name) => packages.iter().find(|package| package["name"] == name),
        None => packages
            .iter()
            .find(|package| Path::new(&text(&package["manifest_path"])) == here)
            .or(if packages.len() == 1 { packages.first() } else { None }),
    };
    found.copied().ok_or_else(|| {
        Trouble::usage(
            match name {
                Some(name) => format!("there is no package `{name}` here"),
                None => "it is not clear which package is meant".to_owned(),
            },
            "`-p NAME` names a package of the workspace",
        )
    })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// All Rust files below a folder.
fn sources(folder: &Path, files: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            files.insert(path, text);
        }
    }
}

pub(crate) use rust::Limits as RustLimits;
