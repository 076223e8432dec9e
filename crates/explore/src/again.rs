//! Runs of a campaign that are made again for what nobody looked at the first time.
//!
//! A campaign goes by its own books; whoever wants to see what its runs did besides takes the runs' choices
//! ([`Taker`]) and makes them again ([`observe`]), with all that the whole campaign has learnt of shared memory. So
//! every strategy and planner can be looked at, and what is streamed changes none of them.

use crate::error::Error;
use crate::run::{EventSink, Follow, Request};
use crate::server::Server;
use std::fmt;
use threadbare_abi::event::Segment;
use threadbare_abi::layout::Record;
use threadbare_trace::identity::Identity;
use threadbare_trace::run::{RunFacts, Verdict};

/// How much longer than the first time such a run may take.
pub const SLOWER: u32 = 20;

/// A run of a campaign.
#[derive(Clone, Debug)]
pub struct Taken {
    /// What it was to do.
    pub request: Request,
    /// Its choices; none if they are not all there.
    pub segments: Option<Vec<Segment>>,
    /// Its verdict.
    pub verdict: Verdict,
    /// Whether it has failed, by its verdict or by what else it showed.
    pub failed: bool,
    /// The pcs it learnt.
    pub learnt: Vec<u64>,
    /// Names its class, if it is of one.
    pub class: Option<u64>,
}

/// Who takes the runs of a campaign.
pub trait Taker: fmt::Debug + Send + Sync {
    /// A run has ended. Runs come in any order.
    fn take(&self, taken: Taken);
}

/// Makes a run again and streams it. `None` if it was another one.
pub fn observe(
    server: &mut Server,
    taken: &Taken,
    record: Record,
    sink: &mut dyn EventSink,
) -> Result<Option<RunFacts>, Error> {
    let Some(segments) = &taken.segments else { return Ok(None) };
    let request = Request {
        record,
        flags: 0,
        timeout: taken.request.timeout * SLOWER,
        races: false,
        ..taken.request.clone()
    };
    let request = request.strictly(taken.verdict.kind);
    let ended = server.run(&request, Follow::Segments(segments), Some(sink))?;
    let facts = server.facts(&request, &ended, false)?;
    // What the modules are and who waits is known of the second run only.
    let same =
        Identity::of_verdict(&taken.verdict, &facts.report).is_repeated_by(&Identity::of(&facts, None));
    Ok(same.then_some(facts))
}
