//! The places that steps touched, each with its last write and the reads since.
//!
//! A place is the bytes of one access within 8 bytes of memory. Accesses of different shapes to the same bytes have a place
//! each; these are marked, and every one of them is looked at.

use threadbare_abi::object::ObjectId;

/// A place.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// See [`memory_key`] and [`sync_key`]; 0 is none.
    pub key: u64,
    /// Hash of the last write's step.
    pub write: u64,
    /// Sum of the hashes of the reads since.
    pub readers: u64,
    /// Who wrote last.
    pub writer: u64,
    /// Who read last since.
    pub reader: u64,
    /// The next place of the same bucket, 0 if none.
    pub next: u32,
    /// [`OVERLAPS`].
    pub flags: u32,
}

/// Another place shares bytes with this one.
const OVERLAPS: u32 = 1;

// A key has an address, and in its low byte how many bytes from there on, or which object.
const ADDRESS: u32 = 8;
const SYNC: u64 = 0x80;
/// Address bits within 8 bytes.
const WITHIN: u32 = 3;

/// The key of so many bytes (1 to 8) at an address, all within the same 8.
#[inline(always)]
pub const fn memory_key(addr: u64, size: u32) -> u64 {
    addr << ADDRESS | size as u64
}

/// The key of an object of synchronisation.
#[inline(always)]
pub const fn sync_key(object: ObjectId) -> u64 {
    object.code() | SYNC
}

/// Whether a key is one of an object of synchronisation.
#[inline(always)]
pub const fn is_sync(key: u64) -> bool {
    key & SYNC != 0
}

/// Which 8 bytes a key is about.
const fn granule(key: u64) -> u64 {
    key >> (ADDRESS + WITHIN)
}

/// Whether two keys are about the same bytes, or some of them.
pub const fn overlap(one: u64, other: u64) -> bool {
    if is_sync(one) || is_sync(other) {
        return one == other;
    }
    let (from, to) = (one >> ADDRESS, (one >> ADDRESS) + (one & 0xFF));
    let (others_from, others_to) = (other >> ADDRESS, (other >> ADDRESS) + (other & 0xFF));
    from < others_to && others_from < to
}

/// Memory for places: the buckets' first places, and the places. Both sizes are powers of two, and all is zero.
pub type Memory = (&'static mut [u32], &'static mut [Entry]);

/// Gets memory for at least so many places; `None` when there is no more.
pub type More = fn(usize) -> Option<Memory>;

/// The places of a run.
#[derive(Debug)]
pub struct Table {
    heads: &'static mut [u32],
    entries: &'static mut [Entry],
    /// Places in use; place 0 is none, and stands for all that do not fit.
    used: u32,
    last: (u64, u32),
    more: Option<More>,
    /// Blocks of [`BLOCK`] granules that have places, as a set of hashes: fresh memory is seldom one of them.
    blocks: [u64; BLOCK_WORDS],
}

/// So many granules, as a power of two, have buckets side by side.
const BESIDE: u32 = 3;
const BLOCK: u32 = 6;
const BLOCK_WORDS: usize = 16;

/// Where a block is in the set.
const fn block_bit(granule: u64) -> (usize, u64) {
    let hash = (granule >> BLOCK).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

impl Table {
    /// No memory.
    pub const fn new() -> Table {
        Table {
            heads: &mut [],
            entries: &mut [],
            used: 0,
            last: (0, 0),
            more: None,
            blocks: [0; BLOCK_WORDS],
        }
    }

    /// Takes its first memory, and whom to ask for more.
    pub fn furnish(&mut self, memory: Memory, more: More) {
        (self.heads, self.entries) = memory;
        (self.used, self.last, self.more) = (1, (0, 0), Some(more));
    }

    /// Places in use.
    pub fn len(&self) -> usize {
        self.used as usize
    }

    /// Whether nothing has been touched.
    pub fn is_empty(&self) -> bool {
        self.used <= 1
    }

    /// Where a key's places begin. Neighbours in memory are neighbours here: who touches one soon touches the other.
    #[inline(always)]
    fn bucket(&self, key: u64) -> usize {
        let granule = granule(key);
        let line = (granule >> BESIDE).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        (line << BESIDE | granule & ((1 << BESIDE) - 1)) as usize & (self.heads.len().wrapping_sub(1))
    }

    /// The first place of a key's bucket, for whoever will soon ask for the key; `None` if that is found at once anyway.
    #[inline(always)]
    pub fn soon(&self, key: u64) -> Option<&Entry> {
        if self.last.0 == key {
            return None;
        }
        let at = *self.heads.get(self.bucket(key))?;
        self.entries.get(at as usize)
    }

    /// A place.
    #[inline(always)]
    pub fn entry(&mut self, at: u32) -> &mut Entry {
        &mut self.entries[at as usize]
    }

    /// The place with this key, made if need be; `None` if others share bytes with it.
    #[inline(always)]
    pub fn find(&mut self, key: u64) -> Option<u32> {
        if self.last.0 == key { Some(self.last.1) } else { self.look_up(key) }
    }

    #[inline(never)]
    fn look_up(&mut self, key: u64) -> Option<u32> {
        let at = self.find_overlapping(key);
        if self.entries[at as usize].flags & OVERLAPS != 0 {
            return None;
        }
        self.last = (key, at);
        Some(at)
    }

    /// The place with this key, made if need be.
    pub fn find_overlapping(&mut self, key: u64) -> u32 {
        let mut at = self.heads[self.bucket(key)];
        while at != 0 {
            let entry = &self.entries[at as usize];
            if entry.key == key {
                return at;
            }
            at = entry.next;
        }
        self.make(key)
    }

    #[inline(never)]
    fn make(&mut self, key: u64) -> u32 {
        if self.used as usize >= self.entries.len() && !self.grow() {
            return 0;
        }
        let bucket = self.bucket(key);
        let mut overlaps = false;
        let mut at = self.heads[bucket];
        while at != 0 {
            let entry = &mut self.entries[at as usize];
            if overlap(entry.key, key) {
                entry.flags |= OVERLAPS;
                overlaps = true;
                // It is not found without a look at the others any more.
                self.last = (0, 0);
            }
            at = entry.next;
        }
        let made = self.used;
        self.used += 1;
        let (word, bit) = block_bit(granule(key));
        self.blocks[word] |= bit;
        let flags = if overlaps { OVERLAPS } else { 0 };
        self.entries[made as usize] = Entry { key, next: self.heads[bucket], flags, ..Entry::default() };
        self.heads[bucket] = made;
        made
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let Some((heads, entries)) = self.more.and_then(|more| more(self.entries.len() * 4)) else {
            return false;
        };
        let used = self.used as usize;
        entries[..used].copy_from_slice(&self.entries[..used]);
        (self.heads, self.entries) = (heads, entries);
        for at in 1..used {
            let bucket = self.bucket(self.entries[at].key);
            self.entries[at].next = self.heads[bucket];
            self.heads[bucket] = at as u32;
        }
        true
    }

    /// Calls `visit` with every place that shares bytes with this one, itself included.
    pub fn each_overlapping(&self, at: u32, mut visit: impl FnMut(&Entry)) {
        let key = self.entries[at as usize].key;
        let mut at = self.heads[self.bucket(key)];
        while at != 0 {
            let entry = &self.entries[at as usize];
            if overlap(entry.key, key) {
                visit(entry);
            }
            at = entry.next;
        }
    }

    /// Memory is given anew: what was there is gone.
    pub fn forget(&mut self, addr: u64, size: u64) {
        let last = addr.saturating_add(size.saturating_sub(1)) >> WITHIN;
        let first = addr >> WITHIN;
        let has_places = |block: u64| {
            let (word, bit) = block_bit(block << BLOCK);
            self.blocks[word] & bit != 0
        };
        let (first_block, last_block) = (first >> BLOCK, last >> BLOCK);
        if last_block - first_block < BLOCK_WORDS as u64 * 64 && !(first_block..=last_block).any(has_places) {
            return;
        }
        if last - first >= self.used as u64 {
            for entry in &mut self.entries[1..self.used as usize] {
                if (first..=last).contains(&granule(entry.key)) {
                    clear(entry);
                }
            }
            return;
        }
        for place in first..=last {
            let mut at = self.heads[self.bucket(place << (ADDRESS + WITHIN))];
            while at != 0 {
                let entry = &mut self.entries[at as usize];
                if granule(entry.key) == place {
                    clear(entry);
                }
                at = entry.next;
            }
        }
    }
}

fn clear(entry: &mut Entry) {
    (entry.write, entry.readers, entry.writer, entry.reader) = (0, 0, 0, 0);
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}
