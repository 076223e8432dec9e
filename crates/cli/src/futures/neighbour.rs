//! Beside a future that fails, the nearest one that passes: of all runs that passed, the one whose reads saw the same but for the fewest.
//!
//! Runs are compared read by read: the same time that the same strand comes to the same place. The term that is told is the first read, in the order of the failing run, that
//! sees another write; what comes before it is the same in both.

use super::of::{Detail, find, written};
use super::table::{Passing, State, Table};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use threadbare_explore::futures::{Moment, Seen, Whole};

/// A term of the table, by read and number.
type At = (usize, usize);

/// What the reads of a run saw, as the table has it.
struct Run {
    /// The order in which they were made.
    order: Vec<Moment>,
    saw: BTreeMap<Moment, BTreeSet<(At, Option<Moment>)>>,
}

/// Failing runs of one term that are compared.
const FAILING: usize = 8;

impl Run {
    fn of(whole: &Whole, table: &Table, known: &mut HashMap<(u64, Option<u64>, bool), Option<At>>) -> Run {
        let mut run = Run { order: Vec::new(), saw: BTreeMap::new() };
        for seen in &whole.seen {
            let own = seen.write.is_some_and(|write| write.strand == seen.read.strand);
            let key = (seen.read.site, seen.write.map(|write| write.site), own);
            let Some(at) = *known.entry(key).or_insert_with(|| find(seen, table)) else { continue };
            if !run.saw.contains_key(&seen.read) {
                run.order.push(seen.read);
            }
            run.saw.entry(seen.read).or_default().insert((at, seen.write));
        }
        run
    }

    /// How many reads see something else in another run, or are not made there.
    fn differs(&self, other: &Run) -> usize {
        let changed = self.saw.iter().filter(|(read, saw)| other.saw.get(read) != Some(*saw)).count();
        changed + other.saw.keys().filter(|read| !self.saw.contains_key(read)).count()
    }

    /// The first read that sees something else in another run.
    fn first_change(&self, other: &Run) -> Option<Moment> {
        let changed = |read: &&Moment| other.saw.get(read).is_some_and(|saw| Some(saw) != self.saw.get(read));
        self.order.iter().find(changed).copied()
    }
}

/// Puts the nearest future that passes beside each term of the table that fails; `made` has the failing runs that were made for terms.
pub(super) fn fill(table: &mut Table, runs: &[Whole], made: &HashMap<At, u64>) {
    let mut known = HashMap::new();
    let mut passing: Vec<Run> = Vec::new();
    let mut failing: HashMap<u64, Run> = HashMap::new();
    let mut alike = HashSet::new();
    for whole in runs {
        if whole.failed {
            failing.insert(whole.run, Run::of(whole, table, &mut known));
        } else if alike.insert(&whole.seen) {
            passing.push(Run::of(whole, table, &mut known));
        }
    }
    let mut nearest: HashMap<u64, Option<(usize, usize)>> = HashMap::new();
    let mut found = Vec::new();
    for (at, row) in table.reads.iter().enumerate() {
        for (number, term) in row.terms.iter().enumerate() {
            let runs: Vec<u64> = match (&term.state, made.get(&(at, number))) {
                (_, Some(&run)) => vec![run],
                (State::Seen { failed, .. }, None) => failed.iter().copied().take(FAILING).collect(),
                _ => continue,
            };
            let best = runs.into_iter().filter_map(|key| {
                let run = failing.get(&key)?;
                let near = nearest.entry(key).or_insert_with(|| {
                    let told =
                        passing.iter().enumerate().filter(|(_, other)| run.first_change(other).is_some());
                    told.map(|(at, other)| (run.differs(other), at)).min()
                });
                near.map(|(differs, other)| (differs, key, other))
            });
            let Some((differs, key, other)) = best.min() else { continue };
            if let Some(told) = tell(&failing[&key], &passing[other], differs, table) {
                found.push(((at, number), told));
            }
        }
    }
    for ((at, number), told) in found {
        table.reads[at].terms[number].passing = Some(told);
    }
}

fn tell(failing: &Run, passing: &Run, differs: usize, table: &Table) -> Option<Passing> {
    let read = failing.first_change(passing)?;
    let text = |run: &Run| {
        let (at, write) = run.saw.get(&read)?.iter().next().copied()?;
        // As little as tells the two apart.
        let text = |detail| written(&Seen { read, write }, table, at, (detail, detail));
        Some([text(Detail::Strand), text(Detail::Time)])
    };
    let (fails, passes) = (text(failing)?, text(passing)?);
    let both = fails.into_iter().zip(passes).find_map(|(fails, passes)| {
        let both = fails.zip(passes);
        both.filter(|(fails, passes)| fails != passes)
    });
    let (fails, passes) = both?;
    Some(Passing { fails, passes, differs })
}
