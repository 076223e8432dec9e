//! What one run adds.

use threadbare_strategy::classes::Kind;
use threadbare_strategy::classes::told::{RECORD_WORDS, read_record};

/// What one run adds to a campaign's coverage.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contribution {
    /// The run's class; `None` of a run whose class means nothing: it was killed, or learnt points that others know.
    pub class: Option<u64>,
    /// What was told: at the least all that no earlier run had.
    pub records: Vec<[u64; RECORD_WORDS]>,
}

impl Contribution {
    /// What was told, without records that are none.
    pub fn told(&self) -> impl Iterator<Item = (Kind, u64, u64)> + '_ {
        self.records.iter().filter_map(|&record| read_record(record))
    }

    /// The contribution as words, for a journal.
    pub fn to_words(&self) -> Vec<u64> {
        let class = [u64::from(self.class.is_some()), self.class.unwrap_or(0)];
        class.into_iter().chain(self.records.iter().flatten().copied()).collect()
    }

    /// A contribution from its words; `None` if they are none.
    pub fn from_words(words: &[u64]) -> Option<Contribution> {
        let ([known @ (0 | 1), class], records) = words.split_first_chunk::<2>()? else { return None };
        let (records, []) = records.as_chunks::<RECORD_WORDS>() else { return None };
        Some(Contribution { class: (*known == 1).then_some(*class), records: records.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_strategy::classes::told::record;

    #[test]
    fn words_round_trip() {
        let records = vec![record(Kind::ReadsFrom, 1, 2), record(Kind::Point, 3, 0)];
        for class in [None, Some(0), Some(u64::MAX)] {
            let contribution = Contribution { class, records: records.clone() };
            assert_eq!(Contribution::from_words(&contribution.to_words()), Some(contribution));
        }
        for bad in [&[][..], &[1], &[2, 0], &[1, 5, 7]] {
            assert_eq!(Contribution::from_words(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn broken_records_are_left_out() {
        let contribution = Contribution { class: None, records: vec![[0, 1], record(Kind::Sync, 5, 6)] };
        assert_eq!(contribution.told().collect::<Vec<_>>(), [(Kind::Sync, 5, 6)]);
    }
}
