//! The runtime that this library carries.

use crate::trouble::Trouble;
use std::path::PathBuf;
use threadbare_toolchain::{Environment, PlacedRuntime, Runtime};

const BYTES: &[u8] = include_bytes!(env!("THREADBARE_RT_FILE"));
const HASH: &str = env!("THREADBARE_RT_HASH");

/// The tool and its runtime, by which runs are made: another one may make other runs.
pub fn tool() -> String {
    format!("threadbare {} ({HASH})", env!("CARGO_PKG_VERSION"))
}

/// The runtime as a file.
pub fn place(env: &Environment) -> Result<PlacedRuntime, Trouble> {
    Ok(Runtime { bytes: BYTES, hash: HASH }.place(env)?)
}

/// The library a campaign preloads.
pub fn library(env: &Environment) -> Result<PathBuf, Trouble> {
    Ok(place(env)?.library().to_owned())
}
