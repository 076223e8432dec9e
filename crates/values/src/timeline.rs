//! What a place in memory was at any moment of a run, from the accesses to it.

/// A moment of a run: twice the number of the access that is made then, and one more for right after it.
pub(crate) type Moment = u64;

/// When the access with this number is made.
pub(crate) fn making(number: usize) -> Moment {
    2 * number as u64
}

/// Right after it.
pub(crate) fn after(number: usize) -> Moment {
    making(number) + 1
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    number: usize,
    before: Option<u64>,
    after: Option<u64>,
}

/// What a write left, until the next one.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The write; none for what was there before the first.
    number: Option<usize>,
    /// What all accesses until the next write found; none if they differ, or nobody can tell.
    value: Option<u64>,
}

/// The accesses to one place, in order.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    entries: Vec<Entry>,
    stretches: Vec<Stretch>,
}

impl Timeline {
    /// The next access: its number in the run, what it found and what it left, as far as that is known of the whole place.
    pub fn add(&mut self, number: usize, before: Option<u64>, after: Option<u64>) {
        self.entries.push(Entry { number, before, after });
        match self.stretches.last_mut() {
            None => self.stretches.push(Stretch { number: None, value: before }),
            Some(last) if last.value != before => last.value = None,
            Some(_) => {}
        }
        if after.is_none() || after != before {
            self.stretches.push(Stretch { number: Some(number), value: after });
        }
    }

    /// The same, and nothing before the first access: the place may have been something else then.
    pub(crate) fn since_first(&self, moment: Moment) -> Option<u64> {
        self.entries.first().filter(|first| making(first.number) <= moment).and_then(|_| self.at(moment))
    }

    /// What the last access left.
    pub(crate) fn last(&self) -> Option<u64> {
        self.entries.last()?.after
    }

    /// What the place was when just these accesses had been made, of the writes to it none without all before it; none if nobody
    /// can tell.
    pub(crate) fn after_those(&self, made: impl Fn(usize) -> bool) -> Option<u64> {
        let next = self.stretches.partition_point(|stretch| stretch.number.is_none_or(&made));
        self.stretches.get(next.checked_sub(1)?)?.value
    }

    /// Whether any of the accesses has been made.
    pub(crate) fn has_any(&self, made: impl Fn(usize) -> bool) -> bool {
        self.entries.iter().any(|entry| made(entry.number))
    }

    /// Whether there is an access at the moment or later.
    pub(crate) fn has_more(&self, moment: Moment) -> bool {
        self.entries.last().is_some_and(|last| after(last.number) >= moment)
    }

    /// What the place was at a moment; none if nobody can tell.
    pub(crate) fn at(&self, moment: Moment) -> Option<u64> {
        let next = self.entries.partition_point(|entry| making(entry.number) < moment);
        let found = self.entries.get(next).map(|entry| entry.before);
        if self.entries.get(next).is_some_and(|entry| making(entry.number) == moment) {
            return found.flatten();
        }
        match (next.checked_sub(1).map(|last| self.entries[last]), found) {
            // Right after it, nobody has come in between.
            (Some(last), _) if moment == after(last.number) => last.after,
            (Some(last), Some(found)) => last.after.filter(|_| last.after == found),
            (Some(last), None) => last.after,
            (None, found) => found.flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lasts_until_somebody_changes_it() {
        let mut line = Timeline::default();
        line.add(3, Some(7), Some(8));
        line.add(5, Some(8), Some(8));
        line.add(9, Some(1), None);
        let at = |moment| line.at(moment);
        assert_eq!([at(0), at(6), at(7), at(8), at(10), at(11)], [7, 7, 8, 8, 8, 8].map(Some));
        // Somebody out of sight wrote between 5 and 9; nobody knows when.
        assert_eq!([at(12), at(18), at(19), at(30)], [None, Some(1), None, None]);
        assert_eq!(Timeline::default().at(4), None);
    }

    #[test]
    fn a_value_is_what_the_last_write_left() {
        let mut line = Timeline::default();
        line.add(3, Some(7), Some(7));
        line.add(5, Some(7), Some(8));
        line.add(6, Some(8), Some(8));
        line.add(9, Some(8), Some(9));
        line.add(11, Some(4), Some(4));
        let until = |last: usize| line.after_those(|number| number <= last);
        // Somebody out of sight wrote after 9.
        assert_eq!([until(0), until(4), until(6), until(12)], [Some(7), Some(7), Some(8), None]);
        // Reads that have not been made change nothing.
        assert_eq!(line.after_those(|number| number == 5), Some(8));
    }
}
