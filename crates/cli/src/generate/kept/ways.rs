//! Whether the calls of a kept test take the ways that were recorded.
//!
//! Each order that the recording has, one call after the other, is made once with the test. If one of the calls touches memory at other places then, or does not come to its end, the state is not
//! what the calls need: what such a test would show is not the program's, and it is not kept.

use std::collections::BTreeSet;
use std::ops::Range;
use threadbare_abi::verdict::VerdictKind;
use threadbare_explore::pairs::{Close, look};
use threadbare_explore::run::{Follow, Request};
use threadbare_explore::server::{Server, Target};
use threadbare_strategy::StrategyId;
use threadbare_trace::run::RunFacts;

/// The variable by which a test is told to make one call after the other.
const ORDER: &str = "KEPT_ORDER";
const NAMES: [&str; 2] = ["first", "second"];
/// The strands of a test's calls, in the order in which they are made.
const STRANDS: [u32; 2] = [1, 2];
/// What a test says that comes to memory nobody recorded.
const MISSING: &str = "state missing: ";

/// The ways that two calls took.
pub(super) struct Ways {
    pub(super) request: Request,
    pub(super) known: Vec<u64>,
    /// Where the program's code lies.
    pub(super) program: Range<u64>,
    pub(super) functions: [String; 2],
    /// Which call began, and the places at which each touched memory.
    pub(super) orders: Vec<(usize, [BTreeSet<u64>; 2])>,
}

/// The places of the program at which these steps touched memory.
pub(super) fn places(
    close: &Close,
    events: impl Iterator<Item = usize>,
    program: &Range<u64>,
) -> BTreeSet<u64> {
    let events = events.map(|at| &close.run.events[at]).filter(|event| !event.touches.is_empty());
    events.map(|event| event.pc).filter(|pc| program.contains(pc)).collect()
}

impl Ways {
    /// Why a test is not what was recorded; nothing if it is. The target has the test in it.
    pub(super) fn differ(&self, target: &Target) -> Option<String> {
        self.orders.iter().find_map(|(begins, recorded)| self.order(target, *begins, recorded).err())
    }

    fn order(&self, target: &Target, begins: usize, recorded: &[BTreeSet<u64>; 2]) -> Result<(), String> {
        let mut target = Target { reset: false, ..target.clone() };
        target.env.push((ORDER.into(), NAMES[begins].into()));
        let failed = |error: &dyn std::error::Error| format!("its test could not be tried: {error}");
        let mut server = Server::start(&target).map_err(|error| failed(&error))?;
        server.set_known(&self.known);
        let request = Request {
            strategy: StrategyId::Random,
            params: [0; 8],
            flags: 0,
            guide: Default::default(),
            watches: Vec::new(),
            ..self.request.clone()
        };
        let (facts, close) = look(&mut server, &request, Follow::Nothing).map_err(|error| failed(&error))?;
        self.ended(&facts)?;
        let close = close.ok_or("its test is too long to be looked at")?;
        for (turn, strand) in STRANDS.into_iter().enumerate() {
            let call = if turn == 0 { begins } else { 1 - begins };
            let events = close.run.events.iter().enumerate();
            let own = events.filter(|(_, event)| event.strand == strand).map(|(at, _)| at);
            if places(&close, own, &self.program) != recorded[call] {
                return Err(format!(
                    "as a test of its own, `{}` takes another way than in the program",
                    self.functions[call]
                ));
            }
        }
        Ok(())
    }

    fn ended(&self, facts: &RunFacts) -> Result<(), String> {
        let said = facts.stderr.text();
        let missing = said.lines().find_map(|line| line.strip_prefix(MISSING));
        match facts.verdict.kind {
            _ if missing.is_some() => {
                Err(format!("it needs memory that was not recorded: {}", missing.unwrap_or_default()))
            }
            VerdictKind::None => Ok(()),
            VerdictKind::Deadlock | VerdictKind::Livelock | VerdictKind::Timeout => {
                Err("without the rest of the program the two calls wait for ever".to_owned())
            }
            kind => {
                Err(format!("as a test of its own it ends otherwise than in the program: {}", kind.name()))
            }
        }
    }
}
