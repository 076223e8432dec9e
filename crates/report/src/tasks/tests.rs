//! What is told of tasks fits every terminal and says what the numbers say.

use super::*;
use crate::columns::width;
use crate::screen::Screen;
use std::fmt::Write;
use threadbare_abi::tasks::marks::{BESIDE, EVENTS, INTERRUPTED, LIBRARY, RETURNED, SEVERAL, THROUGH};
use threadbare_coverage::tasks::{Function, Goal, Seen, TaskModel, TaskTable};
use threadbare_coverage::{Spot, TaskBooks};

const USUAL: u32 = BESIDE | SEVERAL | EVENTS | RETURNED;

/// A program with a function of every sort.
fn functions() -> Vec<(&'static str, u32)> {
    vec![
        ("main", EVENTS | RETURNED),
        ("transfer", USUAL | INTERRUPTED | THROUGH),
        ("audit", USUAL | THROUGH),
        ("serve_for_ever", BESIDE | SEVERAL | EVENTS | INTERRUPTED),
        ("hash", BESIDE | SEVERAL | RETURNED | THROUGH),
        ("clean_up", BESIDE | EVENTS | RETURNED),
        ("core::ptr::drop_in_place", USUAL | LIBRARY),
        ("ledger::Accounts::<std::collections::BTreeMap<u64, ledger::Account>>::settle_everything", USUAL),
    ]
}

fn sample() -> TaskTable {
    let seen = |runs: usize| Seen {
        functions: functions()
            .iter()
            .enumerate()
            .map(|(at, (_, marks))| Function { pc: at as u64, marks: *marks, strand: 1 })
            .collect(),
        pairs: [(1, 2), (1, 1), (3, 1), (3, 2), (3, 6)][..runs].to_vec(),
        lost: 0,
    };
    let mut books = TaskBooks::default();
    books.begin_with(&seen(1));
    for run in 0..100 {
        books.take(run, &seen((1 + run as usize / 10).min(5)));
    }
    TaskTable::new(&books, |pc| Spot {
        address: format!("bank+{pc:#x}"),
        file: (pc != 4).then(|| "src/bank/accounts.c".into()),
        line: (pc != 4).then_some(10 * pc as u32 + 7),
        function: Some(functions()[pc as usize].0.into()),
        library: false,
    })
}

fn shown(table: &TaskTable, all: bool, screen: Screen) -> String {
    let mut out = String::new();
    text(&mut out, &TasksReport::of(table, None, true), Some("the 2nd added"), all, screen);
    out
}

#[test]
fn the_table_and_the_curves() {
    let mut out = String::new();
    for (columns, unicode) in [(80, true), (40, false)] {
        let _ = writeln!(out, "-- {columns} columns --");
        out.push_str(&shown(&sample(), true, Screen { width: columns, unicode, ..Screen::PLAIN }));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn what_is_open_comes_first_and_the_rest_if_it_is_asked_for() {
    let few = shown(&sample(), false, Screen::PLAIN);
    let line = |start: &str| few.lines().position(|line| line.trim_start().starts_with(start)).unwrap();
    assert!(line("audit ") < line("transfer ") && line("transfer ") < line("main "), "{few}");
    assert!(!few.contains("drop_in_place"), "{few}");
    let mut report = TasksReport::of(&sample(), None, false);
    for (pair, number) in report.pairs.open.0.iter_mut().zip(0..) {
        *pair = (number, number % 7);
    }
    report.functions.extend(report.functions.clone());
    let of = |all: bool| {
        let mut out = String::new();
        text(&mut out, &report, None, all, Screen::PLAIN);
        out
    };
    let (few, all) = (of(false), of(true));
    assert!(
        few.contains("\n  ⋮ 4 more: `--all`\n") && few.contains("\n    ⋮ 10 functions more: `--all`\n"),
        "{few}"
    );
    assert!(!all.contains("--all") && all.lines().count() > few.lines().count(), "{all}");
}

#[test]
fn every_terminal_is_wide_enough() {
    for unicode in [true, false] {
        for columns in [20, 30, 40, 55, 71, 72, 80, 100] {
            let text = shown(&sample(), true, Screen { width: columns, unicode, ..Screen::PLAIN });
            for line in text.lines() {
                assert!(width(line) <= columns, "{columns} columns: {line}\n{text}");
                assert!(unicode || line.is_ascii(), "{line}");
            }
        }
    }
}

#[test]
fn the_summary_is_short() {
    let report = TasksReport::of(&sample(), None, false);
    assert_eq!(
        summary(&report),
        [
            "covered: 2 of 5 functions (40%) interrupted, 3 of 5 (60%) ran through, 4 of 24 pairs (16%) met",
            "out of reach so far: 1 function that ran only while no other strand lived, 1 function that did not \
             return, 1 function without a place for noise, 1 pair within one strand",
        ]
    );
    assert!(summary(&TasksReport::default()).is_empty());
    let mut alone = TasksReport::default();
    alone.counts.functions = 3;
    assert_eq!(summary(&alone), ["covered: no function of the program ran while another strand lived"]);
}

#[test]
fn the_json_has_all_tasks() {
    let report = TasksReport::of(&sample(), Some(Goal { model: TaskModel::Two, share: 0.6 }), false);
    let text = serde_json::to_string_pretty(&report).unwrap();
    assert!(text.contains("\n    \"covered\": [[3,0],[3,3],[4,0],[4,3]],\n"), "{text}");
    assert_eq!(serde_json::from_str::<TasksReport>(&text).unwrap(), report);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let states: Vec<_> = json["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| [&it["function"], &it["interrupted"], &it["ran_through"]].map(|it| it.as_str().unwrap()))
        .collect();
    assert_eq!(states[0], ["audit", "open", "covered"]);
    assert_eq!(states.last().unwrap(), &["main", "alone", "alone"]);
    assert!(states.contains(&["serve_for_ever", "covered", "never_returned"]));
    assert!(states.contains(&["hash", "no_events", "covered"]));
    assert_eq!(json["goal"], serde_json::json!({"model": "model2", "share": 0.6}));
    assert_eq!(json["added"], serde_json::json!({"interrupted": 0, "ran_through": 0, "pairs": 3}));
    let count = |what: &str| json["pairs"][what].as_array().unwrap().len() as u64;
    let model = &json["counts"]["model2"];
    assert_eq!(count("covered"), model["covered"].as_u64().unwrap());
    assert_eq!(count("covered") + count("open"), model["coverable"].as_u64().unwrap());
    let by_function = |what: &str| {
        json["functions"].as_array().unwrap().iter().filter_map(|it| it[what].as_u64()).sum::<u64>()
    };
    assert_eq!(by_function("pairs_covered"), count("covered"));
    assert_eq!(by_function("pairs_coverable"), model["coverable"].as_u64().unwrap());
}
