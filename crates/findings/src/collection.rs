//! The findings of a campaign: one for each bug, however many runs showed it.

use crate::explain::explain;
use crate::finding::Finding;
use crate::identity::{self, access_text};
use crate::places::Places;
use std::collections::HashMap;
use threadbare_trace::run::RunFacts;

/// The findings so far, in the order they were found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    by_key: HashMap<u64, usize>,
    /// The last run that was counted for each finding: a run may show it more than once.
    counted: Vec<u64>,
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

    /// The finding with this id.
    pub fn with_id(&mut self, id: &str) -> Option<&mut Finding> {
        self.list.iter_mut().find(|finding| finding.id == id)
    }

    /// Counts a run for the finding with this key; false if there is none.
    pub fn count(&mut self, key: u64, run: u64) -> bool {
        let index = self.by_key.get(&key).copied();
        if let Some(index) = index {
            self.count_run(index, run);
        }
        index.is_some()
    }

    /// The finding with this key.
    pub fn get(&self, key: u64) -> Option<&Finding> {
        self.by_key.get(&key).map(|&index| &self.list[index])
    }

    /// Takes a finding back that an earlier sitting of the campaign had, with the first run that showed it by this key.
    pub fn restore(&mut self, key: u64, mut finding: Finding, run: u64) {
        let known = self.list.iter().position(|other| other.id == finding.id);
        let index = known.unwrap_or_else(|| {
            finding.count = 0;
            self.list.push(finding);
            self.counted.push(u64::MAX);
            self.list.len() - 1
        });
        self.by_key.insert(key, index);
        self.count_run(index, run);
    }

    /// Where more than `most` races are on one variable, leaves the first of them with the places of all; gives the ids of
    /// the others.
    pub fn fold_races(&mut self, most: usize) -> Vec<String> {
        let mut on: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, finding) in self.list.iter().enumerate().filter(|(_, finding)| finding.kind == "race") {
            if let Some(variable) = variable_of(finding) {
                on.entry(variable).or_default().push(index);
            }
        }
        let mut gone = vec![None; self.list.len()];
        for (variable, races) in on.into_iter().filter(|(_, races)| races.len() > most) {
            let note = folded(&variable, races.iter().map(|&index| &self.list[index]));
            let [first, others @ ..] = &races[..] else { continue };
            let seen = races.iter().map(|&index| self.list[index].count).max().unwrap_or(0);
            self.list[*first].count = seen;
            self.list[*first].notes.push(note);
            others.iter().for_each(|&other| gone[other] = Some(*first));
        }
        let ids = |(index, finding): (usize, &Finding)| gone[index].map(|_| finding.id.clone());
        let removed: Vec<String> = self.list.iter().enumerate().filter_map(ids).collect();
        if removed.is_empty() {
            return removed;
        }
        let kept: Vec<usize> = (0..self.list.len()).filter(|&index| gone[index].is_none()).collect();
        let place = |index: usize| kept.binary_search(&gone[index].unwrap_or(index)).unwrap_or(0);
        self.by_key.values_mut().for_each(|index| *index = place(*index));
        self.counted = kept.iter().map(|&index| self.counted[index]).collect();
        let mut index = 0;
        self.list.retain(|_| {
            index += 1;
            gone[index - 1].is_none()
        });
        removed
    }

    fn count_run(&mut self, index: usize, run: u64) {
        if self.counted[index] != run {
            self.counted[index] = run;
            self.list[index].count += 1;
        }
    }

    /// Adds what a run showed whose key was not seen before. Returns the finding if it is a new one, to be stored.
    pub fn add(
        &mut self,
        key: u64,
        facts: &RunFacts,
        program: &str,
        places: &dyn Places,
    ) -> Option<&mut Finding> {
        let mut finding = explain(facts, program, places);
        finding.id = identity::id(&finding, facts.verdict.code, &self.label);
        if let Some(index) = self.list.iter().position(|other| other.id == finding.id) {
            self.by_key.insert(key, index);
            self.count_run(index, facts.run);
            return None;
        }
        self.by_key.insert(key, self.list.len());
        self.counted.push(facts.run);
        self.list.push(finding);
        self.list.last_mut()
    }
}

/// The variable a race is on, whatever part of it.
fn variable_of(finding: &Finding) -> Option<String> {
    let name = finding.object.as_ref()?.name.as_deref()?;
    let whole = name.split(['[', '.']).next().unwrap_or(name).trim_end_matches("->");
    (!whole.is_empty()).then(|| whole.to_owned())
}

/// The places of races that are told as one.
fn folded<'a>(variable: &str, races: impl ExactSizeIterator<Item = &'a Finding>) -> String {
    const SHOWN: usize = 40;
    let pairs = races.len();
    let mut places: Vec<String> = races
        .flat_map(|race| race.accesses.iter().map(access_text))
        .filter(|place| !place.is_empty())
        .collect();
    places.sort();
    places.dedup();
    let more =
        if places.len() > SHOWN { format!(" and {} more", places.len() - SHOWN) } else { String::new() };
    places.truncate(SHOWN);
    format!("{pairs} pairs of places race on `{variable}`: {}{more}", places.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::{NoPlaces, Place};
    use threadbare_abi::op::OpKind;
    use threadbare_abi::verdict::VerdictKind;
    use threadbare_trace::report::{Access, Moment, Race, RunReport};
    use threadbare_trace::run::{Counters, End, Output, SourcePlace, Verdict};

    fn facts(run: u64, verdict: Verdict, report: RunReport) -> RunFacts {
        RunFacts {
            run,
            seed: 0,
            end: End::Exited(0),
            verdict,
            counters: Counters::default(),
            report,
            segments: Vec::new(),
            stdout: Output::default(),
            stderr: Output::default(),
            events: Vec::new(),
        }
    }

    fn race(run: u64, accesses: [(u16, u64, OpKind); 2]) -> RunFacts {
        let access =
            |(strand, pc, op)| Access { op, size: 4, moment: Moment { strand, pc, ..Moment::default() } };
        let race = Race { addr: 0x1000, size: 4, accesses: accesses.map(access).into(), block: None };
        let verdict = Verdict { kind: VerdictKind::Race, ..Verdict::clean() };
        facts(run, verdict, RunReport { races: vec![race], ..RunReport::default() })
    }

    /// Two instructions a line.
    struct Lines;

    impl Places for Lines {
        fn at(&self, pc: u64) -> Vec<Place> {
            let line = Some((pc / 2) as u32);
            vec![Place { function: Some("f".into()), file: Some("x.c".into()), line, ..Place::default() }]
        }

        fn variable(&self, _addr: u64, _size: u64) -> Option<String> {
            None
        }

        fn source(&self, _file: &str, _line: u32) -> Option<String> {
            None
        }
    }

    #[test]
    fn many_races_on_one_variable_are_one_finding() {
        use OpKind::{Read, Write};
        let mut findings = Findings::new();
        let mut add = |key: u64, name: &str| {
            let facts = race(key, [(1, 100 + key * 2, Write), (2, 10, Read)]);
            let finding = findings.add(key, &facts, "p", &Lines).unwrap();
            finding.object =
                Some(crate::finding::ObjectDetail { name: Some(name.into()), ..Default::default() });
        };
        (0..21).for_each(|key| add(key, &format!("table[{key}].sum")));
        (21..41).for_each(|key| add(key, "other"));
        assert_eq!(findings.fold_races(21), [""; 0]);
        assert_eq!(findings.fold_races(20).len(), 20);
        assert_eq!(findings.all().len(), 21);
        let note = findings.all()[0].notes.last().unwrap();
        assert!(note.starts_with("21 pairs of places race on `table`: f at x.c:5, "), "{note}");
        assert!(findings.all()[1..].iter().all(|finding| finding.notes.is_empty()));
        // Later runs count for the one that is left.
        let before = findings.all()[0].count;
        assert!(findings.count(20, 99) && findings.all()[0].count == before + 1);
        assert!(findings.count(40, 99) && findings.all()[20].count == 2);
    }

    #[test]
    fn a_race_in_a_hundred_runs_is_one_finding() {
        use OpKind::{Read, Write};
        let mut findings = Findings::new();
        let mut stored = 0;
        for run in 0..100 {
            // Other strands, the other order, other instructions of the same lines; in some runs twice.
            let one = ((run % 7) as u16, 20 + run % 2, Write);
            let other = ((run % 5) as u16 + 7, 41 - run % 2, Read);
            let pair = if run % 3 == 0 { [one, other] } else { [other, one] };
            let key = 1 + run % 2;
            for _ in 0..=run % 2 {
                if !findings.count(key, run) {
                    stored += u64::from(findings.add(key, &race(run, pair), "p", &Lines).is_some());
                }
            }
        }
        assert_eq!((stored, findings.all().len(), findings.all()[0].count), (1, 1, 100));
        // Another operation at the same lines is the same race; a line with itself is another.
        assert!(findings.add(7, &race(100, [(1, 20, Write), (2, 40, Write)]), "p", &Lines).is_none());
        assert!(findings.add(8, &race(100, [(1, 20, Write), (2, 20, Write)]), "p", &Lines).is_some());
        assert!(findings.add(9, &race(101, [(2, 20, Write), (3, 21, Write)]), "p", &Lines).is_none());
        assert!(findings.all().iter().all(|finding| finding.id.starts_with("race-")));
    }

    fn panic_at(run: u64, file: &str, line: u32) -> RunFacts {
        let place = Some(SourcePlace { file: file.into(), line });
        let verdict = Verdict { kind: VerdictKind::Panic, place, ..Verdict::clean() };
        facts(run, verdict, RunReport::default())
    }

    #[test]
    fn the_same_bug_is_one_finding() {
        let mut findings = Findings::new();
        assert!(findings.add(1, &panic_at(0, "/a/src/x.rs", 3), "p", &NoPlaces).is_some());
        assert!(findings.count(1, 1));
        assert!(!findings.count(2, 2));
        // Another key and another folder, the same place.
        assert!(findings.add(2, &panic_at(2, "/b/src/x.rs", 3), "p", &NoPlaces).is_none());
        assert!(findings.add(3, &panic_at(3, "/a/src/x.rs", 4), "p", &NoPlaces).is_some());
        let counts: Vec<u64> = findings.all().iter().map(|finding| finding.count).collect();
        assert_eq!(counts, [3, 1]);
        assert!(findings.all()[0].id.starts_with("panic-"));
        let mut labelled = Findings::with_label("another test");
        let other = labelled.add(1, &panic_at(0, "/a/src/x.rs", 3), "p", &NoPlaces).unwrap().id.clone();
        assert_ne!(other, findings.all()[0].id);
    }
}
