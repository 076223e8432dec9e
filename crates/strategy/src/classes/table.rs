//! The places that steps touched, each with its last write and the reads since.
//!
//! A place is the bytes of one access within 8 bytes of memory. Accesses of different shapes to the same bytes have a place
//! each; these are marked, and every one of them is looked at.

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
    /// [`MANY`], [`OVERLAPS`].
    pub flags: u32,
}

/// Several strands have read since the last write.
pub const MANY: u32 = 1;
/// Another place shares bytes with this one.
pub const OVERLAPS: u32 = 2;

const GRANULE: u32 = 16;
const TAG: u64 = 0xFF00;
const MASK: u64 = 0xFF;

/// The key of the bytes `mask` (one bit each) of the 8 bytes at `addr`.
#[inline(always)]
pub const fn memory_key(addr: u64, mask: u8) -> u64 {
    addr >> 3 << GRANULE | mask as u64
}

/// The key of an object of synchronisation at an address; `of` tells several at one address apart (0 to 7).
#[inline(always)]
pub const fn sync_key(addr: u64, of: u64) -> u64 {
    addr >> 3 << GRANULE | (addr & 7 | of << 3 | 0x80) << 8
}

/// Whether a key is one of an object of synchronisation.
#[inline(always)]
pub const fn is_sync(key: u64) -> bool {
    key & TAG != 0
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
}

impl Table {
    /// No memory.
    pub const fn new() -> Table {
        Table { heads: &mut [], entries: &mut [], used: 0, last: (0, 0), more: None }
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

    #[inline(always)]
    fn bucket(&self, key: u64) -> usize {
        ((key >> GRANULE).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize
            & (self.heads.len().wrapping_sub(1))
    }

    /// A place.
    #[inline(always)]
    pub fn entry(&mut self, at: u32) -> &mut Entry {
        &mut self.entries[at as usize]
    }

    /// The place with this key, made if need be.
    #[inline(always)]
    pub fn find(&mut self, key: u64) -> u32 {
        if self.last.0 == key {
            return self.last.1;
        }
        let at = self.look_up(key);
        self.last = (key, at);
        at
    }

    #[inline]
    fn look_up(&mut self, key: u64) -> u32 {
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
            if entry.key >> GRANULE == key >> GRANULE && entry.key & key & MASK != 0 {
                entry.flags |= OVERLAPS;
                overlaps = true;
            }
            at = entry.next;
        }
        let made = self.used;
        self.used += 1;
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
            if entry.key >> GRANULE == key >> GRANULE && entry.key & key & MASK != 0 {
                visit(entry);
            }
            at = entry.next;
        }
    }

    /// Memory is given anew: what was there is gone.
    pub fn forget(&mut self, addr: u64, size: u64) {
        let last = addr.saturating_add(size.saturating_sub(1)) >> 3;
        let first = addr >> 3;
        if last - first >= self.used as u64 {
            for entry in &mut self.entries[1..self.used as usize] {
                if (first..=last).contains(&(entry.key >> GRANULE)) {
                    clear(entry);
                }
            }
            return;
        }
        for granule in first..=last {
            let mut at = self.heads[self.bucket(granule << GRANULE)];
            while at != 0 {
                let entry = &mut self.entries[at as usize];
                if entry.key >> GRANULE == granule {
                    clear(entry);
                }
                at = entry.next;
            }
        }
    }
}

fn clear(entry: &mut Entry) {
    (entry.write, entry.readers, entry.writer, entry.reader) = (0, 0, 0, 0);
    entry.flags &= !MANY;
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}
