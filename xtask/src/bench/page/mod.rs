//! `cargo xtask bench page`: the engine beside its peers on one page, `bench/engine.md`, with plots.
//!
//! Everything is measured in one run, in turns where two are compared, and the best of some rounds counts: noise only ever takes speed away. The rules are on
//! the page itself, for who reads the figures.

mod growth;
mod memory;
mod peers;
mod plot;
mod work;

use crate::packages;
use crate::steps::{Outcome, build_tool, root};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where programs are built, and with what they are run.
struct Bench {
    tool: PathBuf,
    folder: PathBuf,
}

impl Bench {
    fn source(file: &str) -> String {
        root().join("bench").join(file).to_string_lossy().into_owned()
    }

    /// A command in the folder.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        command
    }

    /// A campaign's result.
    fn campaign(&self, options: &[&str], program: &[&str]) -> Outcome<serde_json::Value> {
        let fixed = ["run", "--keep-going", "--shrink", "off", "--no-predict", "--invariants", "off"];
        let more = ["--format", "json", "--timeout", "10m", "--out", "out"];
        super::json(&mut self.command(&self.tool, &[&fixed[..], &more, options, &["--"], program].concat()))
    }
}

/// The page, told as it grows.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        println!("{line}");
        let _ = writeln!(self.text, "{line}");
    }

    /// A plot beside the page.
    fn plot(&mut self, name: &str, alt: &str, svg: &str) -> Outcome {
        std::fs::write(root().join("bench").join(name), svg).map_err(|error| format!("{name}: {error}"))?;
        self.line(&format!("\n![{alt}]({name})"));
        Ok(())
    }

    fn row(&mut self, cells: &[String]) {
        self.line(&format!("| {} |", cells.join(" | ")));
    }

    fn head(&mut self, cells: &[&str]) {
        self.line(&format!("\n| {} |\n|{}", cells.join(" | "), "---|".repeat(cells.len())));
    }
}

/// The first line that a command prints, or that it is not there.
fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().map_or_else(|| format!("no {program}"), str::to_owned)
}

fn line_of(file: &str, begins: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(begins))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn machine(page: &mut Page, tool: &Path) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let model = line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let memory = line_of("/proc/meminfo", "MemTotal").unwrap_or_default();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    page.line(&format!("- {processors} processors ({model}), {memory} of memory, Linux {}", kernel.trim()));
    page.line(&format!("- load when it began: {}", load.split(' ').next().unwrap_or("unknown")));
    for program in ["gcc", "clang-19", "rustc"] {
        page.line(&format!("- {}", version(program)));
    }
    page.line(&format!("- {}; Shuttle 0.9.9, Loom 0.7.2", version(&tool.to_string_lossy())));
}

/// Measures everything and writes the page.
pub(crate) fn page() -> Outcome {
    packages::ensure(&[packages::COMPILERS, packages::TESTS, packages::RESIDENT])?;
    let bench = Bench { tool: build_tool()?, folder: root().join("target/bench/page") };
    std::fs::create_dir_all(&bench.folder).map_err(|error| error.to_string())?;
    let mut page = Page::default();
    page.line("# The engine beside its peers\n");
    page.line("Written by `cargo xtask bench page`; [`cargo xtask bench engine`](../CONTRIBUTING.md) holds the figures that must not get worse.\n");
    page.line("## The machine\n");
    machine(&mut page, &bench.tool);
    page.line("\n## The rules\n");
    for rule in [
        "All figures of the page come from one run of the command, on the machine above, whose processors are not ours alone.",
        "Two that are compared are measured in turns, several times, and the best of each counts: noise only ever takes speed away.",
        "Peers are built with optimisation, in the version above, and do the same work: the same strands, the same operations, no printing.",
        "A controlled run uses one processor. ThreadSanitizer and free runs use all of them: times are what somebody waits, not what processors do.",
        "Times of Threadbare are a campaign's, divided by its runs: the first run, which learns what strands share, is one of them. Times of the others are the process's from its start to its end.",
        "Shuttle and Loom are told their own types by the test; Threadbare runs the same with those of `std` or of POSIX. Shuttle and Loom look for no races in plain memory.",
    ] {
        page.line(&format!("- {rule}"));
    }
    peers::peers(&bench, &mut page)?;
    work::work(&bench, &mut page)?;
    growth::growth(&bench, &mut page)?;
    memory::memory(&bench, &mut page)?;
    std::fs::write(root().join("bench/engine.md"), page.text).map_err(|error| error.to_string())
}
