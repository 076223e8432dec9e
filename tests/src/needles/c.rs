//! The text of a program.

use super::{Bug, Carry, Lead, Needle};
use std::fmt::Write;

/// Reads all of a stream into `given`.
const READ: &str = "    size = fread(given, 1, sizeof given - 1, file);\n";

/// How the first part comes into `given`, and which argument is the second.
fn given(needle: &Needle) -> (String, usize) {
    match needle.carry {
        Carry::Argument => ("    size = strlen(strcpy(given, words[1]));\n".to_owned(), 2),
        Carry::Variable => ("    size = strlen(strcpy(given, getenv(\"GIVEN\")));\n".to_owned(), 1),
        Carry::Stdin => (format!("    FILE *file = stdin;\n{READ}"), 1),
        Carry::File => (format!("    FILE *file = fopen(words[1], \"r\");\n{READ}    fclose(file);\n"), 2),
    }
}

/// The condition under which an input leads to the bug, and a number that the input has.
fn condition(needle: &Needle) -> (String, &'static str) {
    let which = needle.which;
    let two = |first: String, second: &str| format!("{first} && second && !strcmp(second, \"{second}\")");
    match needle.lead {
        Lead::Number => (format!("atoi(given) == {}", which % 50), "atoi(given)"),
        Lead::Range => {
            let low = which % 980;
            (format!("atoi(given) >= {low} && atoi(given) < {}", low + 20), "atoi(given)")
        }
        Lead::Multiple => (format!("atoi(given) % 50 == {}", which % 50), "atoi(given)"),
        Lead::Length => (format!("size == {}", which % 50), "(int)size"),
        Lead::Ends => {
            let (first, last) = (which % 7, which / 7 % 7);
            (format!("given[0] - 'a' == {first} && given[size - 1] - 'a' == {last}"), "given[1] + (int)size")
        }
        Lead::Sum => (format!("sum() % 50 == {}", which % 50), "sum()"),
        Lead::Byte => {
            (format!("(unsigned char)given[{}] < 5", which % 4), "(unsigned char)given[0] + (int)size")
        }
        Lead::OptionAndNumber => (two(format!("atoi(given) == {}", which % 25), "--all"), "atoi(given)"),
        Lead::WordAndText => (two(format!("given[0] - 'a' == {}", which % 10), "blue"), "(int)size"),
        Lead::TwoNumbers => {
            (two(format!("atoi(given) == {}", which % 7), &(which / 7 % 7).to_string()), "atoi(given)")
        }
    }
}

/// What the two strands do that is wrong, and what must hold in the end.
fn mistake(bug: Bug) -> (&'static str, &'static str, &'static str) {
    match bug {
        Bug::LostUpdate => {
            let add = "    int seen = total;\n    total = seen + 1;\n";
            (add, add, "total == 2")
        }
        Bug::WrongLock => (
            "    pthread_mutex_lock(&locks[0]);\n    total = total + 1;\n    pthread_mutex_unlock(&locks[0]);\n",
            "    pthread_mutex_lock(&locks[1]);\n    total = total + 1;\n    pthread_mutex_unlock(&locks[1]);\n",
            "total == 2",
        ),
        Bug::Deadlock => (
            "    pthread_mutex_lock(&locks[0]);\n    pthread_mutex_lock(&locks[1]);\n    total++;\n    pthread_mutex_unlock(&locks[1]);\n    pthread_mutex_unlock(&locks[0]);\n",
            "    pthread_mutex_lock(&locks[1]);\n    pthread_mutex_lock(&locks[0]);\n    total++;\n    pthread_mutex_unlock(&locks[0]);\n    pthread_mutex_unlock(&locks[1]);\n",
            "total == 2",
        ),
        Bug::UseAfterFree => (
            "    int *old = __atomic_exchange_n(&box, 0, __ATOMIC_SEQ_CST);\n    free(old);\n",
            "    int *mine = __atomic_load_n(&box, __ATOMIC_SEQ_CST);\n    if (mine)\n        ++*(volatile int *)mine;\n",
            "1",
        ),
        Bug::Torn => (
            "    pthread_mutex_lock(&locks[0]);\n    left -= 10;\n    pthread_mutex_unlock(&locks[0]);\n    pthread_mutex_lock(&locks[0]);\n    right += 10;\n    pthread_mutex_unlock(&locks[0]);\n",
            "    pthread_mutex_lock(&locks[0]);\n    int sum = left + right;\n    pthread_mutex_unlock(&locks[0]);\n    assert(sum == 100);\n",
            "left + right == 100",
        ),
        Bug::CheckThenAct => {
            let take = "    if (!__atomic_load_n(&taken, __ATOMIC_SEQ_CST)) {\n        __atomic_store_n(&taken, 1, __ATOMIC_SEQ_CST);\n        __atomic_fetch_add(&owners, 1, __ATOMIC_SEQ_CST);\n    }\n";
            (take, take, "owners == 1")
        }
    }
}

const HEAD: &str = "#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char given[256];
static const char *second;
static size_t size;
static int special, sort, times;
static int done[8];
static volatile int total, left = 100, right;
static int taken, owners;
static int *box;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

";

/// The whole text.
pub(super) fn source(needle: &Needle) -> String {
    let (given, second) = given(needle);
    let (condition, number) = condition(needle);
    let (first, other, holds) = mistake(needle.bug);
    let mut out = format!("// {}\n{HEAD}", needle.describe());
    if needle.lead == Lead::Sum {
        out.push_str("static int sum(void) {\n    int all = 0;\n    for (size_t i = 0; i < size; i++)\n        all += given[i];\n    return all;\n}\n\n");
    }
    out.push_str("static void work(void) {\n    for (int i = 0; i < times; i++)\n        switch (sort) {\n");
    for sort in 0..needle.sorts {
        let _ = match needle.atomic {
            true => writeln!(
                out,
                "        case {sort}:\n            __atomic_fetch_add(&done[{sort}], 1, __ATOMIC_SEQ_CST);\n            break;"
            ),
            false => writeln!(
                out,
                "        case {sort}:\n            pthread_mutex_lock(&lock);\n            done[{sort}]++;\n            pthread_mutex_unlock(&lock);\n            break;"
            ),
        };
    }
    out.push_str("        }\n}\n\n");
    for (name, wrong) in [("one", first), ("two", other)] {
        let _ = writeln!(
            out,
            "static void {name}_goes_wrong(void) {{\n{wrong}}}\n\nstatic void *{name}(void *unused) {{\n    (void)unused;\n    work();\n    if (special)\n        {name}_goes_wrong();\n    return 0;\n}}\n"
        );
    }
    if needle.third {
        out.push_str(
            "static void *three(void *unused) {\n    (void)unused;\n    work();\n    return 0;\n}\n\n",
        );
    }
    let strands = if needle.third { "one, two, three" } else { "one, two" };
    let _ = write!(
        out,
        "int main(int count, char **words) {{
{given}    second = count > {second} ? words[{second}] : 0;
    special = {condition};
    sort = ({number}) % {};
    times = 1 + ({number}) % {};
    box = calloc(1, sizeof *box);
    void *(*strands[])(void *) = {{{strands}}};
    enum {{ COUNT = sizeof strands / sizeof *strands }};
    pthread_t all[COUNT];
    for (int i = 0; i < COUNT; i++)
        pthread_create(&all[i], 0, strands[i], 0);
    for (int i = 0; i < COUNT; i++)
        pthread_join(all[i], 0);
    assert(!special || ({holds}));
    return 0;
}}
",
        needle.sorts, needle.times
    );
    out
}
