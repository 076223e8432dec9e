//! New books from a journal: every record is taken as its run was, with the same tickets between, so that the books are
//! what they were and the next run is the one that came next.

use crate::campaign::Observer;
use crate::error::Error;
use crate::journal::{Journal, Record};
use crate::ledger::Ledger;
use crate::outcome::Outcome;
use std::collections::HashMap;
use std::time::Duration;

/// Feeds the books; gives the time the campaign has taken.
pub(crate) fn feed(
    ledger: &mut Ledger,
    journal: &Journal,
    observer: &mut dyn Observer,
) -> Result<Duration, Error> {
    let unfit = |what: String| Error::Journal { path: journal.path().to_owned(), why: what };
    let mut notes: HashMap<u64, Vec<u8>> = HashMap::new();
    let mut elapsed = Duration::ZERO;
    for record in journal.records() {
        match record {
            Record::Run(run, outcome) => {
                let ticket = ledger.take_ticket();
                if ticket.is_none_or(|ticket| ticket.run != run || ticket.prediction.is_some()) {
                    return Err(unfit(format!("run {run} does not follow from the runs before it")));
                }
                want(ledger, &outcome, run);
                ledger.finish(run, *outcome);
            }
            Record::Tried(number, tries, outcome) => {
                if !ledger.feed_tried(number, tries, outcome) {
                    return Err(unfit(format!(
                        "prediction {number} does not follow from the runs before it"
                    )));
                }
            }
            Record::Note(key, note) => _ = notes.insert(key, note),
            Record::Clock(time, ..) => elapsed = Duration::from_millis(time),
            Record::Session(_) | Record::Close(_) => {}
            Record::Unknown => return Err(unfit("another version of the tool wrote it".to_owned())),
        }
        for failure in ledger.take_failures() {
            let note = notes.remove(&failure.key);
            observer.restored(&failure, note.as_deref());
        }
        if ledger.is_stopping() {
            break;
        }
    }
    Ok(elapsed)
}

/// The details of what the run showed are had.
fn want(ledger: &mut Ledger, outcome: &Outcome, run: u64) {
    let keys: Vec<u64> = outcome.shown.iter().map(|shown| shown.key).collect();
    if !keys.is_empty() {
        ledger.wants(&keys, run);
    }
}
