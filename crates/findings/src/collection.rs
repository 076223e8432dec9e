//! The findings of a campaign: one for each bug, however many runs showed it.

use crate::explain::explain;
use crate::finding::{Finding, Location};
use crate::places::{Place, Places};
use std::collections::HashMap;
use threadbare_trace::hash::Fnv;
use threadbare_trace::run::RunFacts;

/// The findings so far, in the order they were found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    by_key: HashMap<u64, usize>,
    label: String,
}

impl Findings {
    /// None yet.
    pub fn new() -> Findings {
        Findings::default()
    }

    /// None yet; the label sets them apart from the same bugs of another campaign.
    pub fn with_label(label: &str) -> Findings {
        Findings { label: label.to_owned(), ..Findings::default() }
    }

    /// All of them.
    pub fn all(&self) -> &[Finding] {
        &self.list
    }

    /// Counts one more run for the finding with this key; false if there is none.
    pub fn count(&mut self, key: u64) -> bool {
        match self.by_key.get(&key) {
            Some(&index) => {
                self.list[index].count += 1;
                true
            }
            None => false,
        }
    }

    /// Adds a failing run whose key was not seen before. Returns the finding if it is a new one, to be stored.
    pub fn add(
        &mut self,
        key: u64,
        facts: &RunFacts,
        program: &str,
        places: &dyn Places,
    ) -> Option<&mut Finding> {
        let mut finding = explain(facts, program, places);
        finding.id = id_of(&finding, &self.label);
        if let Some(index) = self.list.iter().position(|other| other.id == finding.id) {
            self.by_key.insert(key, index);
            self.list[index].count += 1;
            return None;
        }
        self.by_key.insert(key, self.list.len());
        self.list.push(finding);
        self.list.last_mut()
    }
}

/// The name of a bug: its kind and a hash of kind and places. It does not change with the folder, the strand or the
/// run that shows it.
fn id_of(finding: &Finding, label: &str) -> String {
    let mut places: Vec<String> = finding.locations.iter().map(place_text).collect();
    if places.iter().all(String::is_empty) {
        let stacks = finding.strands.iter().flat_map(|strand| strand.stack.first());
        places = stacks.map(|place: &Place| place.address.clone()).collect();
    }
    if finding.kind == "timeout" {
        // The line is wherever the time was over; the function is the same more often.
        places =
            finding.locations.first().and_then(|location| location.function.clone()).into_iter().collect();
    }
    if finding.kind == "exit" {
        places.push(finding.message.split(':').next().unwrap_or_default().to_owned());
    }
    places.sort();
    places.dedup();
    let mut hash = Fnv::new();
    hash.write(label.as_bytes());
    hash.write(finding.kind.as_bytes());
    for place in &places {
        hash.write(b"\n");
        hash.write(place.as_bytes());
    }
    let folded = hash.finish() ^ (hash.finish() >> 32);
    format!("{}-{:08x}", finding.kind, folded as u32)
}

fn place_text(location: &Location) -> String {
    let file = location.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
    match (file, location.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => location.function.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::NoPlaces;
    use threadbare_abi::verdict::VerdictKind;
    use threadbare_trace::report::RunReport;
    use threadbare_trace::run::{Counters, End, Output, SourcePlace, Verdict};

    fn panic_at(file: &str, line: u32) -> RunFacts {
        let place = Some(SourcePlace { file: file.into(), line });
        RunFacts {
            run: 0,
            seed: 0,
            end: End::Exited(101),
            verdict: Verdict { kind: VerdictKind::Panic, place, ..Verdict::clean() },
            counters: Counters::default(),
            report: RunReport::default(),
            segments: Vec::new(),
            stdout: Output::default(),
            stderr: Output::default(),
            events: Vec::new(),
        }
    }

    #[test]
    fn the_same_bug_is_one_finding() {
        let mut findings = Findings::new();
        assert!(findings.add(1, &panic_at("/a/src/x.rs", 3), "p", &NoPlaces).is_some());
        assert!(findings.count(1));
        assert!(!findings.count(2));
        // Another key and another folder, the same place.
        assert!(findings.add(2, &panic_at("/b/src/x.rs", 3), "p", &NoPlaces).is_none());
        assert!(findings.add(3, &panic_at("/a/src/x.rs", 4), "p", &NoPlaces).is_some());
        let counts: Vec<u64> = findings.all().iter().map(|finding| finding.count).collect();
        assert_eq!(counts, [3, 1]);
        assert!(findings.all()[0].id.starts_with("panic-"));
        let mut labelled = Findings::with_label("another test");
        let other = labelled.add(1, &panic_at("/a/src/x.rs", 3), "p", &NoPlaces).unwrap().id.clone();
        assert_ne!(other, findings.all()[0].id);
    }
}
