//! What every call of cargo in a request shares.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{Metadata, MetadataCommand};

use super::wrappers::{self, TARGET_VARIABLE};
use super::{CargoRequest, doctests, flags, options};
use crate::environment::Environment;
use crate::error::{Error, Result};

/// cargo, its arguments and its variables.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    cargo: PathBuf,
    folder: PathBuf,
    /// The triple of this machine, which is also the one built for.
    pub(super) triple: String,
    /// Our own target folder.
    pub(super) target_folder: PathBuf,
    /// What cargo runs with.
    pub(super) env: Environment,
    /// The user's arguments, without those that this set-up decides.
    pub(super) arguments: Vec<OsString>,
    /// The workspace.
    pub(super) metadata: Metadata,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
}

impl Setup {
    pub(super) fn prepare(request: &CargoRequest<'_>) -> Result<Self> {
        let cargo = PathBuf::from(request.env.get("CARGO").unwrap_or("cargo".as_ref()));
        let triple = host_triple(&cargo, request)?;
        let arguments = check_target(&request.arguments, &triple)?;
        let (chosen_folder, arguments) = options::take(&arguments, "--target-dir");
        let metadata = describe(&cargo, request)?;
        let base = match chosen_folder.last() {
            Some(folder) => request.folder.join(folder),
            None => metadata.target_directory.clone().into_std_path_buf(),
        };
        let target_folder = base.join("threadbare");

        let config = flags::load(request, &cargo, &triple)?;
        let rustflags = flags::rustflags(&config, request, &triple)?;
        let mut env = request.env.clone();
        env.remove("RUSTFLAGS");
        env.set("CARGO_ENCODED_RUSTFLAGS", rustflags);
        // The user's folder for intermediate files is for his own builds.
        env.set("CARGO_BUILD_BUILD_DIR", &target_folder);
        env.set(TARGET_VARIABLE, target_folder.join(&triple));
        wrappers::install(&mut env, request, &config, &triple)?;

        let mut notes = Vec::new();
        if config.runner(triple.as_str()).is_ok_and(|runner| runner.is_some()) {
            notes.push(
                "cargo's configured runner is not used: programs run under threadbare itself".to_owned(),
            );
        }
        let folder = request.folder.clone();
        Ok(Self { cargo, folder, triple, target_folder, env, arguments, metadata, notes })
    }

    /// `cargo SUBCOMMAND` with our choices, then the user's arguments.
    pub(super) fn command(&self, subcommand: &str, extra: &[&str]) -> Command {
        let mut command = Command::new(&self.cargo);
        command
            .arg(subcommand)
            .arg("--target")
            .arg(&self.triple)
            .arg("--target-dir")
            .arg(&self.target_folder)
            .args(extra)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.env.iter());
        command
    }

    /// The same, without the options that only concern how cargo would run the tests and report them.
    pub(super) fn for_tests(&self) -> Self {
        let (_, mut arguments) = options::take(&self.arguments, "--message-format");
        arguments.retain(|argument| argument != "--no-run");
        Self { arguments, ..self.clone() }
    }

    /// Whether `cargo test` would go on to doctests and find one, as far as the sources show.
    pub(super) fn has_doctests(&self) -> bool {
        self.metadata
            .workspace_packages()
            .iter()
            .flat_map(|package| &package.targets)
            .filter(|target| target.doctest)
            .filter_map(|target| target.src_path.as_std_path().parent())
            .any(doctests::are_in)
    }

    pub(super) fn start_error(&self) -> impl FnOnce(std::io::Error) -> Error {
        start_error(&self.cargo)
    }
}

fn start_error(cargo: &Path) -> impl FnOnce(std::io::Error) -> Error + use<> {
    let program = cargo.display().to_string();
    move |source| Error::Start { program, source }
}

fn cargo_command(cargo: &Path, request: &CargoRequest<'_>) -> Command {
    let mut command = Command::new(cargo);
    command.current_dir(&request.folder).env_clear().envs(request.env.iter()).stderr(Stdio::inherit());
    command
}

fn host_triple(cargo: &Path, request: &CargoRequest<'_>) -> Result<String> {
    let output = cargo_command(cargo, request).arg("-vV").output().map_err(start_error(cargo))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or(Error::CargoFailed { status: output.status })?.to_owned();
    if !host.ends_with("-linux-gnu") {
        return Err(Error::UnsupportedHost { host });
    }
    Ok(host)
}

/// Takes `--target` out when it names this machine.
fn check_target(arguments: &[OsString], host: &str) -> Result<Vec<OsString>> {
    let (targets, rest) = options::take(arguments, "--target");
    match targets.iter().find(|target| *target != host && *target != "host-tuple") {
        Some(other) => {
            Err(Error::OtherTarget { wanted: other.to_string_lossy().into_owned(), host: host.to_owned() })
        }
        None => Ok(rest),
    }
}

fn describe(cargo: &Path, request: &CargoRequest<'_>) -> Result<Metadata> {
    let output = cargo_command(cargo, request)
        .args(["metadata", "--format-version=1", "--no-deps"])
        .args(options::describing(&request.arguments))
        .output()
        .map_err(start_error(cargo))?;
    if !output.status.success() {
        return Err(Error::CargoFailed { status: output.status });
    }
    MetadataCommand::parse(String::from_utf8_lossy(&output.stdout))
        .map_err(|source| Error::CargoMetadata { source })
}
