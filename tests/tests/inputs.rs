//! Which input next: iroots of real programs, active testing, and campaigns over inputs.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use threadbare_tests::{iroots, needles, tool};

/// A program, built, with a folder of its own.
struct Built {
    executable: PathBuf,
    folder: tempfile::TempDir,
}

impl Built {
    fn of(source: &Path, options: &[&str]) -> Built {
        let folder = tempfile::tempdir().expect("a folder");
        let executable = folder.path().join("program");
        let mut command = tool::command(["cc", "-pthread", "-O1", "-g"]);
        command.args(options).arg(source).arg("-o").arg(&executable);
        let built = tool::finish(&mut command, tool::PATIENCE);
        assert_eq!(built.code, Some(0), "{}", built.describe());
        Built { executable, folder }
    }

    fn input(name: &str, options: &[&str]) -> Built {
        Built::of(&tool::root().join("tests/inputs").join(name), options)
    }

    fn corpus(name: &str) -> Built {
        Built::of(&tool::root().join("tests/programs").join(name), &[])
    }

    /// A command on the program; `arguments` are its own.
    fn run(&self, words: &[&str], arguments: &[&str]) -> tool::Outcome {
        let mut command = tool::command(words);
        command.current_dir(self.folder.path());
        command.args(["--races", "off", "--shrink", "off", "--"]).arg(&self.executable).args(arguments);
        tool::finish(&mut command, tool::PATIENCE)
    }

    fn json(&self, words: &[&str], arguments: &[&str]) -> (Option<i32>, Value) {
        let words = [words, &["--format", "json"]].concat();
        let made = self.run(&words, arguments);
        let json = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{}", made.describe()));
        (made.code, json)
    }

    /// The iroots that the last campaign kept, each with what is known of it.
    fn iroots(&self) -> BTreeMap<String, String> {
        iroots::last_of(&self.folder.path().join(".threadbare")).expect("iroots")
    }
}

const SIGNS: [&str; 2] = ["{x:int(-100..100)}", "{y:int(-100..100)}"];

fn mean(program: &Built, words: &[&str], name: &str, arguments: &[&str]) -> f64 {
    let (_, json) = program.json(words, arguments);
    json[name].as_f64().expect("a mean")
}

/// The paper's program P2: two tests show what four quadrants have, random needs more.
#[test]
fn two_signs_take_two_tests() {
    let program = Built::input("p2.c", &[]);
    let (code, json) =
        program.json(&["inputs", "--stop", "distance", "--idioms", "1", "--keep-going"], &SIGNS);
    assert_eq!(code, Some(0));
    assert_eq!((json["iroots_predicted"].as_u64(), json["iroots_executed"].as_u64()), (Some(24), Some(24)));
    assert!((2..=3).contains(&json["tests_executed"].as_u64().unwrap_or(0)), "{json}");
    let tests = |policy: &str, options: &[&str]| {
        let words = [&["inputs", "--idioms", "1", "--repeat", "30", "--policy", policy], options].concat();
        mean(&program, &words, "tests_mean", &SIGNS)
    };
    let (art1, art2) = (tests("art1", &["--stop", "distance"]), tests("art2", &["--stop", "distance"]));
    let (all, stops) = (tests("random", &["--tests", "7"]), tests("random", &["--stop", "distance"]));
    assert!(art1 <= 0.36 * all && art2 <= 0.36 * all, "{art1} {art2} {all}");
    assert!(art1 <= 0.65 * stops && art2 <= 0.65 * stops, "{art1} {art2} {stops}");
}

/// A failure in one quadrant: art1 comes to it sooner, and its profiles pay.
#[test]
fn the_quadrant_that_fails_comes_early() {
    for name in ["p3.c", "p4.c"] {
        let program = Built::input(name, &[]);
        let made = |policy| {
            program.json(&["inputs", "--repeat", "40", "--idioms", "4", "--policy", policy], &SIGNS).1
        };
        let (art1, random) = (made("art1"), made("random"));
        assert_eq!((&art1["failed"], &random["failed"]), (&Value::from(40), &Value::from(40)), "{name}");
        let ratio = |field: &str| art1[field].as_f64().unwrap_or(9.0) / random[field].as_f64().unwrap_or(1.0);
        assert!(ratio("tests_mean") <= 0.5, "{name}: {art1} {random}");
        assert!(ratio("runs_mean") <= 1.0, "{name}: {art1} {random}");
    }
}

#[test]
fn a_finding_has_its_input_and_is_replayed_with_it() {
    let program = Built::input("p3.c", &[]);
    let (code, json) = program.json(&["inputs"], &SIGNS);
    assert_eq!(code, Some(1), "{json}");
    let finding = &json["findings"][0];
    assert_eq!((finding["kind"].as_str(), finding["alone"].as_bool()), (Some("assertion"), Some(false)));
    // The smallest that both are positive.
    assert_eq!((finding["input"]["x"].as_i64(), finding["input"]["y"].as_i64()), (Some(1), Some(1)));
    let mut replay = tool::command(["replay"]);
    replay.current_dir(program.folder.path()).arg(finding["schedule"].as_str().expect("a path"));
    let replayed = tool::finish(&mut replay, tool::PATIENCE);
    assert_eq!(replayed.code, Some(1), "{}", replayed.describe());
    // A later campaign begins with it.
    let (code, json) = program.json(&["inputs", "--seed", "5"], &SIGNS);
    assert_eq!((code, json["tests_executed"].as_u64()), (Some(1), Some(1)), "{json}");
}

#[test]
fn an_input_that_fails_by_itself_is_told_apart() {
    let program = Built::input("alone.c", &[]);
    let (code, json) = program.json(&["inputs"], &["{n:int(0..99)}"]);
    let finding = &json["findings"][0];
    assert_eq!((code, finding["alone"].as_bool()), (Some(1), Some(true)), "{json}");
    assert_eq!(finding["input"]["n"].as_i64(), Some(10), "{json}");
}

#[test]
fn a_program_that_ignores_its_input_is_told() {
    let program = Built::input("ignores.c", &[]);
    for arguments in [["{n:int(0..9)}"], ["{s:string(1..20)}"]] {
        let made = program.run(&["inputs", "--runs", "300"], &arguments);
        assert_eq!(made.code, Some(2), "{}", made.describe());
        assert!(made.stderr.contains("does not seem to look at them"), "{}", made.describe());
    }
}

#[test]
fn what_is_wrong_is_told() {
    let program = Built::input("p2.c", &[]);
    for (words, arguments, why) in [
        (&["inputs"][..], &["1", "2"][..], "there is nothing to choose"),
        (&["inputs"], &["{x:int(5..1)}", "2"], "5 is more than 1"),
        (&["inputs"], &["{x:number(1..5)}", "2"], "there is no kind `number`"),
        (&["inputs"], &["{x:int(1..5)", "2"], "a `{` has no `}`"),
        (&["inputs"], &["{f:file(/nowhere)}", "2"], "the corpus `/nowhere` cannot be read"),
        (&["inputs", "--stdin", "{x}"], &["1", "2"], "`x` has no kind"),
        (&["inputs", "--env", "{x:int(0..1)}"], &["1", "2"], "a variable is `NAME=TEXT`"),
        (&["inputs", "--regressions", "/nowhere"], &["{x:int(0..1)}", "2"], "/nowhere"),
        (&["inputs", "--mode", "free"], &["{x:int(0..1)}", "2"], "leave out `--mode free`"),
    ] {
        let made = program.run(words, arguments);
        assert_eq!(made.code, Some(2), "{arguments:?}: {}", made.describe());
        assert!(made.stderr.contains(why), "{arguments:?}: {}", made.describe());
    }
}

/// One input in fifty: by a number, the standard input, a corpus of AFL++, the environment.
#[test]
fn a_needle_is_found_by_few_tests() {
    let needle = |number: u32| Built::input("needle.c", &[&format!("-DNEEDLE={number}")]);
    let tests = |program: &Built, words: &[&str], arguments: &[&str]| {
        let (code, json) = program.json(&[&["inputs", "--seed", "3"], words].concat(), arguments);
        assert_eq!(code, Some(1), "{json}");
        json["tests_executed"].as_u64().expect("a number")
    };
    assert!(tests(&needle(0), &[], &["{n:int(0..49)}"]) <= 5);
    assert!(tests(&needle(6), &["--stdin", "{s:string(0..49)}"], &[]) <= 5);
    assert!(tests(&needle(7), &["--env", "LEVEL={n:int(1..50)}"], &[]) <= 5);
    let program = needle(3);
    let queue = program.folder.path().join("found/default/queue");
    fs::create_dir_all(&queue).expect("a folder");
    fs::write(queue.join("id:000000,time:0,execs:0,orig:a"), "0123456789").expect("a file");
    fs::write(program.folder.path().join("found/default/fuzzer_stats"), "start_time : 1").expect("a file");
    assert!(tests(&program, &[], &["{f:file(found)}"]) <= 5);
    // What is in a corpus comes first, as it is.
    fs::write(queue.join("id:000001,src:000000,time:9,execs:7,op:havoc,rep:2"), "0123456789abc")
        .expect("a file");
    let (code, json) = program.json(&["inputs", "--out", "as-it-is"], &["{f:file(found)}"]);
    let first = json["tests"][0]["input"]["f"].as_str();
    assert_eq!(
        (code, json["tests_executed"].as_u64(), first),
        (Some(1), Some(1), Some("0123456789abc")),
        "{json}"
    );
    let regressions = program.folder.path().join("proptest.txt");
    fs::write(&regressions, "cc 00112233445566778899aabbccddeeff # shrinks to n = 37\n").expect("a file");
    let first = ["--regressions", regressions.to_str().expect("a path")];
    let (_, json) = needle(0).json(&[&["inputs"][..], &first].concat(), &["{n:int(0..49)}"]);
    assert_eq!(
        (json["tests_executed"].as_u64(), json["findings"][0]["input"]["n"].as_u64()),
        (Some(1), Some(37))
    );
}

/// The generator keeps its word: one input in fifty leads to the bug.
#[test]
fn drawn_needles_are_rare() {
    use threadbare_inputs::{Rng, Template};
    for needle in needles::needles(40, 7) {
        let (options, arguments) = needle.words();
        let mut template = Template::default();
        arguments.iter().for_each(|argument| template.arg(argument).expect("a template"));
        match &options[..] {
            [name, text] if name == "--env" => template.variable(text).expect("a template"),
            [name, text] if name == "--stdin" => template.set_stdin(text).expect("a template"),
            _ => {}
        }
        let mut rng = Rng::new(1);
        const DRAWS: usize = 20_000;
        let leads = |_: &usize| {
            let made = template.render(&template.draw(&mut rng), "/in");
            let variable = made.env.first().map(|(_, value)| value);
            let file = made.files.first().map(|(_, content)| content);
            let own = made.stdin.as_ref().or(variable).or(file);
            let place = usize::from(file.is_some() || own.is_none());
            let second = made.args.get(place).map(|text| String::from_utf8_lossy(text).into_owned());
            needle.leads(own.unwrap_or_else(|| &made.args[0]), second.as_deref())
        };
        let rare = (0..DRAWS).filter(leads).count();
        assert!((DRAWS / 80..DRAWS / 35).contains(&rare), "{rare} of {DRAWS}: {}", needle.describe());
    }
}

/// Cousins of these programs, with every bug and every way of giving the input: found by art1, in fewer tests than there would be by chance.
#[test]
fn drawn_needles_are_found() {
    let (mut tests, mut count) = (0, 0);
    for needle in needles::needles(10, 3) {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("needle.c");
        fs::write(&source, needle.source()).expect("a file");
        let program = Built::of(&source, &[]);
        let (options, arguments) = needle.words();
        let words: Vec<&str> = ["inputs"].into_iter().chain(options.iter().map(String::as_str)).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (code, json) = program.json(&words, &arguments);
        assert_eq!(code, Some(1), "{}\n{json}", needle.describe());
        assert_eq!(json["findings"][0]["alone"].as_bool(), Some(false), "{}", needle.describe());
        tests += json["tests_executed"].as_u64().expect("a number");
        count += 1;
    }
    // Random takes fifty in the mean of many.
    assert!(tests <= count * 20, "{tests} tests of {count} programs");
}

/// Nothing that one input shows is new, and only some values fail: what was tested once is tested again with other inputs.
#[test]
fn what_values_decide_is_tested_all_the_same() {
    let program = Built::input("values.c", &[]);
    // All inputs there are, and so many that only some can be drawn.
    for hole in ["{n:int(0..49)}", "{n:int(0..9999)}"] {
        let (code, json) = program.json(&["inputs", "--out", "new"], &[hole]);
        let number = json["findings"][0]["input"]["n"].as_u64();
        assert_eq!((code, number.map(|number| number % 50)), (Some(1), Some(17)), "{json}");
        assert!(json["tests_executed"].as_u64() > Some(1), "{json}");
    }
}

/// What was infeasible with all others is possible with an input that does something else: it is tested before those that do what all do.
#[test]
fn what_is_done_otherwise_is_tested_first() {
    let program = Built::input("drops.c", &[]);
    let tests = |seed: u32| {
        let out = format!("out{seed}");
        let words = ["inputs", "--keep-input", "--out", &out, "--seed", &seed.to_string()];
        let (code, json) = program.json(&words, &["{n:int(0..9999)}"]);
        assert_eq!((code, json["findings"][0]["kind"].as_str()), (Some(1), Some("use-after-free")), "{json}");
        json["tests_executed"].as_u64().expect("a number")
    };
    let all: Vec<u64> = (0..3).map(tests).collect();
    assert!(all.iter().all(|&tests| tests <= 12), "{all:?}");
}

/// Where all locks are taken in one function, what was shown of one section is forced of others as well, before a campaign ends.
#[test]
fn other_instances_are_forced_in_the_end() {
    let program = Built::input("wraps.c", &[]);
    for seed in ["0", "3", "4"] {
        let words = ["inputs", "--keep-input", "--out", seed, "--seed", seed];
        let (code, json) = program.json(&words, &["{n:int(7..7)}"]);
        assert_eq!((code, json["findings"][0]["kind"].as_str()), (Some(1), Some("assertion")), "{json}");
    }
}

/// A file that is a template, and one that is a sentence: what is made smaller is still one.
#[test]
fn files_are_made_of_templates_and_grammars() {
    let program = Built::input("settings.c", &[]);
    let (code, json) = program
        .json(&["inputs", "--seed", "1"], &["{f:file(size={n:int(0..49)} mode={m:one-of(flat,deep)})}"]);
    let input = &json["findings"][0]["input"];
    assert_eq!((code, input["n"].as_i64(), input["m"].as_str()), (Some(1), Some(13), Some("deep")), "{json}");
    let rules = "all = size=<digit><digit> mode=<mode><rest>\ndigit = 0 | 1 | 2 | 3\nmode = flat | deep\nrest = | !<rest>\n";
    fs::write(program.folder.path().join("rules"), rules).expect("a file");
    let (code, json) = program.json(&["inputs", "--out", "other"], &["{f:file(grammar(rules))}"]);
    assert_eq!(code, Some(1), "{json}");
    assert_eq!(json["findings"][0]["input"]["f"].as_str(), Some("size=13 mode=deep"), "{json}");
}

/// What a program asks for itself is its input, the same in every order of its strands.
#[test]
fn choices_of_the_program_are_an_input() {
    let program = Built::input("chooses.c", &[]);
    let (code, json) = program.json(&["inputs", "--seed", "2"], &[]);
    assert_eq!(code, Some(1), "{json}");
    let finding = &json["findings"][0];
    assert_eq!(finding["input"]["choices"], serde_json::json!([7, 1]), "{json}");
    let mut replay = tool::command(["replay"]);
    replay.current_dir(program.folder.path()).arg(finding["schedule"].as_str().expect("a path"));
    let replayed = tool::finish(&mut replay, tool::PATIENCE);
    assert_eq!(replayed.code, Some(1), "{}", replayed.describe());
}

/// Freed by one strand while another has it still: of one input in fifty.
#[test]
fn use_after_free_is_forced() {
    let program = Built::input("frees.c", &[]);
    let (code, json) = program.json(&["inputs"], &["{n:int(0..49)}"]);
    assert_eq!((code, json["findings"][0]["kind"].as_str()), (Some(1), Some("use-after-free")), "{json}");
}

#[test]
fn policies_are_compared_in_a_picture() {
    let program = Built::input("p2.c", &[]);
    let words = ["inputs", "--stop", "distance", "--compare", "--keep-going", "--plot", "plot.svg"];
    let (code, json) = program.json(&words, &SIGNS);
    assert_eq!((code, json["policies"].as_array().map(Vec::len)), (Some(0), Some(3)));
    // None begins with what another has found.
    let alone = ["inputs", "--stop", "distance", "--keep-going", "--policy", "art2", "--out", "alone"];
    let (_, alone) = program.json(&alone, &SIGNS);
    assert_eq!(json["policies"][1]["tests"], alone["tests"], "{json}");
    let picture = fs::read_to_string(program.folder.path().join("plot.svg")).expect("a picture");
    assert!(["art1", "art2", "random"].iter().all(|policy| picture.contains(&format!(">{policy}<"))));
}

/// What every order of small programs shows is predicted by few of their runs, and forced.
#[test]
fn feasible_iroots_are_predicted_and_forced() {
    let (mut predicted, mut feasible) = (0, 0);
    for name in [
        "lost-update/counter.c",
        "check-then-act/withdraw.c",
        "deadlock/abba.c",
        "search/account.c",
        "mutex/robust.c",
    ] {
        let program = Built::corpus(name);
        program.run(&["run", "--strategy", "dpor", "--iroots", "--keep-going"], &[]);
        let all: BTreeSet<String> = program
            .iroots()
            .into_iter()
            .filter(|(_, state)| state == "shown")
            .map(|(iroot, _)| iroot)
            .collect();
        program.run(&["run", "--strategy", "idioms", "--keep-going"], &[]);
        let forced = program.iroots();
        for iroot in all.iter().filter(|iroot| iroot.starts_with("1:")) {
            assert!(forced.contains_key(iroot), "{name}: {iroot} is not predicted");
        }
        for (iroot, state) in forced.iter().filter(|(iroot, _)| all.contains(*iroot)) {
            assert_eq!(state, "shown", "{name}: {iroot} is not forced");
        }
        predicted += forced.len();
        feasible += forced.keys().filter(|iroot| all.contains(*iroot)).count();
    }
    assert!(feasible * 10 >= predicted * 8, "{feasible} of {predicted}");
}

/// Bugs that one or two dependencies make.
#[test]
fn active_testing_finds_bugs() {
    for name in [
        "search/account",
        "search/lazy_init",
        "search/string_buffer",
        "search/wrong_lock",
        "search/abba",
        "search/two_condvars",
        "deadlock/barrier_too_few",
        "timed/giveup",
        "atomics/aba",
    ] {
        let program = Built::corpus(&format!("{name}.c"));
        let (code, json) = program.json(&["run", "--strategy", "idioms", "--no-predict"], &[]);
        assert_eq!(code, Some(1), "{name}: {json}");
    }
}

#[test]
fn coverage_tells_of_iroots() {
    let program = Built::corpus("search/account.c");
    program.run(&["run", "--iroots", "--runs", "5", "--strategy", "random", "--keep-going"], &[]);
    let told = || {
        let mut command = tool::command(["coverage", "--format", "json"]);
        command.current_dir(program.folder.path());
        let made = tool::finish(&mut command, tool::PATIENCE);
        let json: Value = serde_json::from_str(&made.stdout).expect("JSON");
        let sum = |name: &str| {
            let list = json["programs"][0]["iroots"][name].as_array().cloned().unwrap_or_default();
            list.iter().filter_map(Value::as_u64).sum::<u64>()
        };
        (sum("predicted"), sum("shown"))
    };
    let few = told();
    program.run(&["run", "--strategy", "idioms", "--keep-going"], &[]);
    let all = told();
    assert!(few.1 > 0 && few.1 <= all.1 && all.1 <= all.0, "{few:?} {all:?}");
}

/// Programs that look at their input in every usual way, and how each is built: without a constructor that reads it, and with one.
const GIVEN: &[(&str, &[&str], Option<&str>)] = &[
    ("given.c", &["cc", "-w"], None),
    ("given.c", &["cc", "-w", "-DKEEPS"], None),
    ("given.c", &["cc", "-w", "-DEARLY_ARGS"], Some("reads its arguments")),
    ("given.c", &["cc", "-w", "-DEARLY_ENV"], Some("a variable of the input is read")),
    ("given.c", &["cc", "-w", "-DEARLY_STDIN"], Some("reads standard input")),
    ("given.cc", &["c++", "-w"], None),
    ("given.cc", &["c++", "-w", "-DEARLY"], Some("a variable of the input is read")),
    ("given.rs", &["rustc", "--edition", "2024"], None),
    ("given.rs", &["rustc", "--edition", "2024", "--cfg", "early"], Some("reads its arguments")),
];

/// An input is given to a fork of a program that stands before `main`, unless a constructor reads it earlier: the runs are the same either way, and with either reset.
#[test]
fn inputs_are_given_before_main_unless_a_constructor_reads_them() {
    let mut made: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (source, words, early) in GIVEN {
        let folder = tempfile::tempdir().expect("a folder");
        let mut build = tool::command(words.iter().copied().chain(["-g"]));
        if words[0] != "rustc" {
            build.args(["-O1", "-pthread"]);
        }
        build
            .arg(tool::root().join("tests/inputs").join(source))
            .arg("-o")
            .arg(folder.path().join("program"));
        let built = tool::finish(&mut build, tool::PATIENCE);
        assert_eq!(built.code, Some(0), "{}", built.describe());
        fs::create_dir(folder.path().join("corpus")).expect("a folder");
        fs::write(folder.path().join("corpus/a"), "a").expect("a file");
        fs::write(folder.path().join("corpus/b"), "bcdef").expect("a file");
        for reset in ["auto", "fork"] {
            let mut inputs =
                tool::command(["inputs", "--shrink", "off", "--races", "off", "--format", "json"]);
            inputs.current_dir(folder.path()).args(["--reset", reset, "--out", reset]);
            inputs.args([
                "--env",
                "LEVEL={l:int(0..3)}",
                "--stdin",
                "{s:string(0..4, xyz)}",
                "--",
                "./program",
            ]);
            match source.ends_with(".c") {
                true => inputs.args(["--count={n:int(1..5)}", "{d:flag(--deep)}"]),
                false => inputs.arg("{n:int(1..9)}"),
            };
            let told = tool::finish(inputs.arg("{f:file(corpus/)}"), tool::PATIENCE);
            let json: Value =
                serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("{}", told.describe()));
            assert_eq!(told.code, Some(1), "{}", told.describe());
            let said = told.stderr.contains("each input has a program of its own");
            assert_eq!(said, early.is_some(), "{words:?} {}", told.describe());
            assert!(told.stderr.contains(early.unwrap_or("")), "{words:?} {}", told.describe());
            let finding = &json["findings"][0];
            let schedule = folder.path().join(finding["schedule"].as_str().expect("a path"));
            let text = fs::read_to_string(&schedule).expect("a schedule");
            assert_eq!(text.contains("\ngiven: input\ngiven: env LEVEL\n"), early.is_none(), "{text}");
            let mut replay = tool::command(["replay"]);
            let again = tool::finish(replay.current_dir(folder.path()).arg(&schedule), tool::PATIENCE);
            assert_eq!(again.code, Some(1), "{}", again.describe());
            let numbers = ["runs", "profiled", "tests_executed", "iroots_predicted", "iroots_executed"];
            let tests: Vec<&Value> =
                json["tests"].as_array().into_iter().flatten().map(|test| &test["input"]).collect();
            let all = format!("{:?} {tests:?} {}", numbers.map(|name| &json[name]), finding["input"]);
            made.entry(source).or_default().insert(all);
        }
    }
    for (source, made) in made {
        assert_eq!(made.len(), 1, "{source}: {made:#?}");
    }
}
