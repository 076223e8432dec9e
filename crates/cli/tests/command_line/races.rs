//! Data races: found, told, replayed, suppressed.

use crate::workbench::{Said, Workbench};
use serde_json::Value;

/// One lock for the balance, forgotten by the auditor; the account is forgotten by the depositor.
const RACY: &str = r#"
#include <pthread.h>
#include <stdlib.h>
struct account { long id; long money; };
static int balance;
static struct account *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *deposit(void *amount) {
    pthread_mutex_lock(&lock);
    balance += *(int *)amount;
    pthread_mutex_unlock(&lock);
    shared->money = 5;
    return 0;
}
static int audit(void) { return balance; }
static void *auditor(void *nothing) {
    int sum = audit();
    pthread_mutex_lock(&lock);
    sum += (int)shared->money;
    pthread_mutex_unlock(&lock);
    return sum == -1 ? &balance : nothing;
}
int main(void) {
    int amount = 50;
    shared = calloc(1, sizeof *shared);
    pthread_t strands[2];
    pthread_create(&strands[0], 0, deposit, &amount);
    pthread_create(&strands[1], 0, auditor, 0);
    for (int i = 0; i < 2; i++) pthread_join(strands[i], 0);
    free(shared);
    return 0;
}
"#;

fn run(bench: &Workbench, options: &[&str]) -> Said {
    let mut arguments = vec!["run", "--runs", "200", "--keep-going", "--format", "json"];
    arguments.extend(options);
    arguments.extend(["--", "./bank"]);
    bench.tool(&arguments)
}

/// The finding whose message has this word.
fn find<'a>(json: &'a Value, word: &str) -> &'a Value {
    let all = json["findings"].as_array().unwrap();
    let fits = |found: &&Value| found["message"].as_str().unwrap().contains(word);
    all.iter().find(fits).unwrap_or_else(|| panic!("no `{word}` in {all:#?}"))
}

#[test]
fn each_race_is_one_finding_with_both_stacks() {
    let bench = Workbench::with_bank(RACY);
    let said = run(&bench, &["--check-replay"]);
    assert_eq!(said.code(), 1, "{}", said.stderr());
    let json = said.json();
    // Both ways round, in many runs: two pairs of lines, two findings.
    assert_eq!(json["findings"].as_array().unwrap().len(), 2, "{json:#}");
    let race = find(&json, "`balance`");
    assert_eq!((race["kind"].as_str(), race["severity"].as_str()), (Some("race"), Some("failure")));
    assert!(race["count"].as_u64().unwrap() > 50, "{race:#}");
    let accesses = race["accesses"].as_array().unwrap();
    for access in accesses {
        let own = &access["stack"][0];
        match access["operation"].as_str().unwrap() {
            "read" => {
                assert_eq!((own["function"].as_str(), own["line"].as_u64()), (Some("audit"), Some(15)));
                assert_eq!(access["stack"][1]["function"], "auditor");
                assert!(access["holds"].is_null(), "{access:#}");
            }
            "write" => {
                assert_eq!((own["function"].as_str(), own["line"].as_u64()), (Some("deposit"), Some(10)));
                assert_eq!(access["holds"][0]["object"], "lock");
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(accesses.len(), 2);
    assert_eq!(race["created"].as_array().unwrap().len(), 2, "{race:#}");
    assert!(race["steps"].as_array().unwrap().len() >= 3, "{race:#}");
    assert!(race["notes"][0].as_str().unwrap().contains("holds `lock`"), "{race:#}");
    let object = &find(&json, "account.money")["object"];
    assert_eq!(object["block"]["size"], 16);
    assert_eq!(object["block"]["allocated"]["stack"][0]["function"], "main", "{object:#}");
}

#[test]
fn a_race_is_replayed() {
    let bench = Workbench::with_bank(RACY);
    let json = run(&bench, &[]).json();
    for word in ["`balance`", "account.money"] {
        let found = find(&json, word);
        let schedule = found["schedule"].as_str().unwrap();
        let said = bench.tool(&["replay", schedule, "--format", "json"]);
        assert_eq!(said.code(), 1, "{}", said.stderr());
        let again = &said.json()["finding"];
        for field in ["id", "kind", "message", "accesses", "object", "created", "notes"] {
            assert_eq!(again[field], found[field], "{field}");
        }
        let traced = bench.tool(&["replay", schedule, "--trace"]);
        assert_eq!(traced.code(), 1, "{}", traced.stderr());
    }
    // The run itself is clean; what is replayed is the race.
    let schedule = find(&json, "`balance`")["schedule"].as_str().unwrap();
    let text = std::fs::read_to_string(bench.path(schedule)).unwrap();
    assert!(text.contains("\nverdict: none\n") && text.contains("\nrace: "), "{text}");
}

#[test]
fn a_race_on_a_stack_is_replayed() {
    // The first run learns that stacks are shared; a later one shows the race, and so must a replay of it.
    let bench = Workbench::with_bank(
        r#"
#include <pthread.h>
static void *work(void *shared) { *(int *)shared = 1; return 0; }
int main(void) {
    int local = 0;
    pthread_t strand;
    pthread_create(&strand, 0, work, &local);
    *(volatile int *)&local = 2;
    pthread_join(strand, 0);
    return 0;
}
"#,
    );
    let json = run(&bench, &[]).json();
    let schedule = json["findings"][0]["schedule"].as_str().unwrap_or_else(|| panic!("{json:#}"));
    let said = bench.tool(&["replay", schedule]);
    assert_eq!(said.code(), 1, "{}{}", said.stdout(), said.stderr());
}

#[test]
fn races_may_be_only_told_or_not_looked_for() {
    let bench = Workbench::with_bank(RACY);
    let told = bench.tool(&["run", "--runs", "200", "--races", "report", "--", "./bank"]);
    assert_eq!(told.code(), 0, "{}", told.stderr());
    assert!(told.stdout().starts_with("clean, 2 findings told: 200 runs in "), "{}", told.stdout());
    assert!(told.stdout().contains("showed: data race on `balance`"), "{}", told.stdout());
    let json = run(&bench, &["--races", "report"]).json();
    assert_eq!((json["verdict"].as_str(), json["runs_failed"].as_u64()), (Some("clean"), Some(0)));
    assert_eq!(json["first_failure_run"], Value::Null);
    assert_eq!(json["findings"][0]["severity"], "note");
    let off = run(&bench, &["--races", "off"]);
    assert_eq!((off.code(), off.json()["findings"].as_array().unwrap().len()), (0, 0));
}

#[test]
fn suppressed_findings_are_counted_and_unused_lines_told() {
    let bench = Workbench::with_bank(RACY);
    bench.write("known", "# ours\nrace:^audit$\nrace_top:auditor\ndeadlock:nowhere\n");
    bench.write("more", "race:other.c\n");
    let options = ["--suppressions", "known", "--suppressions=more"];
    let said = run(&bench, &options);
    assert_eq!(said.code(), 0, "{}{}", said.stdout(), said.stderr());
    let json = said.json();
    assert_eq!((json["verdict"].as_str(), json["suppressed"].as_u64()), (Some("clean"), Some(2)));
    assert_eq!(
        json["warnings"],
        serde_json::json!([
            "the suppression `deadlock:nowhere` (known:4) was not used",
            "the suppression `race:other.c` (more:1) was not used"
        ])
    );
    // What is not suppressed fails as ever.
    bench.write("known", "race:^audit$\n");
    let said = run(&bench, &["--suppressions", "known"]);
    let json = said.json();
    assert_eq!((said.code(), json["suppressed"].as_u64()), (1, Some(1)));
    assert!(find(&json, "account.money")["count"].as_u64() == json["runs_failed"].as_u64(), "{json:#}");
    for (text, words) in [("leak:x\n", "known:1: there is no type `leak`"), ("\nrace\n", "known:2: expected")]
    {
        bench.write("known", text);
        let said = run(&bench, &["--suppressions", "known"]);
        assert_eq!(said.code(), 2);
        assert!(said.stderr().contains(words) && said.stderr().contains("help:"), "{}", said.stderr());
    }
    let said = run(&bench, &["--suppressions", "missing"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr().contains("cannot read the suppressions `missing`"), "{}", said.stderr());
}

#[test]
fn a_panic_tells_strand_and_function() {
    let bench = Workbench::new();
    bench.write(
        "bank.rs",
        "use std::thread;\n\
         fn check(sum: u32) {\n    assert_eq!(sum, 3, \"the sum\");\n}\n\
         fn main() {\n    thread::spawn(|| {}).join().unwrap();\n    \
         let checker = thread::Builder::new().name(\"checker\".into());\n    \
         checker.spawn(|| check(2)).unwrap().join().unwrap();\n}\n",
    );
    bench.ok(&["rustc", "-g", "-O", "bank.rs", "-o", "bank"]);
    let json = bench.tool(&["run", "--format", "json", "--", "./bank"]).json();
    let place = &json["findings"][0]["locations"][0];
    assert_eq!((place["strand"].as_str(), place["line"].as_u64()), (Some("0.2"), Some(3)), "{json:#}");
    assert!(place["function"].as_str().unwrap().ends_with("check"), "{place:#}");
    assert_eq!(json["findings"][0]["created"][0]["name"], "checker");
}
