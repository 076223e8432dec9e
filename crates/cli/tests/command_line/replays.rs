//! `threadbare replay` on real programs.

use crate::workbench::{BANK, Workbench};

fn found() -> (Workbench, String) {
    let bench = Workbench::with_bank(BANK);
    let json =
        bench.tool(&["run", "--races", "off", "--seed", "3", "--format", "json", "--", "./bank"]).json();
    let id = json["findings"][0]["id"].as_str().unwrap().to_owned();
    (bench, id)
}

#[test]
fn a_finding_fails_the_same_way_every_time() {
    let (bench, id) = found();
    let first = bench.tool(&["replay", &id, "--format", "json"]);
    assert_eq!(first.code(), 1, "{}", first.stderr());
    assert_eq!(first.json()["finding"]["kind"], "assertion");
    for _ in 0..10 {
        assert_eq!(bench.tool(&["replay", &id, "--format", "json"]).json(), first.json());
    }
    // By its file, from another folder, and pasted.
    let schedule = bench.path(&format!(".threadbare/{id}.schedule"));
    let text = std::fs::read_to_string(&schedule).unwrap();
    let pasted: String = text.lines().map(|line| format!("> {line}\r\n")).collect();
    bench.write("pasted", &pasted.replace("> ", "   "));
    let said = bench.tool(&["replay", bench.path("pasted").to_str().unwrap()]);
    assert_eq!(said.code(), 1, "{}", said.stderr());
    assert!(said.stdout().contains("balance == 200"));
}

#[test]
fn a_trace_shows_every_point() {
    let (bench, id) = found();
    let said = bench.tool(&["replay", &id, "--trace"]);
    assert_eq!(said.code(), 1, "{}", said.stderr());
    let text = said.stdout();
    let trace: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let lines =
        |words: &[&str]| trace.iter().filter(|line| words.iter().all(|word| line.contains(word))).count();
    assert_eq!(lines(&["0 ", "create", "strand 0.1", "main", "bank.c:"]), 1, "{text}");
    for strand in ["0.1", "0.2"] {
        assert_eq!(lines(&[strand, "read 4", "balance", "deposit", "bank.c:7"]), 1, "{text}");
        assert_eq!(lines(&[strand, "write 4", "balance", "deposit", "bank.c:8"]), 1, "{text}");
    }
    assert!(lines(&["-> 0."]) >= 2, "{text}");
    let numbered = |line: &&str| line.get(..8).and_then(|number| number.trim().parse::<u64>().ok());
    let numbers: Vec<u64> = trace.iter().filter_map(numbered).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "{text}");
}

#[test]
fn a_replay_has_the_programs_name_as_it_was() {
    let bench = Workbench::with_bank(
        "#include <string.h>\nint main(int n, char **args) { (void)n; return strcmp(args[0], \"./bank\") ? 4 : 3; }",
    );
    let json = bench.tool(&["run", "--format", "json", "--", "./bank"]).json();
    assert_eq!(json["findings"][0]["message"], "the program ended with code 3");
    let said = bench.tool(&["replay", json["findings"][0]["schedule"].as_str().unwrap()]);
    assert_eq!(said.code(), 1, "{}", said.stderr());
    assert!(said.stdout().contains("code 3"), "{}", said.stdout());
}

#[test]
fn another_exit_code_is_another_run() {
    let bench = Workbench::with_bank(
        "#include <stdio.h>\nint main(void) { int n = 9; FILE *f = fopen(\"code\", \"r\"); return f && fscanf(f, \"%d\", &n) == 1 ? n : 9; }",
    );
    bench.write("code", "3");
    let json = bench.tool(&["run", "--format", "json", "--", "./bank"]).json();
    let schedule = json["findings"][0]["schedule"].as_str().unwrap().to_owned();
    assert_eq!(bench.tool(&["replay", &schedule]).code(), 1);
    bench.write("code", "4");
    let said = bench.tool(&["replay", &schedule]);
    assert_eq!(said.code(), 3, "{}{}", said.stdout(), said.stderr());
    for word in ["ended with code 3", "ended with code 4", "help:"] {
        assert!(said.stderr().contains(word), "{}", said.stderr());
    }
}

#[test]
fn gdb_shows_every_strand() {
    let source = r#"
#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static void *forward(void *nothing) {
    pthread_mutex_lock(&first);
    pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second);
    pthread_mutex_unlock(&first);
    return nothing;
}
static void *backward(void *nothing) {
    pthread_mutex_lock(&second);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return nothing;
}
int main(void) {
    pthread_t strands[2];
    pthread_create(&strands[0], 0, forward, 0);
    pthread_create(&strands[1], 0, backward, 0);
    pthread_join(strands[0], 0);
    pthread_join(strands[1], 0);
    return 0;
}
"#;
    let bench = Workbench::with_bank(source);
    if !bench.command("gdb", &["--version"]).output().is_ok_and(|output| output.status.success()) {
        let said = bench.tool(&["run", "--", "./bank"]);
        assert_eq!(said.code(), 1, "without gdb only the deadlock itself can be seen");
        return;
    }
    let json = bench.tool(&["run", "--format", "json", "--", "./bank"]).json();
    assert_eq!(json["findings"][0]["kind"], "deadlock");
    bench.write("commands", "strands bt\nquit\n");
    let mut command = bench.command(
        env!("CARGO_BIN_EXE_threadbare"),
        &["replay", json["findings"][0]["schedule"].as_str().unwrap(), "--gdb"],
    );
    let output = command.stdin(std::fs::File::open(bench.path("commands")).unwrap()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for word in ["strand 0 ", "strand 0.1 ", "strand 0.2 ", " in forward (", " in backward (", " in main ("] {
        assert!(text.contains(word), "`{word}` is missing in: {text}");
    }
}

/// Fails only where a variable of the environment is set so.
const LOGGER: &str = r#"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static void *strand(void *unused) { return unused; }
int main(void) {
    const char *log = getenv("RUST_LOG"), *other = getenv("BANK_OTHER");
    pthread_t thread;
    if (other && !strcmp(other, "fork")) {
        pthread_create(&thread, 0, strand, 0);
        pthread_join(thread, 0);
    }
    assert(!(log && !strcmp(log, "trace")));
    return 0;
}
"#;

#[test]
fn a_schedule_has_the_environment_it_needs() {
    let bench = Workbench::with_bank(LOGGER);
    let tool = env!("CARGO_BIN_EXE_threadbare");
    let run = bench.command(tool, &["run", "--runs", "1", "--", "./bank"]).env("RUST_LOG", "trace").output();
    assert_eq!(run.unwrap().status.code(), Some(1));
    let is_schedule = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "schedule");
    let folder = std::fs::read_dir(bench.path(".threadbare")).unwrap();
    let schedule = folder.map(|entry| entry.unwrap().path()).find(is_schedule).unwrap();
    let schedule = schedule.to_str().unwrap();
    // Neither what is set here nor what is not counts.
    for value in [None, Some("off")] {
        let mut command = bench.command(tool, &["replay", schedule]);
        command.env_remove("RUST_LOG").envs(value.map(|value| ("RUST_LOG", value)));
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{value:?}: {text}");
        assert!(text.starts_with("replaying ./bank\n"), "{text}");
    }
    // What passes from the user to the program is named where the run is another.
    let mut command = bench.command(tool, &["replay", schedule]);
    let output = command.env("BANK_OTHER", "fork").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("the environment is another one: with BANK_OTHER"), "{text}");
    // Another folder is named in the first line.
    let output = bench.command(tool, &["replay", schedule]).current_dir("/").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let first = text.lines().next().unwrap_or_default().to_owned();
    assert!(first.starts_with("replaying in ") && first.contains("bank"), "{text}");
    assert_eq!(output.status.code(), Some(1), "{text}");
}

#[test]
fn a_campaign_that_goes_on_says_of_what() {
    let bench = Workbench::with_bank(LOGGER);
    let tool = env!("CARGO_BIN_EXE_threadbare");
    assert_eq!(bench.tool(&["run", "--runs", "2", "--seed", "9", "--", "./bank", "x y"]).code(), 0);
    let said = bench.tool(&["run", "--resume", "--runs", "4"]);
    assert!(said.stderr().starts_with("resuming ./bank 'x y'\n"), "{}", said.stderr());
    assert_eq!(said.code(), 0, "{}", said.stdout());
    // It goes on as it began, whatever is set now.
    let mut command = bench.command(tool, &["run", "--resume", "--runs", "6"]);
    assert_eq!(command.env("RUST_LOG", "trace").output().unwrap().status.code(), Some(0));
}
