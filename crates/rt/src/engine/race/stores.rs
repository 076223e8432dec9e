//! What the stores of atomic objects are ordered by, besides clocks: see `threadbare_rules::stores`.

use super::super::live::live;
use super::super::strand::Strand;
use crate::model::single::Single;
use threadbare_abi::layout::MemoryModel;
use threadbare_abi::op::Order;
use threadbare_rules::clock::Clock;
use threadbare_rules::stores::{History, Looker, Made, Total};

static TOTAL: Single<Total> = Single::new(Total::new(MemoryModel::Sc));

/// The run begins.
pub fn begin(model: MemoryModel) {
    TOTAL.with(|total| total.model = model);
}

/// What loads may see.
#[inline(always)]
pub fn model() -> MemoryModel {
    TOTAL.with(|total| total.model)
}

/// The strand synchronises: its store buffer is empty.
#[inline(always)]
pub fn settle(this: &mut Strand) {
    TOTAL.with(|total| this.view.settle(total));
}

/// A sequentially consistent fence.
pub fn fence(this: &mut Strand) {
    TOTAL.with(|total| total.fence(this.id.0, live().events, &this.clock, &mut this.view));
}

fn looker(this: &Strand) -> Looker<'_> {
    Looker { strand: this.id.0, clock: &this.clock, view: &this.view }
}

/// How many stores a load of the strand may see, the newest among them; whether it has looked too often at an older one.
pub fn visible(history: &History, this: &Strand, order: Order) -> (u32, bool) {
    TOTAL.with(|total| history.visible(total, looker(this), order))
}

/// How many places a store of the strand may come to.
pub fn places(history: &History, this: &Strand, order: Order) -> u32 {
    TOTAL.with(|total| history.places(total, looker(this), order).count() as u32)
}

/// How many newer stores one of these places has.
pub fn place(history: &History, this: &Strand, order: Order, option: u32) -> usize {
    TOTAL.with(|total| history.places(total, looker(this), order).nth(option as usize).unwrap_or(0))
}

/// The strand sees a store.
pub fn looked(history: &mut History, this: &mut Strand, back: usize, order: Order) {
    let when = (this.id.0, live().events);
    TOTAL.with(|total| history.looked(total, when, &mut this.view, back, order));
}

/// The strand makes a store that publishes `release`.
pub fn push(history: &mut History, this: &mut Strand, made: Made, release: &Clock) {
    let when = (this.id.0, live().events);
    TOTAL.with(|total| history.push(total, when, &mut this.view, made, release));
}
