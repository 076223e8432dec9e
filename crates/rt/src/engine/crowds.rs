//! Crowds: those of many strands that wait for one object.
//!
//! Whoever takes a lock disables all who stand before it, whoever gives it back enables them all: with a thousand strands at one lock
//! that would be a thousand changes each time. From [`MANY`] strands on, those that stand before the same operation on the same object are
//! therefore one crowd, which opens and shuts as a whole; what a strand's state is follows from its crowd's. Who is chosen leaves its
//! crowd. Strands that sleep on an object until they are woken are a crowd too, one that is always shut and keeps the order of arrival: a
//! wake looks at them alone.
//!
//! A wait to acquire that has a deadline, and every wait in a run that tells of each strand that is enabled or disabled, is a strand's own.
//! So is one that does not agree with its crowd: the rule for strands is that of `wait.rs`, and a crowd is a way to follow it.

use super::sched::{ATTENTION, Engine, Phase, attention, engine};
use super::strand;
use super::strand::{State, Strand};
use super::wait::ObjectId;
use crate::raw::Raw;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use threadbare_abi::op::OpKind;
use threadbare_abi::strand::StrandId;

/// Strands that have not ended from which on there are crowds.
const MANY: usize = 32;
/// Lists that crowds are found by.
const HEADS: usize = 1024;

/// No crowd.
pub const NONE: u32 = u32::MAX;

/// Strands that wait for the same.
struct Crowd {
    key: ObjectId,
    /// What its strands stand before, if they wait to acquire the object; none if they sleep on it.
    kind: Option<OpKind>,
    open: bool,
    /// Who shut it.
    holder: StrandId,
    /// Sleepers are in order of arrival, others in none.
    members: Vec<StrandId>,
    /// The next crowd of the same list.
    next: u32,
}

/// All crowds.
pub struct Crowds {
    all: Vec<Crowd>,
    unused: Vec<u32>,
    heads: Vec<u32>,
    /// Crowds that are open.
    opened: Vec<u32>,
    /// Strands in them.
    pub open: usize,
    /// All strands that can go on, one after another, unless it is stale.
    flat: Vec<StrandId>,
    /// The list above is not right any more.
    pub stale: bool,
}

impl Crowds {
    /// There are none.
    pub const fn new() -> Crowds {
        Crowds {
            all: Vec::new(),
            unused: Vec::new(),
            heads: Vec::new(),
            opened: Vec::new(),
            open: 0,
            flat: Vec::new(),
            stale: true,
        }
    }

    fn head(key: ObjectId) -> usize {
        (key.code().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize % HEADS
    }

    fn first(&self, key: ObjectId) -> u32 {
        self.heads.get(Crowds::head(key)).copied().unwrap_or(NONE)
    }

    /// The crowds of an object, whatever their strands stand before.
    fn of(&self, key: ObjectId) -> impl Iterator<Item = u32> {
        let mut at = self.first(key);
        core::iter::from_fn(move || {
            while at != NONE {
                let (crowd, found) = (&self.all[at as usize], at);
                at = crowd.next;
                if crowd.key == key {
                    return Some(found);
                }
            }
            None
        })
    }

    fn find(&self, key: ObjectId, kind: Option<OpKind>) -> Option<u32> {
        self.of(key).find(|&at| self.all[at as usize].kind == kind)
    }

    fn make(&mut self, key: ObjectId, kind: Option<OpKind>, open: bool, holder: StrandId) -> u32 {
        if self.heads.is_empty() {
            self.heads.resize(HEADS, NONE);
        }
        let at = self.unused.pop().unwrap_or_else(|| {
            let members = Vec::new();
            self.all.push(Crowd { key, kind, open: false, holder, members, next: NONE });
            self.all.len() as u32 - 1
        });
        let next = core::mem::replace(&mut self.heads[Crowds::head(key)], at);
        let crowd = &mut self.all[at as usize];
        (crowd.key, crowd.kind, crowd.open, crowd.holder, crowd.next) = (key, kind, open, holder, next);
        if open {
            self.opened.push(at);
        }
        at
    }

    /// Takes a crowd that has nobody left out of its list.
    fn dissolve(&mut self, at: u32) {
        let (key, next) = (self.all[at as usize].key, self.all[at as usize].next);
        self.shut(at);
        let head = Crowds::head(key);
        if self.heads[head] == at {
            self.heads[head] = next;
        } else {
            let mut before = self.heads[head] as usize;
            while self.all[before].next != at {
                before = self.all[before].next as usize;
            }
            self.all[before].next = next;
        }
        self.unused.push(at);
    }

    fn shut(&mut self, at: u32) {
        let crowd = &mut self.all[at as usize];
        if core::mem::replace(&mut crowd.open, false) {
            self.open -= crowd.members.len();
            self.opened.retain(|&other| other != at);
            self.stale = true;
        }
    }

    fn open(&mut self, at: u32) -> usize {
        let crowd = &mut self.all[at as usize];
        if core::mem::replace(&mut crowd.open, true) {
            return 0;
        }
        self.open += crowd.members.len();
        self.opened.push(at);
        self.stale = true;
        crowd.members.len()
    }

    /// All strands that can go on: `single` of their own, and those of crowds.
    pub fn flat(&mut self, single: &[StrandId]) -> &[StrandId] {
        if self.stale {
            self.stale = false;
            self.flat.clear();
            self.flat.extend_from_slice(single);
            for &at in &self.opened {
                self.flat.extend_from_slice(&self.all[at as usize].members);
            }
        }
        &self.flat
    }

    /// The one of the strands in open crowds that has this number.
    pub fn nth(&self, mut nth: usize) -> StrandId {
        for &at in &self.opened {
            let members = &self.all[at as usize].members;
            match members.get(nth) {
                Some(&id) => return id,
                None => nth -= members.len(),
            }
        }
        super::fatal("a strand of no crowd was chosen")
    }

    /// What a strand in a crowd is doing.
    pub fn state(&self, at: u32) -> State {
        if self.all[at as usize].open { State::Ready } else { State::Blocked }
    }

    /// There are none any more.
    pub fn forget(&mut self) {
        *self = Crowds::new();
    }
}

/// Whether a wait that begins now may be part of a crowd's.
fn may_be(e: &Engine) -> bool {
    const EACH: u32 = attention::STEPS | attention::RECORD;
    e.live > MANY && e.phase == Phase::Running && ATTENTION.load(Ordering::Relaxed) & EACH == 0
}

fn add(other: &mut Strand, kind: Option<OpKind>, open: bool) -> bool {
    let key = other.wait.key;
    let crowds = &mut engine().crowds;
    let at = match crowds.find(key, kind) {
        Some(at) if crowds.all[at as usize].open != open => return false,
        Some(at) => at,
        None => crowds.make(key, kind, open, other.wait.holder),
    };
    let members = &mut crowds.all[at as usize].members;
    other.crowd = at;
    other.crowd_at = members.len() as u32;
    members.push(other.id);
    if open {
        crowds.open += 1;
        crowds.stale = true;
    }
    true
}

/// The running strand can go on before the object it stands before is taken: it is in the crowd of those that can, not in the list of
/// the enabled. False if it is not to be in one.
#[inline]
pub fn stands(this: &mut Strand) -> bool {
    may_be(&engine()) && this.wait.deadline == u64::MAX && add(this, Some(this.op.kind), true)
}

/// The strand waits: it is in a crowd from now on, not in the list of those who wait. False if it is not to be in one.
pub fn waits(other: &mut Strand) -> bool {
    let e = engine();
    if !may_be(&e) || other.wait.acquire && other.wait.deadline != u64::MAX {
        return false;
    }
    let kind = other.wait.acquire.then_some(other.op.kind);
    add(other, kind, false)
}

/// The strand leaves its crowd.
pub fn leave(other: &mut Strand) {
    let crowds = &mut engine().crowds;
    let at = core::mem::replace(&mut other.crowd, NONE);
    let crowd = &mut crowds.all[at as usize];
    if crowd.kind.is_some() {
        crowd.members.swap_remove(other.crowd_at as usize);
        if let Some(&moved) = crowd.members.get(other.crowd_at as usize) {
            strand(moved).crowd_at = other.crowd_at;
        }
    } else {
        let found = crowd.members.binary_search_by_key(&other.wait.arrived, |&id| strand(id).wait.arrived);
        match found {
            Ok(place) => _ = crowd.members.remove(place),
            Err(_) => super::fatal("a strand is not in the crowd it sleeps in"),
        }
    }
    if crowd.open {
        crowds.open -= 1;
        crowds.stale = true;
    }
    if crowds.all[at as usize].members.is_empty() {
        crowds.dissolve(at);
    }
}

/// The object may be there to be taken: the crowds that wait for it can go on.
pub fn notify(key: ObjectId) {
    let mut e = engine();
    let mut at = e.crowds.first(key);
    while at != NONE {
        let crowd = &e.crowds.all[at as usize];
        let next = crowd.next;
        if crowd.key == key && crowd.kind.is_some() {
            e.blocked -= e.crowds.open(at);
        }
        at = next;
    }
}

/// The running strand has taken the object: of the crowds that stand before it, those wait for whom that is a loss.
pub fn retract(key: ObjectId, loses: impl Fn(OpKind) -> bool) {
    let mut e = engine();
    let mut at = e.crowds.first(key);
    while at != NONE {
        let crowd = &e.crowds.all[at as usize];
        let (next, count) = (crowd.next, crowd.members.len());
        if crowd.key == key && crowd.open && crowd.kind.is_some_and(&loses) {
            e.crowds.all[at as usize].holder = e.current;
            e.blocked += count;
            e.crowds.shut(at);
        }
        at = next;
    }
}

/// Who keeps a waiting strand from what it stands before, as far as that is known.
pub fn holder(other: &Strand) -> StrandId {
    match other.crowd {
        NONE => other.wait.holder,
        at => engine().crowds.all[at as usize].holder,
    }
}

/// The strands of a crowd that sleep on the object, in order of arrival.
pub fn sleepers(key: ObjectId) -> Option<Raw<Vec<StrandId>>> {
    let e = engine();
    let at = e.crowds.find(key, None)?;
    Some(e.part(|e| &mut e.crowds.all[at as usize].members))
}

/// How many strands in shut crowds wait for the object.
pub fn waiting(key: ObjectId) -> usize {
    let crowds = &engine().crowds;
    let shut = crowds.of(key).map(|at| &crowds.all[at as usize]).filter(|crowd| !crowd.open);
    shut.map(|crowd| crowd.members.len()).sum()
}

/// A sleeping strand sleeps on another object.
pub fn moves(other: &mut Strand, to: ObjectId) {
    leave(other);
    other.wait.key = to;
    let crowds = &mut engine().crowds;
    let at = match crowds.find(to, None) {
        Some(at) => at,
        None => crowds.make(to, None, false, StrandId::NONE),
    };
    let members = &mut crowds.all[at as usize].members;
    let place = members.partition_point(|&id| strand(id).wait.arrived < other.wait.arrived);
    members.insert(place, other.id);
    other.crowd = at;
}
