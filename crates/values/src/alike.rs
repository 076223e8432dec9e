//! What an activation has in runs like the one that was made: the values at its entry and its exit at every cut ([`crate::order`]).
//!
//! Beyond the runs that differ only in the order of what is independent, a strand's next access can come too early: before others have made what it found
//! there. Up to then the run is one that can be, and so are the values, if the activation is the same:
//!
//! - The entry of a function is where its first access is made, whatever that finds. (A block is one only if the strand comes to its end.)
//! - A store leaves what it leaves. A read has to find the same as in the run, or the strand goes another way; or what a read there found in vain in some
//!   run. A planner lets no loop look in vain that waits, and others do.

use crate::known::{Known, Raw, View};
use crate::order::{Clock, Order};
use crate::recording::Recording;
use crate::regions::Found;
use crate::vain::{Vain, only_reads};
use rustc_hash::FxHashSet as HashSet;
use threadbare_abi::op::OpKind;

/// Pairs of an entry and an exit that are looked at, of one activation.
const MOST_PAIRS: usize = 400;

/// An activation of a run.
pub(crate) struct Activation<'a> {
    pub(crate) run: &'a Recording,
    pub(crate) order: &'a Order,
    pub(crate) known: &'a Known,
    pub(crate) view: &'a View<'a>,
    pub(crate) found: &'a Found,
    /// Whether it is a block, and not a function.
    pub(crate) block: bool,
    pub(crate) vain: &'a Vain,
}

impl Activation<'_> {
    /// The values at its entry, wherever that could have been.
    pub(crate) fn entries(&self) -> Vec<Raw> {
        let first = self.run.last_piece(self.found.first);
        let early = first == self.found.first && !self.block;
        let cuts = self.order.cuts(first, early);
        distinct(cuts.iter().map(|cut| self.at_entry(cut)))
    }

    /// The values at its entry with those at its exit; it must have come to its end.
    pub(crate) fn pairs(&self) -> Vec<(Raw, Raw)> {
        let first = self.run.last_piece(self.found.first);
        let exits = self.exits();
        if first == self.found.last {
            // One step, and nobody comes in between.
            return distinct(exits.into_iter().map(|(cut, left)| (self.at_entry(&cut), left)));
        }
        let entries: Vec<(Clock, Raw)> =
            self.order.cuts(first, false).into_iter().map(|cut| (cut.clone(), self.at_entry(&cut))).collect();
        let pairs = entries.iter().flat_map(|(cut, entry)| {
            let later = exits.iter().filter(|(later, _)| Order::leads_to(cut, later));
            later.map(|(_, left)| (entry.clone(), left.clone()))
        });
        distinct(pairs.take(MOST_PAIRS))
    }

    fn at_entry(&self, cut: &Clock) -> Raw {
        let strand = self.run.accesses[self.found.first].strand;
        let begun = |access: usize| access >= self.found.first && self.run.accesses[access].strand == strand;
        self.view.after_those(None, |access| !begun(access) && self.order.has(cut, access))
    }

    /// The cuts right after its last access, with the values.
    fn exits(&self) -> Vec<(Clock, Raw)> {
        let last = self.found.last;
        let access = &self.run.accesses[last];
        let alone = !access.goes_on && !self.run.accesses.get(last + 1).is_some_and(|next| next.goes_on);
        let stores = matches!(access.op, OpKind::Write | OpKind::AtomicStore);
        let early =
            alone && access.after.is_some() && (stores || only_reads(access) && self.known.tells(last));
        let mut cuts = self.order.cuts(last, early);
        let mut out_of_order = None;
        if early && stores {
            out_of_order = Some(access);
        } else if early {
            cuts.retain(|cut| self.can_read(last, cut));
        }
        let left = |cut: &Clock| self.view.after_those(out_of_order, |access| self.order.has(cut, access));
        cuts.into_iter().map(|cut| (cut.clone(), left(&cut))).collect()
    }

    /// Whether a read that ends the activation does so at a cut, too.
    fn can_read(&self, last: usize, cut: &Clock) -> bool {
        let access = &self.run.accesses[last];
        let found = self.known.found_by(last, |access| self.order.has(cut, access));
        found.is_some_and(|value| value == access.before || self.block && self.vain.has(access.pc, value))
    }
}

fn distinct<T: std::hash::Hash + Eq + Clone>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = HashSet::default();
    all.filter(|it| known.insert(it.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::{One, Slot};
    use crate::location::Home;
    use crate::places::Program;
    use crate::recording::Access;
    use threadbare_symbols::{ScalarKind, Symbols};

    fn access(strand: u16, variable: usize, op: OpKind, before: u64, after: u64) -> Access {
        Access {
            strand,
            size: 4,
            goes_on: false,
            op,
            activation: 0,
            pc: 100 + variable as u64,
            addr: 0x1000 + 4 * variable as u64,
            block: None,
            frame: None,
            event: 0,
            before,
            after: Some(after),
            locals: (0, 0),
            beside: (0, 0),
        }
    }

    /// The pairs of the block from one access to another, each as the digits of three variables at entry and exit.
    fn pairs(accesses: Vec<Access>, (first, last): (usize, usize), vain: &Vain) -> Vec<String> {
        let mut program = Program::new(Symbols::new([]));
        let class = ScalarKind::Integer { signed: false };
        let variables: Vec<usize> =
            ["a", "b", "c"].map(|name| program.number(name.to_owned(), class.clone(), 4, Home::Fixed)).into();
        let spots: Vec<_> = accesses.iter().map(|access| Ok(variables[(access.pc - 100) as usize])).collect();
        let slots: Vec<Slot> =
            variables.iter().map(|&variable| Slot::One(One { variable, nth: 0 })).collect();
        let mut run = Recording::new();
        run.accesses = accesses;
        let known = Known::new(&mut program, &run, &slots, &spots);
        let order = Order::of(&run, |number| known.tells(number)).expect("a short run");
        let found = Found { region: 0, first, last, whole: true, up: 0 };
        let view = known.view(&run, &found);
        let activation = Activation {
            run: &run,
            order: &order,
            known: &known,
            view: &view,
            found: &found,
            block: true,
            vain,
        };
        let digits = |raw: &Raw| -> String {
            raw.iter().map(|value| value.map_or("-".to_owned(), |value| value.to_string())).collect()
        };
        let mut all: Vec<String> = activation
            .pairs()
            .iter()
            .map(|(entry, left)| format!("{} {}", digits(entry), digits(left)))
            .collect();
        all.sort();
        all
    }

    #[test]
    fn a_block_has_all_that_others_can_have_done() {
        let (read, write) = (OpKind::Read, OpKind::Write);
        // Strand 2 writes b and c, then strand 1 writes a and reads b.
        let run = || {
            vec![
                access(2, 1, write, 0, 1),
                access(2, 2, write, 0, 5),
                access(1, 0, write, 0, 1),
                access(1, 1, read, 1, 1),
            ]
        };
        let found = ["000 110", "000 115", "010 110", "010 115", "015 115"];
        assert_eq!(pairs(run(), (2, 3), &Vain::default()), found);
        // A loop that waits for b may look while it is 0.
        let mut vain = Vain::default();
        let mut looks = Recording::new();
        looks.accesses = vec![access(1, 1, read, 0, 0), access(1, 1, read, 0, 0)];
        vain.learn(&looks);
        assert_eq!(pairs(run(), (2, 3), &vain)[0], "000 100");
        assert_eq!(pairs(run(), (2, 3), &vain).len(), 6);
    }

    #[test]
    fn a_store_may_come_too_early_and_an_exchange_may_not() {
        let last = |op| {
            vec![access(2, 1, OpKind::Write, 0, 1), access(1, 0, OpKind::Write, 0, 1), access(1, 1, op, 1, 2)]
        };
        let found = pairs(last(OpKind::Write), (1, 2), &Vain::default());
        // Before the other's store, or after it.
        assert_eq!(found, ["00- 12-", "01- 12-"]);
        assert_eq!(pairs(last(OpKind::AtomicRmw), (1, 2), &Vain::default()), ["00- 12-", "01- 12-"]);
        // One step is not come into.
        assert_eq!(pairs(last(OpKind::Write), (2, 2), &Vain::default()), ["10- 12-", "11- 12-"]);
        assert_eq!(pairs(last(OpKind::AtomicRmw), (2, 2), &Vain::default()), ["11- 12-"]);
    }
}
