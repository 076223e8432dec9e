//! Findings as SARIF 2.1.0, for code hosts and editors.
//!
//! A kind of finding is a rule. A result's location is the most telling place, the others are related locations; the
//! last steps are a code flow with one thread flow for each strand, in the order they were made. The finding's id is
//! its fingerprint, so the same bug stays the same result from one campaign to the next.

mod log;

use crate::excerpt::{Mark, Sources};
use crate::marks;
use crate::text::{replay_command, sentence};
use crate::uri::{file_uri, relative};
use log::{
    ArtifactLocation, CodeFlow, Configuration, Driver, Frame, Invocation, Location, Log, LogicalLocation,
    Message, PhysicalLocation, Region, ResultItem, Rule, Run, Stack, ThreadFlow, ThreadFlowLocation, Tool,
};
use std::collections::BTreeMap;
use std::path::Path;
use threadbare_findings::finding::LaneStep;
use threadbare_findings::{Finding, Place, Severity};

/// The folder that relative paths start from.
const ROOT: &str = "%SRCROOT%";

/// A finding, and the test that showed it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// The test, where it was one.
    pub test: Option<&'a str>,
}

/// The findings as one log; files below `folder` are named relative to it.
pub fn sarif(findings: &[Shown<'_>], folder: &Path) -> String {
    let mut kinds: Vec<&str> = findings.iter().map(|shown| shown.finding.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let writer = Writer { folder };
    let results = findings.iter().map(|shown| writer.result(shown, &kinds)).collect();
    let mut root = folder.display().to_string();
    if !root.ends_with('/') {
        root.push('/');
    }
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: vec![Run {
            tool: Tool {
                driver: Driver {
                    name: "Threadbare",
                    version: env!("CARGO_PKG_VERSION"),
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules: kinds.iter().map(|kind| rule(kind)).collect(),
                },
            },
            invocations: vec![Invocation { execution_successful: true }],
            original_uri_base_ids: BTreeMap::from([(
                ROOT,
                ArtifactLocation { uri: file_uri(&root), uri_base_id: None },
            )]),
            column_kind: "unicodeCodePoints",
            results,
        }],
    };
    let mut json = serde_json::to_string_pretty(&log).unwrap_or_default();
    json.push('\n');
    json
}

fn rule(kind: &str) -> Rule {
    let name = kind.split('-').map(|word| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>()).unwrap_or_default()
    });
    Rule {
        id: kind.to_owned(),
        name: name.collect(),
        short_description: Message::new(description(kind)),
        default_configuration: Configuration { level: "error" },
    }
}

fn description(kind: &str) -> &'static str {
    match kind {
        "assertion" => "An assertion of the program failed under some schedule.",
        "crash" => "The program got a fatal signal under some schedule.",
        "exit" => "The program ended with a code other than 0 under some schedule.",
        "race" => "Two strands access the same memory without an order between them, and one writes.",
        "deadlock" => "Strands wait for each other, and none of them can go on.",
        "livelock" => "Strands go on, and nothing can change.",
        "use-after-free" => "Memory is used after it was freed.",
        "double-free" => "Memory is freed twice.",
        "leak" => "Memory is left that nothing points to.",
        "invalid-free" => "Something is freed that was not allocated.",
        "heap-overflow" => "Memory outside an allocated block is used.",
        "stack-use-after-end" => "The stack of a strand that has ended is used.",
        "use-after-destroy" => {
            "A mutex, semaphore, barrier, condition variable or read-write lock is used after it was destroyed."
        }
        "stack-overflow" => "A strand uses more stack than it has.",
        "timeout" => "A run took longer than it may.",
        "panic" => "The program panicked under some schedule.",
        _ => "The program fails under some schedule.",
    }
}

struct Writer<'a> {
    folder: &'a Path,
}

impl Writer<'_> {
    fn result(&self, shown: &Shown<'_>, kinds: &[&str]) -> ResultItem {
        let finding = shown.finding;
        let sources = Sources::of(finding);
        let marks = marks::all(finding);
        let test = shown.test.map(|test| format!("test {test}: ")).unwrap_or_default();
        let replay = replay_command(&finding.schedule);
        let text = format!("{test}{}\n\nTo see it again: {replay}", sentence(finding));
        let mut locations: Vec<Location> = marks.iter().map(|mark| self.marked(mark, sources)).collect();
        for (id, location) in locations.iter_mut().enumerate() {
            location.id = Some(id);
        }
        let related = if locations.len() > 1 { locations.split_off(1) } else { Vec::new() };
        let mut properties = BTreeMap::from([
            ("run", finding.run.into()),
            ("schedule", finding.schedule.clone().into()),
            ("replay", replay.into()),
        ]);
        if !finding.notes.is_empty() {
            properties.insert("notes", finding.notes.clone().into());
        }
        if let Some(invariant) = &finding.invariant {
            properties.insert("invariant", serde_json::to_value(invariant).unwrap_or_default());
        }
        if let Some(test) = shown.test {
            properties.insert("test", test.into());
        }
        ResultItem {
            rule_id: finding.kind.clone(),
            rule_index: kinds.iter().position(|kind| *kind == finding.kind).unwrap_or(0),
            level: if finding.severity == Severity::Note { "note" } else { "error" },
            message: Message::new(text),
            locations,
            related_locations: related,
            stacks: self.stacks(finding),
            code_flows: self.flows(finding, sources),
            fingerprints: BTreeMap::from([("threadbare/v1", finding.id.clone())]),
            // What code hosts look at to tell a known result from a new one.
            partial_fingerprints: BTreeMap::from([("threadbareFinding/v1", finding.id.clone())]),
            occurrence_count: finding.count.max(1),
            properties,
        }
    }

    fn marked(&self, mark: &Mark, sources: Sources<'_>) -> Location {
        let source = sources.line(&mark.file, mark.line);
        Location {
            id: None,
            physical_location: self.physical(&mark.file, mark.line, mark.column, source),
            logical_locations: logical(mark.function.as_deref()),
            message: Some(Message::new(&*mark.label)),
        }
    }

    fn placed(&self, place: &Place, source: Option<&str>, message: Option<String>) -> Location {
        let at = place.file.as_deref().zip(place.line);
        Location {
            id: None,
            physical_location: at.and_then(|(file, line)| self.physical(file, line, place.column, source)),
            logical_locations: logical(place.function.as_deref()),
            message: message.map(Message::new),
        }
    }

    fn physical(
        &self,
        file: &str,
        line: u32,
        column: Option<u32>,
        source: Option<&str>,
    ) -> Option<PhysicalLocation> {
        let artifact_location = match relative(file, self.folder) {
            Some(path) => ArtifactLocation { uri: crate::uri::encoded(&path), uri_base_id: Some(ROOT) },
            None if file.starts_with('/') => ArtifactLocation { uri: file_uri(file), uri_base_id: None },
            None => ArtifactLocation { uri: crate::uri::encoded(file), uri_base_id: Some(ROOT) },
        };
        // Columns are counted in bytes by compilers, in characters here.
        let start_column = column.zip(source).and_then(|(column, source)| {
            source.get(..(column as usize).checked_sub(1)?).map(|before| before.chars().count() + 1)
        });
        let snippet = source.map(Message::new);
        (line > 0).then_some(PhysicalLocation {
            artifact_location,
            region: Region { start_line: line, start_column, snippet },
        })
    }

    fn stacks(&self, finding: &Finding) -> Vec<Stack> {
        let accesses = finding.accesses.iter().map(|access| {
            (format!("{} by strand {}", access.operation.replace('-', " "), access.strand), &access.stack)
        });
        let strands =
            finding.strands.iter().map(|strand| (format!("strand {}", strand.strand), &strand.stack));
        let created = finding.created.iter().map(|creation| {
            (format!("creation of strand {} by strand {}", creation.strand, creation.by), &creation.stack)
        });
        let block = finding.object.iter().filter_map(|object| object.block.as_ref());
        let block = block.flat_map(|block| {
            let happened = [("allocation", &block.allocated), ("free", &block.freed)];
            happened.into_iter().filter_map(|(what, happening)| {
                let happening = happening.as_ref()?;
                Some((format!("{what} by strand {}", happening.strand), &happening.stack))
            })
        });
        accesses
            .chain(strands)
            .chain(created)
            .chain(block)
            .filter(|(_, stack)| !stack.is_empty())
            .map(|(message, stack)| Stack {
                message: Message::new(message),
                frames: stack.iter().map(|place| self.frame(place)).collect(),
            })
            .collect()
    }

    fn frame(&self, place: &Place) -> Frame {
        let module = place.address.split_once('+').map(|(module, _)| module.to_owned());
        Frame { location: self.placed(place, None, None), module }
    }

    /// One thread flow a strand.
    fn flows(&self, finding: &Finding, sources: Sources<'_>) -> Vec<CodeFlow> {
        let mut flows: BTreeMap<&str, Vec<ThreadFlowLocation>> = BTreeMap::new();
        for (index, step) in finding.steps.iter().enumerate() {
            flows.entry(&step.strand).or_default().push(ThreadFlowLocation {
                location: self.step(step, sources),
                kinds: kinds(step),
                execution_order: index + 1,
                importance: if step.waits { "essential" } else { "important" },
            });
        }
        let thread_flows: Vec<ThreadFlow> = flows
            .into_iter()
            .map(|(strand, locations)| ThreadFlow {
                id: strand.to_owned(),
                message: Message::new(marks::strand(finding, strand)),
                locations,
            })
            .collect();
        if thread_flows.is_empty() {
            return Vec::new();
        }
        vec![CodeFlow { message: Message::new("the last steps of the run"), thread_flows }]
    }

    fn step(&self, step: &LaneStep, sources: Sources<'_>) -> Location {
        let waits = if step.waits { "waits: " } else { "" };
        let object = step.object.as_deref().map(|object| format!(" {object}")).unwrap_or_default();
        let message = format!("strand {}: {waits}{}{object}", step.strand, step.operation);
        let Some(place) = &step.place else {
            return Location { message: Some(Message::new(message)), ..Location::default() };
        };
        let at = place.file.as_deref().zip(place.line);
        let source = step.source.as_deref().or_else(|| at.and_then(|(file, line)| sources.line(file, line)));
        self.placed(place, source, Some(message))
    }
}

fn logical(function: Option<&str>) -> Vec<LogicalLocation> {
    let name = function
        .map(|function| LogicalLocation { fully_qualified_name: function.to_owned(), kind: "function" });
    name.into_iter().collect()
}

/// The standard's words for what a step is.
fn kinds(step: &LaneStep) -> Vec<&'static str> {
    match step.operation.as_str() {
        "lock" | "try-lock" | "timed-lock" | "read-lock" | "try-read-lock" | "write-lock"
        | "try-write-lock" | "spin-lock" | "try-spin-lock" => vec!["acquire", "lock"],
        "unlock" | "rw-unlock" | "spin-unlock" => vec!["release", "lock"],
        "read" | "write" | "read-write" | "read-range" | "write-range" | "atomic-load" | "atomic-store"
        | "atomic-rmw" | "atomic-cas" => vec!["memory"],
        "free" => vec!["release", "memory"],
        "alloc" => vec!["acquire", "memory"],
        "create" | "join" => vec!["call"],
        _ => vec!["call"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn log(findings: &[Finding]) -> serde_json::Value {
        let shown: Vec<Shown<'_>> =
            findings.iter().map(|finding| Shown { finding, test: Some("it_works") }).collect();
        serde_json::from_str(&sarif(&shown, Path::new("/home/me/bank"))).unwrap()
    }

    #[test]
    fn a_race_has_its_places_and_the_steps_of_each_strand() {
        insta::assert_snapshot!(sarif(
            &[Shown { finding: &samples::race(), test: None }],
            Path::new("/home/me/bank")
        ));
    }

    #[test]
    fn every_result_has_its_rule_and_a_stable_fingerprint() {
        let findings = samples::all();
        let log = log(&findings);
        let run = &log["runs"][0];
        assert_eq!(log["version"], "2.1.0");
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), findings.len());
        for (result, finding) in results.iter().zip(&findings) {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            let rules = &run["tool"]["driver"]["rules"];
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert_eq!(result["fingerprints"]["threadbare/v1"], finding.id.as_str());
            assert!(result["message"]["text"].as_str().unwrap().starts_with("test it_works: "));
        }
        assert_eq!(results[0]["codeFlows"][0]["threadFlows"].as_array().unwrap().len(), 3);
        assert!(results[4]["locations"].as_array().unwrap().is_empty(), "a crash without source");
        assert_eq!(self::log(&[])["runs"][0]["results"].as_array().unwrap().len(), 0);
    }

    #[test]
    fn columns_count_characters_and_paths_are_uris() {
        let mut finding = samples::assertion();
        finding.kind = "crash".into();
        let place = &mut finding.strands[0].stack[0];
        place.column = Some(9);
        for file in [&mut place.file, &mut finding.locations[0].file] {
            *file = Some("/home/me/bank/my src/ü.c".into());
        }
        finding.sources.clear();
        finding.locations[0].source = Some("  \"ü\"; assert(0);".into());
        let location = log(&[finding])["runs"][0]["results"][0]["locations"][0]["physicalLocation"].clone();
        assert_eq!(location["artifactLocation"]["uri"], "my%20src/%C3%BC.c");
        assert_eq!(location["region"]["startColumn"], 8);
    }
}
