//! Builds the runtime and names it by its content, so that the binary carries it.
//!
//! The runtime is no member of the workspace: it has its own panic strategy and must not be built with the flags or
//! wrappers of the build it is part of.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library to embed instead of building one.
const PREBUILT: &str = "THREADBARE_RT_PREBUILT";

fn main() {
    println!("cargo:rerun-if-env-changed={PREBUILT}");
    let out = PathBuf::from(variable("OUT_DIR"));
    let library = match std::env::var_os(PREBUILT) {
        Some(path) => {
            println!("cargo:rerun-if-changed={}", path.display());
            PathBuf::from(path)
        }
        // Not watched: it is newer than the beginning of the script that builds it, so each first build would be followed by another.
        None => build(&PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("../rt"), &out.join("rt")),
    };
    let bytes =
        std::fs::read(&library).unwrap_or_else(|error| panic!("cannot read {}: {error}", library.display()));
    std::fs::write(out.join("libthreadbare_rt.so"), &bytes)
        .expect("the build's own folder can be written to");
    println!("cargo:rustc-env=THREADBARE_RT_FILE={}", out.join("libthreadbare_rt.so").display());
    println!("cargo:rustc-env=THREADBARE_RT_HASH={:016x}", hash(&bytes));
}

fn build(runtime: &Path, target: &Path) -> PathBuf {
    for folder in ["rt/src", "rt/Cargo.toml", "rt/build.rs", "abi/src", "rules/src", "strategy/src"] {
        println!("cargo:rerun-if-changed={}", runtime.join("..").join(folder).display());
    }
    let triple = variable("TARGET");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--release", "--quiet", "--manifest-path"]).arg(runtime.join("Cargo.toml"));
    cargo.arg("--target-dir").arg(target).arg("--target").arg(&triple);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let of_this_build = ["CARGO_FEATURE_", "CARGO_CFG_", "CARGO_PKG_", "CARGO_PROFILE_"];
        let changes_the_result = ["RUSTFLAGS", "CARGO_INCREMENTAL", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET"];
        if of_this_build.iter().any(|prefix| name.starts_with(prefix))
            || changes_the_result.iter().any(|prefix| name.starts_with(prefix))
            || name.ends_with("_WRAPPER")
        {
            cargo.env_remove(&*name);
        }
    }
    // Set and empty, it silences the flags of every other place, configuration files included.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", "");
    let status = cargo.status().unwrap_or_else(|error| panic!("cannot start cargo: {error}"));
    assert!(status.success(), "the runtime in {} did not build", runtime.display());
    target.join(triple).join("release/libthreadbare_rt.so")
}

fn variable(name: &str) -> std::ffi::OsString {
    std::env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"))
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
