//! What a run of many strands costs: as much as there are strands, and not as many times more. One test, since the time of all
//! programs that were waited for is what is measured.

use std::fs;
use std::path::Path;
use threadbare_tests::tool;

/// Ticks of the processor that ended programs have taken, with those they waited for.
fn ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("the process is there");
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

fn cost(program: &Path, strands: u64, races: &str, folder: &Path) -> u64 {
    let once = || {
        let before = ticks();
        let mut command =
            tool::command(["run", "--runs", "1", "--jobs", "1", "--strategy", "random", "--shrink", "off"]);
        command.args(["--races", races, "--out"]).arg(folder.join("out")).arg("--").arg(program);
        let made = tool::finish(command.arg(strands.to_string()), tool::PATIENCE);
        assert_eq!(made.code, Some(0), "{}", made.describe());
        ticks() - before
    };
    (0..3).map(|_| once()).min().unwrap_or(0)
}

#[test]
fn strands_that_come_and_go_cost_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = tool::root().join("tests/costs/strands.c");
    let program = tool::build(&source, folder.path()).expect("a program");
    for races in ["off", "fail"] {
        let (few, many) =
            (cost(&program, 4_000, races, folder.path()), cost(&program, 16_000, races, folder.path()));
        println!("races {races}: {few} ticks for 4,000 strands, {many} for 16,000");
        // Four times as many; sixteen times as much if each cost as much as there are.
        assert!(many <= 8 * few.max(10), "races {races}: {few} ticks for 4,000 strands, {many} for 16,000");
    }
}
