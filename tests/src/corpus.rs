//! The programs under `tests/programs` and what they say of themselves.
//!
//! Directives are lines `//@ name: value`:
//!
//! | directive | says |
//! |---|---|
//! | `expect` | `pass`, or the kind of failure; several with a bar between them where truly either can come |
//! | `strategy` | the strategy (default `portfolio`) |
//! | `runs` | how many runs a passing program must survive (default 200) |
//! | `max-runs` | within how many runs a failure must be found (default 500) |
//! | `flags`, `args`, `env` | of the compiler, of the program, of its environment (`K=V`, may be repeated) |
//! | `points` | `shared`, `sync` or `all` |
//! | `memory-model` | what atomic loads may see: `sc`, `tso` or `c11` (default: the tool's) |
//! | `faults` | which faults may happen (`--faults`); those of the default if it says nothing |
//! | `compilers` | `gcc clang` (default: both) |
//! | `timeout` | of one run |
//! | `bare` | what the plain run does: `pass` (default for passing programs), `fail`, `hang` or `any` |
//! | `message` | a part of the finding's message |
//! | `replays` | the most runs of it that the replay check makes again (for runs that take long; 0 if it depends on another process) |
//! | `warns` | a part of one of the campaign's warnings, or `none` if there are to be none (passing programs) |
//! | `strands` | how many strands the largest run has at least |
//! | `classes` | how many classes its runs have: a long campaign sees exactly so many |
//! | `race` | the labels of the two lines of a race that must be told; may be repeated |
//! | `may-race` | the same of a race that comes with the others, but not in every campaign |
//! | `preemptions` | the least number of preemptions that a run of the failure needs (a program that fails) |
//! | `pair` | the labels of the two lines whose order decides; may be repeated where more than one pair does |
//! | `pattern` | the pattern that the explanation names; several with a bar between them where each is a fair name (`tests/causes`) |
//! | `object` | what the explanation names, with a bar between names that are all fair; `any` where nothing has a name |
//! | `caller` | the labels of the lines that call the helpers in which the pair lies; each is to be named |
//! | `suppress` | a line of a suppression file that every campaign of it gets; may be repeated |
//! | `tsan` | `no`: it is not compared with ThreadSanitizer, which does not know what it uses |
//!
//! A line that ends with `//~ NAME` has that label; `//~ here` must be among the places of the finding.
//!
//! A rule of the race check has two programs in `race/`: `RULE_racy` breaks it, and its twin `RULE_right` does not.

use crate::tool;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What the plain run is expected to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bare {
    /// It ends with code 0.
    Pass,
    /// It ends in another way.
    Fail,
    /// It does not end.
    Hang,
    /// It depends.
    Any,
}

/// The language of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// `.c`
    C,
    /// `.cc`
    Cxx,
    /// `.rs`
    Rust,
}

/// A program of the corpus.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// `kind/name.ext`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// Its language.
    pub language: Language,
    /// The kinds of failure that may come; none if it passes.
    pub expect: Vec<String>,
    /// See the module.
    pub strategy: String,
    /// See the module.
    pub runs: u64,
    /// See the module.
    pub max_runs: u64,
    /// See the module.
    pub flags: Vec<String>,
    /// See the module.
    pub args: Vec<String>,
    /// See the module.
    pub env: Vec<(String, String)>,
    /// See the module.
    pub points: Option<String>,
    /// See the module.
    pub memory_model: Option<String>,
    /// See the module.
    pub faults: Option<String>,
    /// See the module.
    pub compilers: Vec<String>,
    /// See the module.
    pub timeout: Option<String>,
    /// See the module.
    pub bare: Bare,
    /// See the module.
    pub message: Option<String>,
    /// See the module.
    pub warns: Option<String>,
    /// See the module.
    pub replays: u64,
    /// See the module.
    pub strands: u64,
    /// See the module.
    pub classes: Option<u64>,
    /// The line marked with `//~ here`.
    pub line: Option<u64>,
    /// The races that must be told.
    pub races: Vec<Lines>,
    /// The races that may be told besides.
    pub may_race: Vec<Lines>,
    /// See the module.
    pub preemptions: Option<u64>,
    /// The pairs that decide; one of them is to be told.
    pub pairs: Vec<Lines>,
    /// The patterns that are fair names for it.
    pub patterns: Vec<String>,
    /// The names of what the pair is on.
    pub objects: Vec<String>,
    /// The lines that call the helpers of the pair.
    pub callers: Vec<u64>,
    /// The lines that have a label: those that have a part in the failure.
    pub labelled: BTreeSet<u64>,
    /// See the module.
    pub suppress: Vec<String>,
    /// Whether ThreadSanitizer's reports of it are compared with ours.
    pub tsan: bool,
}

/// The two lines of a race, the smaller one first.
pub type Lines = (u64, u64);

/// Two lines in order.
pub fn in_order(one: u64, other: u64) -> Lines {
    (one.min(other), one.max(other))
}

impl Program {
    /// Whether it is expected to pass.
    pub fn passes(&self) -> bool {
        self.expect.is_empty()
    }

    /// Whether it is one of the pairs that try the race check.
    pub fn is_twin(&self) -> bool {
        self.name.starts_with("race/")
    }

    /// The name of its file without the folder.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Reads the directives of a program.
    ///
    /// # Errors
    /// In words, when a directive is unknown, wrong or missing.
    pub fn parse(name: &str, path: &Path, source: &str) -> Result<Program, String> {
        let language = match path.extension().and_then(|extension| extension.to_str()) {
            Some("c") => Language::C,
            Some("cc") => Language::Cxx,
            Some("rs") => Language::Rust,
            other => return Err(format!("{name}: no language has the extension {other:?}")),
        };
        let mut program = Program {
            name: name.to_owned(),
            path: path.to_owned(),
            language,
            expect: Vec::new(),
            strategy: "portfolio".to_owned(),
            runs: 200,
            max_runs: 500,
            flags: Vec::new(),
            args: Vec::new(),
            env: Vec::new(),
            points: None,
            memory_model: None,
            faults: None,
            compilers: Vec::new(),
            timeout: None,
            bare: Bare::Any,
            message: None,
            warns: None,
            replays: u64::MAX,
            strands: 0,
            classes: None,
            line: None,
            races: Vec::new(),
            may_race: Vec::new(),
            preemptions: None,
            pairs: Vec::new(),
            patterns: Vec::new(),
            objects: Vec::new(),
            callers: Vec::new(),
            labelled: BTreeSet::new(),
            suppress: Vec::new(),
            tsan: true,
        };
        let labels = labels(source);
        program.line = labels.get("here").copied();
        program.labelled = labels.values().copied().collect();
        let (mut expected, mut bare) = (false, None);
        for (index, line) in source.lines().enumerate() {
            let Some(directive) = line.strip_prefix("//@") else { continue };
            let wrong = || format!("{name}:{}: `{line}` is no directive", index + 1);
            let (key, value) = directive.split_once(':').ok_or_else(wrong)?;
            let (key, value) = (key.trim(), value.trim());
            let words = || value.split_whitespace().map(str::to_owned);
            match key {
                "expect" => {
                    expected = true;
                    program.expect =
                        value.split('|').filter(|kind| *kind != "pass").map(str::to_owned).collect();
                }
                "strategy" => program.strategy = value.to_owned(),
                "runs" => program.runs = value.parse().map_err(|_| wrong())?,
                "max-runs" => program.max_runs = value.parse().map_err(|_| wrong())?,
                "flags" => program.flags = words().collect(),
                "args" => program.args = words().collect(),
                "env" => {
                    let (variable, content) = value.split_once('=').ok_or_else(wrong)?;
                    program.env.push((variable.to_owned(), content.to_owned()));
                }
                "points" => program.points = Some(value.to_owned()),
                "memory-model" => program.memory_model = Some(value.to_owned()),
                "faults" => program.faults = Some(value.to_owned()),
                "compilers" => program.compilers = words().collect(),
                "timeout" => program.timeout = Some(value.to_owned()),
                "bare" => bare = Some(parse_bare(value).ok_or_else(wrong)?),
                "warns" => program.warns = Some(value.to_owned()),
                "message" => program.message = Some(value.to_owned()),
                "replays" => program.replays = value.parse().map_err(|_| wrong())?,
                "strands" => program.strands = value.parse().map_err(|_| wrong())?,
                "classes" => program.classes = Some(value.parse().map_err(|_| wrong())?),
                "race" => program.races.push(lines(value, &labels).ok_or_else(wrong)?),
                "may-race" => program.may_race.push(lines(value, &labels).ok_or_else(wrong)?),
                "preemptions" => program.preemptions = Some(value.parse().map_err(|_| wrong())?),
                "pair" => program.pairs.push(lines(value, &labels).ok_or_else(wrong)?),
                "pattern" => program.patterns = value.split('|').map(str::to_owned).collect(),
                "object" => program.objects = value.split('|').map(str::to_owned).collect(),
                "caller" => {
                    let line = |label: &str| labels.get(label).copied().ok_or_else(wrong);
                    program.callers = value.split(' ').map(line).collect::<Result<_, _>>()?;
                }
                "suppress" => program.suppress.push(value.to_owned()),
                "tsan" if value == "no" => program.tsan = false,
                _ => return Err(wrong()),
            }
        }
        if !expected {
            return Err(format!("{name}: says nothing of what to expect"));
        }
        if program.expect.iter().any(|kind| kind == "race") == program.races.is_empty() {
            return Err(format!("{name}: `expect: race` and `race: LABEL LABEL` belong together"));
        }
        if program.passes() && (program.preemptions.is_some() || !program.pairs.is_empty()) {
            return Err(format!("{name}: passes, and has nothing to shrink or explain"));
        }
        // A race alone does not change how a program ends.
        let ends_well = program.passes() || program.expect == ["race"];
        program.bare = bare.unwrap_or(if ends_well { Bare::Pass } else { Bare::Any });
        Ok(program)
    }
}

/// The lines that end with `//~ NAME`, by name.
fn labels(source: &str) -> BTreeMap<&str, u64> {
    let label = |line: &'_ str| line.rfind("//~ ").map(|at| at + "//~ ".len());
    let lines = source.lines().zip(1..);
    lines.filter_map(|(line, number)| label(line).map(|at| (&line[at..], number))).collect()
}

fn lines(value: &str, labels: &BTreeMap<&str, u64>) -> Option<Lines> {
    let (one, other) = value.split_once(' ')?;
    Some(in_order(*labels.get(one)?, *labels.get(other.trim())?))
}

fn parse_bare(value: &str) -> Option<Bare> {
    match value {
        "pass" => Some(Bare::Pass),
        "fail" => Some(Bare::Fail),
        "hang" => Some(Bare::Hang),
        "any" => Some(Bare::Any),
        _ => None,
    }
}

/// All programs, by name.
///
/// # Panics
/// If the corpus cannot be read or a directive is wrong.
pub fn programs() -> Vec<Program> {
    programs_in("tests/programs")
}

/// The programs of a folder of the repository, by name.
///
/// # Panics
/// If it cannot be read or a directive is wrong.
pub fn programs_in(folder: &str) -> Vec<Program> {
    let folder = tool::root().join(folder);
    let mut found = Vec::new();
    for kind in entries(&folder) {
        for path in entries(&kind) {
            let name = path.strip_prefix(&folder).expect("it is inside").display().to_string();
            let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            match Program::parse(&name, &path, &source) {
                Ok(program) => found.push(program),
                Err(message) => panic!("{message}"),
            }
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let list = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = list.map(|entry| entry.expect("a folder's entry").path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(source: &str) -> Result<Program, String> {
        Program::parse("kind/it.c", Path::new("/x/it.c"), source)
    }

    #[test]
    fn directives_are_read() {
        let source = "//@ expect: deadlock|livelock\n//@ env: A=b=c\n//@ flags: -O2  -DX\n//@ max-runs: 9\nx(); //~ here\n";
        let program = parse(source).unwrap();
        assert_eq!(program.expect, ["deadlock", "livelock"]);
        assert_eq!((program.max_runs, program.line, program.bare), (9, Some(5), Bare::Any));
        assert_eq!(program.flags, ["-O2", "-DX"]);
        assert_eq!(program.env, [("A".to_owned(), "b=c".to_owned())]);
        let program = parse("//@ expect: pass\n").unwrap();
        assert!(program.passes() && program.bare == Bare::Pass && program.runs == 200);
    }

    #[test]
    fn wrong_directives_are_refused() {
        for source in
            ["", "//@ expect: pass\n//@ speed: 9\n", "//@ expect\n", "//@ expect: pass\n//@ runs: many\n"]
        {
            assert!(parse(source).is_err(), "{source:?}");
        }
        assert!(Program::parse("it.py", Path::new("it.py"), "//@ expect: pass\n").is_err());
    }

    #[test]
    fn races_name_their_lines() {
        let source = "//@ expect: race\n//@ race: b a\n//@ may-race: a a\nx(); //~ a\ny(); //~ b\n";
        let program = parse(source).unwrap();
        assert_eq!((program.races, program.may_race, program.bare), (vec![(4, 5)], vec![(4, 4)], Bare::Pass));
        assert!(parse("//@ expect: race\n").is_err(), "a race without its lines");
        assert!(parse("//@ expect: race\n//@ race: a b\nx(); //~ a\n").is_err(), "a label that is not there");
        assert!(parse("//@ expect: pass\n//@ race: a a\nx(); //~ a\n").is_err(), "a race that passes");
    }

    #[test]
    fn every_racy_program_has_its_twin() {
        let twins: Vec<Program> = programs().into_iter().filter(Program::is_twin).collect();
        assert!(twins.len() >= 60);
        for program in &twins {
            let Some(rule) = program.name.find("_racy.") else {
                assert!(program.passes(), "{} is not called racy", program.name);
                continue;
            };
            let twin = program.name.replace("_racy.", "_right.");
            let twin = twins.iter().find(|other| other.name == twin);
            assert!(twin.is_some_and(Program::passes), "{} has no twin", &program.name[..rule]);
            assert!(!program.races.is_empty(), "{} names no race", program.name);
        }
    }

    #[test]
    fn the_corpus_is_large_and_of_all_languages() {
        let programs = programs();
        assert!(programs.len() >= 50);
        for language in [Language::C, Language::Cxx, Language::Rust] {
            let of_it = || programs.iter().filter(|program| program.language == language);
            assert!(of_it().any(Program::passes) && of_it().any(|program| !program.passes()), "{language:?}");
        }
    }
}
