//! Older stores are terms: what C11 lets a load see although there is a newer store is listed, made to order, and told as one that cannot be where an order forbids it.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::{compile, tool};

/// A program in three languages: `ONE` and `TWO` stand for the orders of the store and of the load that may publish.
const BUFFERING: [(&str, &str); 3] = [
    (
        "sb.c",
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x, y;\nstatic _Thread_local int seen;\n\
         static void *first(void *arg) {\n    atomic_store_explicit(&x, 1, memory_order_ONE); //~ wx\n\
         \x20   seen = atomic_load_explicit(&y, memory_order_TWO); //~ ry\n    return arg;\n}\n\
         static void *second(void *arg) {\n    atomic_store_explicit(&y, 1, memory_order_ONE); //~ wy\n\
         \x20   seen = atomic_load_explicit(&x, memory_order_TWO); //~ rx\n    return arg;\n}\n\
         int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, first, 0);\n    pthread_create(&b, 0, second, 0);\n\
         \x20   pthread_join(a, 0);\n    pthread_join(b, 0);\n    return 0;\n}\n",
    ),
    (
        "sb.cc",
        "#include <atomic>\n#include <thread>\nstatic std::atomic<int> x, y;\nstatic thread_local volatile int seen;\n\
         int main() {\n    std::thread a([] {\n        x.store(1, std::memory_order_ONE); //~ wx\n\
         \x20       seen = y.load(std::memory_order_TWO); //~ ry\n    });\n    std::thread b([] {\n\
         \x20       y.store(1, std::memory_order_ONE); //~ wy\n        seen = x.load(std::memory_order_TWO); //~ rx\n    });\n\
         \x20   a.join();\n    b.join();\n}\n",
    ),
    (
        "sb.rs",
        "use std::sync::atomic::{AtomicU32, Ordering};\nstatic X: AtomicU32 = AtomicU32::new(0);\nstatic Y: AtomicU32 = AtomicU32::new(0);\n\
         fn main() {\n    let a = std::thread::spawn(|| {\n        X.store(1, Ordering::ONE); //~ wx\n\
         \x20       std::hint::black_box(Y.load(Ordering::TWO)); //~ ry\n    });\n    let b = std::thread::spawn(|| {\n\
         \x20       Y.store(1, Ordering::ONE); //~ wy\n        std::hint::black_box(X.load(Ordering::TWO)); //~ rx\n    });\n\
         \x20   a.join().unwrap();\n    b.join().unwrap();\n}\n",
    ),
];

/// Two stores to the data, so that an older one is not the initial value alone.
const MESSAGE: [(&str, &str); 3] = [
    (
        "mp.c",
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int data, flag;\nstatic _Thread_local int seen;\n\
         static void *publish(void *arg) {\n    atomic_store_explicit(&data, 1, memory_order_relaxed); //~ early\n\
         \x20   atomic_store_explicit(&data, 2, memory_order_relaxed); //~ late\n    atomic_store_explicit(&flag, 1, memory_order_ONE); //~ flag\n    return arg;\n}\n\
         static void *take(void *arg) {\n    if (atomic_load_explicit(&flag, memory_order_TWO)) //~ ask\n\
         \x20       seen = atomic_load_explicit(&data, memory_order_relaxed); //~ read\n    return arg;\n}\n\
         int main(void) {\n    pthread_t a, b;\n    pthread_create(&a, 0, publish, 0);\n    pthread_create(&b, 0, take, 0);\n\
         \x20   pthread_join(a, 0);\n    pthread_join(b, 0);\n    return 0;\n}\n",
    ),
    (
        "mp.cc",
        "#include <atomic>\n#include <thread>\nstatic std::atomic<int> data, flag;\nstatic thread_local volatile int seen;\n\
         int main() {\n    std::thread a([] {\n        data.store(1, std::memory_order_relaxed); //~ early\n\
         \x20       data.store(2, std::memory_order_relaxed); //~ late\n        flag.store(1, std::memory_order_ONE); //~ flag\n    });\n\
         \x20   std::thread b([] {\n        if (flag.load(std::memory_order_TWO)) //~ ask\n\
         \x20           seen = data.load(std::memory_order_relaxed); //~ read\n    });\n    a.join();\n    b.join();\n}\n",
    ),
    (
        "mp.rs",
        "use std::sync::atomic::{AtomicU32, Ordering};\nstatic DATA: AtomicU32 = AtomicU32::new(0);\nstatic FLAG: AtomicU32 = AtomicU32::new(0);\n\
         fn main() {\n    let a = std::thread::spawn(|| {\n        DATA.store(1, Ordering::Relaxed); //~ early\n\
         \x20       DATA.store(2, Ordering::Relaxed); //~ late\n        FLAG.store(1, Ordering::ONE); //~ flag\n    });\n\
         \x20   let b = std::thread::spawn(|| {\n        if FLAG.load(Ordering::TWO) == 1 { //~ ask\n\
         \x20           std::hint::black_box(DATA.load(Ordering::Relaxed)); //~ read\n        }\n    });\n\
         \x20   a.join().unwrap();\n    b.join().unwrap();\n}\n",
    ),
];

struct Built {
    folder: tempfile::TempDir,
    source: String,
    name: String,
    compiler: String,
}

impl Built {
    /// With the orders of the store and of the load, as C spells them.
    fn new((name, text): (&str, &str), orders: [&str; 2], clang: bool) -> Built {
        let rust = name.ends_with(".rs");
        let spelled = |order: &str| match (rust, order) {
            (true, "relaxed") => "Relaxed".to_owned(),
            (true, "release") => "Release".to_owned(),
            (true, "acquire") => "Acquire".to_owned(),
            (true, _) => "SeqCst".to_owned(),
            (false, order) => order.to_owned(),
        };
        let source = text.replace("ONE", &spelled(orders[0])).replace("TWO", &spelled(orders[1]));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        fs::write(&path, &source).expect("a file");
        let (wrapper, variable, real) = match Path::new(name).extension().and_then(|it| it.to_str()) {
            Some("rs") => ("rustc", "", ""),
            Some("cc") => ("c++", "THREADBARE_CXX", if clang { "clang++-19" } else { "g++" }),
            _ => ("cc", "THREADBARE_CC", if clang { "clang-19" } else { "gcc" }),
        };
        let mut command = tool::command([wrapper, "-g"]);
        if !rust {
            command.env(variable, real).args(["-O1", "-pthread"]);
        }
        let made =
            tool::finish(command.arg(&path).arg("-o").arg(folder.path().join("program")), tool::PATIENCE);
        assert_eq!(made.code, Some(0), "{}", made.describe());
        Built { folder, source, name: name.to_owned(), compiler: real.to_owned() }
    }

    fn line(&self, label: &str) -> u64 {
        let at = self.source.lines().position(|line| line.ends_with(&format!("//~ {label}")));
        at.unwrap_or_else(|| panic!("{}: no {label}", self.name)) as u64 + 1
    }

    fn choice(&self, read: &str, write: &str) -> String {
        let write = match write {
            "initial" => write.to_owned(),
            write => format!("{}:{}", self.name, self.line(write)),
        };
        format!("{}:{} <- {write}", self.name, self.line(read))
    }

    fn json(&self, words: &[&str]) -> Value {
        let out: PathBuf = self.folder.path().join("out");
        let mut command = tool::command(words);
        command.args(["--shrink", "off", "--format", "json", "--out"]).arg(out).arg("--");
        let made = tool::finish(command.arg(self.folder.path().join("program")), tool::PATIENCE);
        serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()))
    }

    /// What becomes of choices that are to come true in one run.
    fn chosen(&self, choices: &[(&str, &str)], more: &[&str]) -> String {
        let texts: Vec<String> = choices.iter().map(|(read, write)| self.choice(read, write)).collect();
        let mut words = vec!["run"];
        words.extend(more);
        words.extend(texts.iter().flat_map(|text| ["--future", text.as_str()]));
        let json = self.json(&words);
        json["choices"][0]["outcome"].as_str().unwrap_or_default().to_owned()
    }

    /// The status of a term when a run was made for each, from four runs of one order.
    fn status(&self, table: &Value, read: &str, write: &str) -> String {
        let row = |row: &&Value| row["line"].as_u64() == Some(self.line(read));
        let row = table["reads"].as_array().into_iter().flatten().find(row).expect("a read");
        let is = |term: &&Value| match write {
            "initial" => term["whose"] == "initial",
            write => term["write_line"].as_u64() == Some(self.line(write)),
        };
        let term = row["terms"].as_array().into_iter().flatten().find(is);
        term.unwrap_or_else(|| panic!("{} {read} <- {write}: {row:#}", self.name))["status"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }
}

fn builds(programs: [(&str, &str); 3], orders: [&str; 2], of: impl Fn(&Built)) {
    for program in programs {
        of(&Built::new(program, orders, false));
        if compile::has_clang() && !program.0.ends_with(".rs") {
            of(&Built::new(program, orders, true));
        }
    }
}

#[test]
fn both_loads_of_a_store_buffer_see_what_was_there() {
    let both = [("ry", "initial"), ("rx", "initial")];
    builds(BUFFERING, ["relaxed", "relaxed"], |built| {
        assert_eq!(built.chosen(&both, &[]), "made", "{} {}", built.name, built.compiler);
        assert_eq!(built.chosen(&both, &["--memory-model", "tso"]), "made", "{}", built.name);
        assert_eq!(built.chosen(&both, &["--memory-model", "sc"]), "cannot-be", "{}", built.name);
    });
    builds(BUFFERING, ["seq_cst", "seq_cst"], |built| {
        assert_eq!(built.chosen(&both, &[]), "cannot-be", "{} {}", built.name, built.compiler);
    });
}

#[test]
fn older_stores_of_a_message_are_made_unless_it_is_published() {
    let table = |built: &Built| built.json(&["futures", "--all", "--runs", "4", "--strategy", "round-robin"]);
    let had = |status: &str| status == "made" || status == "seen";
    builds(MESSAGE, ["relaxed", "relaxed"], |built| {
        let table = table(built);
        for write in ["early", "late", "initial"] {
            let status = built.status(&table, "read", write);
            assert!(had(&status), "{} {}: {write} {status}", built.name, built.compiler);
        }
        // Neither is anything that a run of sequentially consistent memory has.
        for write in ["early", "initial"] {
            assert_eq!(
                built.chosen(&[("read", write)], &["--memory-model", "sc"]),
                "cannot-be",
                "{}",
                built.name
            );
            assert_eq!(built.chosen(&[("read", write)], &[]), "made", "{}", built.name);
        }
    });
    builds(MESSAGE, ["release", "acquire"], |built| {
        let table = table(built);
        assert!(had(&built.status(&table, "read", "late")), "{}", built.name);
        for write in ["early", "initial"] {
            let status = built.status(&table, "read", write);
            assert_eq!(status, "impossible", "{} {}: {write}", built.name, built.compiler);
        }
    });
}
