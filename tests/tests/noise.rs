//! The free mode: noise brings failures about, recordings lead to the same failure under control, and what is right stays so.
//!
//! Rates are asserted far below what an idle machine shows: these runs share the processors with other tests.

use serde_json::Value;
use std::path::{Path, PathBuf};
use threadbare_tests::campaign;
use threadbare_tests::compile::{self, Compiler};
use threadbare_tests::corpus::{self, Language, Program};
use threadbare_tests::tool;
use threadbare_tests::variants::{self, Variant};

fn builds() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("noise")
}

fn program(name: &str) -> Program {
    corpus::programs().into_iter().find(|program| program.name == name).unwrap_or_else(|| panic!("{name}"))
}

fn built(program: &Program) -> PathBuf {
    let compiler = if program.language == Language::Rust { Compiler::Rustc } else { Compiler::Gcc };
    compile::instrumented(program, compiler, &builds()).unwrap_or_else(|error| panic!("{error}"))
}

/// A campaign of free runs: runs, failed ones, and the findings.
fn free(name: &str, out: &Path, options: &[&str]) -> (u64, u64, Vec<Value>) {
    let program = program(name);
    let mut all = vec!["--mode", "free", "--keep-going"];
    all.extend(options);
    let campaign =
        campaign::run(&program, &built(&program), out, &all).unwrap_or_else(|error| panic!("{error}"));
    let number = |field| campaign.number(field).unwrap_or_else(|error| panic!("{error}"));
    (number("runs"), number("runs_failed"), campaign.findings().to_vec())
}

#[test]
fn noise_brings_failures_about_and_they_replay() {
    for (name, kind) in [
        ("noise/flag.c", "assertion"),
        ("noise/parameter.c", "assertion"),
        ("noise/philosophers.c", "deadlock"),
        ("noise/flag.rs", "assertion"),
        ("noise/worker.rs", "panic"),
    ] {
        let out = tempfile::tempdir().unwrap();
        let (runs, failed, findings) = free(name, out.path(), &["--runs", "24", "--races", "off"]);
        assert_eq!(runs, 24, "{name}");
        assert!(failed >= 2, "{name}: {failed} of {runs} runs failed");
        let finding = findings.iter().find(|finding| finding["kind"] == kind);
        let finding = finding.unwrap_or_else(|| panic!("{name}: {findings:?}"));
        let schedule = finding["schedule"].as_str().unwrap();
        let replay = tool::run(["replay", schedule]);
        assert_eq!(replay.code, Some(1), "{name}: {}", replay.describe());
    }
}

#[test]
fn a_recorded_run_shows_its_races() {
    let out = tempfile::tempdir().unwrap();
    let (_, failed, findings) = free("noise/flag.c", out.path(), &["--runs", "8"]);
    assert!(failed > 0 && findings.iter().any(|finding| finding["kind"] == "race"), "{findings:?}");
}

#[test]
fn right_programs_stay_right() {
    for name in [
        "lost-update/locked.c",
        "condvar/queue.cc",
        "signals/sigwait.c",
        "fork/fork_wait.c",
        "lifecycle/pthread_exit_main.c",
        "c11/threads.c",
        "io/tcp.rs",
        "rust-std/mpsc.rs",
    ] {
        let out = tempfile::tempdir().unwrap();
        for noise in ["none", "mixed"] {
            let (_, failed, findings) = free(name, out.path(), &["--runs", "4", "--noise", noise]);
            assert_eq!(failed, 0, "{name} with noise {noise}: {findings:?}");
        }
    }
}

#[test]
fn options_of_the_free_mode_are_refused_without_it() {
    let refused = tool::run(["run", "--noise", "sleep", "--", "true"]);
    assert_eq!(refused.code, Some(2), "{}", refused.describe());
    assert!(refused.describe().contains("--mode free"), "{}", refused.describe());
}

/// A run begins where the first thread is made, if that is before `main`: a fork would leave it behind.
#[test]
fn threads_of_constructors_are_kept() {
    for name in ["lifecycle/constructor.c", "lifecycle/constructor.cc"] {
        let out = tempfile::tempdir().unwrap();
        let (runs, failed, findings) = free(name, out.path(), &["--runs", "40"]);
        assert_eq!((runs, failed), (40, 0), "{name}: {findings:#?}");
    }
}

/// Cousins of the experiments that were the worst of those that the generator made, each for a reason of its own: a check and an act with busy
/// work before them, accesses through functions, a pair of changes with other locks taken in between, strands that poll under a spin lock, a parameter passed by C++'s
/// `std::thread`, spinning philosophers. `cargo xtask bench noise variants` measures all.
#[test]
fn noise_does_not_know_its_programs() {
    const WORST: [usize; 6] = [0, 9, 12, 25, 34, 45];
    const RUNS: u64 = 10;
    let all = variants::variants(variants::OF_EACH, variants::SEED);
    let worst: Vec<Variant> = WORST.iter().map(|&number| all[number].clone()).collect();
    let folder = tempfile::tempdir().unwrap();
    for (language, wrapper, file) in
        [(Language::C, "cc", "c.c"), (Language::Cxx, "c++", "cxx.cc"), (Language::Rust, "rustc", "rust.rs")]
    {
        let source = folder.path().join(file);
        let program = source.with_extension("");
        std::fs::write(&source, variants::source(&worst, language)).unwrap();
        let mut build = tool::command([wrapper, "-g"]);
        build.args(variants::flags(language)).arg(&source).arg("-o").arg(&program);
        let built = tool::finish(&mut build, tool::PATIENCE);
        assert_eq!(built.code, Some(0), "{}", built.describe());
        for variant in worst.iter().filter(|variant| variant.language == language) {
            let mut campaign = tool::command(["run", "--mode", "free", "--keep-going", "--races", "off"]);
            campaign.args(["--format", "json", "--runs", &RUNS.to_string()]);
            campaign.arg("--out").arg(folder.path().join(variant.number.to_string()));
            campaign.arg("--").arg(&program).arg(variant.number.to_string());
            let outcome = tool::finish(&mut campaign, tool::PATIENCE);
            let report: Value = serde_json::from_str(&outcome.stdout)
                .unwrap_or_else(|error| panic!("{error}: {}", outcome.describe()));
            let failed = report["runs_failed"].as_u64().unwrap();
            assert!(failed >= 2, "{failed} of {RUNS} runs failed: {}", variant.describe());
        }
    }
}
