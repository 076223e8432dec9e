//! Memory that is left at the end (`--leaks`): each program of `tests/leaks` called `…_lost` leaves some in one order and is told with the place of its allocation
//! (`//~ here`), made again and shrunk; its twin `…_right` leaves nothing that is told.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::{compile, tool};

fn programs(ending: &str) -> Vec<PathBuf> {
    let folder = tool::root().join("tests/leaks");
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(ending)))
        .collect();
    found.sort();
    assert!(found.len() > 3, "{found:?}");
    found
}

/// Each way to build it, with a name.
fn build(source: &Path, folder: &Path) -> Vec<(String, PathBuf)> {
    let extension = source.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let compilers: Vec<(&str, Option<&str>)> = match extension {
        "rs" => vec![("rustc", None)],
        "cc" if compile::has_clang() => vec![("c++", Some("g++")), ("c++", Some("clang++-19"))],
        "cc" => vec![("c++", Some("g++"))],
        _ if compile::has_clang() => vec![("cc", Some("gcc")), ("cc", Some("clang-19"))],
        _ => vec![("cc", Some("gcc"))],
    };
    let mut built = Vec::new();
    for (command, real) in compilers {
        for optimised in [false, true] {
            let name = format!("{} {command} {real:?} {optimised}", source.display());
            let out = folder.join(format!("program{}", built.len()));
            let mut command = tool::command([command]);
            if let Some(real) = real {
                command.args(["-g", "-pthread", if optimised { "-O2" } else { "-O0" }]);
                command.env(if extension == "cc" { "CXX" } else { "CC" }, real);
            } else {
                command.args([
                    "-g",
                    "--edition",
                    "2024",
                    "-C",
                    if optimised { "opt-level=2" } else { "opt-level=0" },
                ]);
            }
            command.arg(source).arg("-o").arg(&out);
            let outcome = tool::finish(&mut command, tool::PATIENCE);
            assert_eq!(outcome.code, Some(0), "{name}: {}", outcome.describe());
            built.push((name, out));
        }
    }
    built
}

fn campaign(program: &Path, out: &Path, options: &[&str]) -> (Value, i32) {
    let mut command = tool::command(["run", "--races", "off", "--format", "json", "--out"]);
    command.arg(out).args(options).arg("--").arg(program);
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    let report = serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{}", outcome.describe()));
    (report, outcome.code.expect("a code"))
}

/// The number of the labelled line.
fn label(source: &Path) -> u64 {
    let text = fs::read_to_string(source).expect("a source");
    text.lines().position(|line| line.ends_with("//~ here")).expect("a label") as u64 + 1
}

#[test]
fn what_is_lost_is_told_with_its_place() {
    for source in programs("_lost") {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, program) in build(&source, folder.path()) {
            let out = folder.path().join("out");
            let (report, code) = campaign(&program, &out, &["--leaks", "fail", "--runs", "300"]);
            let finding = &report["findings"][0];
            assert_eq!((code, &finding["kind"]), (1, &Value::from("leak")), "{name}: {report}");
            let lines = finding["object"]["block"]["allocated"]["stack"].as_array().expect("a stack");
            let own = |place: &Value| {
                let file = place["file"].as_str().is_some_and(|file| source.ends_with(file));
                file && place["line"] == label(&source)
            };
            assert!(lines.iter().any(own), "{name}: {finding:#}");
            let schedule = PathBuf::from(finding["schedule"].as_str().expect("a path"));
            let replay = tool::run([Path::new("replay"), &schedule]);
            assert_eq!(replay.code, Some(1), "{name}: {}", replay.describe());
            assert!(replay.stdout.contains("leak"), "{name}: {}", replay.describe());
            assert!(finding["shrunk"].is_object(), "{name}: {finding:#}");
        }
    }
}

#[test]
fn a_note_fails_nothing_and_the_default_says_nothing() {
    let source = tool::root().join("tests/leaks/early_lost.c");
    let folder = tempfile::tempdir().expect("a folder");
    let (name, program) = build(&source, folder.path()).remove(0);
    let out = folder.path().join("out");
    let (report, code) = campaign(&program, &out, &["--leaks", "note", "--runs", "100"]);
    let finding = &report["findings"][0];
    assert_eq!(
        (code, &finding["kind"], &finding["severity"]),
        (0, &"leak".into(), &"note".into()),
        "{name}: {report}"
    );
    let (report, code) = campaign(&program, &out, &["--runs", "100"]);
    assert_eq!((code, report["findings"].as_array().map_or(0, Vec::len)), (0, 0), "{name}: {report}");
}

#[test]
fn what_something_leads_to_is_not_lost() {
    for source in programs("_right") {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, program) in build(&source, folder.path()) {
            let out = folder.path().join("out");
            let options = ["--leaks", "fail", "--runs", "300", "--check-replay"];
            let (report, code) = campaign(&program, &out, &options);
            assert_eq!(code, 0, "{name}: {report}");
        }
    }
}
