//! C and C++ inside a cargo build.
//!
//! Build scripts ask the environment for the compiler. The `cc` crate takes a program with arguments, the `cmake`
//! crate and CMake itself want one single program: so there is a script in the cache for each of the two compilers.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use cargo_config2::Config;

use super::CargoRequest;
use crate::compiler::{Language, find_on_path};
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::{atomic_file, specs, words};

/// Names the part of the target folder where the program's own files go, for the compilers that build scripts call.
pub(super) const TARGET_VARIABLE: &str = "THREADBARE_CARGO_TARGET";

/// Whether a compiler is called for code that ends in a build script or a proc macro, which stay as they are.
pub(crate) fn is_for_build_script(env: &Environment) -> bool {
    match (env.get(TARGET_VARIABLE), env.get("OUT_DIR")) {
        (Some(ours), Some(out)) => !Path::new(out).starts_with(ours),
        _ => false,
    }
}

/// Puts the compilers into `env`, under every name that build scripts look for.
pub(super) fn install(
    env: &mut Environment,
    request: &CargoRequest<'_>,
    config: &Config,
    triple: &str,
) -> Result<()> {
    for language in [Language::C, Language::Cxx] {
        let variable = match language {
            Language::C => "CC",
            Language::Cxx => "CXX",
        };
        let underscored = triple.replace('-', "_");
        // The order of the `cc` crate, which knows the host's and the target's compiler by one triple.
        let names = [
            format!("{variable}_{triple}"),
            format!("{variable}_{underscored}"),
            format!("HOST_{variable}"),
            format!("TARGET_{variable}"),
            variable.to_owned(),
        ];
        if env.get(language.variable()).is_none()
            && let Some(chosen) = users(&names, request, config)
        {
            env.set(language.variable(), chosen);
        }
        let script = place(request, language, env.get(language.variable()))?;
        for name in names {
            env.set(name, &script);
        }
    }
    Ok(())
}

/// The compiler that build scripts would have found.
fn users(names: &[String], request: &CargoRequest<'_>, config: &Config) -> Option<OsString> {
    let chosen = names.iter().find_map(|name| {
        let from_config = || config.env.get(name).map(|entry| entry.value.as_os_str());
        request.env.get(name).or_else(from_config)
    })?;
    let first = words::split(chosen).into_iter().next()?;
    let program = find_on_path(&first, &request.env)?;
    let is_tool = match (request.tool.canonicalize(), program.canonicalize()) {
        (Ok(tool), Ok(program)) => tool == program,
        _ => false,
    };
    let is_script = program.starts_with(scripts(request));
    (!is_tool && !is_script).then(|| chosen.to_owned())
}

fn scripts(request: &CargoRequest<'_>) -> PathBuf {
    request.runtime.cache().join("bin")
}

/// The script's path tells the tool and the real compiler apart, so that the `cc` crate, which watches `CC`, compiles
/// again when either changes.
fn place(request: &CargoRequest<'_>, language: Language, real: Option<&OsStr>) -> Result<PathBuf> {
    let tool = request.tool.as_os_str();
    let identity = [tool.as_bytes(), real.unwrap_or_default().as_bytes()].join(&0);
    let folder = format!("{:016x}", specs::fingerprint(&identity));
    let path = scripts(request).join(folder).join(language.subcommand());
    let mut text = OsString::from("#!/bin/sh\nexec ");
    text.push(words::shell_quote(tool));
    text.push(OsStr::new(" "));
    text.push(language.subcommand());
    text.push(" \"$@\"\n");
    atomic_file::place(&path, &text.into_vec(), 0o755).map_err(|source| Error::File {
        action: "write the compiler script",
        path: path.clone(),
        source,
    })?;
    Ok(path)
}
