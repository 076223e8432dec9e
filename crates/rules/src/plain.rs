//! Plain accesses against what others did to the same bytes.
//!
//! A new mark takes the place of those that say no more than it does: whoever races with one of them later races with
//! the new one too, or comes after both.

use crate::Who;
use crate::marks::{self, Chain, Chains, Entry};

/// What is known of the plain accesses to 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Marks {
    /// The last write; 0 if none.
    pub write: u64,
    /// The last read, or where more marks are; 0 if none.
    pub read: u64,
    /// Low halves of the pcs of the write and (high half) of the read.
    pub pcs: u64,
}

/// An access to bytes of one cell.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// When.
    pub event: u64,
    /// The instruction.
    pub pc: u64,
    /// The bytes, one bit each.
    pub bits: u8,
    /// Whether it writes.
    pub writes: bool,
    /// Whether its mark may stand for the same access again: see [`crate::again`].
    pub noted: bool,
}

impl Access {
    #[inline(always)]
    fn mark(&self, who: &impl Who) -> u64 {
        let noted = if self.noted { marks::NOTED } else { 0 };
        marks::mark(self.event, who.strand(), self.bits) | noted
    }

    #[inline(always)]
    fn entry(&self, who: &impl Who) -> Entry {
        Entry { mark: self.mark(who), pc: self.pc as u32, write: self.writes as u32 }
    }

    /// Whether it touches a byte of the mark.
    #[inline(always)]
    fn meets(&self, mark: u64) -> bool {
        mark & self.bits as u64 != 0
    }

    /// Whether it touches every byte of the mark.
    #[inline(always)]
    fn covers(&self, mark: u64) -> bool {
        marks::bytes(mark) & !self.bits == 0
    }
}

/// Whether what a mark stands for happens before the strand's next step.
#[inline(always)]
fn before(who: &impl Who, mark: u64) -> bool {
    let other = marks::strand(mark);
    other == who.strand() as usize || who.knows(other) >= marks::event(mark)
}

/// Whether a mark is the strand's own, and nobody else has heard of it since.
#[inline(always)]
fn is_lately(who: &impl Who, mark: u64) -> bool {
    marks::strand(mark) == who.strand() as usize && marks::event(mark) > who.heard_of()
}

impl Marks {
    fn write_entry(&self) -> Entry {
        Entry { mark: self.write, pc: self.pcs as u32, write: 1 }
    }

    fn read_entry(&self) -> Entry {
        Entry { mark: self.read, pc: (self.pcs >> 32) as u32, write: 0 }
    }

    #[inline(always)]
    fn set_write(&mut self, mark: u64, pc: u64) {
        self.write = mark;
        self.pcs = self.pcs & !0xFFFF_FFFF | pc & 0xFFFF_FFFF;
    }

    #[inline(always)]
    fn set_read(&mut self, mark: u64, pc: u64) {
        self.read = mark;
        self.pcs = self.pcs & 0xFFFF_FFFF | pc << 32;
    }

    /// An access, if there is nothing new to be told and the two marks will do; else nothing is done, and that is
    /// false. What the strand has done at this instruction since others last heard of it has one mark, that of the first: whoever
    /// comes after one of these accesses comes after all. `told`: whether a race with an earlier access at this instruction, which wrote or not, is
    /// known.
    #[inline(always)]
    pub fn quick<const N: usize>(
        &mut self,
        chains: &mut Chains<'_, N>,
        who: &impl Who,
        access: &Access,
        told: impl Fn(u32, bool) -> bool,
    ) -> bool {
        let (write, read) = (self.write, self.read);
        if let Some(chain) = Chain::of_read(read) {
            return quick_chained(chains, chain, who, access.entry(who));
        }
        let new = access.mark(who);
        if access.meets(write) && !before(who, write) && !told(self.pcs as u32, true) {
            return false;
        }
        if !access.writes {
            if read == 0 || access.covers(read) && before(who, read) {
                self.set_read(new, access.pc);
            } else if (self.pcs >> 32) as u32 == access.pc as u32 && is_lately(who, read) {
                self.read |= access.bits as u64;
            } else {
                return false;
            }
            return true;
        }
        if access.meets(read) && !before(who, read) && !told((self.pcs >> 32) as u32, false) {
            return false;
        }
        if access.covers(write) {
            self.set_write(new, access.pc);
        } else if self.pcs as u32 == access.pc as u32 && is_lately(who, write) {
            self.write |= access.bits as u64;
        } else {
            return false;
        }
        if access.covers(read) {
            self.read = 0;
            self.pcs &= 0xFFFF_FFFF;
        }
        true
    }

    /// An access; `race` is called with every earlier one that it races with.
    #[inline(always)]
    pub fn access<const N: usize>(
        &mut self,
        chains: &mut Chains<'_, N>,
        who: &impl Who,
        access: &Access,
        mut race: impl FnMut(Entry),
    ) {
        let (write, read) = (self.write, self.read);
        if let Some(chain) = Chain::of_read(read) {
            return self.chained(chains, chain, who, access, race);
        }
        if access.meets(write) && !before(who, write) {
            race(self.write_entry());
        }
        let new = access.mark(who);
        if !access.writes {
            if read == 0 || access.covers(read) && before(who, read) {
                return self.set_read(new, access.pc);
            }
            return self.chain(chains, access.entry(who));
        }
        if access.meets(read) && !before(who, read) {
            race(self.read_entry());
        }
        // One that raced with the new mark has been told and may go.
        if access.covers(write) && access.covers(read) {
            *self = Marks { write: new, read: 0, pcs: access.pc & 0xFFFF_FFFF };
        } else if access.covers(write) {
            self.set_write(new, access.pc);
        } else {
            self.chain(chains, access.entry(who));
        }
    }

    /// More marks than two are needed.
    #[cold]
    #[inline(never)]
    fn chain<const N: usize>(&mut self, chains: &mut Chains<'_, N>, new: Entry) {
        let Some(chain) = chains.make() else { return };
        if self.write != 0 {
            chains.push(chain, self.write_entry());
        }
        if self.read != 0 {
            chains.push(chain, self.read_entry());
        }
        chains.push(chain, new);
        *self = Marks { write: 0, read: chain.as_read(), pcs: 0 };
    }

    #[inline(never)]
    fn chained<const N: usize>(
        &mut self,
        chains: &mut Chains<'_, N>,
        chain: Chain,
        who: &impl Who,
        access: &Access,
        mut race: impl FnMut(Entry),
    ) {
        let mut unordered = false;
        self.check(chains, who, access, |entry| {
            unordered = true;
            race(entry);
        });
        let new = access.entry(who);
        // The mark of its last read here stays where it is, and so do those of others: see [`Chains::place`].
        let mut spot = None;
        let is_last = |entry: &Entry| {
            marks::strand(entry.mark) == marks::strand(new.mark)
                && (entry.pc, entry.write) == (new.pc, new.write)
                && access.covers(entry.mark)
        };
        if !access.writes
            && chains.any_at(chain, |entry, at| {
                spot = Some(at);
                is_last(entry)
            })
            && let Some(spot) = spot
        {
            chains.put(spot, new);
            if !unordered && chains.is_long(chain) {
                // Whoever takes marks away from a long chain makes others look through it.
                return chains.remember(chain, spot, &new);
            }
        } else {
            spot = None;
        }
        let kept = chains.retain(chain, |entry| {
            if spot.is_some() && entry.mark == new.mark {
                return true;
            }
            let says_more = !access.covers(entry.mark) || entry.write != 0 && !access.writes;
            says_more || !access.writes && !before(who, entry.mark)
        });
        if kept > u32::from(spot.is_some()) {
            let spot = spot.or_else(|| chains.add(chain, new));
            if kept >= marks::LONG
                && !access.writes
                && !unordered
                && let Some(spot) = spot
            {
                chains.remember(chain, spot, &new);
            }
            return;
        }
        chains.free(chain);
        *self = Marks::default();
        if access.writes {
            self.set_write(access.mark(who), access.pc);
        } else {
            self.set_read(access.mark(who), access.pc);
        }
    }

    /// Tells what an access races with; leaves no mark.
    pub fn check<const N: usize>(
        &self,
        chains: &Chains<'_, N>,
        who: &impl Who,
        access: &Access,
        mut race: impl FnMut(Entry),
    ) {
        let races = |entry: &Entry| {
            access.meets(entry.mark) && (access.writes || entry.write != 0) && !before(who, entry.mark)
        };
        match Chain::of_read(self.read) {
            Some(chain) => chains.marks(chain).filter(|entry| races(entry)).for_each(|entry| race(*entry)),
            None => [self.write_entry(), self.read_entry()].into_iter().filter(races).for_each(race),
        }
    }

    /// Whether some plain write to each of these bytes is known.
    pub fn are_written<const N: usize>(&self, chains: &Chains<'_, N>, bits: u8) -> bool {
        let mut found = marks::bytes(self.write);
        if let Some(chain) = Chain::of_read(self.read) {
            for entry in chains.marks(chain).filter(|entry| entry.write != 0) {
                found |= marks::bytes(entry.mark);
            }
        }
        bits & !found == 0
    }
}

/// [`Marks::quick`] with a chain: the strand's mark is there, and the access takes no other one's place.
#[inline(never)]
fn quick_chained<const N: usize>(
    chains: &mut Chains<'_, N>,
    chain: Chain,
    who: &impl Who,
    new: Entry,
) -> bool {
    let access = Access {
        event: marks::event(new.mark),
        pc: new.pc.into(),
        bits: marks::bytes(new.mark),
        writes: new.write != 0,
        noted: false,
    };
    let heard_of = who.heard_of();
    if new.write == 0
        && let Some(own) = chains.place(chain, &new)
    {
        if marks::event(own.mark) > heard_of {
            own.mark |= access.bits as u64;
            return true;
        }
        if access.covers(own.mark) {
            own.mark = new.mark;
            return true;
        }
    }
    let is_own = |entry: &Entry| {
        marks::strand(entry.mark) == who.strand() as usize
            && (entry.pc, entry.write) == (new.pc, new.write)
            && marks::event(entry.mark) > heard_of
    };
    let (mut found, mut missing) = (false, 0);
    let differs = chains.any_mut(chain, |entry| {
        if is_own(entry) {
            (found, missing) = (true, access.bits & !marks::bytes(entry.mark));
            return false;
        }
        let races = access.meets(entry.mark) && entry.write | new.write != 0 && !before(who, entry.mark);
        let says_more = !access.covers(entry.mark) || entry.write > new.write;
        races || !says_more && (new.write != 0 || before(who, entry.mark))
    });
    if differs || !found {
        return false;
    }
    if missing != 0 {
        chains.any_mut(chain, |entry| is_own(entry) && (entry.mark |= missing as u64, true).1);
    }
    true
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
