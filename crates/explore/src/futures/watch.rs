//! What each run has of many wishes, and a run that is known already: what a set of terms that decides a failure is looked for by.

use super::wish::{Reference, Source, Wish, WishedStep};
use crate::error::Error;
use crate::planner::{self, trace::Trace};
use crate::run::{Follow, Request};
use crate::server::Server;
use std::sync::Arc;
use threadbare_abi::event::Segment;
use threadbare_abi::layout::flags;
use threadbare_trace::run::RunFacts;

/// What one run has of the wishes that are watched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The run.
    pub run: u64,
    /// What it failed by, by key.
    pub shown: Vec<u64>,
    /// A bit for each wish.
    has: Vec<u64>,
}

impl Sample {
    pub(crate) fn of(run: u64, reference: &Reference, watch: &[Wish], shown: &[u64]) -> Sample {
        let mut has = vec![0; watch.len().div_ceil(64)];
        for (at, _) in watch.iter().enumerate().filter(|(_, wish)| reference.granted(wish).is_some()) {
            has[at / 64] |= 1 << (at % 64);
        }
        Sample { run, shown: shown.to_vec(), has }
    }

    /// Whether a read of the run saw what this wish asks for.
    pub fn has(&self, wish: usize) -> bool {
        self.has.get(wish / 64).is_some_and(|word| word >> (wish % 64) & 1 == 1)
    }
}

/// One time that a strand comes to a site.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Moment {
    /// The site.
    pub site: u64,
    /// The strand, by its path.
    pub strand: u64,
    /// The how-manieth time it comes there, from 1.
    pub number: u64,
}

impl Moment {
    /// The step that this is, as far as it is to be told: the strand, and the number too.
    pub fn step(&self, sites: &[u64], strand: bool, number: bool) -> WishedStep {
        WishedStep {
            sites: sites.to_vec(),
            strand: strand.then_some(self.strand),
            number: number.then_some(self.number),
        }
    }
}

/// What a read of a run saw.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Seen {
    /// The read.
    pub read: Moment,
    /// The write; `None` for what was there from the beginning.
    pub write: Option<Moment>,
}

/// A run that was made again with its steps told.
#[derive(Clone, Debug)]
pub struct Example(pub(super) Arc<Reference>);

impl Example {
    /// Makes a run again by its choices. The pcs that it learnt come with it: what it shows is whole if there are none.
    pub fn make(
        server: &mut Server,
        request: &Request,
        segments: &[Segment],
    ) -> Result<(Example, RunFacts, Vec<u64>), Error> {
        let mut request = request.clone();
        request.flags |= flags::STEPS | flags::READS | flags::CALLERS;
        let ended = server.run(&request, Follow::Segments(segments), None)?;
        let facts = server.facts(&request, &ended, false)?;
        let trace = Trace::read(&planner::steps(&server.lessons(&ended)));
        let learnt = if ended.live.learnt > 0 { server.learnt(&ended) } else { Vec::new() };
        Ok((Example(Arc::new(Reference::of(trace))), facts, learnt))
    }

    /// Its steps.
    pub fn steps(&self) -> usize {
        self.0.trace.events.len()
    }

    /// Whether a load of it saw an older store than the newest.
    pub fn is_stale(&self) -> bool {
        self.0.trace.events.iter().any(|event| event.is_stale())
    }

    /// What its reads saw, the last read first.
    pub fn seen(&self) -> Vec<Seen> {
        let mut seen = self.0.seen();
        seen.reverse();
        seen
    }

    /// Whether the run has what a wish asks for.
    pub fn has(&self, wish: &Wish) -> bool {
        self.0.granted(wish).is_some()
    }
}

impl Reference {
    /// What the run's reads saw, the first read first.
    pub(super) fn seen(&self) -> Vec<Seen> {
        let reads = &self.reads;
        let moment = |access: usize| {
            let access = &reads.accesses[access];
            let strand = self.trace.events[access.event].path;
            Moment { site: access.site, strand, number: access.number }
        };
        let mut seen = Vec::new();
        for (at, access) in reads.accesses.iter().enumerate().filter(|(_, access)| access.reads) {
            for source in &access.from {
                // What code without instrumentation wrote, nobody can ask for.
                if source.is_none() || !access.unseen {
                    seen.push(Seen { read: moment(at), write: source.map(moment) });
                }
            }
        }
        seen
    }
}

impl Wish {
    /// The wish for what a read saw.
    pub fn new(read: WishedStep, write: Option<WishedStep>) -> Wish {
        Wish { read, source: write.map_or(Source::Initial, |write| Source::Write(write, None)) }
    }
}
