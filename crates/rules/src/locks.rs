//! Which locks a strand holds, and in which orders locks are taken.

use alloc::vec::Vec;
use threadbare_abi::object::ObjectId;
use threadbare_abi::strand::StrandId;

/// Callers that are kept with a lock: enough to come out of a guard's constructor.
pub const CALLERS: usize = 4;

/// A lock a strand holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The lock.
    pub object: ObjectId,
    /// Where it was taken.
    pub pc: u64,
    /// The callers of that place, innermost first; 0 behind the last one.
    pub callers: [u64; CALLERS],
    /// Taken for reading only.
    pub shared: bool,
}

/// The strand gives a lock back: the one it took last. False if it does not hold it.
pub fn give_back(held: &mut Vec<Held>, object: ObjectId) -> bool {
    match held.iter().rposition(|held| held.object == object) {
        Some(at) => {
            held.remove(at);
            true
        }
        None => false,
    }
}

/// Different orders that are told in one run.
const MOST: usize = 1024;
const SLOTS: usize = 2 * MOST;
/// Strands whose creation and join is told with an order.
pub const CLOCK_TOLD: usize = 128;

/// Orders of locks that were told, and what strands know of each other by creation and join: orders of strands that never meet
/// can be told apart.
#[derive(Debug)]
pub struct Orders {
    /// Hashes of what was told; 0 is an empty slot.
    told: [u64; SLOTS],
    count: usize,
    /// What each strand knows of the first [`CLOCK_TOLD`] ones: the number of the last stretch of each.
    clocks: Vec<Vec<u32>>,
}

impl Orders {
    /// None yet.
    pub const fn new() -> Orders {
        Orders { told: [0; SLOTS], count: 0, clocks: Vec::new() }
    }

    /// What a strand knows of the others by creation and join.
    pub fn clock(&mut self, id: StrandId) -> &mut Vec<u32> {
        while self.clocks.len() <= id.index() {
            let own = self.clocks.len();
            let mut fresh = alloc::vec![0; (own + 1).min(CLOCK_TOLD)];
            if let Some(stretch) = fresh.get_mut(own) {
                *stretch = 1;
            }
            self.clocks.push(fresh);
        }
        &mut self.clocks[id.index()]
    }

    fn learn(&mut self, from: StrandId, to: StrandId) {
        let known = self.clock(from).clone();
        let own = self.clock(to);
        if own.len() < known.len() {
            own.resize(known.len(), 0);
        }
        for (mine, theirs) in own.iter_mut().zip(known) {
            *mine = theirs.max(*mine);
        }
    }

    /// What the strand does from now on is unknown to the others.
    fn next_stretch(&mut self, id: StrandId) {
        if let Some(stretch) = self.clock(id).get_mut(id.index()) {
            *stretch += 1;
        }
    }

    /// A strand has created another: what it does from now on is a new stretch, unknown to the new one.
    pub fn created(&mut self, parent: StrandId, child: StrandId) {
        self.learn(parent, child);
        self.next_stretch(parent);
    }

    /// A strand has joined another, and knows all that the other did.
    pub fn joined(&mut self, other: StrandId, by: StrandId) {
        self.learn(other, by);
        self.next_stretch(by);
    }

    /// A strand that holds these locks is about to wait for another, there: the number of this occasion if it is a new one.
    pub fn wants<'a>(
        &mut self,
        id: StrandId,
        (object, pc, shared): (ObjectId, u64, bool),
        held: impl Iterator<Item = &'a Held>,
    ) -> Option<usize> {
        let stretch = self.clock(id).get(id.index()).copied().unwrap_or(0);
        let mut hash = Hash::new();
        for word in [id.0 as u64, stretch as u64, object.addr, pc, shared as u64] {
            hash.add(word);
        }
        for held in held {
            hash.add(held.object.addr ^ (held.shared as u64) << 63);
        }
        self.first_time(hash.0 | 1)
    }

    fn first_time(&mut self, hash: u64) -> Option<usize> {
        let mut at = hash as usize % SLOTS;
        while self.told[at] != 0 {
            if self.told[at] == hash {
                return None;
            }
            at = (at + 1) % SLOTS;
        }
        if self.count == MOST {
            return None;
        }
        self.told[at] = hash;
        self.count += 1;
        Some(self.count)
    }
}

impl Default for Orders {
    fn default() -> Self {
        Orders::new()
    }
}

struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0x243F_6A88_85A3_08D3)
    }

    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(25) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 29;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use threadbare_abi::object::ObjectClass;

    fn lock(addr: u64) -> ObjectId {
        ObjectId::new(ObjectClass::Mutex, addr)
    }

    fn held(addr: u64) -> Held {
        Held { object: lock(addr), pc: addr + 1, callers: [0; CALLERS], shared: false }
    }

    const MAIN: StrandId = StrandId::MAIN;

    #[test]
    fn what_was_taken_last_is_given_back_first() {
        let mut locks = vec![held(1), held(2), Held { pc: 99, ..held(1) }];
        assert!(give_back(&mut locks, lock(1)));
        assert_eq!(locks.iter().map(|held| held.pc).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn locks_are_given_back_in_any_order() {
        let mut locks = vec![held(1), held(2), held(3)];
        assert!(give_back(&mut locks, lock(2)) && give_back(&mut locks, lock(1)));
        assert_eq!(locks.len(), 1);
    }

    #[test]
    fn what_is_not_held_cannot_be_given_back() {
        let mut locks = vec![held(1)];
        assert!(!give_back(&mut locks, lock(2)));
        assert_eq!(locks.len(), 1);
    }

    #[test]
    fn an_order_is_told_once_for_each_place_and_set_of_locks() {
        let mut orders = Orders::new();
        let mut wants = |object: u64, pc: u64, shared: bool, locks: &[Held]| {
            orders.wants(MAIN, (lock(object), pc, shared), locks.iter())
        };
        assert_eq!(wants(2, 10, false, &[held(1)]), Some(1));
        assert_eq!(wants(2, 10, false, &[held(1)]), None);
        assert_eq!(wants(2, 11, false, &[held(1)]), Some(2), "another place");
        assert_eq!(wants(3, 10, false, &[held(1)]), Some(3), "another lock");
        assert_eq!(wants(2, 10, true, &[held(1)]), Some(4), "for reading");
        assert_eq!(wants(2, 10, false, &[held(1), held(5)]), Some(5), "with another lock held");
        assert_eq!(wants(2, 10, false, &[Held { shared: true, ..held(1) }]), Some(6), "held for reading");
    }

    #[test]
    fn another_strand_or_stretch_makes_it_another_occasion() {
        let mut orders = Orders::new();
        let want = (lock(2), 10, false);
        let locks = [held(1)];
        assert!(orders.wants(MAIN, want, locks.iter()).is_some());
        assert!(orders.wants(StrandId(1), want, locks.iter()).is_some());
        orders.created(MAIN, StrandId(2));
        assert!(orders.wants(MAIN, want, locks.iter()).is_some());
        assert!(orders.wants(StrandId(1), want, locks.iter()).is_none());
    }

    #[test]
    fn no_more_than_so_many_are_told() {
        let mut orders = Orders::new();
        let told =
            (0..3000).filter(|&pc| orders.wants(MAIN, (lock(2), pc, false), [held(1)].iter()).is_some());
        assert_eq!(told.count(), MOST);
    }

    #[test]
    fn a_new_strand_knows_what_its_parent_did_before() {
        let mut orders = Orders::new();
        orders.created(MAIN, StrandId(1));
        orders.created(MAIN, StrandId(2));
        assert_eq!(orders.clock(MAIN)[0], 3);
        assert_eq!(orders.clock(StrandId(1))[0], 1);
        assert_eq!(orders.clock(StrandId(2))[0], 2);
        assert_eq!(orders.clock(StrandId(2)).get(1), Some(&0), "the two know nothing of each other");
    }

    #[test]
    fn who_joins_knows_all_that_the_other_knew() {
        let mut orders = Orders::new();
        orders.created(MAIN, StrandId(1));
        orders.created(StrandId(1), StrandId(2));
        orders.joined(StrandId(2), StrandId(1));
        orders.joined(StrandId(1), MAIN);
        let known = orders.clock(MAIN).clone();
        assert_eq!(known[1], 3, "created and joined: its third stretch");
        assert_eq!(known[2], 1);
    }

    #[test]
    fn strands_beyond_those_told_cost_nothing_and_break_nothing() {
        let mut orders = Orders::new();
        for child in 1..400 {
            orders.created(MAIN, StrandId(child));
        }
        orders.joined(StrandId(399), MAIN);
        assert!(orders.clock(StrandId(399)).len() <= CLOCK_TOLD);
        assert_eq!(orders.clock(MAIN)[0], 401);
    }
}
