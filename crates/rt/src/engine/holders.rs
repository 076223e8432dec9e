//! Whose frame memory on a stack is in: a function hands its variables to other strands by address.
//!
//! When a run is made again for its details, each frame that an operation is on is told once, so that the driver can name what lies in it.

use super::strand::Strand;
use super::{frames, report};
use core::ops::Deref;
use threadbare_abi::op::Op;
use threadbare_abi::report::RecordTag;
use threadbare_abi::strand::StrandId;

/// Frames that are told at the most.
const TOLD: usize = 64;

/// A function's activation: its strand, where its calls lie, where it was called.
type Activation = (StrandId, usize, u64);

static mut KNOWN: [Activation; TOLD] = [(StrandId::NONE, 0, 0); TOLD];
static mut COUNT: usize = 0;

/// The strand whose stack an address is on.
fn owner(addr: usize) -> Option<impl Deref<Target = Strand>> {
    let mut all = (0..super::strand_count()).map(|index| super::strand(StrandId(index as u16)));
    all.find(|strand| !strand.ended && strand.stack.0 <= addr && addr < strand.stack.1)
}

/// The frame that an address is in, on whatever strand's stack.
pub fn holder(addr: usize) -> Option<(StrandId, frames::Holder)> {
    let owner = owner(addr)?;
    Some((owner.id, frames::holding(&owner, owner.id == super::me(), addr)?))
}

/// Tells the frame that an operation is on, unless it was told before.
pub fn tell(op: &Op) {
    let addr = op.addr as usize;
    if !op.kind.has_memory_address() {
        return;
    }
    let Some(owner) = owner(addr) else { return };
    let Some((calls, pc)) = frames::activation(&owner, owner.id == super::me(), addr) else { return };
    let activation = (owner.id, calls, pc);
    // SAFETY: single kernel thread; the count is at most the table's size.
    unsafe {
        let known = &mut *(&raw mut KNOWN);
        if COUNT == TOLD || known[..COUNT].contains(&activation) {
            return;
        }
        known[COUNT] = activation;
        COUNT += 1;
    }
    if let Some((_, holder)) = holder(addr) {
        let values = [holder.pc, holder.frame as u64, holder.calls as u64];
        report::add(RecordTag::Holds, owner.id.0, values, format_args!(""));
    }
}
