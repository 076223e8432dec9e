//! A strategy that keeps much of its own: it lies apart, so that a run with another one has not to make, or undo, as much room as the largest takes.

use crate::{Born, Load, Pick, Room, RunInfo, Strategy, View};
use alloc::boxed::Box;
use threadbare_abi::strand::StrandId;

/// A strategy in memory of its own.
#[derive(Debug)]
pub struct Apart<S>(Box<S>);

impl<S> Apart<S> {
    /// Puts it there.
    #[inline(never)]
    pub(crate) fn put(make: fn() -> S) -> Self {
        Apart(Box::new(make()))
    }
}

impl<S: Strategy> Strategy for Apart<S> {
    fn furnish(&mut self, room: Room) {
        self.0.furnish(room);
    }
    fn begin(&mut self, info: &RunInfo<'_>) {
        self.0.begin(info);
    }
    fn pick<V: View>(&mut self, view: &V) -> Pick {
        self.0.pick(view)
    }
    fn choose(&mut self, options: u32) -> u32 {
        self.0.choose(options)
    }
    fn created(&mut self, born: Born) {
        self.0.created(born);
    }
    fn wants_alone(&self) -> bool {
        self.0.wants_alone()
    }
    fn alone<V: View>(&mut self, strand: StrandId, view: &V) {
        self.0.alone(strand, view);
    }
    fn names_stores(&self) -> bool {
        self.0.names_stores()
    }
    fn store(&mut self, load: Load, options: u32, made: &dyn Fn(u32) -> (StrandId, u64)) -> u32 {
        self.0.store(load, options, made)
    }
    fn wants_reads(&self) -> bool {
        self.0.wants_reads()
    }
    fn finish(&self, notes: &mut [u64]) -> usize {
        self.0.finish(notes)
    }
}
