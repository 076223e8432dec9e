//! What an atomic load sees and where an atomic store comes, for those who make them; see [`super::race::stores`].

use super::StrandId;
use super::race::{self, atomic::choice};
use super::sched::this;
use threadbare_abi::op::Order;

/// An atomic load found `newest` in memory: what it returns.
#[inline(always)]
pub fn seen(addr: u64, size: u8, newest: u64, order: Order, pc: u64) -> u64 {
    if choice::is_on() && race::is_on() {
        choice::load(&mut this(), addr, size, newest, order, pc)
    } else {
        newest
    }
}

/// Whether an atomic load of the strand there could see another store than the newest.
pub fn may_see_older(strand: StrandId, addr: u64, size: u8) -> bool {
    choice::is_on() && race::is_on() && choice::may_see_older(&super::strand(strand), addr, size)
}

/// An atomic store is about to be made. Whether it comes before newer ones, so that memory stays as it is.
#[inline(always)]
pub fn comes_late(addr: u64, size: u8, old: impl Fn() -> u64, order: Order, pc: u64) -> bool {
    choice::is_on() && race::is_on() && choice::store(&mut this(), addr, size, old(), order, pc)
}
