//! The text fits every terminal and says what the numbers say.

use super::*;
use crate::style::Style;
use threadbare_coverage::kept::Identity;
use threadbare_coverage::{Books, CampaignCoverage, Contribution, Kind};
use threadbare_strategy::StrategyId;
use threadbare_strategy::classes::told::record;

fn campaign(seed: u64, runs: u64) -> CampaignCoverage {
    let mut books = Books::default();
    for run in 0..runs {
        let mut records = vec![record(Kind::ReadsFrom, 10, 20), record(Kind::Preempted, 10, 0)];
        if run > 3 {
            records.push(record(Kind::Sync, 30 + seed, 31));
        }
        let class = (run * run + seed) % 37;
        books.take(StrategyId::Random, &Contribution { class: Some(class), records });
    }
    let identity = Identity {
        program: "./bank".into(),
        args: vec!["3".into()],
        strategy: "random".into(),
        seed,
        ..Identity::default()
    };
    CampaignCoverage::new(identity, &books, |pc| Spot {
        address: format!("bank+{pc:#x}"),
        file: Some("src/bank.c".into()),
        line: Some(pc as u32),
        function: Some("transfer".into()),
        library: false,
    })
}

#[test]
fn one_campaign_has_a_curve_a_table_and_what_is_left() {
    let one = campaign(1, 100);
    let text = text(&Merged::by_program([&one]), false, Screen::PLAIN);
    let expected = "\
./bank 3: 100 runs

  classes, by runs
  19 │                                      ▁▁▁███████████████████████
     │                                     ▄██████████████████████████
     │                                ▂▂▇▇▇███████████████████████████
     │                           ▂▂▅▅▅████████████████████████████████
     │                   ▃▃▃▃▅▅███████████████████████████████████████
     │▃▃▃▃▃▃▃▃▃▃▆▆▆▆▆▆████████████████████████████████████████████████
   0  1                                                       100 runs
";
    assert!(text.starts_with(expected), "{text}");
    for line in [
        "classes of runs 19",
        "reads-from pairs 1",
        "synchronisation pairs 1",
        "points reached 3",
        "points preempted 1",
        "  points never preempted: 2",
        "    src/bank.c:20 in transfer",
        "  seen in one order only (the other may be impossible): 1",
        "    src/bank.c:10 in transfer, then src/bank.c:20 in transfer",
    ] {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.lines().any(|found| squeezed(found) == squeezed(line)), "{line}\n{text}");
    }
    assert!(!text.contains("added"), "{text}");
}

#[test]
fn a_second_campaign_says_what_it_added() {
    let (one, two) = (campaign(1, 100), campaign(2, 500));
    let text = text(&Merged::by_program([&one, &two]), false, Screen::PLAIN);
    assert!(text.starts_with("./bank 3: 2 campaigns, 600 runs\n"), "{text}");
    assert!(text.contains("the 2nd added"), "{text}");
    assert!(text.contains("  synchronisation pairs          2              1\n"), "{text}");
}

#[test]
fn every_terminal_is_wide_enough() {
    let (one, two) = (campaign(1, 100), campaign(2, 5000));
    for unicode in [true, false] {
        for columns in [20, 30, 40, 80, 100] {
            let screen = Screen { style: Style::PLAIN, width: columns, unicode };
            let text = text(&Merged::by_program([&one, &two]), true, screen);
            for line in text.lines() {
                assert!(width(line) <= columns, "{columns}: {line}");
                assert!(unicode || line.is_ascii(), "{line}");
            }
        }
    }
}

#[test]
fn many_places_are_cut_unless_all_are_asked_for() {
    let many: Vec<String> = (0..50).map(|line| format!("a.c:{line}")).collect();
    let mut out = String::new();
    places(&mut out, "x", &many, false, Screen::PLAIN);
    assert!(out.ends_with("40 more: `--all`\n") && out.lines().count() == 13, "{out}");
    out.clear();
    places(&mut out, "x", &many, true, Screen::PLAIN);
    assert_eq!(out.lines().count(), 52);
}

#[test]
fn json_is_one_object() {
    let (one, two) = (campaign(1, 100), campaign(2, 500));
    let json: serde_json::Value =
        serde_json::from_str(&json(&Merged::by_program([&one, &two]), false)).unwrap();
    assert_eq!(json["format_version"], 1);
    let program = &json["programs"][0];
    assert_eq!(program["runs"], 600);
    assert_eq!(program["campaigns"][1]["added"]["sync_pairs"], 1);
    assert_eq!(program["estimate"]["method"], "good-turing");
    assert_eq!(program["one_order"][0]["then"]["line"], 20);
    assert_eq!(program["campaigns"][0]["curve"][0]["runs"], 1);
}

#[test]
fn the_summary_says_how_sure_it_is() {
    let counts = Counts { classes: 1, ..Counts::default() };
    assert!(summary(&counts, None).is_empty());
    let proved = summary(&counts, Some(&Estimate::complete(1)));
    assert_eq!(
        proved,
        ["1 class of runs; no run can show anything new: proved for this input and memory model"]
    );
    let one = campaign(1, 100);
    let lines = summary(&one.counts, one.estimate.as_ref());
    assert!(lines[0].starts_with("19 classes of runs; "), "{lines:?}");
}

#[test]
fn free_campaigns_are_told_apart_from_controlled_ones() {
    use threadbare_coverage::TaskBooks;
    use threadbare_coverage::tasks::{Function, Seen, TaskTable};
    let free = |function: u64| {
        let mut books = TaskBooks::default();
        let marks = threadbare_abi::tasks::marks::BESIDE | threadbare_abi::tasks::marks::INTERRUPTED;
        let functions = vec![Function { pc: function, marks, strand: 1 }];
        books.take(0, &Seen { functions, pairs: vec![(0, 0)], lost: 0 });
        let spot = |pc| Spot { address: format!("bank+{pc:#x}"), ..Spot::default() };
        campaign(function, 1).with_tasks(&TaskTable::new(&books, spot), function)
    };
    let (controlled, one, two) = (campaign(1, 100), free(1), free(2));
    let programs = Merged::by_program([&one, &controlled, &two]);
    let text = text(&programs, false, Screen::PLAIN);
    assert!(text.starts_with("./bank 3: 2 campaigns, 2 free runs\n"), "{text}");
    assert!(text.contains("\n./bank 3: 100 runs\n"), "{text}");
    assert!(text.contains("  functions interrupted        2       2  100%              1\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&json(&programs, false)).unwrap();
    assert_eq!(json["programs"][0]["tasks"]["counts"]["interrupted"]["covered"], 2);
    assert_eq!(json["programs"][0]["campaigns"][1]["tasks"]["counts"]["interrupted"]["covered"], 1);
    assert!(json["programs"][1].get("tasks").is_none());
}
