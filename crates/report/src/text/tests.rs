use super::*;
use crate::campaign::{Coverage, FORMAT_VERSION};
use threadbare_findings::Severity;
use threadbare_findings::finding::HeldLock;

fn assertion() -> Finding {
    let frame = |function: &str, line, inlined, library| Place {
        function: Some(function.into()),
        file: Some("bank.c".into()),
        line: Some(line),
        inlined,
        library,
        ..Place::default()
    };
    Finding {
        format_version: 1,
        id: "assertion-375b27d8".into(),
        kind: "assertion".into(),
        severity: Severity::Failure,
        message: "assertion `balance == 200' failed".into(),
        schedule: ".threadbare/assertion-375b27d8.schedule".into(),
        run: 37,
        count: 3,
        switches: 7,
        points: 1010,
        locations: vec![Location {
            file: Some("bank.c".into()),
            line: Some(22),
            function: Some("check".into()),
            strand: Some("0".into()),
            source: Some("    assert(balance == 200);".into()),
        }],
        strands: vec![StrandDetail {
            strand: "0".into(),
            state: "running".into(),
            stack: vec![
                frame("check", 22, true, false),
                frame("audit", 30, false, false),
                frame("start", 1, false, true),
            ],
            ..StrandDetail::default()
        }],
        accesses: Vec::new(),
        object: None,
        created: Vec::new(),
        steps: Vec::new(),
        notes: Vec::new(),
        warnings: vec!["ptrace is not modelled (at bank.c:3)".into()],
        program: "/home/me/bank".into(),
        stdout: (0..25).map(|n| format!("line {n}\n")).collect(),
        stderr: "balance 100\u{1b}[31m\n".into(),
    }
}

fn deadlock() -> Finding {
    let strand = |name: &str, object: &str, holder: &str, line| {
        let location = Location {
            file: Some("abba.c".into()),
            line: Some(line),
            function: Some("transfer".into()),
            strand: Some(name.into()),
            source: Some(format!("    pthread_mutex_lock(&{object});")),
        };
        let detail = StrandDetail {
            strand: name.into(),
            state: "blocked".into(),
            operation: Some("lock".into()),
            object: Some(object.into()),
            held_by: Some(holder.into()),
            holds: vec![HeldLock { object: "0x99".into(), taken_at: None }],
            ..StrandDetail::default()
        };
        (location, detail)
    };
    let (first, one) = strand("0.1", "m2", "0.2", 12);
    let (second, two) = strand("0.2", "m1", "0.1", 20);
    let main = StrandDetail {
        strand: "0".into(),
        name: "bank".into(),
        state: "blocked".into(),
        operation: Some("join".into()),
        object: Some("strand 0.1".into()),
        held_by: Some("0.1".into()),
        ..StrandDetail::default()
    };
    Finding {
        kind: "deadlock".into(),
        message: "no strand can go on".into(),
        locations: vec![first, second],
        strands: vec![main, one, two],
        warnings: Vec::new(),
        stdout: String::new(),
        stderr: String::new(),
        schedule: "out dir/it's.schedule".into(),
        ..assertion()
    }
}

fn report(findings: Vec<Finding>) -> CampaignReport {
    CampaignReport {
        format_version: FORMAT_VERSION,
        verdict: if findings.is_empty() { "clean" } else { "failure" }.into(),
        runs: 1234,
        runs_failed: findings.len() as u64,
        first_failure_run: findings.first().map(|finding| finding.run),
        elapsed_s: 0.5,
        runs_per_s: 2468.0,
        points: 99_000,
        switches: 800,
        strands: 3,
        strategy: "random".into(),
        seed: 7,
        coverage: Coverage { shared_instructions: 12 },
        findings,
        suppressed: 0,
        trace_hash: "00ff".into(),
        replays: 0,
        warnings: vec!["the program forked; the child runs uncontrolled (at bank.c:9)".into()],
        ended_by: "runs".into(),
        program: "/home/me/bank".into(),
        args: vec!["3".into()],
    }
}

#[test]
fn a_campaign_with_findings() {
    insta::assert_snapshot!(campaign(&report(vec![assertion(), deadlock()]), Style::PLAIN));
}

#[test]
fn a_clean_campaign() {
    let replayed = CampaignReport { replays: 1234, warnings: Vec::new(), ..report(Vec::new()) };
    insta::assert_snapshot!(campaign(&replayed, Style::PLAIN));
}

#[test]
fn colour_only_adds_to_the_text() {
    let text = campaign(&report(vec![assertion(), deadlock()]), Style::COLOUR);
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, campaign(&report(vec![assertion(), deadlock()]), Style::PLAIN));
}

#[test]
fn the_json_has_the_fields_others_read() {
    let json: serde_json::Value = serde_json::from_str(&report(vec![assertion()]).to_json()).unwrap();
    let has = |value: &serde_json::Value, fields: &[&str]| {
        for field in fields {
            assert!(value.get(field).is_some(), "{field} is missing");
        }
    };
    has(
        &json,
        &[
            "format_version",
            "verdict",
            "runs",
            "runs_failed",
            "first_failure_run",
            "elapsed_s",
            "runs_per_s",
            "points",
            "switches",
            "strategy",
            "seed",
            "coverage",
            "findings",
            "trace_hash",
            "replays",
            "warnings",
        ],
    );
    let finding = &json["findings"][0];
    has(finding, &["id", "kind", "message", "schedule", "run", "count", "switches", "locations"]);
    has(&finding["locations"][0], &["file", "line", "function", "strand"]);
    let clean: serde_json::Value = serde_json::from_str(&report(Vec::new()).to_json()).unwrap();
    assert!(clean["first_failure_run"].is_null());
}

#[test]
fn numbers_are_readable() {
    assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(per_second(10, Duration::from_millis(500)), "20");
}

#[test]
fn a_place_is_told_once() {
    let headline = |message: &str, file: &str| {
        let mut finding = assertion();
        finding.message = message.into();
        finding.locations[0].file = Some(file.into());
        self::finding(&finding, Style::PLAIN, true).lines().next().unwrap().to_owned()
    };
    let told = headline("assertion `x' at bank.c:22", "/tmp/x/bank.c");
    assert_eq!(told, "run 37 failed: assertion `x' at bank.c:22");
    assert!(headline("assertion `x' at bank.c:221", "/tmp/x/bank.c").ends_with(" at /tmp/x/bank.c:22"));
    assert!(headline("assertion `x' at a_bank.c:22", "bank.c").ends_with(" at bank.c:22"));
}

#[test]
fn one_is_not_many() {
    let mut one = assertion();
    (one.count, one.points, one.switches) = (1, 1, 1);
    let told = finding(&one, Style::PLAIN, true);
    assert!(told.contains("seen in 1 run; run 37 made 1 point and 1 switch\n"), "{told}");
    let again = finding(&one, Style::PLAIN, false);
    assert!(again.contains("assertion-375b27d8: run 37 again, 1 switch\n"), "{again}");
}
