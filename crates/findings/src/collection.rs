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
