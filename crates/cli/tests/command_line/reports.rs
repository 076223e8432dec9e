//! What findings look like: forms, widths, character sets, and `threadbare report`.

use crate::workbench::{BANK, Said, Workbench, sound_bank};
use serde_json::Value;

fn campaign(bench: &Workbench, format: &str) -> Said {
    bench.tool(&["run", "--keep-going", "--runs", "100", "--format", format, "--", "./bank"])
}

/// The tool with a locale and a width.
fn shown(bench: &Workbench, locale: &str, columns: &str, args: &[&str]) -> Said {
    let mut command = bench.command(env!("CARGO_BIN_EXE_threadbare"), args);
    Said(command.env("LC_ALL", locale).env("COLUMNS", columns).output().unwrap())
}

#[test]
fn a_report_is_what_the_campaign_told() {
    let bench = Workbench::with_bank(BANK);
    let told = campaign(&bench, "text").stdout();
    let again = bench.tool(&["report"]);
    assert_eq!(again.code(), 0, "{}", again.stderr());
    assert_eq!(again.stdout(), told);
    // The source is kept with the finding.
    std::fs::remove_file(bench.path("bank.c")).unwrap();
    assert_eq!(bench.tool(&["report"]).stdout(), told);
    let kept = std::fs::read_to_string(bench.path(".threadbare/campaign.json")).unwrap();
    assert_eq!(bench.tool(&["report", "--format", "json"]).stdout(), kept);
    let findings: Value = serde_json::from_str(&kept).unwrap();
    let id = findings["findings"][0]["id"].as_str().unwrap();
    for name in [id.to_owned(), format!(".threadbare/{id}.json"), format!(".threadbare/{id}.schedule")] {
        let one = bench.tool(&["report", &name]).stdout();
        assert!(one.starts_with("run ") && one.contains(id) && told.contains(&one), "{name}: {one}");
    }
}

#[test]
fn lines_fit_and_signs_follow_the_locale() {
    let bench = Workbench::with_bank(BANK);
    campaign(&bench, "text");
    for columns in [40, 60, 80] {
        let text = shown(&bench, "C", &columns.to_string(), &["report"]).stdout();
        assert!(text.is_ascii(), "{text}");
        let own = text.lines().skip(1).filter(|line| !line.starts_with("  replay: "));
        for line in own {
            assert!(line.len() <= columns, "{columns}: {line}");
        }
        assert!(text.contains("balance = old + *(int *)amount;") || columns == 40, "{text}");
    }
    let text = shown(&bench, "C.UTF-8", "80", &["report"]).stdout();
    assert!(text.contains("│ ") && text.contains("▶ "), "{text}");
    assert!(!text.contains('\u{1b}'), "no colour in a pipe");
}

#[test]
fn other_tools_can_read_it() {
    let bench = Workbench::with_bank(BANK);
    let sarif = campaign(&bench, "sarif");
    assert_eq!(sarif.code(), 1, "{}", sarif.stderr());
    let run = &sarif.json()["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        let place = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        assert_eq!((place["uri"].as_str(), place["uriBaseId"].as_str()), (Some("bank.c"), Some("%SRCROOT%")));
        assert!(!result["codeFlows"][0]["threadFlows"].as_array().unwrap().is_empty(), "{result}");
    }
    let github = bench.tool(&["report", "--format", "github"]).stdout();
    assert!(github.lines().count() >= results.len());
    assert!(github.lines().all(|line| line.starts_with("::error file=bank.c,line=")), "{github}");
    let said = bench.tool(&["report", "--format", "junit", "--out", "junit.xml"]);
    assert_eq!((said.code(), said.stdout().as_str()), (0, ""));
    let junit = std::fs::read_to_string(bench.path("junit.xml")).unwrap();
    assert!(junit.contains("tests=\"1\"") && junit.contains("failures=\"1\""), "{junit}");
}

#[test]
fn nothing_found_is_a_report_too() {
    let bench = Workbench::with_bank(&sound_bank());
    let sarif = campaign(&bench, "sarif");
    assert_eq!(sarif.code(), 0, "{}", sarif.stderr());
    assert_eq!(sarif.json()["runs"][0]["results"].as_array().map(Vec::len), Some(0));
    assert!(campaign(&bench, "junit").stdout().contains("failures=\"0\""));
    assert_eq!(campaign(&bench, "github").stdout(), "");
    let said = bench.tool(&["report"]);
    assert_eq!((said.code(), said.stdout().as_str()), (0, ""));
    assert!(said.stderr().contains("nothing was found"), "{}", said.stderr());
    assert_eq!(bench.tool(&["report", "--format", "sarif"]).json()["version"], "2.1.0");
}

#[test]
fn what_is_no_finding_is_refused() {
    let bench = Workbench::new();
    bench.write("other.json", "{\"a\": 1}");
    bench.write("broken.json", "{");
    for name in ["gone", "other.json", "broken.json", "."] {
        let said = bench.tool(&["report", name]);
        assert_eq!(said.code(), 2, "{name}");
        assert!(said.stderr().contains("help: "), "{}", said.stderr());
    }
    let said = bench.tool(&["report", "--out", "no/such/folder.sarif", "--format", "sarif"]);
    assert_eq!(said.code(), 2, "{}", said.stderr());
}

#[test]
fn a_replay_can_be_written_as_a_trace_file() {
    let bench = Workbench::with_bank(BANK);
    let json = campaign(&bench, "json").json();
    let id = json["findings"][0]["id"].as_str().unwrap();
    let said = bench.tool(&["replay", id, "--perfetto", "run.json"]);
    assert_eq!(said.code(), 1, "{}", said.stderr());
    let trace: Value =
        serde_json::from_str(&std::fs::read_to_string(bench.path("run.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let count = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert_eq!(count("B"), count("E"));
    assert!(count("i") >= 8 && count("s") >= count("f") && count("f") >= 2, "{trace}");
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .filter_map(|event| event["args"]["name"].as_str())
        .collect();
    assert_eq!(names, ["strand 0", "strand 0.1", "strand 0.2"]);
    let said = bench.tool(&["replay", id, "--perfetto", "no/such/run.json"]);
    assert_eq!(said.code(), 2, "{}", said.stderr());
}
