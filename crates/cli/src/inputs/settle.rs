//! After the tests: whether a finding needs more than one strand, and the smallest input that shows it.

use super::one::Runner;
use super::results::Outcome;
use crate::exit::Trouble;
use std::time::{Duration, Instant};
use threadbare_explore::interrupt;
use threadbare_explore::store::Store;
use threadbare_inputs::Input;
use threadbare_strategy::StrategyId;

/// Runs of each strategy that all fail if the schedule does not matter.
const ALONE: u64 = 8;
const STRATEGIES: [StrategyId; 3] = [StrategyId::Random, StrategyId::Pct, StrategyId::RoundRobin];
/// Findings whose inputs are made smaller, inputs that are tried for each, and the time for all.
const FINDINGS: usize = 8;
const TRIES: u32 = 60;
const TIME: Duration = Duration::from_secs(20);

impl Runner<'_> {
    /// Looks closer at the findings.
    pub(super) fn refine(&mut self, outcome: &mut Outcome) -> Result<(), Trouble> {
        let started = Instant::now();
        for at in 0..outcome.findings.len().min(FINDINGS) {
            if interrupt::requested() || started.elapsed() > TIME {
                break;
            }
            let shown = &outcome.findings[at];
            let input = shown.input.clone();
            // Who races needs a second strand.
            let alone = shown.finding.kind != "race" && self.fails_always(&input)?;
            outcome.findings[at].alone = alone;
            self.shrink(at, started, outcome)?;
        }
        Ok(())
    }

    /// Whether the input fails whatever the schedule.
    fn fails_always(&mut self, input: &Input) -> Result<bool, Trouble> {
        for strategy in STRATEGIES {
            let (runs, failed) = self.plain(input, strategy, ALONE)?;
            if failed < runs {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn shrink(&mut self, at: usize, started: Instant, outcome: &mut Outcome) -> Result<(), Trouble> {
        let (first, id) = (outcome.findings[at].input.clone(), outcome.findings[at].finding.id.clone());
        let runs = outcome.findings[at].runs_needed();
        let folder = self.store.folder().join("inputs").join("scratch");
        let scratch = Store::open(&folder)?;
        let mut least = first.clone();
        let mut tries = 0;
        'smaller: loop {
            for input in self.plan.template.smaller(&least) {
                if tries >= TRIES || started.elapsed() > TIME || interrupt::requested() {
                    break 'smaller;
                }
                tries += 1;
                if self.shows(&input, &id, runs, &scratch)?.is_some() {
                    least = input;
                    continue 'smaller;
                }
            }
            break;
        }
        // A folder of ours, with nothing but ours in it.
        let _ = std::fs::remove_dir_all(&folder);
        if least == first {
            return Ok(());
        }
        let store = self.store;
        if let Some(finding) = self.shows(&least, &id, runs, store)? {
            self.save(&finding);
            let words = outcome.words(&self.plan.template, &least);
            outcome.findings[at].replace(finding, least, words);
        }
        Ok(())
    }
}
