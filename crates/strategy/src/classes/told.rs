//! What has been told to the driver: each thing once.

/// What a record tells.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The second instruction read what the first had written in another strand.
    ReadsFrom = 1,
    /// The second instruction wrote where the first, of another strand, had been last.
    Before = 2,
    /// An object of synchronisation went from the first instruction to the second, of another strand.
    Sync = 3,
    /// The second instruction had to wait for what was taken at the first.
    Blocked = 4,
    /// The instruction is a point that was reached.
    Point = 5,
    /// A strand was preempted before the instruction.
    Preempted = 6,
}

impl Kind {
    /// All kinds, in code order.
    pub const ALL: [Kind; 6] =
        [Kind::ReadsFrom, Kind::Before, Kind::Sync, Kind::Blocked, Kind::Point, Kind::Preempted];

    /// What makes keys of this kind other than those of others.
    #[inline(always)]
    pub(super) const fn salt(self) -> u64 {
        (self as u64).wrapping_mul(0x0400_0000_2000_0001)
    }

    /// The kind with this code, if there is one.
    pub const fn from_code(code: u8) -> Option<Kind> {
        match code {
            1..=6 => Some(Kind::ALL[code as usize - 1]),
            _ => None,
        }
    }
}

/// Words of a record.
pub const RECORD_WORDS: usize = 2;
const KIND_SHIFT: u32 = 56;

/// A record: a kind and one or two instructions.
pub const fn record(kind: Kind, one: u64, other: u64) -> [u64; RECORD_WORDS] {
    [(kind as u64) << KIND_SHIFT | one, other]
}

/// What a record tells; `None` if it is none.
pub const fn read_record(words: [u64; RECORD_WORDS]) -> Option<(Kind, u64, u64)> {
    match Kind::from_code((words[0] >> KIND_SHIFT) as u8) {
        Some(kind) => Some((kind, words[0] & ((1 << KIND_SHIFT) - 1), words[1])),
        None => None,
    }
}

/// The low halves of two instructions, and the kind: never 0. Modules that are alike in these are far apart in practice.
#[inline(always)]
const fn key(salt: u64, one: u64, other: u64) -> u64 {
    (one << 32 | other & 0xFFFF_FFFF).wrapping_add(salt)
}

/// Where a key is looked for first.
#[inline(always)]
const fn place(key: u64, slots: usize) -> usize {
    ((key >> 32) ^ key ^ (key >> 25)) as usize & slots.wrapping_sub(1)
}

/// The set of what has been told; open addressing.
#[derive(Debug)]
pub struct Told {
    slots: &'static mut [u64],
    used: usize,
}

impl Told {
    /// No memory: nothing is new.
    pub const fn new() -> Told {
        Told { slots: &mut [], used: 0 }
    }

    /// Takes zeroed memory, a power of two of words, and moves over.
    pub fn furnish(&mut self, slots: &'static mut [u64]) {
        let old = core::mem::replace(&mut self.slots, slots);
        self.used = 0;
        for &hash in old.iter().filter(|&&hash| hash != 0) {
            self.insert(hash);
        }
    }

    /// Whether more memory would do good.
    pub fn is_crowded(&self) -> bool {
        self.used * 2 >= self.slots.len()
    }

    /// Words of memory it has.
    pub fn room(&self) -> usize {
        self.slots.len()
    }

    /// Whether this, of a [`Kind`] with this salt, may not have been told: it is not where it is looked for first.
    #[inline(always)]
    pub(super) fn may_be_new(&self, salt: u64, one: u64, other: u64) -> bool {
        let key = key(salt, one, other);
        self.slots.get(place(key, self.slots.len())) != Some(&key)
    }

    /// Whether this has not been told; from now on it has. When there is no room, nothing is new.
    pub fn is_new(&mut self, kind: Kind, one: u64, other: u64) -> bool {
        !self.slots.is_empty() && self.insert(key(kind.salt(), one, other))
    }

    fn insert(&mut self, hash: u64) -> bool {
        let mask = self.slots.len() - 1;
        let mut at = place(hash, self.slots.len());
        loop {
            match self.slots[at] {
                0 if self.used + self.used / 4 >= mask => return false,
                0 => {
                    self.slots[at] = hash;
                    self.used += 1;
                    return true;
                }
                found if found == hash => return false,
                _ => at = (at + 1) & mask,
            }
        }
    }
}

impl Default for Told {
    fn default() -> Self {
        Self::new()
    }
}
