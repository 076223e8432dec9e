//! Whether the calls of a kept test take the ways that were recorded.
//!
//! Each order that the recording has, one call after the other, is made once with the test. If one of the calls touches memory at other places then, or does not come to its end, the state is not
//! what the calls need: what such a test would show is not the program's, and it is not kept.
//!
//! The ways are written beside the test, as lines of source, so that they can be looked at again after the program, or the test, was edited.

use std::collections::BTreeSet;
use std::fmt::Write;
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
    pub(super) orders: Vec<Order>,
    /// Some order of the two calls fails in the program, too.
    pub(super) fails: bool,
}

/// Which call began, and the places at which each touched memory; nothing where that is not known.
pub(super) type Order = (usize, [Option<BTreeSet<u64>>; 2]);

/// The places of the program at which these steps touched memory.
pub(super) fn places(
    close: &Close,
    events: impl Iterator<Item = usize>,
    program: &Range<u64>,
) -> BTreeSet<u64> {
    let events = events.map(|at| &close.run.events[at]).filter(|event| !event.touches.is_empty());
    events.map(|event| event.pc).filter(|pc| program.contains(pc)).collect()
}

/// Ways as lines of source: which call began, which of the two it is, and the lines at which it touched memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Lines(Vec<(usize, usize, BTreeSet<String>)>);

/// The first line of a file of them.
const HEAD: &str = "threadbare ways 1";

impl Lines {
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for (begins, call, lines) in &self.0 {
            let _ = writeln!(text, "{} begins, {} is at", NAMES[*begins], NAMES[*call]);
            lines.iter().for_each(|line| {
                let _ = writeln!(text, "    {line}");
            });
        }
        text
    }

    /// `None` if it is no such file.
    pub(super) fn parse(text: &str) -> Option<Lines> {
        let mut lines = text.lines();
        lines.next().filter(|head| *head == HEAD)?;
        let mut all = Lines::default();
        let which = |name: &str| NAMES.iter().position(|other| *other == name);
        for line in lines {
            if let Some(line) = line.strip_prefix("    ") {
                all.0.last_mut()?.2.insert(line.to_owned());
            } else {
                let (begins, call) = line.strip_suffix(" is at")?.split_once(" begins, ")?;
                all.0.push((which(begins)?, which(call)?, BTreeSet::new()));
            }
        }
        Some(all)
    }
}

impl Ways {
    /// The same as lines of source.
    pub(super) fn lines(&self, line: &dyn Fn(u64) -> Option<String>) -> Lines {
        let of = |(begins, calls): &Order| {
            let lines = |call: usize| {
                let places = calls[call].as_ref()?;
                Some((*begins, call, places.iter().filter_map(|&pc| line(pc)).collect()))
            };
            [lines(0), lines(1)].into_iter().flatten()
        };
        Lines(self.orders.iter().flat_map(of).collect())
    }

    /// Which of the calls take another way than lines say, in these orders; why it cannot be told.
    pub(super) fn others(
        &self,
        target: &Target,
        recorded: &Lines,
        line: &dyn Fn(u64) -> Option<String>,
    ) -> Result<BTreeSet<usize>, String> {
        let mut other = BTreeSet::new();
        for begins in 0..NAMES.len() {
            let of = recorded.0.iter().filter(|(first, ..)| *first == begins);
            let of: Vec<_> = of.collect();
            if of.is_empty() {
                continue;
            }
            let made = self.made(target, begins)?;
            for (_, call, lines) in of {
                let now: BTreeSet<String> = made[*call].iter().filter_map(|&pc| line(pc)).collect();
                if now != *lines {
                    other.insert(*call);
                }
            }
        }
        Ok(other)
    }

    /// Why a test is not what was recorded; nothing if it is. The target has the test in it.
    pub(super) fn differ(&self, target: &Target) -> Option<String> {
        let unlike =
            self.orders.iter().find_map(|(begins, recorded)| self.order(target, *begins, recorded).err());
        let known = |begins: usize| self.fails || self.orders.iter().any(|(order, _)| *order == begins);
        unlike.or_else(|| {
            (0..NAMES.len()).filter(|&it| !known(it)).find_map(|it| self.unknown(target, it).err())
        })
    }

    /// An order that no run had: that it waits says nothing, as others may have to do something first; but it does not fail.
    fn unknown(&self, target: &Target, begins: usize) -> Result<(), String> {
        let (facts, _) = self.run(target, begins)?;
        match facts.verdict.kind {
            VerdictKind::Deadlock | VerdictKind::Livelock | VerdictKind::Timeout => Ok(()),
            _ => self.ended(&facts),
        }
    }

    fn order(
        &self,
        target: &Target,
        begins: usize,
        recorded: &[Option<BTreeSet<u64>>; 2],
    ) -> Result<(), String> {
        let made = self.made(target, begins)?;
        // What is told is the first call that differs.
        for call in [begins, 1 - begins] {
            if recorded[call].as_ref().is_some_and(|recorded| made[call] != *recorded) {
                return Err(format!(
                    "as a test of its own, `{}` takes another way than in the program",
                    self.functions[call]
                ));
            }
        }
        Ok(())
    }

    /// Makes one call after the other, and gives the places at which each touched memory.
    fn made(&self, target: &Target, begins: usize) -> Result<[BTreeSet<u64>; 2], String> {
        let (facts, close) = self.run(target, begins)?;
        self.ended(&facts)?;
        let close = close.ok_or("its test is too long to be looked at")?;
        let mut made = [BTreeSet::new(), BTreeSet::new()];
        for (turn, strand) in STRANDS.into_iter().enumerate() {
            let call = if turn == 0 { begins } else { 1 - begins };
            let events = close.run.events.iter().enumerate();
            let own = events.filter(|(_, event)| event.strand == strand).map(|(at, _)| at);
            made[call] = places(&close, own, &self.program);
        }
        Ok(made)
    }

    /// Makes one call after the other.
    fn run(&self, target: &Target, begins: usize) -> Result<(RunFacts, Option<Close>), String> {
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
        look(&mut server, &request, Follow::Nothing).map_err(|error| failed(&error))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_read_again() {
        let lines = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<BTreeSet<_>>();
        let ways = Lines(vec![
            (0, 0, lines(&["shop.c: stock--;"])),
            (0, 1, lines(&[])),
            (1, 1, lines(&["a: b", "c: d"])),
        ]);
        assert_eq!(Lines::parse(&ways.to_text()), Some(ways));
        assert_eq!(Lines::parse("nothing"), None);
        assert_eq!(Lines::parse(&format!("{HEAD}\n    a line of no call\n")), None);
    }
}
