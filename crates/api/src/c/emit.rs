//! Tests as C: for the harness, and as a person would write them.

use crate::test::{ApiCall, Test};
use std::fmt::Write;
use std::ops::Range;

const HARNESS: &str = include_str!("../../harness/harness.c");

/// The variables that a test makes: how each is written, and its name.
fn objects(test: &Test) -> Vec<(String, String)> {
    let declared = test.make.iter().filter_map(|line| {
        let (left, _) = line.split_once(" = ")?;
        let (written, name) = left.rsplit_once('*')?;
        Some((written.trim().to_owned(), name.trim().to_owned()))
    });
    declared.collect()
}

/// The program with all tests, and the lines of each.
pub fn harness(includes: &[String], tests: &[Test]) -> (String, Vec<(u32, Range<usize>)>) {
    let mut text = String::new();
    for include in includes {
        let _ = writeln!(text, "#include {include}");
    }
    text.push_str(HARNESS);
    let mut lines = Vec::new();
    for test in tests {
        let from = text.lines().count() + 1;
        one(&mut text, test);
        lines.push((test.number, from..text.lines().count() + 1));
    }
    text.push_str("static const struct case_ cases[] = {\n");
    for test in tests {
        let lengths: Vec<String> = test.strands.iter().map(|steps| steps.len().to_string()).collect();
        let may_fail: Vec<String> = test
            .strands
            .iter()
            .map(|steps| {
                let steps: Vec<&str> =
                    steps.iter().map(|step| if step.may_be_left_out() { "1" } else { "0" }).collect();
                format!("{{{}}}", steps.join(", "))
            })
            .collect();
        let _ = writeln!(
            text,
            "    {{{0}, test_{0}, {1}, {{{2}}}, {{{3}}}}},",
            test.number,
            test.strands.len(),
            lengths.join(", "),
            may_fail.join(", ")
        );
    }
    let _ = writeln!(
        text,
        "}};\nint main(int argc, char **argv) {{\n    return harness_main(argc, argv, cases, {});\n}}",
        tests.len()
    );
    (text, lines)
}

fn one(text: &mut String, test: &Test) {
    let number = test.number;
    let objects = objects(test);
    for (strand, steps) in test.strands.iter().enumerate() {
        let _ = writeln!(
            text,
            "static void *test_{number}_{strand}(void *argument) {{\n    struct strand *s = argument;\n    char *said = s->said;"
        );
        for (at, (written, name)) in objects.iter().enumerate() {
            let _ = writeln!(text, "    {written} *{name} = s->objects[{at}];\n    (void){name};");
        }
        for step in steps {
            let says = says(step);
            if step.may_be_left_out() {
                let _ = writeln!(
                    text,
                    "    if (turn(s->gate, {strand})) {{ say(said, \"~\"); }} else {{ {says} }}\n    done(s->gate);"
                );
            } else {
                let _ = writeln!(text, "    turn(s->gate, {strand});\n    {{ {says} }}\n    done(s->gate);");
            }
        }
        let _ = writeln!(text, "    gone(s->gate, {strand});\n    return NULL;\n}}");
    }
    let _ = writeln!(text, "static void test_{number}(struct gate *g, char *outcome) {{");
    for line in &test.make {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("    char *said = calloc(1, TEXT);\n");
    for step in &test.setup {
        let _ = writeln!(text, "    {{ {} }}", says(step));
    }
    let strands = test.strands.len();
    let _ = writeln!(
        text,
        "    said[0] = 0;\n    pthread_t threads[{strands}];\n    struct strand *strands[{strands}];"
    );
    for strand in 0..strands {
        let _ = writeln!(
            text,
            "    strands[{strand}] = calloc(1, sizeof *strands[{strand}]);\n    strands[{strand}]->gate = g;"
        );
        for (at, (_, name)) in objects.iter().enumerate() {
            let _ = writeln!(text, "    strands[{strand}]->objects[{at}] = {name};");
        }
        let _ = writeln!(
            text,
            "    pthread_create(&threads[{strand}], NULL, test_{number}_{strand}, strands[{strand}]);"
        );
    }
    for strand in 0..strands {
        let _ = writeln!(text, "    pthread_join(threads[{strand}], NULL);");
    }
    for step in &test.end {
        let _ = writeln!(text, "    {{ {} }}", says(step));
    }
    for line in &test.unmake {
        let _ = writeln!(text, "    {line}");
    }
    for strand in 0..strands {
        let _ =
            writeln!(text, "    strcat(outcome, strands[{strand}]->said);\n    strcat(outcome, \" | \");");
    }
    text.push_str("    strcat(outcome, said);\n}\n");
}

fn says(step: &ApiCall) -> String {
    step.says.clone().unwrap_or_else(|| format!("{};", step.call))
}

/// A test as a person would write it.
pub fn plain(includes: &[String], test: &Test, shows: &str, build: &str, outcomes: &[String]) -> String {
    let objects = objects(test);
    let tells = !outcomes.is_empty();
    let whole = format!("{test:?}");
    let mut text = format!("/* {shows}\n *\n * {build}\n */\n");
    for include in includes {
        let _ = writeln!(text, "#include {include}");
    }
    text.push_str("#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n");
    if tells {
        text.push_str("#include <string.h>\n");
    }
    if whole.contains("timespec") {
        text.push_str("#include <time.h>\n");
    }
    if whole.contains("payload(") {
        text.push_str(
            "\nstatic void *payload(int id) {\n    int *made = malloc(sizeof *made);\n    *made = id;\n    return made;\n}\n",
        );
    }
    if tells {
        text.push_str(SAYS);
    }
    text.push('\n');
    for (written, name) in &objects {
        let _ = writeln!(text, "static {written} *{name};");
    }
    const NAMES: [&str; 3] = ["first", "second", "third"];
    for (strand, steps) in test.strands.iter().enumerate() {
        let name = NAMES.get(strand).unwrap_or(&"other");
        if tells {
            let _ = writeln!(text, "\nstatic char said_{name}[256];");
        }
        let _ = writeln!(text, "\nstatic void *{name}(void *unused) {{\n    (void)unused;");
        if tells {
            let _ = writeln!(text, "    char *said = said_{name};");
        }
        for step in steps {
            plain_step(&mut text, step, tells);
        }
        text.push_str("    return NULL;\n}\n");
    }
    text.push_str("\nint main(void) {\n");
    for line in &test.make {
        let mut line = line.clone();
        for (written, name) in &objects {
            line = line.replacen(&format!("{written} *{name} = "), &format!("{name} = "), 1);
        }
        let _ = writeln!(text, "    {line}");
    }
    if tells {
        text.push_str("    static char said[256];\n");
    }
    for step in &test.setup {
        plain_step(&mut text, step, tells);
    }
    if tells {
        text.push_str("    said[0] = 0;\n");
    }
    let names = &NAMES[..test.strands.len().min(3)];
    let _ = writeln!(text, "    pthread_t threads[{}];", names.len());
    for (at, name) in names.iter().enumerate() {
        let _ = writeln!(text, "    pthread_create(&threads[{at}], NULL, {name}, NULL);");
    }
    for at in 0..names.len() {
        let _ = writeln!(text, "    pthread_join(threads[{at}], NULL);");
    }
    for step in &test.end {
        plain_step(&mut text, step, tells);
    }
    for line in &test.unmake {
        let _ = writeln!(text, "    {line}");
    }
    if tells {
        text.push_str("    static char outcome[1024];\n");
        for name in names {
            let _ = writeln!(text, "    strcat(strcat(outcome, said_{name}), \" | \");");
        }
        text.push_str("    strcat(outcome, said);\n    /* What the calls give one at a time, in some order. */\n    const char *orders[] = {\n");
        for outcome in outcomes {
            let _ = writeln!(text, "        {outcome:?},");
        }
        text.push_str("    };\n    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)\n        if (!strcmp(orders[i], outcome))\n            return 0;\n    fprintf(stderr, \"no order of the calls gives %s\\n\", outcome);\n    return 1;\n}\n");
    } else {
        text.push_str("    return 0;\n}\n");
    }
    text
}

fn plain_step(text: &mut String, step: &ApiCall, tells: bool) {
    let says = says(step);
    if tells {
        let _ = writeln!(text, "    {{ {says} }}");
        return;
    }
    if let Some((looks, _)) =
        says.split_once(" (void)r; ").filter(|(looks, _)| looks.starts_with("volatile "))
    {
        let _ = writeln!(text, "    {{\n        {looks}\n        (void)r;\n    }}");
        return;
    }
    match says.split_once(" out = 0; ") {
        Some((written, _)) if step.call.contains("&out") => {
            let _ = writeln!(text, "    {{\n        {written} out = 0;\n        {};\n    }}", step.call);
        }
        _ => {
            let _ = writeln!(text, "    {};", step.call);
        }
    }
}

const SAYS: &str = r##"
static void say(char *said, const char *text) {
    if (*said)
        strcat(said, ", ");
    strcat(said, text);
}

static inline void say_number(char *said, long long number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    say(said, text);
}

static inline void say_payload(char *said, const void *taken) {
    char text[32] = "NULL";
    if (taken)
        snprintf(text, sizeof text, "#%d", *(const int *)taken);
    say(said, text);
}
"##;
