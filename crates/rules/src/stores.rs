//! The stores of an atomic object that some strand may still see, and which of them a load sees: C11's memory model as a choice.
//!
//! The way is that of tsan11 (Lidbury and Donaldson, POPL 2017) and of Miri's `weak_memory`. Every store has its place in the
//! object's modification order. A load sees the newest store, or an older one down to the first that it must not miss:
//! - one that happens before the load, or that a load saw which happens before it, or that its own strand made or saw (coherence);
//! - one that was made, or seen, before a sequentially consistent fence that a fence of the load's strand, or the sequentially
//!   consistent load itself, comes after;
//! - one that a sequentially consistent operation made or saw, for a sequentially consistent load, and for a load behind a fence that came
//!   after that operation.
//!
//! Sequentially consistent operations are ordered as they are made. A read-modify-write, and an exchange that fails, has the newest.
//!
//! A store may come before stores that are newer in the run, under the same rules and not in the midst of a read-modify-write: so
//! the order of two strands' stores may differ from object to object (2+2W).
//!
//! What is never made: a load that sees a store that its own strand's later work has a part in (load buffering, out of thin air),
//! and more than [`KEPT`] stores at a time. Under total store order (`tso`) a load sees an older store if that was the
//! newest at some time since its strand's last look at memory that it did not make itself, and stores stay in order.

use crate::clock::Clock;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use threadbare_abi::layout::MemoryModel;
use threadbare_abi::op::Order;

/// Stores of an object that are kept at the most.
pub const KEPT: usize = 16;
/// Looks of a strand at one store that is not the newest; then it sees the newest. No loop is kept waiting by a choice.
const PATIENCE: u16 = 4;
/// The strand of a store that everybody knows.
pub const ALL: u16 = u16::MAX;

/// Who saw a store: the strand, how often, and the event at which it first did.
#[derive(Debug)]
struct Look {
    strand: u16,
    count: u16,
    event: u64,
    /// The event at which it first did by a sequentially consistent operation.
    total: u64,
}

const NEVER: u64 = u64::MAX;

/// A store.
#[derive(Debug)]
pub struct Stored {
    /// Who made it; [`ALL`] for what was there first.
    pub strand: u16,
    /// Sequentially consistent.
    seq_cst: bool,
    /// It is the write of a read-modify-write: nothing comes between it and the store before it.
    exchange: bool,
    /// When it was made, by its strand's events.
    pub event: u64,
    /// When it was made, by the run's stores.
    time: u64,
    /// The instruction.
    pub pc: u64,
    /// What it wrote.
    pub value: u64,
    /// Its order.
    pub order: Order,
    /// What whoever acquires it gets.
    pub release: Clock,
    looks: Vec<Look>,
}

impl Stored {
    const NOTHING: Stored = Stored {
        strand: ALL,
        seq_cst: false,
        exchange: false,
        event: 0,
        time: 0,
        pc: 0,
        value: 0,
        order: Order::Relaxed,
        release: Clock::new(),
        looks: Vec::new(),
    };
}

/// What is told of a store when it is made.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// The instruction.
    pub pc: u64,
    /// What it wrote.
    pub value: u64,
    /// Its order.
    pub order: Order,
    /// It is the write of a read-modify-write.
    pub exchange: bool,
    /// How many newer stores it comes before.
    pub back: usize,
}

/// The stores, the oldest first.
#[derive(Debug, Default)]
pub struct History {
    stores: VecDeque<Stored>,
    /// A store was dropped that somebody might have seen.
    pub cut: bool,
}

/// What all strands know of sequentially consistent operations.
#[derive(Debug)]
pub struct Total {
    /// What loads may see.
    pub model: MemoryModel,
    /// Stores so far.
    time: u64,
    /// What happens before some sequentially consistent fence.
    fences: Clock,
    /// Sequentially consistent loads and stores.
    accesses: Clock,
}

impl Total {
    /// A run begins, with loads that may see this.
    pub const fn new(model: MemoryModel) -> Total {
        Total { model, time: 0, fences: Clock::new(), accesses: Clock::new() }
    }

    /// A sequentially consistent fence.
    pub fn fence(&mut self, strand: u16, event: u64, clock: &Clock, view: &mut View) {
        self.fences.join(clock);
        self.fences.raise(strand as usize, event);
        view.fences.assign(&self.fences);
        view.accesses.assign(&self.accesses);
        view.settle(self);
    }
}

/// What a strand keeps for the model.
#[derive(Debug, Default)]
pub struct View {
    /// What happened before the fences that its last sequentially consistent fence comes after.
    fences: Clock,
    /// Sequentially consistent loads and stores before that fence.
    accesses: Clock,
    /// The stores that were made when it last looked at memory that it had not written itself.
    since: u64,
    /// The newest store of each strand that it saw, whatever the order.
    pub heard: Clock,
}

impl View {
    /// All that the other knows is known.
    pub fn join(&mut self, other: &View) {
        self.fences.join(&other.fences);
        self.accesses.join(&other.accesses);
    }

    /// The strand synchronises: its store buffer is empty.
    #[inline(always)]
    pub fn settle(&mut self, total: &Total) {
        self.since = total.time;
    }
}

/// A strand that is about to look, or to store.
#[derive(Clone, Copy, Debug)]
pub struct Looker<'a> {
    /// Its index.
    pub strand: u16,
    /// What happens before its next step.
    pub clock: &'a Clock,
    /// What it must see besides.
    pub view: &'a View,
}

impl History {
    /// Nothing is known of the object but its value.
    pub fn clear(&mut self) {
        self.stores.clear();
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.stores.is_empty()
    }

    /// Whether there is but one store to see.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.stores.len() < 2
    }

    /// The store that is so many older than the newest.
    pub fn back(&self, back: usize) -> Option<&Stored> {
        self.stores.len().checked_sub(back + 1).and_then(|at| self.stores.get(at))
    }

    /// The place of the oldest store that the strand may see, or come right after.
    fn floor(&self, total: &Total, who: Looker<'_>, order: Order) -> usize {
        let seq_cst = order == Order::SeqCst;
        let known = |strand: u16, event: u64| strand == who.strand || who.clock.get(strand as usize) >= event;
        // By its first event, and by its first event of a sequentially consistent operation.
        let told = |strand: u16, event: u64, in_total: u64| {
            let by = strand as usize;
            known(strand, event)
                || event <= who.view.fences.get(by)
                || seq_cst && (in_total != NEVER || event <= total.fences.get(by))
                || in_total <= who.view.accesses.get(by)
        };
        let must_see = |stored: &Stored| {
            let in_total = if stored.seq_cst { stored.event } else { NEVER };
            stored.strand == ALL
                || told(stored.strand, stored.event, in_total)
                || stored.looks.iter().any(|look| told(look.strand, look.event, look.total))
        };
        (0..self.stores.len()).rev().find(|&at| must_see(&self.stores[at])).unwrap_or(0)
    }

    /// How many stores a load may see, the newest among them; whether it has looked too often at an older one.
    pub fn visible(&self, total: &Total, who: Looker<'_>, order: Order) -> (u32, bool) {
        let newest = self.stores.len() - 1;
        let mut floor = self.floor(total, who, order);
        if total.model == MemoryModel::Tso {
            while floor < newest && self.stores[floor + 1].time <= who.view.since {
                floor += 1;
            }
        }
        let impatient = |stored: &Stored| {
            stored.looks.iter().any(|look| look.strand == who.strand && look.count >= PATIENCE)
        };
        let first = floor;
        while floor < newest && impatient(&self.stores[floor]) {
            floor += 1;
        }
        ((newest - floor) as u32 + 1, floor > first)
    }

    /// How many newer stores each place has that a store may come to, the newest first.
    pub fn places(&self, total: &Total, who: Looker<'_>, order: Order) -> impl Iterator<Item = usize> {
        let floor = self.floor(total, who, order);
        let newest = self.stores.len() - 1;
        let stays = total.model == MemoryModel::Tso || order == Order::SeqCst;
        let least = if stays { newest } else { floor };
        (least..=newest)
            .rev()
            .filter(move |&at| at == newest || !self.stores[at + 1].exchange)
            .map(move |at| newest - at)
    }

    /// The strand sees a store, at its event.
    pub fn looked(
        &mut self,
        total: &mut Total,
        (strand, event): (u16, u64),
        view: &mut View,
        back: usize,
        order: Order,
    ) {
        let Some(at) = self.stores.len().checked_sub(back + 1) else { return };
        let stored = &mut self.stores[at];
        let seq_cst = order == Order::SeqCst;
        let in_total = if seq_cst { event } else { NEVER };
        if seq_cst {
            total.accesses.raise(strand as usize, event);
        }
        match stored.looks.iter_mut().find(|look| look.strand == strand) {
            Some(look) => {
                look.count = look.count.saturating_add((back > 0) as u16);
                look.total = look.total.min(in_total);
            }
            None => {
                let count = (back > 0) as u16;
                stored.looks.push(Look { strand, count, event, total: in_total });
            }
        }
        if stored.strand != strand {
            view.since = view.since.max(stored.time);
            if stored.strand != ALL {
                view.heard.raise(stored.strand as usize, stored.event);
            }
        }
    }

    /// What was there first.
    pub fn begins(&mut self, value: u64) {
        self.stores.clear();
        self.stores.push_back(Stored { value, ..Stored::NOTHING });
    }

    /// The strand makes a store at its event, which publishes `release`.
    pub fn push(
        &mut self,
        total: &mut Total,
        (strand, event): (u16, u64),
        view: &mut View,
        made: Made,
        release: &Clock,
    ) {
        total.time += 1;
        let seq_cst = made.order == Order::SeqCst;
        if seq_cst {
            total.accesses.raise(strand as usize, event);
        }
        if seq_cst || made.exchange {
            view.since = total.time;
        }
        if self.stores.len() >= KEPT {
            self.cut = true;
            // Whatever the oldest published is gone with it; its memory is used again.
            self.stores.rotate_left(1);
        } else {
            self.stores.push_back(Stored::NOTHING);
        }
        let Some(stored) = self.stores.back_mut() else { return };
        stored.looks.clear();
        (stored.strand, stored.event, stored.time) = (strand, event, total.time);
        (stored.seq_cst, stored.exchange) = (seq_cst, made.exchange);
        (stored.pc, stored.value, stored.order) = (made.pc, made.value, made.order);
        stored.release.assign(release);
        let newest = self.stores.len() - 1;
        for at in (newest - made.back.min(newest)..newest).rev() {
            self.stores.swap(at, at + 1);
        }
    }
}

#[cfg(test)]
#[path = "stores_tests.rs"]
mod tests;
