//! The variables a request is answered under.
//!
//! A value rather than the process's own variables: the tests of this crate run side by side with different
//! settings, and what is handed to a compiler or to cargo is then known exactly.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A set of environment variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// The value of `name`; an empty value counts as absent, as it does for compilers and cargo.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The value of `name` as an absolute path, if it is one.
    pub fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// Sets `name`.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    /// Takes `name` out.
    pub fn remove(&mut self, name: impl AsRef<OsStr>) {
        self.variables.remove(name.as_ref());
    }

    /// All variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The variables of `self` that `base` lacks or has with another value.
    pub fn beyond(&self, base: &Self) -> Vec<(OsString, OsString)> {
        self.variables
            .iter()
            .filter(|(name, value)| base.variables.get(*name) != Some(value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        Self { variables: variables.into_iter().collect() }
    }
}
