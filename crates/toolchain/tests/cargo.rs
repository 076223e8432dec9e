//! `cargo threadbare` on a real workspace: C in build scripts, a proc macro, custom harness, several profiles.
//!
//! And make with `CC="threadbare cc"`. This program is its own `threadbare`: called with `cc` or `c++`, as the compiler scripts do, it becomes the compiler.

mod stub;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};
use stub::{Bench, hooks, needed, text, words};
use threadbare_toolchain::cargo::{self, CargoRequest, RunTarget, TestPlan};
use threadbare_toolchain::{Environment, Error, Language, Runtime, cc, check_program};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    match arguments.get(1).and_then(|word| word.to_str()) {
        Some("cc") => compiler(Language::C, &arguments[2..]),
        Some("c++") => compiler(Language::Cxx, &arguments[2..]),
        _ => {
            let trials = vec![
                Trial::test("whole_workspace", || done(whole_workspace)),
                Trial::test("flags_of_the_user", || done(flags_of_the_user)),
                Trial::test("run_and_profiles", || done(run_and_profiles)),
                Trial::test("errors", || done(errors)),
                Trial::test("make", || done(make)),
            ];
            libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
        }
    }
}

fn done(test: fn()) -> Result<(), libtest_mimic::Failed> {
    test();
    Ok(())
}

fn compiler(language: Language, arguments: &[OsString]) -> ExitCode {
    let placed = Runtime { bytes: b"", hash: "unused" }.place(&Environment::of_process()).unwrap();
    let error = cc::become_compiler(language, arguments, &placed);
    eprintln!("error: {error}");
    ExitCode::from(2)
}

/// A copy of the workspace with a cache and a target folder of its own.
struct Workspace {
    bench: Bench,
    folder: PathBuf,
}

impl Workspace {
    fn new() -> Self {
        let mut bench = Bench::new();
        bench.env.set("THREADBARE_RUNTIME", bench.runtime.library());
        for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            bench.env.remove(name);
        }
        let folder = bench.path("work space");
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        copy(&own.join("tests/workspace"), &folder);
        // The versions that are already downloaded.
        fs::copy(own.join("../../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        Self { bench, folder }
    }

    fn request(&self, line: &str) -> CargoRequest<'_> {
        let (arguments, program_arguments) = CargoRequest::split(words(line));
        CargoRequest {
            arguments,
            program_arguments,
            folder: self.folder.clone(),
            env: self.bench.env.clone(),
            runtime: &self.bench.runtime,
            tool: std::env::current_exe().unwrap(),
        }
    }

    fn plan(&self, line: &str) -> TestPlan {
        cargo::plan_tests(&self.request(line)).unwrap()
    }

    /// Runs a target as the cli would, without control.
    fn run(&self, target: &RunTarget) -> String {
        let output = Command::new(&target.program)
            .args(&target.arguments)
            .current_dir(&target.folder)
            .env_clear()
            .envs(self.bench.env.iter())
            .envs(target.env.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        assert!(output.status.success(), "{target:?}: {}", text(&output));
        text(&output)
    }

    fn is_ours(&self, program: &Path) {
        let libraries = needed(program);
        assert_eq!(libraries.first().map(String::as_str), Some("libthreadbare_rt.so"), "{libraries:?}");
        assert!(!hooks(program).is_empty());
        check_program(program, &self.bench.env).unwrap();
    }

    /// The archives of compiled C that build scripts made, by name.
    fn archives(&self, name: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.join("target/threadbare")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name() == Some(name.as_ref()) {
                    found.push(path);
                }
            }
        }
        found
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            _ = fs::copy(entry.path(), target).unwrap()
        }
    }
}

fn names(plan: &TestPlan) -> BTreeSet<String> {
    plan.binaries
        .iter()
        .flat_map(|b| &b.cases)
        .map(|c| format!("{} {} {}", c.package, c.binary, c.name))
        .collect()
}

fn whole_workspace() {
    let workspace = Workspace::new();
    let plan = workspace.plan("--workspace");
    let expected = [
        "app app in_the_binary",
        "app app tests::c_code_is_called",
        "app app tests::cargo_variables_are_set",
        "app app tests::flag_from_build_table",
        "app integration outside",
        "app integration runs_the_binary",
        "app own_harness own_harness",
    ];
    assert_eq!(names(&plan), expected.map(String::from).into());
    let ignored: Vec<_> = plan.binaries.iter().flat_map(|binary| &binary.ignored).collect();
    assert_eq!(ignored, ["tests::ignored"]);
    assert!(plan.notes.iter().any(|note| note.contains("doctests")), "{:?}", plan.notes);
    assert!(plan.notes.iter().any(|note| note.contains("proc macro")), "{:?}", plan.notes);
    for binary in &plan.binaries {
        workspace.is_ours(&binary.program);
        assert!(binary.program.starts_with(workspace.folder.join("target/threadbare")));
        assert_eq!(binary.whole, binary.name == "own_harness");
        for case in &binary.cases {
            let output = workspace.run(&case.target);
            let expected = if binary.whole { "a harness of its own: 2" } else { "1 passed" };
            assert!(output.contains(expected), "{}: {output}", case.name);
        }
    }

    // C of the program is instrumented, C of the build script is not.
    let twice = workspace.archives("libtwice.a");
    assert_eq!(twice.len(), 1);
    assert!(!hooks(&twice[0]).is_empty());
    for archive in workspace.archives("libanswer.a") {
        let host = !archive.starts_with(workspace.folder.join("target/threadbare/x86_64-unknown-linux-gnu"));
        assert_eq!(hooks(&archive).is_empty(), host, "{}", archive.display());
    }

    let plan = workspace.plan("-p app --lib -- --include-ignored ignored");
    assert_eq!(names(&plan), ["app app tests::ignored".to_owned()].into());
    assert!(workspace.run(&plan.binaries[0].cases[0].target).contains("1 passed"));
    assert_eq!(
        names(&workspace.plan("-p app --test integration outs")),
        ["app integration outside".into()].into()
    );
    assert_eq!(names(&workspace.plan("-p app --bin app -- --exact nothing")), [].into());
    let plan = workspace.plan("-p app --lib --features extra -- --skip tests::c --skip tests::f");
    assert_eq!(names(&plan), ["app app tests::with_feature".to_owned()].into());
}

fn flags_of_the_user() {
    let mut workspace = Workspace::new();
    let flags = |plan: TestPlan| -> Vec<String> {
        plan.binaries[0].cases.iter().map(|case| case.name.replace("tests::flag_from_", "")).collect()
    };
    let line = |config: &str| format!("-p app --lib {config} flag_from");
    assert_eq!(flags(workspace.plan(&line(""))), ["build_table"]);

    // An array of --config joins the one of the file; a target table silences the build table.
    let both = r#"--config build.rustflags=["--cfg=from_argument"]"#;
    assert_eq!(flags(workspace.plan(&line(both))), ["argument", "build_table"]);
    let target = r#"--config target.'cfg(target_os="linux")'.rustflags=["--cfg=from_argument"]"#;
    assert_eq!(flags(workspace.plan(&line(target))), ["argument"]);

    workspace.bench.env.set("RUSTFLAGS", "--cfg from_environment");
    assert_eq!(flags(workspace.plan(&line(both))), ["environment"]);
    workspace.bench.env.set("CARGO_ENCODED_RUSTFLAGS", "--cfg\u{1f}from_argument");
    assert_eq!(flags(workspace.plan(&line(""))), ["argument"]);
}

fn run_and_profiles() {
    let mut workspace = Workspace::new();
    workspace.bench.env.set("CARGO_INCREMENTAL", "1");
    for profile in ["", "--release", "--profile fat"] {
        let target = cargo::run_target(&workspace.request(&format!("-p app {profile} -- a b"))).unwrap();
        workspace.is_ours(&target.program);
        assert!(instrumented(&target.program, "doubled"), "{profile}");
        assert!(hooks(&target.program).iter().any(|hook| hook == "__tsan_atomic32_fetch_add"), "{profile}");
        assert_eq!(target.arguments, ["a", "b"]);
        assert_eq!(workspace.run(&target), "42 a,b\n");
    }
    let target =
        cargo::run_target(&workspace.request("--manifest-path app/Cargo.toml --example show")).unwrap();
    assert_eq!(workspace.run(&target), "example 8\n");

    let target_dir = workspace.bench.path("elsewhere");
    let built =
        cargo::build(&workspace.request(&format!("-p app --bins --target-dir {}", target_dir.display())));
    let built = built.unwrap();
    assert_eq!(built.len(), 1);
    assert_eq!((built[0].name.as_str(), built[0].kind.as_str(), built[0].test), ("app", "bin", false));
    assert!(built[0].program.starts_with(target_dir.join("threadbare")));
    workspace.is_ours(&built[0].program);

    for line in ["-p app --lib", "-p app --lib --no-run"] {
        let built = cargo::build_tests(&workspace.request(line)).unwrap();
        assert!(built.iter().all(|built| built.test) && !built.is_empty(), "{line}: {built:?}");
    }
}

/// Whether the code of a function calls a hook.
fn instrumented(program: &Path, function: &str) -> bool {
    let output = Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(program).output().unwrap();
    let listing = String::from_utf8_lossy(&output.stdout);
    let mut inside = false;
    listing.lines().any(|line| {
        if line.ends_with(">:") {
            inside = line.contains(function);
        }
        inside && line.contains("__tsan_func_entry")
    })
}

fn errors() {
    let workspace = Workspace::new();
    let plan = |line: &str| cargo::plan_tests(&workspace.request(line)).unwrap_err();
    assert!(matches!(plan("--doc"), Error::DocTests));
    assert!(matches!(plan("-p missing"), Error::CargoFailed { .. }));
    assert!(matches!(plan("--manifest-path nowhere/Cargo.toml"), Error::CargoFailed { .. }));
    let error = plan("--target x86_64-unknown-linux-musl");
    assert!(error.to_string().contains("musl") && error.help().unwrap().contains("--target"), "{error}");

    let mut request = workspace.request("-p app");
    request.env.set("RUSTFLAGS", "-Ctarget-feature=+crt-static");
    assert!(matches!(cargo::plan_tests(&request), Err(Error::StaticLink { .. })));
    request.env.set("RUSTFLAGS", "-Zsanitizer=address");
    assert!(matches!(cargo::plan_tests(&request), Err(Error::OtherSanitizer { .. })));
    request.env.remove("RUSTFLAGS");
    request.env.set("CARGO", "/nowhere/cargo");
    assert!(matches!(cargo::plan_tests(&request), Err(Error::Start { .. })));

    fs::write(workspace.folder.join("app/src/lib.rs"), "not rust").unwrap();
    assert!(matches!(plan("-p app"), Error::CargoFailed { .. }));
    assert!(matches!(cargo::run_target(&workspace.request("-p app")), Err(Error::CargoFailed { .. })));
}

fn make() {
    let mut bench = Bench::new();
    bench.env.set("THREADBARE_RUNTIME", bench.runtime.library());
    let own = std::env::current_exe().unwrap();
    let rules = "prog: main.o part.o\n\t$(CXX) $(LDFLAGS) $^ -o $@\nmain.o: main.cc\npart.o: part.c\n";
    fs::write(bench.path("Makefile"), rules).unwrap();
    fs::write(
        bench.path("main.cc"),
        "extern \"C\" int part(int *); int main() { int x = 1; return part(&x) - 2; }\n",
    )
    .unwrap();
    let part = bench.path("part.c");
    fs::write(&part, "int part(int *p) { return ++*p; }\n").unwrap();
    let run = |extra: &[&str]| {
        Command::new("make")
            .args(["-j2", "-s"])
            .arg(format!("CC={} cc", own.display()))
            .arg(format!("CXX={} c++", own.display()))
            .args(extra)
            .current_dir(bench.path(""))
            .env_clear()
            .envs(bench.env.iter())
            .output()
            .unwrap()
    };
    let output = run(&["CFLAGS=-g -O1 -MMD", "CXXFLAGS=-std=c++17 -Wall"]);
    assert!(output.status.success(), "{}", text(&output));
    let program = bench.path("prog");
    assert_eq!(needed(&program)[0], "libthreadbare_rt.so");
    check_program(&program, &bench.env).unwrap();
    assert!(Command::new(&program).status().unwrap().success());
    assert!(bench.path("part.d").exists());

    fs::remove_file(&program).unwrap();
    let output = run(&["LDFLAGS=-static"]);
    assert!(text(&output).contains("Error 2") && text(&output).contains("statically"), "{}", text(&output));
    assert!(!program.exists());
    fs::write(&part, "int part(int *p) { return ++*p }\n").unwrap();
    let output = run(&[]);
    assert!(text(&output).contains("Error 1"), "the compiler's own exit code: {}", text(&output));
}
