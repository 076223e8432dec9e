//! rustc's flags: the user's own, then ours.
//!
//! cargo takes flags from exactly one of four places: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`, the matching `target.*`
//! tables, `build.rustflags`. Ours go into the first, which would silence the other three, so the flags in force
//! are worked out here as cargo would and put in front. `--config` arguments count: they join the tables of the files.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use cargo_config2::{Config, ResolveOptions, de};
use cargo_metadata::cargo_platform::{Cfg, Platform};

use super::{CargoRequest, options};
use crate::error::{Error, Result};

fn config_error(source: cargo_config2::Error) -> Error {
    Error::CargoConfig { source }
}

/// cargo's configuration in the request's folder, without the `--config` arguments.
pub(super) fn load(request: &CargoRequest<'_>, cargo: &std::path::Path, triple: &str) -> Result<Config> {
    let home = request
        .env
        .absolute_path("CARGO_HOME")
        .or_else(|| request.env.absolute_path("HOME").map(|home| home.join(".cargo")));
    let options = ResolveOptions::default()
        .env(request.env.iter().map(|(name, value)| (name.to_owned(), value.to_owned())))
        .cargo(cargo)
        .cargo_home(home)
        .host_triple(triple);
    Config::load_with_options(&request.folder, options).map_err(config_error)
}

/// The value of `CARGO_ENCODED_RUSTFLAGS`.
pub(super) fn rustflags(config: &Config, request: &CargoRequest<'_>, triple: &str) -> Result<OsString> {
    let mut flags: Vec<OsString> = users(config, request, triple)?.into_iter().map(OsString::from).collect();
    refuse_impossible(&flags)?;
    let linker = config.linker(triple).map_err(config_error)?;
    let bare_linker = is_bare_linker(linker, &flags);
    flags.extend(ours(request, bare_linker));
    Ok(flags.join(std::ffi::OsStr::new("\x1f")))
}

/// What instruments.
pub const PASSES: [&str; 6] = [
    "-Cpasses=forceattrs",
    // Unoptimised code loads more than it uses (all of an enum for its tag): that is no access of the program's.
    "-Cpasses=dce",
    "-Cpasses=tsan-module",
    "-Cpasses=tsan",
    "-Cllvm-args=-force-attribute=sanitize_thread",
    // Without it a read right before a write of the same memory has no call: nobody could come in between.
    "-Cllvm-args=-tsan-instrument-read-before-write",
];
/// Names lead the runtime to what std does out of its sight, and the reader to the source.
pub const KEEPS_NAMES: &str = "-Cstrip=none";

/// What instruments and links. The library is named with `-l`, which rustc puts before the libraries of std, libc
/// among them; a `-Clink-arg` would come after them.
fn ours(request: &CargoRequest<'_>, bare_linker: bool) -> Vec<OsString> {
    let folder = request.runtime.link_folder().as_os_str();
    let mut search = OsString::from("-Lnative=");
    search.push(folder);
    let mut flags: Vec<OsString> = PASSES.map(OsString::from).to_vec();
    flags.extend([
        // rustix would make its system calls itself, out of the runtime's sight; this is its own switch for libc's.
        "--cfg=rustix_use_libc".into(),
        KEEPS_NAMES.into(),
        search,
        "-ldylib=threadbare_rt".into(),
    ]);
    for word in [std::ffi::OsStr::new("-rpath"), folder] {
        if !bare_linker {
            flags.push("-Clink-arg=-Xlinker".into());
        }
        let mut flag = OsString::from("-Clink-arg=");
        flag.push(word);
        flags.push(flag);
    }
    flags
}

/// Whether rustc calls the linker itself, without a C compiler that passes words on.
fn is_bare_linker(configured: Option<PathBuf>, flags: &[OsString]) -> bool {
    let in_flags = flags.iter().rev().find_map(|flag| {
        let flag = flag.to_str()?;
        flag.strip_prefix("-Clinker=").or_else(|| flag.strip_prefix("linker=")).map(PathBuf::from)
    });
    let linker = in_flags.or(configured);
    let name = linker.as_deref().and_then(|path| path.file_stem()?.to_str());
    name.is_some_and(|name| {
        name == "ld"
            || name.ends_with("-ld")
            || name.ends_with("lld")
            || matches!(name, "mold" | "wild" | "gold")
    })
}

fn refuse_impossible(flags: &[OsString]) -> Result<()> {
    for flag in flags {
        let flag = flag.to_string_lossy();
        if flag.contains("target-feature=") && flag.contains("+crt-static") {
            return Err(Error::StaticLink { flag: flag.into_owned() });
        }
        if let Some((before, sanitizer)) = flag.split_once("sanitizer=")
            && (before.is_empty() || before == "-Z")
        {
            return Err(Error::OtherSanitizer { sanitizer: sanitizer.to_owned() });
        }
    }
    Ok(())
}

/// The flags cargo would use without us.
fn users(config: &Config, request: &CargoRequest<'_>, triple: &str) -> Result<Vec<String>> {
    let base = config.rustflags(triple).map_err(config_error)?.map(|flags| flags.flags);
    let from_env =
        ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"].iter().any(|name| request.env.get(name).is_some());
    let arguments = options::values(&request.arguments, "--config");
    if from_env || arguments.is_empty() {
        return Ok(base.unwrap_or_default());
    }
    let mut overrides = Overrides::default();
    for argument in &arguments {
        overrides.add(&config_of_argument(argument, request)?, config, triple)?;
    }
    let build = config.build.rustflags.as_ref().map(|flags| flags.flags.clone());
    let base_is_target = base.is_some() && base != build;
    let chosen = if base_is_target || !overrides.target.is_empty() {
        let mut flags = if base_is_target { base.unwrap_or_default() } else { Vec::new() };
        flags.append(&mut overrides.target);
        flags
    } else {
        let mut flags = build.unwrap_or_default();
        flags.append(&mut overrides.build);
        flags
    };
    Ok(chosen)
}

/// The flags of `--config` arguments.
#[derive(Default)]
struct Overrides {
    target: Vec<String>,
    build: Vec<String>,
}

impl Overrides {
    fn add(&mut self, config: &de::Config, known: &Config, triple: &str) -> Result<()> {
        let strings = |flags: &de::Flags| flags.flags.iter().map(|flag| flag.val.clone()).collect::<Vec<_>>();
        if let Some(flags) = &config.build.rustflags {
            self.build.extend(strings(flags));
        }
        for (key, table) in &config.target {
            let Some(flags) = &table.rustflags else { continue };
            if key == triple || matches_cfg(key, known, triple) {
                self.target.extend(strings(flags));
            }
        }
        Ok(())
    }
}

fn matches_cfg(key: &str, config: &Config, triple: &str) -> bool {
    let Ok(platform @ Platform::Cfg(_)) = Platform::from_str(key) else { return false };
    let rustc = config.rustc();
    let output = std::process::Command::new(&rustc.path)
        .args(&rustc.args)
        .args(["--print=cfg", "--target", triple])
        .output();
    let Ok(output) = output else { return false };
    let text = String::from_utf8_lossy(&output.stdout);
    let facts: Vec<Cfg> = text.lines().filter_map(|line| Cfg::from_str(line).ok()).collect();
    platform.matches(triple, &facts)
}

/// `--config` takes a file or `KEY=VALUE`.
fn config_of_argument(argument: &OsString, request: &CargoRequest<'_>) -> Result<de::Config> {
    let file = request.folder.join(argument);
    if file.is_file() {
        return de::Config::load_file(file).map_err(config_error);
    }
    let failed = |action| {
        let path = file.clone();
        move |source| Error::File { action, path, source }
    };
    let scratch =
        tempfile::Builder::new().suffix(".toml").tempfile().map_err(failed("read the configuration"))?;
    fs::write(scratch.path(), argument.as_encoded_bytes()).map_err(failed("read the configuration"))?;
    de::Config::load_file(scratch.path()).map_err(config_error)
}
