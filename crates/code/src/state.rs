//! What is known at one instruction: registers, slots, locks.
//!
//! Slots are words of the own frame and, as long as nothing may have changed them, of what the arguments point to. A slot whose
//! address went elsewhere is forgotten whenever somebody else may write.

use rustc_hash::FxHashSet;

use crate::address::Reason;
use crate::value::{Base, Location, Pool, V};
use crate::x86_64::{ARGUMENTS, REGISTERS, STACK};

/// A word of memory whose content is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    pub(crate) region: u8,
    pub(crate) offset: i64,
    pub(crate) size: u8,
    pub(crate) value: V,
}

/// A lock that is surely held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    pub(crate) lock: V,
    /// For reading only.
    pub(crate) shared: bool,
    /// One word that an exchange takes, as Rust's `Mutex`.
    pub(crate) word: bool,
    /// Since which instruction; 0 if that depends on the way.
    pub(crate) since: u64,
}

/// A write that this strand surely made, and the locks that it has held ever since.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Written {
    pub(crate) address: V,
    pub(crate) size: u32,
    pub(crate) under: Vec<V>,
}

/// The last comparison: a value with a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Compared {
    pub(crate) value: V,
    pub(crate) with: i64,
}

/// What is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct State {
    pub(crate) registers: [V; REGISTERS],
    /// By region and offset.
    pub(crate) slots: Vec<Slot>,
    /// By value.
    pub(crate) locks: Vec<Held>,
    /// Offsets of the own frame that others know.
    pub(crate) escaped: Vec<i64>,
    pub(crate) compared: Option<Compared>,
    /// Surely written by this strand itself.
    pub(crate) written: Vec<Written>,
    /// Whether a strand may have been made before.
    pub(crate) created: bool,
}

/// Parts of the own frame whose address is taken, as far as the code was followed: from, to.
pub(crate) type Taken = Vec<(i64, i64)>;

impl State {
    /// At a function's entry.
    pub(crate) fn entry(pool: &mut Pool) -> State {
        let mut registers = [pool.unknown(Reason::Unset); REGISTERS];
        for (number, register) in registers.iter_mut().enumerate().take(16) {
            *register = match number {
                STACK => pool.make(Base::Stack, 0),
                _ => pool.make(Base::Entry(u8::try_from(number).unwrap_or(0)), 0),
            };
        }
        State {
            registers,
            slots: Vec::new(),
            locks: Vec::new(),
            escaped: Vec::new(),
            compared: None,
            written: Vec::new(),
            created: false,
        }
    }

    /// Where nothing is known, not even the frame.
    pub(crate) fn dark(pool: &mut Pool) -> State {
        let mut state = State::entry(pool);
        state.registers = [pool.unknown(Reason::Unset); REGISTERS];
        state.created = true;
        state
    }

    fn position(&self, region: u8, offset: i64) -> Result<usize, usize> {
        self.slots.binary_search_by_key(&(region, offset), |slot| (slot.region, slot.offset))
    }

    fn has(&self, slot: &Slot) -> bool {
        self.position(slot.region, slot.offset).is_ok_and(|at| self.slots[at].size == slot.size)
    }

    /// What is at an address, if that is known.
    pub(crate) fn slot(&self, region: u8, offset: i64, size: u8) -> Option<V> {
        let slot = &self.slots[self.position(region, offset).ok()?];
        (slot.size >= size).then_some(slot.value)
    }

    /// Notes what is at an address from now on.
    pub(crate) fn put(&mut self, pool: &Pool, region: u8, offset: i64, size: u8, value: V) {
        self.forget(pool, region, offset, i64::from(size));
        if let Err(at) = self.position(region, offset) {
            self.slots.insert(at, Slot { region, offset, size, value });
        }
    }

    /// Forgets what is between an offset and `size` bytes on.
    pub(crate) fn forget(&mut self, pool: &Pool, region: u8, offset: i64, size: i64) {
        let end = offset.saturating_add(size);
        self.drop_slots(pool, |slot| {
            slot.region == region && slot.offset < end && offset < slot.offset + i64::from(slot.size)
        });
    }

    /// Forgets slots; whatever of the own frame was kept in one of them may now be known to others.
    pub(crate) fn drop_slots(&mut self, pool: &Pool, gone: impl Fn(&Slot) -> bool) {
        let escaped = &mut self.escaped;
        self.slots.retain(|slot| {
            let gone = gone(slot);
            if gone && let Some(offset) = pool.in_frame(slot.value) {
                note(escaped, offset);
            }
            !gone
        });
    }

    /// Others know this address of the own frame from now on.
    pub(crate) fn escape(&mut self, pool: &Pool, value: V) {
        if let Some(offset) = pool.in_frame(value) {
            note(&mut self.escaped, offset);
        }
    }

    /// A function that gets this address of the own frame may keep what it finds there: addresses of the frame in it, others may know from now on.
    pub(crate) fn lend(&mut self, pool: &Pool, value: V) {
        let Some(from) = pool.in_frame(value) else { return };
        let escaped = &mut self.escaped;
        for slot in self.slots.iter().filter(|slot| slot.region == 0 && slot.offset >= from) {
            if let Some(offset) = pool.in_frame(slot.value).filter(|_| slot.offset < 0) {
                note(escaped, offset);
            }
        }
    }

    /// What lies at this address of the own frame: a function that gets the address may put it elsewhere.
    pub(crate) fn lent(&self, pool: &Pool, value: V) -> Vec<V> {
        /// Larger structures are rarely lent as a whole.
        const REACH: i64 = 256;
        let Some(from) = pool.in_frame(value) else { return Vec::new() };
        let near =
            |slot: &&Slot| slot.region == 0 && (from..from + REACH).contains(&slot.offset) && slot.offset < 0;
        self.slots.iter().filter(near).map(|slot| slot.value).collect()
    }

    /// Somebody else may have written wherever they know of.
    pub(crate) fn others_wrote(&mut self, pool: &Pool, taken: Option<&Taken>) {
        self.drop_slots(pool, |slot| slot.region != 0);
        let mut escaped = self.escaped.clone();
        // What is forgotten may let more be known.
        loop {
            let Some(&lowest) = escaped.iter().min() else { return };
            self.drop_slots(pool, |slot| {
                let reached = slot.offset + i64::from(slot.size) > lowest && slot.offset < 0;
                reached
                    && taken.is_none_or(|taken| {
                        let end = slot.offset + i64::from(slot.size);
                        taken.iter().any(|&(from, to)| from < end && slot.offset < to)
                    })
            });
            if self.escaped == escaped {
                return;
            }
            escaped = self.escaped.clone();
        }
    }

    /// Writes to an address.
    pub(crate) fn store(&mut self, pool: &Pool, address: V, size: u32, value: V, taken: Option<&Taken>) {
        let node = pool.node(address);
        let word = u8::try_from(size).unwrap_or(u8::MAX);
        match node.base {
            Base::Stack => {
                if size <= 16 {
                    self.put(pool, 0, node.offset, word, value);
                } else {
                    self.forget(pool, 0, node.offset, size.into());
                }
                return;
            }
            Base::Entry(register) => {
                if let Some(argument) = ARGUMENTS.iter().position(|&known| known == usize::from(register)) {
                    let region = u8::try_from(argument).unwrap_or(0) + 1;
                    // Two arguments may point to one object.
                    self.drop_slots(pool, |slot| slot.region != 0 && slot.region != region);
                    if size <= 8 {
                        self.put(pool, region, node.offset, word, value);
                    } else {
                        self.forget(pool, region, node.offset, size.into());
                    }
                    self.escape(pool, value);
                    return;
                }
            }
            Base::Block { .. } => {
                self.escape(pool, value);
                return;
            }
            _ => {}
        }
        self.escape(pool, value);
        if let Some(offset) = pool.in_frame(address) {
            self.drop_slots(pool, |slot| {
                slot.region == 0 && slot.offset < 0 && slot.offset + i64::from(slot.size) > offset
            });
        }
        match node.base {
            Base::Index { of, .. } if matches!(pool.node(of).base, Base::Stack) => {}
            Base::Global | Base::Import(_) | Base::Thread => self.drop_slots(pool, |slot| slot.region != 0),
            _ => self.others_wrote(pool, taken),
        }
    }

    /// Reads from an address, if what is there is known.
    pub(crate) fn load(&self, pool: &Pool, address: V, size: u8) -> Option<V> {
        let node = pool.node(address);
        match node.base {
            Base::Stack => self.slot(0, node.offset, size),
            Base::Entry(register) => {
                let argument = ARGUMENTS.iter().position(|&known| known == usize::from(register))?;
                self.slot(u8::try_from(argument).ok()? + 1, node.offset, size)
            }
            _ => None,
        }
    }

    pub(crate) fn take(&mut self, held: Held) {
        match self.locks.binary_search_by_key(&held.lock, |known| known.lock) {
            Ok(at) => self.locks[at] = held,
            Err(at) => self.locks.insert(at, held),
        }
    }

    /// This strand writes, under the locks that it holds.
    pub(crate) fn wrote(&mut self, address: V, size: u32) {
        if self.locks.is_empty() {
            return;
        }
        let under = self.locks.iter().map(|held| held.lock).collect();
        self.written.retain(|known| known.address != address);
        self.written.push(Written { address, size, under });
    }

    /// No lock is surely held any more.
    pub(crate) fn give_all(&mut self) {
        self.locks.clear();
        self.written.clear();
    }

    /// Gives back a lock; whether it was held by this value.
    pub(crate) fn give(&mut self, pool: &Pool, lock: V, words: bool) -> bool {
        let held = self.locks.iter().any(|known| known.lock == lock);
        self.locks.retain(|known| (known.word != words) || distinct(pool, known.lock, lock));
        let locks = &self.locks;
        for written in &mut self.written {
            written.under.retain(|lock| locks.iter().any(|held| held.lock == *lock));
        }
        self.written.retain(|written| !written.under.is_empty());
        held
    }

    /// Joins what is known on another way; whether something changed is for the caller to see.
    pub(crate) fn meet(
        ways: &[&State],
        block: u32,
        sticky: &mut FxHashSet<Location>,
        pool: &mut Pool,
    ) -> State {
        let first = ways[0];
        let mut met = first.clone();
        let mut escaping = Vec::new();
        for number in 0..REGISTERS {
            let location = Location::Register(u8::try_from(number).unwrap_or(0));
            let agreed = ways.iter().all(|way| way.registers[number] == first.registers[number]);
            if agreed && (sticky.is_empty() || !sticky.contains(&location)) {
                continue;
            }
            let values: Vec<V> = ways.iter().map(|way| way.registers[number]).collect();
            met.registers[number] =
                together(&values, block, location, sticky, pool, &mut escaping, number < 16);
        }
        met.slots.retain(|slot| ways.iter().all(|way| way.has(slot)));
        for way in ways {
            escaping.extend(way.slots.iter().filter(|slot| !met.has(slot)).map(|slot| slot.value));
        }
        for slot in &mut met.slots {
            let location = Location::Slot { region: slot.region, offset: slot.offset };
            let same = |way: &&State| way.slot(slot.region, slot.offset, slot.size) == Some(slot.value);
            if ways.iter().all(same) && (sticky.is_empty() || !sticky.contains(&location)) {
                continue;
            }
            let values: Vec<V> =
                ways.iter().filter_map(|way| way.slot(slot.region, slot.offset, slot.size)).collect();
            slot.value = together(&values, block, location, sticky, pool, &mut escaping, true);
        }
        met.locks.retain_mut(|held| {
            ways.iter().all(|way| {
                let Some(other) = way.locks.iter().find(|other| other.lock == held.lock) else {
                    return false;
                };
                held.shared |= other.shared;
                held.word |= other.word;
                if other.since != held.since {
                    held.since = 0;
                }
                true
            })
        });
        met.written.retain_mut(|written| {
            for way in ways {
                let same = |other: &&Written| other.address == written.address && other.size == written.size;
                let Some(other) = way.written.iter().find(same) else { return false };
                written.under.retain(|lock| other.under.contains(lock));
            }
            !written.under.is_empty()
        });
        for way in ways {
            for &offset in &way.escaped {
                note(&mut met.escaped, offset);
            }
            met.created |= way.created;
            if way.compared != met.compared {
                met.compared = None;
            }
        }
        for value in escaping {
            met.escape(pool, value);
        }
        met
    }
}

fn note(escaped: &mut Vec<i64>, offset: i64) {
    if let Err(at) = escaped.binary_search(&offset) {
        escaped.insert(at, offset);
    }
}

fn together(
    values: &[V],
    block: u32,
    location: Location,
    sticky: &mut FxHashSet<Location>,
    pool: &mut Pool,
    escaping: &mut Vec<V>,
    kept: bool,
) -> V {
    let known = sticky.contains(&location);
    if !known && values.iter().all(|value| *value == values[0]) {
        return values[0];
    }
    if !known {
        // The upper halves of vectors are not worth a name.
        if !kept {
            return pool.unknown(Reason::Complex);
        }
        sticky.insert(location);
    }
    if location != Location::Register(u8::try_from(STACK).unwrap_or(0)) {
        escaping.extend(values);
    }
    pool.meetings.insert((block, location), values.to_vec());
    pool.make(Base::Meeting { block, location }, 0)
}

/// Whether two values are surely different addresses of locks.
pub(crate) fn distinct(pool: &Pool, a: V, b: V) -> bool {
    let (one, other) = (pool.node(a), pool.node(b));
    if one.base == other.base {
        return one.offset != other.offset;
    }
    let own = |base: Base| {
        matches!(base, Base::Global | Base::Import(_) | Base::Stack | Base::Thread | Base::Block { .. })
    };
    own(one.base) && own(other.base)
}
