//! What cargo says it has built.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::Stdio;

use cargo_metadata::Message;

use super::options;
use super::setup::Setup;
use crate::error::{Error, Result};

/// An executable that cargo made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The package's name.
    pub package: String,
    /// The name of cargo's target.
    pub name: String,
    /// The kind of cargo's target: `lib`, `bin`, `test`, `example`, `bench`, `proc-macro`.
    pub kind: String,
    /// The executable.
    pub program: PathBuf,
    /// The package's manifest.
    pub manifest: PathBuf,
    /// Made for running tests.
    pub test: bool,
}

/// Runs cargo with its progress and errors shown, and collects the executables.
pub(super) fn build(setup: &Setup, subcommand: &str, extra: &[&str]) -> Result<Vec<Built>> {
    let users_format = options::has_option(&setup.arguments, "--message-format");
    let mut extra = extra.to_vec();
    if !users_format {
        extra.push("--message-format=json-render-diagnostics");
    }
    let mut command = setup.command(subcommand, &extra);
    if users_format {
        let status = command.status().map_err(setup.start_error())?;
        return if status.success() { Ok(Vec::new()) } else { Err(Error::CargoFailed { status }) };
    }
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(setup.start_error())?;
    let mut built = Vec::new();
    let mut trouble = None;
    if let Some(stdout) = child.stdout.take() {
        for message in Message::parse_stream(BufReader::new(stdout)) {
            match message {
                Ok(Message::CompilerArtifact(artifact)) => built.extend(executable(setup, artifact)),
                Ok(_) => {}
                Err(source) => {
                    trouble.get_or_insert(source);
                }
            }
        }
    }
    let status = child.wait().map_err(setup.start_error())?;
    if !status.success() {
        return Err(Error::CargoFailed { status });
    }
    match trouble {
        Some(source) => Err(Error::CargoMessages { source }),
        None => Ok(built),
    }
}

fn executable(setup: &Setup, artifact: cargo_metadata::Artifact) -> Option<Built> {
    let program = artifact.executable?.into_std_path_buf();
    let manifest = artifact.manifest_path.into_std_path_buf();
    let package = setup.metadata.packages.iter().find(|package| package.id == artifact.package_id);
    let package = match package {
        Some(package) => package.name.to_string(),
        None => manifest.parent()?.file_name()?.to_string_lossy().into_owned(),
    };
    let kind = artifact.target.kind.first().map(ToString::to_string).unwrap_or_default();
    Some(Built { package, name: artifact.target.name, kind, program, manifest, test: artifact.profile.test })
}
