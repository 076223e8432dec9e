//! Marks: accesses as cells remember them.
//!
//! A mark is an event (40 bits), whether it is noted (1), a strand (15) and the bytes of the cell that were touched (8). Most cells need two: the
//! last write and the last read. Where that is not enough (strands that read at the same time, neighbours in one cell)
//! a cell has a chain of nodes with as many marks as it takes. Where that is long, as for what a thousand strands read again and
//! again, it is remembered where a strand's mark in it is ([`Chains::place`]).

use alloc::vec::Vec;

const EVENT_SHIFT: u32 = 24;
const STRAND_SHIFT: u32 = 8;
const STRAND_MASK: u64 = 0x7FFF;
/// Set in the mark of an access that was no point, and that those know of who look for what is to be one: see [`crate::again`].
pub const NOTED: u64 = 1 << 23;
/// In the place of strand and [`NOTED`]: the cell's marks are in a chain.
const CHAINED: u64 = 0xFFFF;
const CHAINED_MASK: u64 = 0xFFFF;

/// Makes a mark.
#[inline(always)]
pub fn mark(event: u64, strand: u16, bytes: u8) -> u64 {
    event << EVENT_SHIFT | (strand as u64) << STRAND_SHIFT | bytes as u64
}

/// The event of a mark.
#[inline(always)]
pub fn event(mark: u64) -> u64 {
    mark >> EVENT_SHIFT
}

/// The strand of a mark.
#[inline(always)]
pub fn strand(mark: u64) -> usize {
    (mark >> STRAND_SHIFT & STRAND_MASK) as usize
}

/// The bytes of a mark, one bit each.
#[inline(always)]
pub fn bytes(mark: u64) -> u8 {
    mark as u8
}

/// A mark with its instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Entry {
    /// The mark.
    pub mark: u64,
    /// Low half of the pc.
    pub pc: u32,
    /// 1 for a write.
    pub write: u32,
}

const ENTRIES: usize = 3;
/// Nodes there may be for all chains; a power of two.
pub const NODES: usize = 1 << 20;

/// A part of a chain. All zero at first.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Node {
    entries: [Entry; ENTRIES],
    used: u32,
    /// Index of the next node, 0 if none.
    next: u32,
    /// The chain it was last part of.
    owner: u32,
    /// Of a chain's first node: what changes whenever a write joins the chain.
    writes: u32,
}

/// Where a strand's mark of reads at an instruction is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    chain: u32,
    /// The first node's `writes` when all writes of the chain were known to come before the strand's read.
    writes: u32,
    spot: Spot,
    pc: u32,
    strand: u16,
}

/// Marks from which on a chain is long.
pub const LONG: u32 = 16;
/// Places that are remembered; a power of two.
const PLACES: usize = 1 << 15;

/// A chain of nodes: see [`Chains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain(u32);

impl Chain {
    /// The chain a cell's `read` stands for, if it does.
    #[inline(always)]
    pub fn of_read(read: u64) -> Option<Chain> {
        (read >> STRAND_SHIFT & CHAINED_MASK == CHAINED).then_some(Chain((read >> EVENT_SHIFT) as u32))
    }

    /// What stands for it in a cell.
    pub fn as_read(self) -> u64 {
        (self.0 as u64) << EVENT_SHIFT | CHAINED << STRAND_SHIFT
    }

    /// The chain of this number.
    pub fn numbered(number: u32) -> Chain {
        Chain(number)
    }

    /// What [`Chain::numbered`] knows it by.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// All chains of a run: out of `N` nodes, a power of two, so that an index needs no look whether it is one.
#[derive(Debug)]
pub struct Chains<'a, const N: usize> {
    nodes: Option<&'a mut [Node; N]>,
    /// Nodes handed out so far; node 0 is none.
    used: u32,
    /// The first of those that were given back.
    free: u32,
    /// A mark was left out, for want of room.
    lost: bool,
    /// Places in long chains, each where its numbers say; none before there is such a chain.
    places: Vec<Place>,
}

impl<'a, const N: usize> Chains<'a, N> {
    /// No room at all.
    pub const fn nowhere() -> Self {
        const { assert!(N.is_power_of_two()) };
        Chains { nodes: None, used: 1, free: 0, lost: false, places: Vec::new() }
    }

    /// Chains of these nodes, which are all zero.
    pub const fn of(nodes: &'a mut [Node; N]) -> Self {
        const { assert!(N.is_power_of_two()) };
        Chains { nodes: Some(nodes), used: 1, free: 0, lost: false, places: Vec::new() }
    }

    /// Whether a mark was left out, for want of room.
    pub fn has_lost(&self) -> bool {
        self.lost
    }

    /// Whether there has been a chain at all.
    pub fn any(&self) -> bool {
        self.used > 1
    }

    /// A free node; `None` when there are too many.
    fn take(&mut self) -> Option<u32> {
        if let Some(nodes) = self.nodes.as_deref_mut().filter(|_| self.free != 0) {
            let index = self.free;
            let node = &mut nodes[index as usize % N];
            self.free = node.next;
            (node.used, node.next) = (0, 0);
            return Some(index);
        }
        if self.nodes.is_none() || self.used as usize >= N {
            self.lost = true;
            return None;
        }
        self.used += 1;
        Some(self.used - 1)
    }

    /// A chain without marks.
    pub fn make(&mut self) -> Option<Chain> {
        let index = self.take()?;
        let node = &mut self.nodes.as_deref_mut()?[index as usize % N];
        node.owner = index;
        node.writes = node.writes.wrapping_add(1);
        Some(Chain(index))
    }

    fn place_of(chain: Chain, mark: u64, pc: u32) -> usize {
        let numbers = (chain.0 as u64) << 32 | pc as u64;
        let numbers = numbers ^ (strand(mark) as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (numbers.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % PLACES
    }

    /// Whether it has many nodes.
    pub fn is_long(&self, chain: Chain) -> bool {
        let Some(nodes) = self.nodes.as_deref() else { return false };
        let mut index = chain.0;
        for _ in 0..LONG as usize / ENTRIES {
            index = nodes[index as usize % N].next;
            if index == 0 {
                return false;
            }
        }
        true
    }

    /// Remembers where a read's mark is, all writes of the chain being known to come before it.
    #[cold]
    #[inline(never)]
    pub fn remember(&mut self, chain: Chain, spot: Spot, read: &Entry) {
        let Some(nodes) = self.nodes.as_deref() else { return };
        let writes = nodes[chain.0 as usize % N].writes;
        if self.places.is_empty() {
            self.places.resize(PLACES, Place::default());
        }
        let strand = strand(read.mark) as u16;
        self.places[Self::place_of(chain, read.mark, read.pc)] =
            Place { chain: chain.0, writes, spot, pc: read.pc, strand };
    }

    /// The strand's mark of its last read at this instruction, if it is remembered where that is and no write has joined the chain since.
    #[inline]
    pub fn place(&mut self, chain: Chain, new: &Entry) -> Option<&mut Entry> {
        if self.places.is_empty() {
            return None;
        }
        let place = self.places.get(Self::place_of(chain, new.mark, new.pc))?;
        let nodes = self.nodes.as_deref_mut()?;
        let same = place.chain == chain.0
            && (place.pc, place.strand as usize) == (new.pc, strand(new.mark))
            && place.writes == nodes[chain.0 as usize % N].writes;
        let Spot(index, at) = place.spot;
        let node = &mut nodes[index as usize % N];
        if !same || node.owner != chain.0 || at >= node.used {
            return None;
        }
        let entry = node.entries.get_mut(at as usize)?;
        let is_it = strand(entry.mark) == strand(new.mark) && (entry.pc, entry.write) == (new.pc, new.write);
        is_it.then_some(entry)
    }

    /// Every mark of a chain.
    #[inline]
    pub fn marks(&self, chain: Chain) -> impl Iterator<Item = &Entry> {
        let mut index = chain.0;
        core::iter::from_fn(move || {
            let nodes = self.nodes.as_deref().filter(|_| index != 0)?;
            let node = &nodes[index as usize % N];
            index = node.next;
            Some(&node.entries[..node.used as usize])
        })
        .flatten()
    }

    /// Whether there is such a mark; who asks may change it.
    #[inline(always)]
    pub fn any_mut(&mut self, chain: Chain, mut is: impl FnMut(&mut Entry) -> bool) -> bool {
        let Some(nodes) = self.nodes.as_deref_mut() else { return false };
        let mut index = chain.0;
        while index != 0 {
            let node = &mut nodes[index as usize % N];
            // There are never more; said so that nobody has to look.
            let used = (node.used as usize).min(ENTRIES);
            if node.entries[..used].iter_mut().any(&mut is) {
                return true;
            }
            index = node.next;
        }
        false
    }

    /// The same, which says where each mark is: see [`Chains::widen`].
    #[inline(always)]
    pub fn any_at(&self, chain: Chain, mut is: impl FnMut(&Entry, Spot) -> bool) -> bool {
        let Some(nodes) = self.nodes.as_deref() else { return false };
        let mut index = chain.0;
        while index != 0 {
            let node = &nodes[index as usize % N];
            if (0..node.used).zip(&node.entries).any(|(at, entry)| is(entry, Spot(index, at))) {
                return true;
            }
            index = node.next;
        }
        false
    }

    /// Adds bytes to the mark at a place that [`Chains::any_at`] told, as long as nothing was taken out since.
    #[inline(always)]
    pub fn widen(&mut self, Spot(index, at): Spot, bytes: u8) {
        if let Some(nodes) = self.nodes.as_deref_mut() {
            nodes[index as usize % N].entries[at as usize].mark |= bytes as u64;
        }
    }

    /// Puts another mark in the place of the one that [`Chains::any_at`] told of.
    pub fn put(&mut self, Spot(index, at): Spot, entry: Entry) {
        if let Some(nodes) = self.nodes.as_deref_mut() {
            nodes[index as usize % N].entries[at as usize] = entry;
        }
    }

    /// Calls `visit` with every mark, which may change it.
    pub fn each_mut(&mut self, chain: Chain, mut visit: impl FnMut(&mut Entry)) {
        self.any_mut(chain, |entry| {
            visit(entry);
            false
        });
    }

    /// Keeps the marks that `keep` wants; returns how many.
    pub fn retain(&mut self, chain: Chain, keep: impl Fn(&Entry) -> bool) -> u32 {
        let Some(nodes) = self.nodes.as_deref_mut() else { return 0 };
        let mut index = chain.0;
        let mut kept = 0;
        while index != 0 {
            let node = &mut nodes[index as usize % N];
            let mut at = 0;
            while at < node.used as usize {
                if keep(&node.entries[at]) {
                    at += 1;
                } else {
                    node.used -= 1;
                    node.entries[at] = node.entries[node.used as usize];
                }
            }
            kept += node.used;
            index = node.next;
        }
        kept
    }

    /// Adds a mark; when there is no room at all it is left out, and that is false.
    pub fn push(&mut self, chain: Chain, entry: Entry) -> bool {
        self.add(chain, entry).is_some()
    }

    /// The same, which says where.
    pub fn add(&mut self, chain: Chain, entry: Entry) -> Option<Spot> {
        let mut index = chain.0;
        loop {
            let nodes = self.nodes.as_deref_mut()?;
            let node = &mut nodes[index as usize % N];
            if (node.used as usize) < ENTRIES {
                let spot = Spot(index, node.used);
                node.entries[node.used as usize] = entry;
                node.used += 1;
                if entry.write != 0 {
                    let first = &mut nodes[chain.0 as usize % N];
                    first.writes = first.writes.wrapping_add(1);
                }
                return Some(spot);
            }
            let mut next = node.next;
            if next == 0 {
                next = self.take()?;
                if let Some(nodes) = self.nodes.as_deref_mut() {
                    nodes[next as usize % N].owner = chain.0;
                    nodes[index as usize % N].next = next;
                }
            }
            index = next;
        }
    }

    /// Gives a chain's nodes back.
    pub fn free(&mut self, chain: Chain) {
        let Some(nodes) = self.nodes.as_deref_mut() else { return };
        let mut last = chain.0;
        while nodes[last as usize % N].next != 0 {
            last = nodes[last as usize % N].next;
        }
        nodes[last as usize % N].next = self.free;
        self.free = chain.0;
    }
}

/// The place of a mark in its chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spot(u32, u32);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    fn entry(number: u32) -> Entry {
        Entry { mark: mark(number as u64, 3, 0xF), pc: number, write: number & 1 }
    }

    fn pcs<const N: usize>(chains: &Chains<'_, N>, chain: Chain) -> Vec<u32> {
        chains.marks(chain).map(|entry| entry.pc).collect()
    }

    #[test]
    fn a_mark_has_what_it_was_made_of() {
        let made = mark(0xFF_FFFF_FFFF, 0x7FFE, 0xA5);
        assert_eq!((event(made), strand(made), bytes(made)), (0xFF_FFFF_FFFF, 0x7FFE, 0xA5));
        let noted = made | NOTED;
        assert_eq!((event(noted), strand(noted), bytes(noted)), (0xFF_FFFF_FFFF, 0x7FFE, 0xA5));
        assert_eq!((event(0), strand(0), bytes(0)), (0, 0, 0));
    }

    #[test]
    fn a_chain_is_told_from_a_mark() {
        for number in [1, 77, NODES as u32 - 1] {
            assert_eq!(Chain::of_read(Chain(number).as_read()), Some(Chain(number)));
        }
        assert_eq!(Chain::of_read(mark(5, 0x7FFE, 0xFF) | NOTED), None);
        assert_eq!(Chain::of_read(0), None);
    }

    #[test]
    fn a_chain_keeps_its_marks_in_order_over_several_nodes() {
        let mut nodes = [Node::default(); 8];
        let mut chains = Chains::of(&mut nodes);
        assert!(!chains.any());
        let chain = chains.make().expect("room");
        assert!((0..10).all(|number| chains.push(chain, entry(number))));
        assert!(chains.any());
        assert_eq!(pcs(&chains, chain), (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_not_kept_goes_and_its_room_is_used_again() {
        let mut nodes = [Node::default(); 4];
        let mut chains = Chains::of(&mut nodes);
        let chain = chains.make().expect("room");
        (0..9).for_each(|number| assert!(chains.push(chain, entry(number))));
        assert_eq!(chains.retain(chain, |entry| entry.write == 0), 5);
        for number in 20..24 {
            assert!(chains.push(chain, entry(number)));
        }
        let mut left = pcs(&chains, chain);
        left.sort_unstable();
        assert_eq!(left, [0, 2, 4, 6, 8, 20, 21, 22, 23]);
        assert!(!chains.has_lost());
    }

    #[test]
    fn without_room_a_mark_is_left_out_and_that_is_known() {
        let mut nodes = [Node::default(); 2];
        let mut chains = Chains::of(&mut nodes);
        let chain = chains.make().expect("room");
        assert!((0..3).all(|number| chains.push(chain, entry(number))));
        assert!(!chains.has_lost());
        assert!(!chains.push(chain, entry(3)));
        assert!(chains.has_lost());
        assert_eq!(chains.make(), None);
        assert_eq!(pcs(&chains, chain), [0, 1, 2]);
    }

    #[test]
    fn without_any_memory_there_is_no_chain() {
        let mut chains = Chains::<4>::nowhere();
        assert_eq!(chains.make(), None);
        assert!(chains.has_lost());
    }

    #[test]
    fn a_freed_chain_is_empty_when_it_is_made_again() {
        let mut nodes = [Node::default(); 4];
        let mut chains = Chains::of(&mut nodes);
        let long = chains.make().expect("room");
        (0..9).for_each(|number| assert!(chains.push(long, entry(number))));
        chains.free(long);
        for _ in 0..3 {
            let again = chains.make().expect("three nodes came back");
            assert_eq!(pcs(&chains, again), []);
        }
        assert_eq!(chains.make(), None);
    }

    #[test]
    fn a_mark_is_changed_where_it_is() {
        let mut nodes = [Node::default(); 4];
        let mut chains = Chains::of(&mut nodes);
        let chain = chains.make().expect("room");
        (0..5).for_each(|number| assert!(chains.push(chain, entry(number))));
        let found = chains.any_mut(chain, |entry| {
            entry.pc += 10;
            entry.pc == 13
        });
        assert!(found);
        assert_eq!(pcs(&chains, chain), [10, 11, 12, 13, 4], "nobody is asked after that");
    }

    #[test]
    fn a_mark_is_widened_where_it_is() {
        let mut nodes = [Node::default(); 4];
        let mut chains = Chains::of(&mut nodes);
        let chain = chains.make().expect("room");
        (0..5).for_each(|number| assert!(chains.push(chain, entry(number))));
        let mut spot = None;
        assert!(chains.any_at(chain, |entry, at| {
            spot = Some(at);
            entry.pc == 4
        }));
        chains.widen(spot.expect("it is there"), 0x30);
        let wide: Vec<u32> =
            chains.marks(chain).filter(|it| bytes(it.mark) == 0x3F).map(|it| it.pc).collect();
        assert_eq!(wide, [4]);
        assert!(!chains.any_at(chain, |entry, _| entry.pc == 5));
    }

    proptest! {
        /// Several chains out of one pool, against lists: nothing is lost, mixed up or kept after it was freed.
        #[test]
        fn chains_are_lists(steps in prop::collection::vec((0u8..5, 0u32..6, 0u32..100), 1..120)) {
            let mut nodes = [Node::default(); 64];
            let mut chains = Chains::of(&mut nodes);
            let mut lists: BTreeMap<u32, (Chain, Vec<u32>)> = BTreeMap::new();
            for (what, name, value) in steps {
                match what {
                    0..=2 => {
                        let fresh = !lists.contains_key(&name);
                        if fresh {
                            let Some(chain) = chains.make() else { continue };
                            lists.insert(name, (chain, Vec::new()));
                        }
                        let (chain, list) = lists.get_mut(&name).expect("made");
                        if chains.push(*chain, entry(value)) {
                            list.push(value);
                        }
                    }
                    3 => {
                        if let Some((chain, list)) = lists.get_mut(&name) {
                            chains.retain(*chain, |entry| !entry.pc.is_multiple_of(3));
                            list.retain(|value| !value.is_multiple_of(3));
                        }
                    }
                    _ => {
                        if let Some((chain, _)) = lists.remove(&name) {
                            chains.free(chain);
                        }
                    }
                }
                for (chain, list) in lists.values() {
                    let mut have = pcs(&chains, *chain);
                    let mut want = list.clone();
                    have.sort_unstable();
                    want.sort_unstable();
                    prop_assert_eq!(have, want);
                }
            }
        }
    }
}
