//! Choices that cannot be, on small programs made for it: each is told as such, and its reason names only lines that have a part in it.
//!
//! A line with a label may be named. Both strands also touch `noise`, on lines without one. Every program is asked with its strands in both orders, and for a choice that can be, too.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use threadbare_tests::{extent, tool};

/// Choices that are to come true together, by labels.
type Choices = &'static [(&'static str, &'static str)];

struct Case {
    name: &'static str,
    strands: [&'static str; 2],
    after: &'static str,
    cannot: Choices,
    can: Choices,
}

const fn case(
    name: &'static str,
    one: &'static str,
    two: &'static str,
    cannot: Choices,
    can: Choices,
) -> Case {
    Case { name, strands: [one, two], after: "", cannot, can }
}

const CASES: [Case; 30] = [
    case("own-later", "x = a; //~ r|a = 1; //~ w", "a = 2; //~ o", &[("r", "w")], &[("r", "o")]),
    case(
        "hidden",
        "lock(&m); //~ l|a = 1; //~ w|a = 2; //~ v|unlock(&m); //~ u",
        "lock(&m); //~ k|x = a; //~ r|unlock(&m); //~ q",
        &[("r", "w")],
        &[("r", "v")],
    ),
    case(
        "hidden-without-a-lock-is-seen",
        "a = 1; //~ w|a = 2; //~ v",
        "x = a; //~ r|x = a; //~ s",
        &[("r", "v"), ("s", "w")],
        &[("r", "w")],
    ),
    case(
        "after-own",
        "lock(&m); //~ l|a = 1; //~ o|x = a; //~ r|unlock(&m); //~ u",
        "lock(&m); //~ k|a = 2; //~ w|unlock(&m); //~ q",
        &[("r", "w")],
        &[("r", "o")],
    ),
    case(
        "halves",
        "lock(&m); //~ l|a = 1; //~ wa|b = 1; //~ wb|unlock(&m); //~ u",
        "lock(&m); //~ k|x = a; //~ ra|x = b; //~ rb|unlock(&m); //~ q",
        &[("ra", "wa"), ("rb", "initial")],
        &[("ra", "wa"), ("rb", "wb")],
    ),
    case(
        "other-half",
        "lock(&m); //~ l|a = 1; //~ wa|b = 1; //~ wb|unlock(&m); //~ u",
        "lock(&m); //~ k|x = a; //~ ra|x = b; //~ rb|unlock(&m); //~ q",
        &[("ra", "initial"), ("rb", "wb")],
        &[("ra", "initial"), ("rb", "initial")],
    ),
    case(
        "nested",
        "lock(&m); //~ l|lock(&n); //~ j|a = 1; //~ w|unlock(&n); //~ i|a = 2; //~ v|unlock(&m); //~ u",
        "lock(&m); //~ k|x = a; //~ r|unlock(&m); //~ q",
        &[("r", "w")],
        &[("r", "v")],
    ),
    case(
        "readers",
        "wrlock(&g); //~ l|a = 1; //~ w|a = 2; //~ v|rwunlock(&g); //~ u",
        "rdlock(&g); //~ k|x = a; //~ r|rwunlock(&g); //~ q",
        &[("r", "w")],
        &[("r", "initial")],
    ),
    case(
        "reader-of-two",
        "wrlock(&g); //~ l|a = 1; //~ wa|b = 1; //~ wb|rwunlock(&g); //~ u",
        "rdlock(&g); //~ k|x = a; //~ ra|x = b; //~ rb|rwunlock(&g); //~ q",
        &[("ra", "initial"), ("rb", "wb")],
        &[("ra", "wa"), ("rb", "wb")],
    ),
    case(
        "barrier",
        "a = 1; //~ w|bar(); //~ l",
        "bar(); //~ k|x = a; //~ r",
        &[("r", "initial")],
        &[("r", "w")],
    ),
    case(
        "barrier-other-way",
        "bar(); //~ l|a = 1; //~ w",
        "x = a; //~ r|bar(); //~ k",
        &[("r", "w")],
        &[("r", "initial")],
    ),
    case(
        "semaphore",
        "a = 1; //~ w|sem_post(&s); //~ l",
        "sem_wait(&s); //~ k|x = a; //~ r",
        &[("r", "initial")],
        &[("r", "w")],
    ),
    case(
        "condition",
        "lock(&m); //~ l|a = 1; //~ w|pthread_cond_signal(&c); //~ i|unlock(&m); //~ u",
        "lock(&m); //~ k|while (!a) //~ t|pthread_cond_wait(&c, &m); //~ h|x = a; //~ r|unlock(&m); //~ q",
        &[("r", "initial")],
        &[("r", "w")],
    ),
    case(
        "flag",
        "a = 1; //~ w|f = 1; //~ l",
        "while (!f) //~ k|sched_yield(); //~ h|x = a; //~ r",
        &[("r", "initial")],
        &[("r", "w")],
    ),
    case(
        "buffering",
        "a = 1; //~ wa|x = b; //~ rb",
        "b = 1; //~ wb|x = a; //~ ra",
        &[("ra", "initial"), ("rb", "initial")],
        &[("ra", "wa"), ("rb", "wb")],
    ),
    case(
        "message",
        "a = 1; //~ wa|b = 1; //~ wb",
        "x = b; //~ rb|x = a; //~ ra",
        &[("rb", "wb"), ("ra", "initial")],
        &[("rb", "wb"), ("ra", "wa")],
    ),
    case(
        "loads",
        "x = a; //~ ra|b = 1; //~ wb",
        "x = b; //~ rb|a = 1; //~ wa",
        &[("ra", "wa"), ("rb", "wb")],
        &[("ra", "wa"), ("rb", "initial")],
    ),
    case(
        "back",
        "a = 1; //~ w1|a = 2; //~ w2",
        "x = a; //~ r1|x = a; //~ r2",
        &[("r1", "w1"), ("r2", "initial")],
        &[("r1", "w1"), ("r2", "w2")],
    ),
    case(
        "atomic-message",
        "d = 1; //~ wa|e = 1; //~ wb",
        "x = e; //~ rb|x = d; //~ ra",
        &[("rb", "wb"), ("ra", "initial")],
        &[("rb", "initial"), ("ra", "wa")],
    ),
    case(
        "atomic-buffering",
        "d = 1; //~ wa|x = e; //~ rb",
        "e = 1; //~ wb|x = d; //~ ra",
        &[("ra", "initial"), ("rb", "initial")],
        &[("ra", "initial"), ("rb", "wb")],
    ),
    case(
        "both-first",
        "x = atomic_fetch_add(&d, 1); //~ u",
        "x = atomic_fetch_add(&d, 1); //~ v",
        &[("u", "initial"), ("v", "initial")],
        &[("u", "initial"), ("v", "u")],
    ),
    case(
        "two-locks-in-turn",
        "lock(&m); //~ l|a = 1; //~ wa|unlock(&m); //~ u|lock(&n); //~ j|b = 1; //~ wb|unlock(&n); //~ i",
        "lock(&n); //~ k|x = b; //~ rb|unlock(&n); //~ q|lock(&m); //~ t|x = a; //~ ra|unlock(&m); //~ h",
        &[("rb", "wb"), ("ra", "initial")],
        &[("rb", "initial"), ("ra", "wa")],
    ),
    case(
        "two-semaphores",
        "sem_post(&s); //~ l|sem_wait(&z); //~ i|a = 1; //~ w",
        "x = a; //~ r|sem_wait(&s); //~ k|sem_post(&z); //~ q",
        &[("r", "w")],
        &[("r", "initial")],
    ),
    case(
        "two-barriers",
        "bar(); //~ l|a = 1; //~ w|bar(); //~ u",
        "bar(); //~ k|bar(); //~ q|x = a; //~ r",
        &[("r", "initial")],
        &[("r", "w")],
    ),
    case(
        "once",
        "pthread_once(&y, make); //~ l",
        "pthread_once(&y, make); //~ k|x = a; //~ r",
        &[("r", "initial")],
        &[("r", "make")],
    ),
    case(
        "three-in-a-section",
        "lock(&m); //~ l|a = 1; //~ w|x = a; //~ o|a = 2; //~ v|unlock(&m); //~ u",
        "lock(&m); //~ k|x = a; //~ r|x = a; //~ t|unlock(&m); //~ q",
        &[("r", "v"), ("t", "initial")],
        &[("r", "v"), ("t", "v")],
    ),
    case(
        "again-before",
        "x = d; //~ r|d = 3; //~ p",
        "d = 1; //~ w|x = d; //~ o|d = 2; //~ v|x = d; //~ t",
        &[("t", "w")],
        &[("r", "w")],
    ),
    case(
        "exchanged",
        "x = atomic_exchange(&d, 1); //~ u",
        "x = atomic_exchange(&d, 2); //~ v",
        &[("u", "v"), ("v", "u")],
        &[("u", "v"), ("v", "initial")],
    ),
    Case {
        name: "joined",
        strands: ["a = 1; //~ w", "x = a; //~ o"],
        after: "x = a; //~ r",
        cannot: &[("r", "initial")],
        can: &[("r", "w")],
    },
    Case {
        name: "joined-before",
        strands: ["a = 1; //~ w", "x = a; //~ r"],
        after: "a = 2; //~ v",
        cannot: &[("r", "v")],
        can: &[("r", "w")],
    },
];

const HEAD: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <sched.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n\
#define lock pthread_mutex_lock\n#define unlock pthread_mutex_unlock\n#define wrlock pthread_rwlock_wrlock\n\
#define rdlock pthread_rwlock_rdlock\n#define rwunlock pthread_rwlock_unlock\n#define bar() pthread_barrier_wait(&p)\n\
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;\n\
static pthread_rwlock_t g = PTHREAD_RWLOCK_INITIALIZER;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n\
static pthread_barrier_t p;\nstatic pthread_once_t y = PTHREAD_ONCE_INIT;\nstatic sem_t s, z;\nstatic volatile int a, b, noise;\nstatic atomic_int d, e, f;\nstatic _Thread_local volatile int x;\n\
static void make(void) {\n    a = 7; //~ make\n}\n";

impl Case {
    /// The source, with the strands in one order or the other.
    fn source(&self, turned: bool) -> String {
        let mut text = HEAD.to_owned();
        for (number, body) in self.strands.iter().enumerate() {
            let _ = writeln!(text, "static void *strand{number}(void *arg) {{");
            let _ = writeln!(text, "    {}", if number == 0 { "noise = 1;" } else { "x = noise;" });
            for line in body.split('|') {
                let _ = writeln!(text, "    {line}");
            }
            text += "    return arg;\n}\n";
        }
        text += "int main(void) {\n    pthread_t t[2];\n    pthread_barrier_init(&p, 0, 2);\n    sem_init(&s, 0, 0);\n    sem_init(&z, 0, 0);\n";
        let order = if turned { [1, 0] } else { [0, 1] };
        for at in order {
            let _ = writeln!(text, "    pthread_create(&t[{at}], 0, strand{at}, 0); //~ create {at}");
        }
        for at in [0, 1] {
            let _ = writeln!(text, "    pthread_join(t[{at}], 0); //~ join {at}");
        }
        let _ = writeln!(text, "    {}\n    return 0;\n}}", self.after);
        text
    }
}

/// What came of choices in a program: `outcome` and `reason` of the first, which all of them have.
fn choose(folder: &Path, program: &Path, source: &str, name: &str, choices: Choices) -> (String, String) {
    let line = |label: &str| {
        let at = source.lines().position(|line| line.ends_with(&format!("//~ {label}")));
        format!("{name}:{}", at.unwrap_or_else(|| panic!("{name}: no {label}")) + 1)
    };
    let mut command = tool::command(["run", "--races", "off", "--shrink", "off", "--format", "json"]);
    for (read, write) in choices {
        let write = if *write == "initial" { (*write).to_owned() } else { line(write) };
        command.arg("--future").arg(format!("{} <- {write}", line(read)));
    }
    command.arg("--out").arg(folder.join("out")).arg("--").arg(program);
    let made = tool::finish(&mut command, tool::PATIENCE);
    let json: Value =
        serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{name}: {}", made.describe()));
    let first = &json["choices"][0];
    let text = |field: &str| first[field].as_str().unwrap_or_default().to_owned();
    (text("outcome"), text("reason") + &text("near") + &text("what"))
}

/// Lines that a reason names and that have no label, and whether it names any.
fn strangers(reason: &str, name: &str, source: &str) -> (Vec<usize>, bool) {
    let mut named = false;
    let mut strange = Vec::new();
    for part in reason.split(&format!("{name}:")).skip(1) {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        let Ok(number) = digits.parse::<usize>() else { continue };
        named = true;
        if !source.lines().nth(number - 1).is_some_and(|line| line.contains("//~")) {
            strange.push(number);
        }
    }
    (strange, named)
}

#[test]
fn what_cannot_be_is_told_with_its_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = Vec::new();
    let (mut told, mut asked) = (0, 0);
    for (number, case) in CASES.iter().enumerate() {
        for turned in [false, true] {
            if !extent::is_full() && (turned != (number % 2 == 0) || number % 3 != 0) {
                continue;
            }
            let name = format!("{}{}.c", case.name, if turned { "-turned" } else { "" });
            let (source, path) = (case.source(turned), folder.path().join(&name));
            fs::write(&path, &source).expect("a file");
            let program = path.with_extension("");
            let mut command = tool::command(["cc", "-g", "-O1", "-pthread"]);
            let built = tool::finish(command.arg(&path).arg("-o").arg(&program), tool::PATIENCE);
            assert_eq!(built.code, Some(0), "{}", built.describe());
            asked += 1;
            let (outcome, reason) = choose(folder.path(), &program, &source, &name, case.cannot);
            // That the order of a strand's own steps is against it is told in words.
            let in_order = reason.contains("the strand ")
                || reason.contains("only after the read")
                || reason.contains("hides it")
                || reason.contains("of its own");
            let (strange, named) = strangers(&reason, &name, &source);
            if outcome != "cannot-be" || !strange.is_empty() || !(named || in_order) {
                wrong.push(format!("{name} {:?}: {outcome}: {reason} ({strange:?})", case.cannot));
            } else {
                told += 1;
            }
            let (outcome, reason) = choose(folder.path(), &program, &source, &name, case.can);
            if outcome != "made" {
                wrong.push(format!("{name} {:?} can be: {outcome}: {reason}", case.can));
            }
        }
    }
    println!("{told} of {asked} choices that cannot be were told with their reason");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
