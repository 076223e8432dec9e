//! `hapset`: until every pair of statements that can follow each other has.
//!
//! History-aware predecessor sets (Wang, Said, Gupta, ICSE 2011): a statement is an instruction of a strand with its
//! innermost callers; its set holds the statements of other strands that it has directly depended on in some run. Two steps that raced are tried in the
//! other order only if their statements have not been seen in that order. So a statement that is executed a thousand times
//! counts once, and the number of runs grows with the number of pairs, not with the number of orders.

use super::trace::Event;
use super::{Pick, Plan, Promise, Ran, Search};
use std::collections::{HashSet, VecDeque};

/// A statement: instruction, strand, calling context.
type Statement = (u64, u64, u64);

/// Runs in which a pair is tried, at the most: a plan may come out otherwise.
const TRIES: u32 = 3;

/// The planner's state.
#[derive(Debug, Default)]
pub(crate) struct Hapset {
    /// Pairs seen: the first directly came before the second.
    seen: HashSet<(Statement, Statement)>,
    tries: std::collections::HashMap<(Statement, Statement), u32>,
    open: VecDeque<((Statement, Statement), Plan)>,
    begun: bool,
}

fn statement(event: &Event) -> Statement {
    (event.op.pc, event.path, event.context)
}

impl Search for Hapset {
    fn next(&mut self) -> Option<Plan> {
        if !self.begun {
            self.begun = true;
            return Some(Plan::default());
        }
        while let Some((pair, plan)) = self.open.pop_front() {
            let tries = self.tries.entry(pair).or_insert(0);
            if !self.seen.contains(&pair) && *tries < TRIES {
                *tries += 1;
                return Some(plan);
            }
        }
        None
    }

    fn learn(&mut self, run: Ran) {
        let Ran { trace, analysis, .. } = run;
        for (at, sources) in analysis.sources.iter().enumerate() {
            for &source in sources {
                self.seen.insert((statement(&trace.events[source]), statement(&trace.events[at])));
            }
        }
        for race in &analysis.races {
            let pair = (statement(&race.second), statement(&trace.events[race.first]));
            if self.seen.contains(&pair)
                || self.open.iter().filter(|(open, _)| *open == pair).count() >= TRIES as usize
            {
                continue;
            }
            let mut picks: Vec<Pick> = trace.events[..race.first].iter().map(Pick::of).collect();
            let until = race.made.unwrap_or(trace.events.len());
            let between = (race.first + 1..until).filter(|&at| !analysis.precedes(race.first, at, &trace));
            picks.extend(between.map(|at| Pick::of(&trace.events[at])));
            picks.push(Pick::of(&race.second));
            // The first one follows at once, before anything comes between them.
            picks.push(Pick::of(&trace.events[race.first]));
            self.open.push_back((pair, Plan { picks, sleepers: Vec::new() }));
        }
    }

    fn promise(&self) -> Promise {
        Promise::Pairs
    }
}
