//! Where marks of accesses lie: room for the chains of cells that need more than two.

use super::super::memory;
use crate::model::single::Single;
use threadbare_rules::marks::{Chains, NODES, Node};

static CHAINS: Single<Chains<'static, NODES>> = Single::new(Chains::nowhere());

/// Reserves room for chains. Once, in the fork server.
pub fn init() {
    let base = memory::reserve(NODES * size_of::<Node>()) as *mut [Node; NODES];
    // SAFETY: reserved just now, of this size, aligned to a page, nobody else's; zero is valid for integers.
    let nodes = unsafe { &mut *base };
    CHAINS.with(|chains| *chains = Chains::of(nodes));
}

/// Does something with the chains.
#[inline(always)]
pub fn with<R>(what: impl FnOnce(&mut Chains<'static, NODES>) -> R) -> R {
    CHAINS.with(what)
}
