//! `dfs`: every order of all steps.

use super::{Pick, Plan, Ran, Reason, Search};

/// Strands whose enabling is told in a step's record.
const TOLD: usize = 64;

/// A decision, and what is left to try there.
#[derive(Debug)]
struct Node {
    pick: Pick,
    others: Vec<Pick>,
}

/// The planner's state.
#[derive(Debug, Default)]
pub(crate) struct Dfs {
    path: Vec<Node>,
    begun: bool,
    departed: u64,
    many: bool,
}

impl Search for Dfs {
    fn next(&mut self) -> Option<Plan> {
        if self.begun {
            loop {
                let node = self.path.last_mut()?;
                if let Some(pick) = node.others.pop() {
                    node.pick = pick;
                    break;
                }
                self.path.pop();
            }
        }
        self.begun = true;
        Some(Plan { picks: self.path.iter().map(|node| node.pick.clone()).collect(), sleepers: Vec::new() })
    }

    fn learn(&mut self, run: Ran) {
        let Ran { trace, notes, .. } = run;
        self.departed += u64::from(notes.departed != 0);
        self.many |= trace.paths.len() > TOLD;
        let mut faults = 0;
        for (at, event) in trace.events.iter().enumerate() {
            let before = faults;
            faults += event.faults_taken();
            let known = at < self.path.len();
            let pick = Pick::of(event);
            if known && self.path[at].pick.options == pick.options {
                continue;
            }
            let from = if known { self.path[at].pick.options.len() } else { 0 };
            let mut others = super::options(event, from, before);
            if known {
                // The step's options are known now.
                self.path[at].pick = pick;
            } else {
                others.extend(super::alternatives(event, &trace.paths));
                self.path.push(Node { pick, others: Vec::new() });
            }
            self.path[at].others.append(&mut others);
        }
    }

    fn takes_waits(&self) -> bool {
        true
    }

    fn withdrawal(&self) -> Option<Reason> {
        if self.many {
            return Some(Reason::ManyStrands(TOLD));
        }
        (self.departed > 0).then_some(Reason::Departed(self.departed))
    }
}
