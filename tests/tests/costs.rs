//! What runs cost, in instructions: five programs (`tests/costs/`), each with one seed, without races looked for and with,
//! counted by valgrind and compared with `tests/costs.txt`. Times would say nothing on a machine that others use.
//!
//! Only instructions of the runtime count, so that compilers and libraries of other versions change little. The runtime
//! itself depends on its compiler: with another one than the list was made with, a larger difference is let pass.
//! `THREADBARE_BLESS=1 cargo test -p threadbare-tests --test costs` writes the list anew; a change that
//! makes runs cheaper is blessed too, so that nobody gives it back by mistake.
//!
//! The program is started by valgrind, under a driver that is not: a first run teaches the points, the second one counts.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use threadbare_abi::fault::Faults;
use threadbare_abi::layout::{MemoryModel, PointMode, Record, flags};
use threadbare_explore::run::{Follow, Request};
use threadbare_explore::server::{Server, Target};
use threadbare_strategy::StrategyId;
use threadbare_tests::tool;

const PROGRAMS: [&str; 5] = ["private", "table", "counter", "lock", "atomic"];
/// How far a count may be from the list's, in hundredths.
const TOLERANCE: f64 = 3.0;
/// The same where another compiler made the runtime.
const TOLERANCE_ELSEWHERE: f64 = 25.0;

fn main() {
    let arguments = Arguments::from_args();
    let missing = !has_valgrind();
    if missing {
        eprintln!("note: valgrind is missing (Debian package valgrind), so no instructions are counted");
    }
    let list = Arc::new(List::read());
    let trials = PROGRAMS.iter().flat_map(|&program| {
        let list = Arc::clone(&list);
        [false, true].map(move |races| {
            let list = Arc::clone(&list);
            Trial::test(name(program, races), move || compare(program, races, &list))
        })
    });
    let trials: Vec<Trial> = trials.map(|trial| trial.with_ignored_flag(missing)).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

fn name(program: &str, races: bool) -> String {
    format!("{program}{}", if races { " with races" } else { "" })
}

fn list_path() -> PathBuf {
    tool::root().join("tests/costs.txt")
}

/// Whether there is something to count with.
fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The compiler that makes the runtime.
fn compiler() -> String {
    let version = Command::new("rustc").arg("--version").output().expect("rustc runs");
    String::from_utf8_lossy(&version.stdout).trim().to_owned()
}

/// The checked-in counts.
struct List {
    compiler: String,
    counts: BTreeMap<String, u64>,
}

impl List {
    fn read() -> List {
        let text = fs::read_to_string(list_path()).unwrap_or_default();
        let mut list = List { compiler: String::new(), counts: BTreeMap::new() };
        for line in text.lines() {
            if let Some(compiler) = line.strip_prefix("# made by ") {
                list.compiler = compiler.to_owned();
            } else if let Some((name, count)) = line.split_once(": ") {
                list.counts.insert(name.to_owned(), count.parse().expect("a count in the list"));
            }
        }
        list
    }

    /// Writes one count to the list on disk; tests run side by side.
    fn bless(name: String, count: u64) {
        static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _one = ONE.lock();
        let mut list = List::read();
        list.counts.insert(name, count);
        let mut text = format!("# made by {}\n", compiler());
        for (name, count) in &list.counts {
            text += &format!("{name}: {count}\n");
        }
        fs::write(list_path(), text).expect("the list can be written");
    }
}

fn compare(program: &str, races: bool, list: &List) -> Result<(), Failed> {
    let name = name(program, races);
    let count = count(program, races)?;
    if std::env::var_os("THREADBARE_BLESS").is_some() {
        List::bless(name, count);
        return Ok(());
    }
    let listed = *list.counts.get(&name).ok_or("it is not in tests/costs.txt")?;
    let tolerance = if list.compiler == compiler() { TOLERANCE } else { TOLERANCE_ELSEWHERE };
    let change = (count as f64 / listed as f64 - 1.0) * 100.0;
    println!("{name}: {count} instructions of the runtime, listed {listed} ({change:+.1}%)");
    if change.abs() > tolerance {
        let more = if change > 0.0 { "more" } else { "fewer" };
        return Err(format!(
            "{count} instructions of the runtime, {:.1}% {more} than the {listed} of tests/costs.txt\nhelp: if that is \
             meant, THREADBARE_BLESS=1 cargo test -p threadbare-tests --test costs",
            change.abs()
        )
        .into());
    }
    Ok(())
}

/// The runtime's instructions in the second run of a program.
fn count(program: &str, races: bool) -> Result<u64, Failed> {
    let folder = tempfile::tempdir()?;
    let executable = folder.path().join(program);
    let source = tool::root().join("tests/costs").join(format!("{program}.c"));
    let mut compile = tool::command(["cc", "-g", "-O1", "-pthread"]);
    compile.arg(&source).arg("-o").arg(&executable);
    let outcome = tool::finish(&mut compile, tool::PATIENCE);
    if outcome.code != Some(0) {
        return Err(outcome.describe().into());
    }
    let profile = folder.path().join("profile.%p");
    let arguments = vec![
        "--tool=callgrind".into(),
        format!("--callgrind-out-file={}", profile.display()).into(),
        executable.into_os_string(),
    ];
    let mut target = Target { cwd: folder.path().to_owned(), ..Target::new("valgrind", arguments) };
    if let Some(folder) = std::env::var_os("THREADBARE_RT_FOLDER") {
        // Another build of the runtime than the tool's.
        target.env.push(("LD_LIBRARY_PATH".into(), folder));
    }
    let mut server = Server::start(&target)?;
    let mut request = Request {
        run: 0,
        seed: 7,
        entropy: 7,
        strategy: StrategyId::Uniform,
        params: [0; 8],
        points: PointMode::Shared,
        record: Record::Nothing,
        flags: flags::COVERAGE,
        max_points: 0,
        timeout: tool::PATIENCE / 4,
        estimates: (0, 0),
        guide: Arc::from([]),
        races,
        // What happens before what must be known for the one as for the other.
        model: if races { MemoryModel::C11 } else { MemoryModel::Sc },
        watches: Vec::new(),
        faults: Faults::SPURIOUS,
    };
    let first = server.run(&request, Follow::Nothing, None)?;
    let mut known = server.learnt(&first);
    known.sort_unstable();
    server.set_known(&known);
    request.run = 1;
    let second = server.run(&request, Follow::Nothing, None)?;
    if second.end.was_cut() || second.live.learnt != 0 {
        return Err(format!("the run was no usual one: {second:?}").into());
    }
    println!(
        "{}: {} points, {} switches, {} events",
        name(program, races),
        second.live.counters.points,
        second.live.counters.switches,
        second.live.counters.events
    );
    instructions(&folder.path().join(format!("profile.{}", second.live.pid)))
}

/// Sums the runtime's own costs in a file of callgrind's.
fn instructions(profile: &Path) -> Result<u64, Failed> {
    let text = fs::read_to_string(profile).map_err(|error| format!("{}: {error}", profile.display()))?;
    let mut numbers = BTreeMap::new();
    let (mut ours, mut callee, mut sum) = (false, false, 0);
    for line in text.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            // `(3) path` gives a number its name; `(3)` alone uses it.
            let (number, path) = object.split_once(' ').unwrap_or((object, ""));
            if !path.is_empty() {
                numbers.insert(number.to_owned(), path.contains("libthreadbare_rt"));
            }
            ours = numbers.get(number).copied().unwrap_or(false);
        } else if let Some(object) = line.strip_prefix("cob=") {
            if let Some((number, path)) = object.split_once(' ') {
                numbers.insert(number.to_owned(), path.contains("libthreadbare_rt"));
            }
        } else if line.starts_with("calls=") {
            callee = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            // What a callee cost stands on the line behind its call.
            if ours && !callee {
                sum += line.split_whitespace().nth(1).and_then(|cost| cost.parse::<u64>().ok()).unwrap_or(0);
            }
            callee = false;
        }
    }
    if sum == 0 { Err("callgrind has counted nothing of the runtime".into()) } else { Ok(sum) }
}
