//! Terms that the order of steps strikes out: creation, join, barriers, semaphores and what is made once, by the runs that were looked at.
//!
//! What runs show is what strands did on their way through the program. So a write that hides a term has to be one that its strand makes on every way: no branch of its
//! function leads past it, nor past the calls that lead there.

use super::table::{State, Table, Whose};
use super::{all, outcome};
use threadbare_explore::futures::Found;
use threadbare_findings::Places;

/// Terms that are asked about, at the most.
const ASKED: usize = 2000;

impl Table {
    /// Strikes out the terms that no order of the runs' steps has. `sure` says of a site whether its access is made on every way.
    pub(super) fn strike_by_order(
        &mut self,
        found: &Found,
        places: &dyn Places,
        sure: &mut dyn FnMut(u64) -> bool,
    ) {
        let mut left = ASKED;
        for at in (0..self.reads.len()).filter(|&at| self.reads[at].reached).collect::<Vec<_>>() {
            for number in 0..self.reads[at].terms.len() {
                let term = &self.reads[at].terms[number];
                if term.state != (State::Possible { written: true })
                    || term.whose == Whose::Unseen
                    || left == 0
                {
                    continue;
                }
                left -= 1;
                let Some(obstacle) = found.obstacle(&all::wish(&self.reads[at], number)) else { continue };
                if !obstacle.between.iter().all(|&site| sure(site)) {
                    continue;
                }
                let reason = format!("in all runs {}", outcome::words(&obstacle.stuck, places));
                self.reads[at].terms[number].state = State::StruckOut { reason, certain: false };
            }
        }
    }
}
