//! What strands did lately, as far as noise depends on it.
//!
//! Delays decide something where a strand is in the middle: it has touched an object a moment ago that others touch too, and takes
//! for granted that nobody did since, or it has changed one thing that others see and not yet the other that belongs to it. Memory that it
//! has just allocated and nobody else has touched is no such case, nor, as a rule, what it touches under a lock that the others took for it
//! too. A strand that looks at the same places again and again waits for a change, by polling.
//!
//! What is done thousands of times is left out of all that: busy work between a check and an act does not make them belong together less.

use super::held::Held;
use super::noise::At;
use super::thread;
use core::sync::atomic::{AtomicU64, Ordering};
use threadbare_abi::op::{OpKind, Order};
use threadbare_strategy::rng::mix;

/// Objects of a strand that are remembered.
const RECENT: usize = 4;
/// Blocks of a strand that are remembered.
const FRESH: usize = 4;
/// Bytes of a new block whose past is forgotten.
const FORGOTTEN: u64 = 64;
/// Looks in a row that found nothing new, before a strand counts as polling.
const LOOKS: u32 = 3;
/// Events that such a look may consist of.
const LOOK: usize = 8;
/// Events after which a change is no longer what the strand is in the middle of.
const FADES: u8 = 6;
/// Stands for a strand that was created, as the object of a change.
const CREATED: u64 = 1;

/// What a strand did lately.
#[derive(Debug)]
pub struct Past {
    /// Objects it touched, and where, the latest first.
    recent: [(u64, u64); RECENT],
    /// Its last events, if none of them changed anything: what it looks at, and where.
    seen: [u64; LOOK],
    seen_len: usize,
    /// Which of them its last event was.
    last: usize,
    /// How often in a row it has looked at that and at nothing else, and whether it begins anew.
    looks: u32,
    begins: bool,
    /// The object it changed a moment ago, the lock that it held then, 0 for none, and where; and events until that does not count.
    changed: u64,
    changed_under: u64,
    changed_at: u64,
    fades: u8,
    /// The object of an operation that takes a lock, if it is one and succeeds.
    taking: u64,
    /// Blocks of memory it allocated last, each by its beginning and end.
    fresh: [(u64, u64); FRESH],
    /// What the run's count of sleeps was when it last looked: see `turns`.
    pub epoch: u64,
}

/// A change that a strand has just made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// None, or none that concerns others.
    None,
    /// Of something that others may touch.
    Presumed,
    /// Of something that another strand has touched.
    Seen,
}

/// What was before an event.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    /// The call has made an event before.
    pub inside: bool,
    /// The strand has touched the same object, at another place.
    pub again: bool,
    /// Another strand has touched the object.
    pub shared: bool,
    /// Another strand has changed the object.
    pub written: bool,
    /// What the strand's last event changed.
    pub changed: Change,
    /// The strand holds a lock, and others held the same one when they touched the object.
    pub guarded: bool,
    /// The strand holds a lock.
    pub holds: bool,
    /// It is about to give one back.
    pub unlocks: bool,
    /// It has allocated the object a moment ago, and no other strand has touched it.
    pub fresh: bool,
}

/// The running strand has allocated memory. Safe in a signal.
#[cold]
pub fn allocated(block: u64, size: u64) {
    let Some(mut me) = thread::me() else { return };
    if !super::noise::is_active() {
        return;
    }
    me.past.fresh.rotate_right(1);
    me.past.fresh[0] = (block, block.saturating_add(size));
    for addr in (block..block + size.min(FORGOTTEN)).step_by(4) {
        let (cell, tag) = cell(addr);
        if cell.load(Ordering::Relaxed) >> TAG_SHIFT << TAG_SHIFT == tag {
            cell.store(0, Ordering::Relaxed);
        }
    }
}

impl Past {
    /// The strand comes to an event at this place of the code that noise is wanted in, which may be `hot`: passed again and again.
    pub fn see(
        &mut self,
        strand: u16,
        held: &mut Held,
        at: At,
        place: u64,
        inside: bool,
        hot: bool,
    ) -> Before {
        if at.over {
            return Before {
                inside,
                again: false,
                shared: true,
                written: false,
                changed: Change::None,
                guarded: false,
                holds: false,
                unlocks: false,
                fresh: false,
            };
        }
        let changing = changes(at.op);
        let under = held.first();
        let lock = lock(under);
        let others = touch(at.addr, strand, changing, lock);
        let unlocks = at.order == Order::Release && held.release(at.addr) || at.op.gives_lock_back();
        let takes = at.op == OpKind::AtomicCas && at.order == Order::Acquire || is_lock(at.op);
        self.look_again(mix(place) ^ at.addr, changing && !takes && !unlocks && at.op != OpKind::AtomicCas);
        let found = self.recent.iter().position(|&(addr, _)| addr == at.addr);
        let before = Before {
            inside,
            // The same place once more is a loop.
            again: at.addr != 0 && found.is_some_and(|slot| self.recent[slot].1 != place),
            shared: others & SHARED != 0,
            written: others & WRITTEN != 0,
            changed: self.change(strand, at.addr, place, takes || held.first() != 0),
            guarded: lock != 0 && others & UNGUARDED == 0,
            holds: lock != 0,
            unlocks,
            fresh: others & SHARED == 0 && self.is_fresh(at.addr),
        };
        self.taking = if takes && at.op == OpKind::AtomicCas { at.addr } else { 0 };
        if hot {
            return before;
        }
        if !unlocks {
            self.recent[..=found.unwrap_or(RECENT - 1)].rotate_right(1);
            self.recent[0] = (at.addr, place);
        }
        self.fades = self.fades.saturating_sub(1);
        if changing && !takes && !unlocks && at.op != OpKind::Create {
            (self.changed, self.changed_under, self.changed_at) = (at.addr, held.first(), place);
            self.fades = FADES;
        }
        before
    }

    /// The strand is about to create another, by whatever library: what it has is that one's as well.
    pub fn creates(&mut self) {
        self.fresh = [(0, 0); FRESH];
        (self.changed, self.changed_under, self.changed_at) = (CREATED, 0, 0);
        self.fades = FADES;
    }

    /// What the strand changed a moment ago, other than the object itself.
    fn change(&self, strand: u16, addr: u64, place: u64, guarded: bool) -> Change {
        match self.changed {
            // The same place once more is a loop.
            _ if self.fades == 0 || self.changed_at == place => Change::None,
            0 => Change::None,
            CREATED => Change::Seen,
            // What a lock guards has nothing to do with what none does, as a rule.
            _ if self.changed_under != 0 && !guarded => Change::None,
            changed if changed == addr || self.changed_under == addr => Change::None,
            changed if look(changed, strand) & SHARED != 0 => Change::Seen,
            changed if !self.is_fresh(changed) => Change::Presumed,
            _ => Change::None,
        }
    }

    /// The strand looks at something, or changes something.
    fn look_again(&mut self, what: u64, changes: bool) {
        self.begins = false;
        if changes {
            (self.seen_len, self.looks) = (0, 0);
            return;
        }
        match self.seen[..self.seen_len].iter().position(|&seen| seen == what) {
            Some(at) => {
                self.begins = at <= self.last;
                self.looks = self.looks.saturating_add(self.begins as u32);
                self.last = at;
            }
            None => {
                if self.looks > 0 || self.seen_len == LOOK {
                    (self.seen_len, self.looks) = (0, 0);
                }
                self.last = self.seen_len;
                self.seen[self.last] = what;
                self.seen_len += 1;
            }
        }
    }

    /// The atomic operation has been made. `changed`: it may have changed something.
    pub fn found(&mut self, held: &mut Held, changed: bool) {
        if changed && self.taking != 0 {
            held.presume(self.taking);
        } else if changed {
            (self.seen_len, self.looks) = (0, 0);
        }
        self.taking = 0;
    }

    fn is_fresh(&self, addr: u64) -> bool {
        self.fresh.iter().any(|&(from, to)| (from..to).contains(&addr))
    }

    /// Whether it only waits for a change, and whether it begins to look anew.
    pub fn polls(&self) -> Option<bool> {
        (self.looks >= LOOKS).then_some(self.begins)
    }
}

/// Stands for a lock, 0 for none.
fn lock(held: u64) -> u64 {
    if held == 0 { 0 } else { (mix(held) % LOCKS) | 1 }
}

/// Whether it takes a lock, or tries to.
fn is_lock(op: OpKind) -> bool {
    op.does().class.is_some_and(|class| class.is_lock())
}

/// Whether others may see what such an event does.
pub fn changes(op: OpKind) -> bool {
    use OpKind::*;
    !matches!(op, Read | ReadRange | AtomicLoad | Fence | Yield | Start | Join)
}

const OBJECTS: usize = 1 << 14;
/// Of each object a part of its address, the strand that touched it last, and what several did. Lossy: another object takes its place.
static TABLE: [AtomicU64; OBJECTS] = [const { AtomicU64::new(0) }; OBJECTS];
const SHARED: u64 = 1;
const WRITTEN: u64 = 2;
/// The strand that touched it last has changed it, or all that did before.
const CHANGED: u64 = 4;
const STRAND_SHIFT: u32 = 3;
/// The lock that was held.
const LOCK_SHIFT: u32 = 20;
const LOCKS: u64 = 1 << 8;
const TAG_SHIFT: u32 = 28;
/// Told, not kept: another strand touched it, and held another lock or none.
const UNGUARDED: u64 = 8;

fn cell(addr: u64) -> (&'static AtomicU64, u64) {
    let mixed = mix(addr >> 2);
    (&TABLE[mixed as usize & (OBJECTS - 1)], mixed >> TAG_SHIFT << TAG_SHIFT)
}

/// What others than this strand did with an object.
fn look(addr: u64, strand: u16) -> u64 {
    let (cell, tag) = cell(addr);
    let old = cell.load(Ordering::Relaxed);
    if old >> TAG_SHIFT << TAG_SHIFT != tag {
        return 0;
    }
    let last = (old >> STRAND_SHIFT) as u16;
    let gone = || thread::at(last as usize - 1).is_some_and(|other| other.ended.load(Ordering::Relaxed));
    let own = last == strand + 1 || gone();
    let others = if own { 0 } else { SHARED | if old & CHANGED != 0 { WRITTEN } else { 0 } };
    old & (SHARED | WRITTEN) | others
}

/// The strand touches an object; what others did with it before.
fn touch(addr: u64, strand: u16, changes: bool, lock: u64) -> u64 {
    if addr == 0 {
        return 0;
    }
    let others = look(addr, strand);
    let (cell, tag) = cell(addr);
    let old = cell.load(Ordering::Relaxed);
    let mut changed = if changes { CHANGED } else { 0 };
    if old >> TAG_SHIFT << TAG_SHIFT == tag && (old >> STRAND_SHIFT) as u16 == strand + 1 {
        changed |= old & CHANGED;
    }
    let new = tag
        | lock << LOCK_SHIFT
        | (strand as u64 + 1) << STRAND_SHIFT
        | others & (SHARED | WRITTEN)
        | changed;
    if new != old {
        cell.store(new, Ordering::Relaxed);
    }
    let guarded = others & SHARED == 0 || old >> LOCK_SHIFT & (LOCKS - 1) == lock;
    others | if guarded { 0 } else { UNGUARDED }
}
