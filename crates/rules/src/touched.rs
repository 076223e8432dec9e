//! Who has touched memory, and where: every 8 bytes remember each access that tells something new.
//!
//! What a cell has to answer is which earlier accesses conflict with a new one (bytes in common, one of the two writes, and nothing but
//! chance orders them: neither the same strand nor a creation or a join, see [`crate::lineage`]), all of them, since each is an instruction to be learnt. So it keeps every different access: instruction,
//! bytes, whether it wrote, and who, or that several did. An access at an instruction that is a point already has no
//! instruction here: there is nothing to learn of it, only from it.
//!
//! Of each conflicting pair of a run both are learnt when the later one is made. What has been noted need not
//! be compared again, since whoever conflicts with it and came later has found it, and nobody comes after only the first of two accesses of one stretch.
//! So an access that is made again costs a few instructions.
//!
//! Entries are taken together where one can say the same: bytes of one stretch's accesses at an instruction, strands that did the same to
//! the same bytes, an access and one before it at the same instruction. Of points only matters what conflicts with them: a write says what a read does, and that several have written says
//! all. So memory that strands share, or only read, has one entry in the end, in the cell's own word. What several did is taken to conflict with everybody: that
//! learns more than need be, never less.
//!
//! **The shadow keeps every different access**, not the last one: a read that two others came after is still known when
//! somebody writes. Atomics are noted, too, for the plain accesses that meet them. What is made again is recognised by
//! one word of the cell.

use crate::marks::{self, Chain, Chains, Entry};

/// The bit of a cell's word that is somebody else's; it is left as it is.
pub const FOREIGN: u64 = 1;

/// A cell's word: whether there is a chain, whether it writes, and the low half of the pc.
const CHAINED: u64 = 1 << 1;
const WRITES: u64 = 1 << 2;
const PC_SHIFT: u32 = 32;
const PC: u64 = !0 << PC_SHIFT;
/// Of a cell with one access: the stretch's name + 1, or that several did this; the bytes.
const SEVERAL: u64 = 1 << 3;
const OWNER_SHIFT: u32 = 4;
const OWNER: u64 = 0x7FFF;
const BYTES_SHIFT: u32 = 20;
const BYTES: u64 = 0xFF << BYTES_SHIFT;
/// Of a cell with a chain of them: its number, and the last access of one of the first stretches, if its bytes have a shape.
const FIRST_SHIFT: u32 = 3;
const FIRST_NAMES: u64 = 15;
const SHAPE_SHIFT: u32 = 7;
const CHAIN_SHIFT: u32 = 12;
const CHAIN: u64 = (marks::NODES as u64 - 1) << CHAIN_SHIFT;
const _: () = assert!(marks::NODES <= 1 << (PC_SHIFT - CHAIN_SHIFT));

/// In an entry of a chain: more than one strand did this.
const SEVERAL_STRANDS: u16 = 0x7FFF;

/// The running strand, and what comes before it whatever is chosen.
pub trait Order {
    /// The strand of a name, and which of its stretches.
    fn stretch(&self, name: usize) -> (u16, u32);
    /// Whether what was done under a name comes before: the strand's own, or what creations and joins order.
    fn is_before(&self, name: usize) -> bool;
}

/// What came of noting an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// Nobody had touched the cell.
    First,
    /// It conflicts with no earlier one.
    Apart,
    /// It conflicts with an earlier one.
    Conflicts,
}

/// An access as cells keep it: to bytes of one cell, at an instruction that is no point yet, or 0.
#[derive(Clone, Copy, Debug)]
pub struct New {
    addr: u64,
    bytes: u64,
    /// A power of two, or 0 if it has no shape.
    size: u32,
    /// Instruction and whether it writes.
    what: u64,
    me: u64,
}

impl New {
    /// One whose size is a power of two, under the name of the running strand's stretch, or [`crate::lineage::PENDING`].
    #[inline(always)]
    pub fn of(name: u16, addr: u64, size: u32, write: bool, pc: u64) -> New {
        New::part(name, addr, ((1 << size) - 1) << (addr & 7), size, write, pc)
    }

    /// One to any bytes of a cell.
    #[inline(always)]
    pub fn bytes(name: u16, addr: u64, bits: u8, write: bool, pc: u64) -> New {
        New::part(name, addr, bits.into(), 0, write, pc)
    }

    #[inline(always)]
    fn part(name: u16, addr: u64, bits: u64, size: u32, write: bool, pc: u64) -> New {
        let what = pc << PC_SHIFT | (write as u64) << WRITES.trailing_zeros();
        New { addr, bytes: bits << BYTES_SHIFT, size, what, me: name as u64 + 1 }
    }

    /// The same under a name that was given meanwhile.
    #[inline(always)]
    pub fn named(self, name: u16) -> New {
        New { me: name as u64 + 1, ..self }
    }

    /// The word of a cell that has been touched in no other way.
    #[inline(always)]
    fn alone(self) -> u64 {
        self.what | self.bytes | self.me << OWNER_SHIFT
    }

    /// What a chained cell's word has of its last access; only that there is a chain if more cannot be told exactly.
    #[inline(always)]
    fn last(self) -> u64 {
        if self.me > FIRST_NAMES || self.size == 0 {
            return CHAINED;
        }
        let shape = self.addr & 7 | (self.size.trailing_zeros() as u64) << 3;
        self.what | shape << SHAPE_SHIFT | self.me << FIRST_SHIFT | CHAINED
    }

    /// Whether one look tells that the cell knows of it: the last access was the same, or the only one at other bytes, or
    /// several have done the same and nobody anything else.
    #[inline(always)]
    pub fn repeats(self, word: &mut u64) -> bool {
        let alone = self.alone();
        if (*word ^ alone) & !(BYTES | FOREIGN) == 0 {
            *word |= alone;
            return true;
        }
        if (*word ^ (self.what | self.bytes | SEVERAL)) & (!(BYTES | FOREIGN) | self.bytes) == 0 {
            return true;
        }
        let last = self.last();
        (*word ^ last) & !(CHAIN | FOREIGN) == 0 && last != CHAINED
    }

    /// Notes it, under a name. `learn` is called with the instructions of earlier ones that it conflicts with.
    #[inline(always)]
    pub fn note<const N: usize>(
        self,
        word: &mut u64,
        chains: &mut Chains<'_, N>,
        order: &impl Order,
        learn: impl FnMut(u32),
    ) -> Noted {
        let old = *word & !FOREIGN;
        let last = self.last();
        let new = entry(self.alone());
        if old == 0 {
            *word |= self.alone();
            return Noted::First;
        }
        let known = if old & CHAINED != 0 {
            let chain = chain_of(old);
            *word = chained(chain, last) | *word & FOREIGN;
            again(chains, chain, order, &new)
        } else {
            covers(&entry(old), &new)
        };
        if known || !further(word, chains, order, new, last, learn) { Noted::Apart } else { Noted::Conflicts }
    }
}

/// Whether several have written all of these bytes, at points: that says all there is to say.
#[inline(always)]
pub fn says_all(word: u64, bits: u8) -> bool {
    let whole = SEVERAL | WRITES | (bits as u64) << BYTES_SHIFT;
    word & (PC | CHAINED | whole) == whole
}

/// Whether the access is in the chain, perhaps at other bytes, which are added if nobody else has been there.
#[inline(always)]
fn again<const N: usize>(chains: &mut Chains<'_, N>, chain: Chain, order: &impl Order, new: &Entry) -> bool {
    let (mut own, mut met, mut twin, mut several) = (None, false, false, false);
    let covered = chains.any_at(chain, |entry, spot| {
        let mine = marks::strand(entry.mark ^ new.mark) == 0;
        if covers(entry, new) {
            several |= !mine;
            return mine;
        }
        let same = (entry.pc, entry.write) == (new.pc, new.write);
        if mine {
            if same {
                own = Some(spot);
            }
        } else {
            // With the new bytes the two may become one of several.
            twin |= same;
            met |= marks::bytes(entry.mark & new.mark) != 0 && entry.write | new.write != 0;
        }
        false
    });
    match own {
        _ if covered => true,
        // Who came before all of several strands need not come before this one.
        _ if several => !met || !conflicts(chains, chain, order, new),
        Some(own) if !met && !twin => {
            chains.widen(own, marks::bytes(new.mark));
            true
        }
        _ => false,
    }
}

/// Whether the access conflicts with one of the chain, other than those that say the same.
#[inline(never)]
fn conflicts<const N: usize>(chains: &Chains<'_, N>, chain: Chain, order: &impl Order, new: &Entry) -> bool {
    chains.any_at(chain, |entry, _| {
        let meets = marks::bytes(entry.mark & new.mark) != 0 && entry.write | new.write != 0;
        meets && !covers(entry, new) && is_apart(entry, order)
    })
}

/// Whether nothing orders an earlier access before the running strand.
#[inline(always)]
fn is_apart(earlier: &Entry, order: &impl Order) -> bool {
    let name = marks::strand(earlier.mark);
    name == SEVERAL_STRANDS as usize || !order.is_before(name)
}

fn chain_of(word: u64) -> Chain {
    Chain::numbered(((word & CHAIN) >> CHAIN_SHIFT) as u32)
}

fn chained(chain: Chain, last: u64) -> u64 {
    (chain.number() as u64) << CHAIN_SHIFT | last
}

/// The access tells something new of a cell that has been touched before; whether it conflicts with an earlier one.
#[inline(never)]
fn further<const N: usize>(
    cell: &mut u64,
    chains: &mut Chains<'_, N>,
    order: &impl Order,
    mut new: Entry,
    last: u64,
    mut learn: impl FnMut(u32),
) -> bool {
    let old = *cell & !FOREIGN;
    let mut shared = false;
    if old & CHAINED != 0 {
        let chain = chain_of(old);
        chains.each_mut(chain, |entry| shared |= meets(entry, &new, order, &mut learn));
        known_if(shared, &mut new);
        let mut joined = false;
        chains.each_mut(chain, |entry| joined = joined || takes_in(entry, &new, order));
        if joined {
            tidy(cell, chains, order, chain);
        } else {
            chains.push(chain, new);
        }
        return shared;
    }
    let mut first = entry(old);
    shared = meets(&mut first, &new, order, &mut learn);
    known_if(shared, &mut new);
    if takes_in(&mut first, &new, order) {
        *cell = word(&first) | *cell & FOREIGN;
        return shared;
    }
    if let Some(chain) = chains.make() {
        chains.push(chain, first);
        chains.push(chain, new);
        *cell = chained(chain, last) | *cell & FOREIGN;
    }
    shared
}

/// Entries of a chain that are made fewer.
const FEW: usize = 6;

/// Takes together what one entry can say. A chain of which one is left is none.
fn tidy<const N: usize>(cell: &mut u64, chains: &mut Chains<'_, N>, order: &impl Order, chain: Chain) {
    let mut kept = [Entry::default(); FEW];
    let mut used = 0;
    for entry in chains.marks(chain) {
        let mut new = *entry;
        let mut at = 0;
        while at < used {
            if joins(&mut kept[at], &new, order) {
                // What it has become may go together with another one.
                new = kept[at];
                used -= 1;
                kept[at] = kept[used];
                at = 0;
            } else {
                at += 1;
            }
        }
        if used == FEW {
            return;
        }
        kept[used] = new;
        used += 1;
    }
    if used == 1 {
        *cell = word(&kept[0]) | *cell & FOREIGN;
        return chains.free(chain);
    }
    chains.retain(chain, |_| false);
    for entry in &kept[..used] {
        chains.push(chain, *entry);
    }
}

/// An instruction that is learnt need not be kept.
fn known_if(shared: bool, entry: &mut Entry) {
    if shared {
        entry.pc = 0;
    }
}

fn entry(word: u64) -> Entry {
    let owner = (word >> OWNER_SHIFT & OWNER) as u16;
    let strand = if word & SEVERAL != 0 { SEVERAL_STRANDS } else { owner.wrapping_sub(1) };
    let mark = marks::mark(0, strand, (word >> BYTES_SHIFT) as u8);
    Entry { mark, pc: (word >> PC_SHIFT) as u32, write: (word & WRITES != 0) as u32 }
}

fn word(entry: &Entry) -> u64 {
    let strand = marks::strand(entry.mark) as u64;
    let owner = if strand == SEVERAL_STRANDS as u64 { SEVERAL } else { (strand + 1) << OWNER_SHIFT };
    let writes = if entry.write != 0 { WRITES } else { 0 };
    (entry.pc as u64) << PC_SHIFT | (marks::bytes(entry.mark) as u64) << BYTES_SHIFT | writes | owner
}

/// Whether two accesses conflict; if so the earlier one is learnt.
fn meets(earlier: &mut Entry, new: &Entry, order: &impl Order, learn: &mut impl FnMut(u32)) -> bool {
    let meets = marks::bytes(earlier.mark & new.mark) != 0
        && earlier.write | new.write != 0
        && is_apart(earlier, order);
    if meets && earlier.pc != 0 {
        learn(earlier.pc);
        earlier.pc = 0;
    }
    meets
}

/// Whether an entry says all that a new access does. Of one that several made, whoever conflicts with the new one is taken to conflict
/// with them, too. Of a point only matters what it conflicts with, and a write does so with all that a read does.
#[inline(always)]
fn covers(entry: &Entry, new: &Entry) -> bool {
    let strand = marks::strand(entry.mark);
    entry.pc == new.pc
        && (entry.write == new.write || entry.write != 0 && new.pc == 0)
        && (strand == marks::strand(new.mark) || strand == SEVERAL_STRANDS as usize)
        && marks::bytes(new.mark) & !marks::bytes(entry.mark) == 0
}

/// Whether an access says all that one before it did: whoever conflicts with the earlier one does not come after this one either.
fn replaces(new: &Entry, earlier: &Entry) -> bool {
    let same = marks::mark(0, marks::strand(earlier.mark) as u16, marks::bytes(new.mark));
    covers(&Entry { mark: same, ..*new }, earlier)
}

/// Takes a new access into an earlier one if one entry can say both; false if not.
fn takes_in(earlier: &mut Entry, new: &Entry, order: &impl Order) -> bool {
    if !is_apart(earlier, order) && replaces(new, earlier) {
        *earlier = *new;
        return true;
    }
    joins(earlier, new, order)
}

/// The same of two entries, whoever runs.
fn joins(one: &mut Entry, other: &Entry, order: &impl Order) -> bool {
    if covers(one, other) {
        return true;
    }
    if covers(other, one) {
        *one = *other;
        return true;
    }
    let names = [one, other].map(|entry| marks::strand(entry.mark));
    let bytes = marks::bytes(other.mark);
    let same = (one.pc, one.write) == (other.pc, other.write);
    if names[0] == names[1] {
        one.mark |= if same { bytes as u64 } else { 0 };
        return same;
    }
    if !names.contains(&(SEVERAL_STRANDS as usize)) {
        let [(strand, stretch), (by, then)] = names.map(|name| order.stretch(name));
        if strand == by {
            let later = stretch < then && replaces(other, one);
            if later {
                *one = *other;
            }
            return later || stretch > then && replaces(one, other);
        }
        // Of writers that do not conflict one comes before the other, and others may conflict with the second alone.
        if one.write != 0 && one.pc != 0 {
            return false;
        }
    }
    if !same || marks::bytes(one.mark) != bytes {
        return false;
    }
    one.mark = marks::mark(0, SEVERAL_STRANDS, bytes);
    true
}

/// All of a cell is written by the running strand, for the last time: whether others have touched it. Their instructions are learnt.
pub fn last_write<const N: usize>(
    cell: &mut u64,
    chains: &mut Chains<'_, N>,
    order: &impl Order,
    mut learn: impl FnMut(u32),
) -> bool {
    let new = Entry { mark: marks::mark(0, 0, 0xFF), pc: 0, write: 1 };
    let old = *cell & !FOREIGN;
    let mut shared = false;
    if old & CHAINED != 0 {
        chains.each_mut(chain_of(old), |entry| shared |= meets(entry, &new, order, &mut learn));
    } else if old != 0 {
        let mut first = entry(old);
        if meets(&mut first, &new, order, &mut learn) {
            shared = true;
            *cell = word(&first) | *cell & FOREIGN;
        }
    }
    shared
}

/// Gives back what a cell has of chains; its word means nothing any more.
pub fn forget<const N: usize>(word: u64, chains: &mut Chains<'_, N>) {
    if word & CHAINED != 0 {
        chains.free(chain_of(word));
    }
}

#[cfg(test)]
#[path = "touched_tests.rs"]
mod tests;
