//! Who may depend on whom: `abi ← strategy, rules ← rt`, the driver never links the runtime, analyses take traces, never
//! processes, and the command line stands on the session library, which knows nothing of it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use threadbare_tests::tool;

const RUNTIME: &str = "threadbare-rt";
const TOOL: &str = "threadbare";
const SESSION: &str = "threadbare-session";
const ANALYSES: [&str; 12] = [
    "threadbare-api",
    "threadbare-code",
    "threadbare-coverage",
    "threadbare-idioms",
    "threadbare-inputs",
    "threadbare-invariants",
    "threadbare-pairs",
    "threadbare-trace",
    "threadbare-symbols",
    "threadbare-findings",
    "threadbare-report",
    "threadbare-values",
];

/// The crates of a workspace, each with those of ours that it depends on (tests aside).
fn crates(manifest: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(manifest);
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    assert_eq!(outcome.code, Some(0), "{}", outcome.describe());
    let metadata: Value = serde_json::from_str(&outcome.stdout).expect("cargo's own JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().expect("a list of dependencies");
            let ours = dependencies
                .iter()
                .filter(|dependency| dependency["kind"] != "dev" && !dependency["path"].is_null())
                .map(|dependency| text(&dependency["name"]));
            (text(&package["name"]), ours.collect())
        })
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a name").to_owned()
}

fn workspace() -> BTreeMap<String, BTreeSet<String>> {
    crates(&tool::root().join("Cargo.toml"))
}

/// Everything a crate depends on, near or far.
fn reach(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(name) = open.pop() {
        for next in graph.get(name).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    seen
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn the_runtime_stands_on_strategy_rules_and_abi_alone() {
    let graph = workspace();
    assert_eq!(graph["threadbare-abi"], set(&[]));
    assert_eq!(graph["threadbare-strategy"], set(&["threadbare-abi"]));
    assert_eq!(graph["threadbare-rules"], set(&["threadbare-abi"]));
    let runtime = crates(&tool::root().join("crates/rt/Cargo.toml"));
    let ground = set(&["threadbare-abi", "threadbare-rules", "threadbare-strategy"]);
    assert!(runtime[RUNTIME].is_subset(&ground), "{runtime:?}");
}

#[test]
fn nothing_links_the_runtime() {
    let graph = workspace();
    assert!(!graph.contains_key(RUNTIME), "the runtime is no member of the workspace");
    for (name, dependencies) in &graph {
        assert!(!dependencies.contains(RUNTIME), "{name} depends on the runtime");
    }
}

#[test]
fn analyses_never_touch_processes() {
    let graph = workspace();
    for analysis in ANALYSES {
        assert!(graph.contains_key(analysis), "{analysis} is gone: this test must follow");
        let reached = reach(&graph, analysis);
        for process in ["threadbare-explore", "threadbare-toolchain", SESSION, TOOL] {
            assert!(!reached.contains(process), "{analysis} reaches {process}");
        }
    }
}

#[test]
fn invariants_and_pairs_are_found_in_streams_alone() {
    assert_eq!(workspace()["threadbare-invariants"], set(&[]));
    assert_eq!(workspace()["threadbare-pairs"], set(&[]));
}

#[test]
fn only_the_session_joins_driver_and_toolchain() {
    let graph = workspace();
    assert!(!reach(&graph, "threadbare-toolchain").contains("threadbare-explore"));
    assert!(!reach(&graph, "threadbare-explore").contains("threadbare-toolchain"));
    assert!(graph[TOOL].contains(SESSION), "the tool does without the session library");
    for (name, dependencies) in &graph {
        assert!(!dependencies.contains(TOOL), "{name} depends on the tool");
        let joins = reach(&graph, name).is_superset(&set(&["threadbare-explore", "threadbare-toolchain"]));
        assert!(!joins || [SESSION, TOOL].contains(&name.as_str()), "{name} joins driver and toolchain");
    }
}

#[test]
fn the_session_neither_prints_nor_reads_a_command_line() {
    let folder = tool::root().join("crates/session/src");
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).expect("the session's sources") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a source file");
        // Comments may show what its users do.
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            for says in ["println!", "print!", "eprint", "std::env::args", "process::exit", "clap"] {
                assert!(!line.contains(says), "{} has {says}: {line}", path.display());
            }
        }
        files += 1;
    }
    assert!(files > 10, "the session's sources are somewhere else: this test must follow");
}
