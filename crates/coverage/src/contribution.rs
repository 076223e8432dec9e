//! What one run adds.

use serde::{Deserialize, Serialize};
use threadbare_strategy::classes::Kind;
use threadbare_strategy::classes::told::{RECORD_WORDS, read_record};

/// What one run adds to a campaign's coverage.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_strategy::classes::told::record;

    #[test]
    fn broken_records_are_left_out() {
        let contribution = Contribution { class: None, records: vec![[0, 1], record(Kind::Sync, 5, 6)] };
        assert_eq!(contribution.told().collect::<Vec<_>>(), [(Kind::Sync, 5, 6)]);
    }
}
