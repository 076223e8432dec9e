//! The source around a finding's places, kept with the finding: a report made later, or elsewhere, shows what ran.
//!
//! **The source around a finding's places is kept with it**: a report made later, or elsewhere, shows what ran.

use crate::finding::{Finding, SourceText};
use crate::places::{Place, Places, shown};
use std::collections::BTreeSet;

/// Lines kept before and after a place.
const AROUND: u32 = 1;
/// Places this near are shown together, so what lies between them is kept too.
const NEAR: u32 = 4;
/// The most lines kept.
const LINES: usize = 400;

/// The source around everything that a report shows of the finding.
pub fn sources(finding: &Finding, places: &dyn Places) -> Vec<SourceText> {
    let mut wanted: BTreeSet<(&str, u32)> = BTreeSet::new();
    for location in &finding.locations {
        wanted.extend(location.file.as_deref().zip(location.line));
    }
    wanted.extend(stacks(finding).filter_map(shown).chain(alone(finding)).filter_map(position));
    let mut texts: Vec<SourceText> = Vec::new();
    let mut kept = 0;
    for (file, line) in wanted {
        let end = |text: &SourceText| text.line + text.lines.len() as u32;
        let first = line.saturating_sub(AROUND).max(1);
        let joins = texts.last().is_some_and(|last| last.file == file && first <= end(last) + NEAR);
        if !joins {
            texts.push(SourceText { file: file.to_owned(), line: first, lines: Vec::new() });
        }
        let Some(text) = texts.last_mut() else { break };
        while end(text) <= line + AROUND && kept < LINES {
            let Some(source) = places.source(file, end(text)) else { break };
            text.lines.push(source);
            kept += 1;
        }
    }
    texts.retain(|text| !text.lines.is_empty());
    texts
}

fn stacks(finding: &Finding) -> impl Iterator<Item = &[Place]> {
    let accesses = finding.accesses.iter().map(|access| &access.stack[..]);
    let strands = finding.strands.iter().map(|strand| &strand.stack[..]);
    let block = finding.object.iter().filter_map(|object| object.block.as_ref());
    let block = block.flat_map(|block| block.allocated.iter().chain(&block.freed));
    let created = finding.created.iter().map(|creation| &creation.stack[..]);
    accesses.chain(strands).chain(block.map(|happening| &happening.stack[..])).chain(created)
}

fn alone(finding: &Finding) -> impl Iterator<Item = &Place> {
    let held = finding.strands.iter().flat_map(|strand| &strand.holds);
    let held = held.chain(finding.accesses.iter().flat_map(|access| &access.holds));
    held.filter_map(|lock| lock.taken_at.as_ref())
}

fn position(place: &Place) -> Option<(&str, u32)> {
    place.file.as_deref().zip(place.line).filter(|_| !place.library)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{AccessDetail, Location};

    struct Numbered;

    impl Places for Numbered {
        fn at(&self, _pc: u64) -> Vec<Place> {
            Vec::new()
        }

        fn variable(&self, _addr: u64, _size: u64) -> Option<String> {
            None
        }

        fn source(&self, file: &str, line: u32) -> Option<String> {
            (file == "a.c" && line <= 20).then(|| format!("line {line}"))
        }
    }

    #[test]
    fn near_places_are_kept_together_with_what_lies_between() {
        let place =
            |file: &str, line| Place { file: Some(file.to_owned()), line: Some(line), ..Place::default() };
        let access = |line| AccessDetail { stack: vec![place("a.c", line)], ..AccessDetail::default() };
        let finding = Finding {
            locations: vec![Location { file: Some("gone.c".into()), line: Some(3), ..Location::default() }],
            accesses: vec![access(9), access(5), access(20), access(1)],
            ..Finding::default()
        };
        let texts = sources(&finding, &Numbered);
        let spans: Vec<(u32, usize)> = texts.iter().map(|text| (text.line, text.lines.len())).collect();
        assert_eq!(spans, [(1, 10), (19, 2)], "{texts:?}");
        assert_eq!(texts[1].lines, ["line 19", "line 20"]);
    }
}
