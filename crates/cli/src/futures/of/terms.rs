//! The terms of a failing run as users write them: `bank.c:9 @0.1 <- initial`.
//!
//! Each can be told with more or less of what it was in the run: the place alone, the strand, the how-manieth time. The less is told the more edits it survives,
//! and the more runs have it.

use crate::futures::choice::Choice;
use crate::futures::name;
use crate::futures::table::{Row, Site, Table, Term, Whose};
use std::collections::HashMap;
use threadbare_explore::futures::{Example, Moment, Seen, Wish};

/// How much of a step is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Detail {
    Place,
    Strand,
    Time,
}

impl Detail {
    pub(crate) const ALL: [Detail; 3] = [Detail::Place, Detail::Strand, Detail::Time];

    pub(crate) fn has_strand(self) -> bool {
        self != Detail::Place
    }

    pub(crate) fn has_time(self) -> bool {
        self == Detail::Time
    }
}

/// How a term is told: the read, and the write.
pub(crate) type Manner = (Detail, Detail);

/// A way to tell a term.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) manner: Manner,
    pub(crate) text: String,
    pub(crate) wish: Wish,
}

/// A term of the failing run.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) seen: Seen,
    /// The read and the term in the table.
    pub(crate) row: usize,
    pub(crate) term: usize,
    /// The ways to tell it, those that tell least first. The last one tells all.
    pub(crate) variants: Vec<Variant>,
}

/// Times that one read sees one write which are looked at, and terms at the most.
const TIMES: usize = 12;
const MOST: usize = 128;

/// The terms of a run, the nearest to its end first, and how many there are in all.
pub(crate) fn candidates(example: &Example, table: &Table) -> (Vec<Candidate>, usize) {
    let mut times: HashMap<(usize, usize), usize> = HashMap::new();
    let (mut list, mut all) = (Vec::new(), 0);
    for seen in example.seen() {
        let Some((row, term)) = find(&seen, table) else { continue };
        all += 1;
        let time = times.entry((row, term)).or_default();
        *time += 1;
        if *time > TIMES || list.len() >= MOST {
            continue;
        }
        let variants: Vec<Variant> = manners(seen.write.is_some())
            .into_iter()
            .filter_map(|manner| variant(&seen, table, (row, term), manner))
            .filter(|variant| example.has(&variant.wish))
            .collect();
        if !variants.is_empty() {
            list.push(Candidate { seen, row, term, variants });
        }
    }
    (list, all)
}

/// The ways to tell a term, those that tell least first.
fn manners(has_write: bool) -> Vec<Manner> {
    let writes: &[Detail] = if has_write { &Detail::ALL } else { &[Detail::Place] };
    let mut all: Vec<Manner> =
        Detail::ALL.iter().flat_map(|&read| writes.iter().map(move |&write| (read, write))).collect();
    all.sort_by_key(|&(read, write)| (read as usize + write as usize, write));
    all
}

/// The read and the term that the table has for it.
pub(crate) fn find(seen: &Seen, table: &Table) -> Option<(usize, usize)> {
    let whose = match seen.write {
        None => Whose::Initial,
        Some(write) if write.strand == seen.read.strand => Whose::Own,
        Some(_) => Whose::Other,
    };
    let at = table.reads.iter().position(|row| row.sites.contains(&seen.read.site))?;
    let is =
        |term: &Term| term.whose == whose && seen.write.is_none_or(|write| term.sites.contains(&write.site));
    Some((at, table.reads[at].terms.iter().position(is)?))
}

/// The term as it is written in the shortest way that means it.
fn variant(
    seen: &Seen,
    table: &Table,
    (at, number): (usize, usize),
    (read, write): Manner,
) -> Option<Variant> {
    let row = &table.reads[at];
    let term = &row.terms[number];
    let behind = |moment: &Moment, detail: Detail| {
        let strand =
            if detail.has_strand() { format!(" @{}", name::strand(moment.strand)) } else { String::new() };
        let time = if detail.has_time() { format!(" #{}", moment.number) } else { String::new() };
        format!("{strand}{time}")
    };
    let reader = behind(&seen.read, read);
    let writer = seen.write.as_ref().map(|moment| behind(moment, write)).unwrap_or_default();
    let sources = match &term.write {
        None => vec!["initial".to_owned()],
        Some(site) => places(site),
    };
    for place in spots(row) {
        for source in &sources {
            let text = format!("{place}{reader} <- {source}{writer}");
            let chosen = Choice::parse(&text).and_then(|choice| choice.resolve(table));
            if let Ok(chosen) = chosen
                && chosen.wish.read.sites == row.sites
            {
                return Some(Variant { manner: (read, write), text, wish: chosen.wish });
            }
        }
    }
    None
}

/// A term as users write it.
pub(crate) fn written(seen: &Seen, table: &Table, at: (usize, usize), manner: Manner) -> Option<String> {
    variant(seen, table, at, manner).map(|variant| variant.text)
}

/// The ways to name a read, the shortest first.
fn spots(row: &Row) -> Vec<String> {
    let mut all = places(&row.read);
    let columns: Vec<String> = all
        .iter()
        .flat_map(|place| row.columns.iter().map(move |column| format!("{place}:{column}")))
        .collect();
    if let Some(variable) = row.variable.as_deref().filter(|name| !name.contains(char::is_whitespace)) {
        let named = |place: &String| format!("{place} {variable}");
        let more: Vec<String> = all.iter().chain(&columns).map(named).collect();
        all.extend(more);
    }
    all.extend(columns);
    all
}

/// The file by its name, and by all that is known of it.
fn places(site: &Site) -> Vec<String> {
    let (short, long) = (site.short(), format!("{}:{}", site.file, site.line));
    if short == long { vec![short] } else { vec![short, long] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_least_comes_first() {
        let manners = manners(true);
        assert_eq!(manners.len(), 9);
        assert_eq!(manners.first(), Some(&(Detail::Place, Detail::Place)));
        assert_eq!(manners.last(), Some(&(Detail::Time, Detail::Time)));
        assert_eq!(super::manners(false).len(), 3);
    }
}
