//! `threadbare run` on real programs.

use crate::workbench::{BANK, Said, Workbench, sound_bank};
use std::process::Stdio;
use threadbare_tests::tool;

#[test]
fn a_bug_is_found_and_told() {
    let bench = Workbench::with_bank(BANK);
    let said = bench.tool(&["run", "--races", "off", "--", "./bank"]);
    assert_eq!(said.code(), 1, "{}", said.stderr());
    let text = said.stdout();
    let last = text.lines().last().unwrap();
    assert!(text.contains("failed: assertion `balance == 200'"), "{text}");
    assert!(text.contains("assert(balance == 200);"), "{text}");
    assert!(text.contains("│ balance "), "{text}");
    let schedule = last.trim().strip_prefix("replay: threadbare replay ").unwrap();
    assert!(bench.path(schedule).exists(), "{last}");
    let list = bench.tool(&["list"]);
    assert!(list.stdout().contains("bank.c:17"), "{}", list.stdout());
}

#[test]
fn a_sound_program_is_clean_and_leaves_its_state_only() {
    let bench = Workbench::with_bank(&sound_bank());
    let said = bench.tool(&["run", "--runs", "200", "--check-replay", "--", "./bank"]);
    assert_eq!(said.code(), 0, "{}{}", said.stdout(), said.stderr());
    assert!(said.stdout().contains("200 of 200 runs replayed, all the same"), "{}", said.stdout());
    let left: Vec<_> =
        std::fs::read_dir(bench.path(".threadbare")).unwrap().map(|it| it.unwrap().path()).collect();
    let is_state = |path: &std::path::PathBuf| {
        path.ends_with("coverage.json") || path.extension().is_some_and(|end| end == "campaign")
    };
    assert!(left.len() == 2 && left.iter().all(is_state), "{left:?}");
    let list = bench.tool(&["list"]);
    assert!(list.stdout().contains("clean") && !list.stdout().contains("finding"), "{}", list.stdout());
}

#[test]
fn the_result_does_not_depend_on_the_jobs() {
    let bench = Workbench::with_bank(BANK);
    let result = |jobs: &str| {
        let args = [
            "run",
            "--keep-going",
            "--runs",
            "300",
            "--seed",
            "5",
            "--jobs",
            jobs,
            "--format",
            "json",
            "--",
            "./bank",
        ];
        let mut json = bench.tool(&args).json();
        for field in ["elapsed_s", "runs_per_s"] {
            assert!(json[field].take().as_f64().unwrap() > 0.0);
        }
        json
    };
    let one = result("1");
    assert_eq!(one, result("3"));
    assert_eq!((one["verdict"].as_str(), one["runs"].as_u64()), (Some("failure"), Some(300)));
    let findings = one["findings"].as_array().unwrap();
    let [assertion] = &findings.iter().filter(|found| found["kind"] == "assertion").collect::<Vec<_>>()[..]
    else {
        panic!("{findings:#?}")
    };
    assert_eq!(assertion["locations"][0]["line"], 17);
    let failed = one["runs_failed"].as_u64().unwrap();
    assert!(findings.iter().all(|found| found["count"].as_u64().unwrap() <= failed), "{findings:#?}");
}

#[test]
fn a_stuck_run_is_a_timeout() {
    let stuck = "int main(void) { volatile int x = 1; while (x) {} return 0; }";
    let bench = Workbench::with_bank(stuck);
    let said = bench.tool(&["run", "--timeout", "300ms", "--format", "json", "--", "./bank"]);
    assert_eq!(said.code(), 1);
    let json = said.json();
    assert_eq!(json["findings"][0]["kind"], "timeout");
    let schedule = json["findings"][0]["schedule"].as_str().unwrap().to_owned();
    let again = bench.tool(&["replay", &schedule]);
    assert_eq!(again.code(), 1, "{}", again.stderr());
}

#[test]
fn a_slow_run_is_not_stuck() {
    // It ends when it has used 200 ms of the processor, however long that takes.
    let slow = r#"
#include <stdio.h>
#include <unistd.h>
static long used(void) {
    long user = 0, system = 0;
    FILE *file = fopen("/proc/self/stat", "r");
    if (fscanf(file, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system) != 2) return 1 << 30;
    fclose(file);
    return (user + system) * 1000 / sysconf(_SC_CLK_TCK);
}
int main(void) {
    while (used() < 200)
        for (volatile int i = 0; i < 100000; i++) {}
    return 0;
}
"#;
    let bench = Workbench::with_bank(slow);
    let run = |timeout: &str| {
        let said =
            bench.tool(&["run", "--runs", "2", "--timeout", timeout, "--format", "json", "--", "./bank"]);
        let json = said.json();
        let warned = json["warnings"].to_string().contains("slow, not stuck");
        (said.code(), warned, json["findings"][0]["kind"] == "timeout")
    };
    assert_eq!(run("100ms"), (0, true, false));
    assert_eq!(run("20ms"), (1, false, true));
    assert_eq!(run("5s"), (0, false, false));
}

#[test]
fn no_run_is_no_verdict() {
    let bench = Workbench::with_bank("int main(void) { for (volatile int i = 0;; i++) {} }");
    let run = ["run", "--time", "300ms", "--timeout", "100s"];
    let said = bench.tool(&[&run[..], &["--", "./bank"]].concat());
    assert_eq!(said.code(), 2, "{}", said.stdout());
    assert!(
        said.stdout().starts_with("no verdict: 0 runs") && said.stdout().contains("hint: "),
        "{}",
        said.stdout()
    );
    let said = bench.tool(&[&run[..], &["--format", "json", "--", "./bank"]].concat());
    assert_eq!((said.code(), said.json()["verdict"].as_str()), (2, Some("none")));
    let said = bench.tool(&[&run[..], &["--format", "junit", "--", "./bank"]].concat());
    assert_eq!(said.code(), 2);
    assert!(said.stdout().contains("<error") && said.stdout().contains("errors=\"1\""), "{}", said.stdout());
}

#[test]
fn warnings_that_are_errors_do_not_stop_a_build() {
    let bench = Workbench::new();
    // gcc's own runtime does not understand fences, and gcc warns of that.
    let fence =
        "#include <stdatomic.h>\nint main(void) { atomic_thread_fence(memory_order_seq_cst); return 0; }\n";
    bench.write("fence.c", fence);
    bench.ok(&["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "fence.c", "-o", "fence"]);
    bench.ok(&["run", "--runs", "2", "--", "./fence"]);
}

#[test]
fn a_program_with_one_thread_gets_a_hint() {
    let bench = Workbench::with_bank("int main(void) { return 0; }");
    let said = bench.tool(&["run", "--runs", "5", "--", "./bank"]);
    assert_eq!(said.code(), 0);
    assert!(said.stdout().contains("started no second thread"), "{}", said.stdout());
    let bench = Workbench::with_bank(&sound_bank());
    let said = bench.tool(&["run", "--runs", "5", "--", "./bank"]);
    assert!(!said.stdout().contains("hint:"), "{}", said.stdout());
}

#[test]
fn every_run_reads_the_input_anew() {
    let reader = r#"
#include <stdio.h>
int main(void) { int n = 0; return scanf("%d", &n) == 1 && n == 42 ? 0 : 5; }
"#;
    let bench = Workbench::with_bank(reader);
    bench.write("input", "42\n");
    assert_eq!(bench.tool(&["run", "--runs", "20", "--stdin", "input", "--", "./bank"]).code(), 0);
    let without = bench.tool(&["run", "--runs", "20", "--format", "json", "--", "./bank"]).json();
    assert_eq!(without["findings"][0]["kind"], "exit");
    assert_eq!(without["findings"][0]["message"], "the program ended with code 5");
}

#[test]
fn an_interrupt_ends_a_campaign_with_its_summary() {
    let bench = Workbench::with_bank(&sound_bank());
    let mut command = bench.command(
        env!("CARGO_BIN_EXE_threadbare"),
        &["run", "--time", "1h", "--strategy", "random", "--", "./bank"],
    );
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The signal must find the tool past its start; until then it would just end.
    while !bench.path(".threadbare").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    let sent = bench.command("kill", &["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let said = Said(child.wait_with_output().unwrap());
    assert_eq!(said.code(), 0, "{}", said.stderr());
    assert!(said.stdout().contains("ended early: interrupted"), "{}", said.stdout());
}

#[test]
fn a_program_that_hangs_before_main_keeps_nobody() {
    let bench = Workbench::with_bank(
        "__attribute__((constructor)) static void hang(void) { for (volatile int i = 0;; i++) {} }\nint main(void) { return 0; }",
    );
    let ended_by = |signal: &str| {
        let mut command = bench.command(env!("CARGO_BIN_EXE_threadbare"), &["run", "--", "./bank"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !bench.path(".threadbare").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(bench.command("kill", &[signal, &child.id().to_string()]).status().unwrap().success());
        let said = Said(child.wait_with_output().unwrap());
        // A driver that ends at once does not tidy up.
        let _ = std::fs::remove_dir_all(bench.path(".threadbare"));
        said
    };
    let said = ended_by("-TERM");
    assert_eq!((said.code(), said.stdout().as_str()), (128 + 15, ""), "{}", said.stderr());
    let said = ended_by("-INT");
    // No run has ended: nothing can be said of the program.
    assert_eq!(said.code(), 2, "{}", said.stderr());
    assert!(said.stdout().contains("ended early: interrupted"), "{}", said.stdout());
    assert!(said.stdout().starts_with("no verdict: 0 runs"), "{}", said.stdout());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Workbench::with_bank(&sound_bank());
    let program = env!("CARGO_BIN_EXE_threadbare");
    let ended = tool::abandon(&mut bench.command(program, &["run", "--runs", "5", "--", "./bank"]));
    assert_eq!(ended.code, Some(0), "{}", ended.describe());
    // The same where the other stream is the one that nobody reads.
    let mut command = bench.command(program, &["list", "--out", "nowhere"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
