//! Faults: what a planner shows with them, what is told of them, what a shrunk schedule keeps of them, and a few hundred variants of waits.
//!
//! The programs under `tests/programs/faults` are run by the corpus' own test.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::compile;
use threadbare_tests::corpus::{self, Program};
use threadbare_tests::extent::either;
use threadbare_tests::tool;

fn program(name: &str) -> Program {
    corpus::programs().into_iter().find(|program| program.name == name).expect("it is in the corpus")
}

fn built(program: &Program) -> PathBuf {
    let builds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    compile::instrumented(program, compile::compilers(program)[0], &builds).expect("it compiles")
}

/// A campaign's report.
fn ask(executable: &Path, out: &Path, options: &[&str]) -> Value {
    let mut command = tool::command(["run", "--format", "json", "--jobs", "1", "--races", "off", "--out"]);
    command.arg(out).args(options).arg("--").arg(executable);
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    assert!(matches!(outcome.code, Some(0 | 1)), "{command:?}: {}", outcome.describe());
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.describe()))
}

/// What is told of a fault; `None` of any other note.
fn fault(note: &str) -> Option<&str> {
    ["woke without a signal", "failed", "(EINTR)", "(EAGAIN)", "moved fewer bytes", "had set it"]
        .into_iter()
        .find(|part| note.starts_with("the ") && note.contains(part))
}

/// Steps of a schedule that are faults.
fn faults_in(schedule: &str) -> Vec<String> {
    let steps =
        schedule.split("steps:\n").nth(1).and_then(|text| text.split("\nend ").next()).unwrap_or_default();
    let is_fault = |word: &&str| word.starts_with('p') || word.starts_with('f');
    steps.split_whitespace().filter(is_fault).map(str::to_owned).collect()
}

/// Where dfs and dpor choose faults, they show the same classes: dfs leaves nothing out, dpor what makes no difference.
#[test]
fn planners_agree_on_what_there_is_with_faults() {
    for (name, more) in [
        ("faults/wait_right.c", 1),
        ("faults/timed_wait_right.c", 1),
        ("faults/c11_wait_right.c", 1),
        ("faults/weak_exchange_right.c", 2),
        ("faults/weak_exchange_right.cc", 1),
        ("faults/try_lock_right.c", 1),
        ("faults/futex_right.c", 1),
        ("faults/park_right.rs", 1),
    ] {
        let executable = built(&program(name));
        let out = tempfile::tempdir().expect("a folder");
        let count = |strategy: &str, faults: &str| {
            let options = ["--strategy", strategy, "--faults", faults, "--runs", "60000"];
            let report = ask(&executable, out.path(), &options);
            assert_eq!(report["planner"]["finished"], true, "{name}: {strategy} does not end: {report}");
            let left_out = &report["planner"]["bounds"];
            assert_eq!(
                left_out.as_array().map(Vec::len),
                Some(0),
                "{name}: {strategy} leaves out {left_out}"
            );
            report["planner"]["classes"].as_u64().expect("a number")
        };
        let plain = count("dpor", "none");
        let (with, all) = (count("dpor", "spurious"), count("dfs", "spurious"));
        assert_eq!(with, all, "{name}: dpor shows {with} classes of {all}");
        assert!(with >= plain + more, "{name}: {plain} classes without faults, {with} with them");
    }
}

/// A program that takes a wake-up for the event is never told to be proved; what a claim is about is told.
#[test]
fn claims_say_what_they_are_about() {
    let out = tempfile::tempdir().expect("a folder");
    let wrong = built(&program("faults/wait_wrong.c"));
    for options in [&[][..], &["--strategy", "dpor"], &["--strategy", "dfs"], &["--strategy", "pcb"]] {
        let report = ask(&wrong, out.path(), options);
        assert_eq!(report["verdict"], "failure", "{options:?}: {report}");
    }
    let report = ask(&wrong, out.path(), &["--strategy", "dpor", "--faults", "none"]);
    assert_eq!(report["claim"]["kind"], "complete", "{report}");
    assert!(report["claim"]["holds_for"].to_string().contains("no spurious wake-ups"), "{report}");
    let right = built(&program("faults/wait_right.c"));
    let report = ask(&right, out.path(), &["--strategy", "dpor"]);
    assert!(report["claim"]["holds_for"].to_string().contains("at most one spurious wake-up"), "{report}");
    // What planners do not choose they do not prove.
    for options in [&["--strategy", "dpor", "--faults", "all"][..], &["--runs", "300", "--faults", "memory"]]
    {
        let report = ask(&right, out.path(), options);
        assert!(report["claim"].is_null() || report["claim"]["kind"] == "none", "{options:?}: {report}");
    }
}

/// A finding that needs a fault names it once, and its shrunk schedule has that one and no other; the replay comes to the same.
#[test]
fn a_finding_names_the_fault_that_matters() {
    let all = corpus::programs();
    let wrong = all.iter().filter(|it| it.name.starts_with("faults/") && !it.passes());
    let mut tried = 0;
    for program in wrong {
        let executable = built(program);
        let out = tempfile::tempdir().expect("a folder");
        let faults = program.faults.as_deref().unwrap_or("spurious");
        let report = ask(&executable, out.path(), &["--faults", faults, "--runs", "200", "--seed", "3"]);
        let finding = &report["findings"][0];
        let notes = finding["notes"].as_array().cloned().unwrap_or_default();
        let told: Vec<&str> = notes.iter().filter_map(|note| fault(note.as_str()?)).collect();
        assert_eq!(told.len(), 1, "{}: {notes:?} in {report}", program.name);
        let schedule = PathBuf::from(finding["schedule"].as_str().expect("a path"));
        let text = fs::read_to_string(&schedule).expect("a schedule");
        assert_eq!(faults_in(&text).len(), 1, "{}: {text}", program.name);
        let replay = tool::run(["replay".as_ref(), schedule.as_os_str()]);
        assert_eq!(replay.code, Some(1), "{}: {}", program.name, replay.describe());
        tried += 1;
    }
    assert!(tried >= 20, "only {tried} programs");
}

/// A fault that does not matter is shrunk away.
#[test]
fn a_fault_that_does_not_matter_is_left_out() {
    let source = r#"
        #include <assert.h>
        #include <pthread.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
        static int ready;
        static volatile int count;
        static void *set(void *unused) {
            pthread_mutex_lock(&lock);
            ready = 1;
            pthread_cond_broadcast(&changed);
            pthread_mutex_unlock(&lock);
            count = count + 1;
            return unused;
        }
        int main(void) {
            pthread_t setter;
            pthread_create(&setter, NULL, set, NULL);
            pthread_mutex_lock(&lock);
            while (!ready)
                pthread_cond_wait(&changed, &lock);
            pthread_mutex_unlock(&lock);
            count = count + 1;
            pthread_join(setter, NULL);
            assert(count == 2);
            return 0;
        }"#;
    let folder = tempfile::tempdir().expect("a folder");
    let executable = compiled(folder.path(), "c", source);
    let mut had = 0;
    for seed in 0..either(30, 100) {
        let out = tempfile::tempdir().expect("a folder");
        let seed = seed.to_string();
        let report = ask(&executable, out.path(), &["--strategy", "random", "--seed", &seed]);
        let schedule = report["findings"][0]["schedule"].as_str().expect("the update is lost");
        let text = fs::read_to_string(schedule).expect("a schedule");
        assert_eq!(faults_in(&text), [""; 0], "{text}");
        had += usize::from(
            fs::read_to_string(format!("{schedule}.original")).is_ok_and(|text| !faults_in(&text).is_empty()),
        );
    }
    assert!(had > 0, "no run that failed first had a fault");
}

fn compiled(folder: &Path, extension: &str, source: &str) -> PathBuf {
    let (file, executable) = (folder.join(format!("variant.{extension}")), folder.join("variant"));
    fs::write(&file, source).expect("the source is written");
    let mut command = match extension {
        "c" => tool::command(["cc", "-g", "-O1", "-pthread"]),
        "cc" => tool::command(["c++", "-g", "-O1", "-pthread"]),
        _ => tool::command(["rustc", "-g", "--edition", "2024", "-O"]),
    };
    command.arg(&file).arg("-o").arg(&executable);
    let outcome = tool::finish(&mut command, tool::PATIENCE);
    assert_eq!(outcome.code, Some(0), "{source}\n{}", outcome.describe());
    executable
}

/// A program in which strands wait for a value that another sets.
#[derive(Clone, Copy, Debug)]
struct Variant {
    language: &'static str,
    /// It looks again after a wait.
    right: bool,
    waiters: u32,
    timed: bool,
    /// The wait is in a function of its own.
    nested: bool,
    /// The value is set, and the signal sent, under the lock.
    signal_inside: bool,
    /// Each waiter takes something that the setter has made as many of.
    takes: bool,
}

impl Variant {
    fn all() -> Vec<Variant> {
        let mut all = Vec::new();
        for language in ["c", "cc", "rs"] {
            for bits in 0..64u32 {
                let bit = |at: u32| bits >> at & 1 == 1;
                let waiters = if bit(1) { 2 } else { 1 };
                all.push(Variant {
                    language,
                    right: bit(0),
                    waiters,
                    timed: bit(2),
                    nested: bit(3),
                    signal_inside: bit(4),
                    takes: bit(5),
                });
            }
        }
        all
    }

    fn source(&self) -> String {
        match self.language {
            "c" => self.c(),
            "cc" => self.cxx(),
            _ => self.rust(),
        }
    }

    fn test(&self) -> &'static str {
        if self.right { "while" } else { "if" }
    }

    fn c(&self) -> String {
        let wait = match self.timed {
            true => "pthread_cond_timedwait(&changed, &lock, &limit)",
            false => "pthread_cond_wait(&changed, &lock)",
        };
        let call = if self.nested { "pause_here()" } else { wait };
        let take = if self.takes { "left--;" } else { "" };
        let (inside, outside) = match self.signal_inside {
            true => ("pthread_cond_broadcast(&changed);", ""),
            false => ("", "pthread_cond_broadcast(&changed);"),
        };
        format!(
            "#include <assert.h>
            #include <pthread.h>
            #include <time.h>
            static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
            static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
            static struct timespec limit;
            static int left;
            __attribute__((unused, noinline)) static void pause_here(void) {{ {wait}; }}
            static void *wait_for(void *unused) {{
                pthread_mutex_lock(&lock);
                {test} (left <= 0)
                    {call};
                assert(left > 0);
                {take}
                pthread_mutex_unlock(&lock);
                return unused;
            }}
            int main(void) {{
                pthread_t waiters[{waiters}];
                clock_gettime(CLOCK_REALTIME, &limit);
                limit.tv_sec += 1000000;
                for (int at = 0; at < {waiters}; at++)
                    pthread_create(&waiters[at], NULL, wait_for, NULL);
                pthread_mutex_lock(&lock);
                left = {waiters};
                {inside}
                pthread_mutex_unlock(&lock);
                {outside}
                for (int at = 0; at < {waiters}; at++)
                    pthread_join(waiters[at], NULL);
                return 0;
            }}",
            test = self.test(),
            waiters = self.waiters,
        )
    }

    fn cxx(&self) -> String {
        let wait = match self.timed {
            true => "changed.wait_for(held, std::chrono::hours(1000))",
            false => "changed.wait(held)",
        };
        let call = if self.nested { "pause_here(held)" } else { wait };
        let take = if self.takes { "left--;" } else { "" };
        let (inside, outside) = match self.signal_inside {
            true => ("changed.notify_all();", ""),
            false => ("", "changed.notify_all();"),
        };
        format!(
            "#include <cassert>
            #include <chrono>
            #include <condition_variable>
            #include <mutex>
            #include <thread>
            #include <vector>
            static std::mutex lock;
            static std::condition_variable changed;
            static int left;
            __attribute__((unused, noinline)) static void pause_here(std::unique_lock<std::mutex> &held) {{ {wait}; }}
            static void wait_for() {{
                std::unique_lock<std::mutex> held(lock);
                {test} (left <= 0)
                    {call};
                assert(left > 0);
                {take}
            }}
            int main() {{
                std::vector<std::thread> waiters;
                for (int at = 0; at < {waiters}; at++)
                    waiters.emplace_back(wait_for);
                {{
                    std::lock_guard<std::mutex> held(lock);
                    left = {waiters};
                    {inside}
                }}
                {outside}
                for (auto &waiter : waiters)
                    waiter.join();
                return 0;
            }}",
            test = self.test(),
            waiters = self.waiters,
        )
    }

    fn rust(&self) -> String {
        let wait = match self.timed {
            true => "changed.wait_timeout(left, std::time::Duration::from_secs(1_000_000)).unwrap().0",
            false => "changed.wait(left).unwrap()",
        };
        let call = if self.nested { "pause_here(changed, left)" } else { wait };
        let take = if self.takes { "*left -= 1;" } else { "" };
        let (inside, outside) = match self.signal_inside {
            true => ("changed.notify_all();", ""),
            false => ("", "changed.notify_all();"),
        };
        format!(
            "#![expect(unused_mut, dead_code, reason = \"not in all variants\")]
            use std::sync::{{Condvar, Mutex, MutexGuard}};
            #[inline(never)]
            fn pause_here<'a>(changed: &Condvar, left: MutexGuard<'a, i32>) -> MutexGuard<'a, i32> {{ {wait} }}
            fn wait_for(lock: &Mutex<i32>, changed: &Condvar) {{
                let mut left = lock.lock().unwrap();
                {test} *left <= 0 {{
                    left = {call};
                }}
                assert!(*left > 0);
                {take}
            }}
            fn main() {{
                let (lock, changed) = (Mutex::new(0), Condvar::new());
                std::thread::scope(|scope| {{
                    for _ in 0..{waiters} {{
                        scope.spawn(|| wait_for(&lock, &changed));
                    }}
                    let mut left = lock.lock().unwrap();
                    *left = {waiters};
                    {inside}
                    drop(left);
                    {outside}
                }});
            }}",
            test = self.test(),
            waiters = self.waiters,
        )
    }
}

/// Of all variants the wrong ones are found by the default within 200 runs, and nothing is told of the right ones. A deadline may end
/// a wait, too, so that a timed one that looks once is wrong for two reasons.
#[test]
fn variants_of_waits() {
    let all = Variant::all();
    let step = either(7, 1) as usize;
    let mut wrong = String::new();
    let mut worst = 0;
    for variant in all.iter().step_by(step) {
        let folder = tempfile::tempdir().expect("a folder");
        let executable = compiled(folder.path(), variant.language, &variant.source());
        let report = ask(&executable, folder.path(), &["--runs", "200", "--shrink", "off"]);
        let found = report["verdict"] == "failure";
        if found == variant.right {
            let _ = writeln!(wrong, "{variant:?}: {report}");
        }
        worst = worst.max(report["first_failure_run"].as_u64().unwrap_or(0));
    }
    println!("the last variant was found in run {worst}");
    assert_eq!(wrong, "");
}
