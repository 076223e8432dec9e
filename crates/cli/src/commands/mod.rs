//! The commands, one file each.

pub(crate) mod cargo;
pub(crate) mod cargo_build;
pub(crate) mod cargo_generate;
pub(crate) mod cargo_run;
pub(crate) mod cargo_test;
pub(crate) mod cc;
pub(crate) mod coverage;
pub(crate) mod futures;
pub(crate) mod generate;
pub(crate) mod inputs;
pub(crate) mod invariants;
pub(crate) mod list;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod runtime_path;
pub(crate) mod rustc;
pub(crate) mod shrink;
pub(crate) mod trace;
