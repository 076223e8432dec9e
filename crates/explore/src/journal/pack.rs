//! Records made small: runs of a program teach much the same again and again.
//!
//! A record is packed against the records before it (LZ77 with a window over the whole journal's end): bytes that came before are
//! told by where. Packer and unpacker keep the same history, so a journal that was read can be written on. Made for this because
//! records are short and follow each other for hours; general formats pack blocks, or pay for a dictionary with each.
//!
//! Packed: `(number of plain bytes, the bytes, length of a repeat, how far back it began)…`, numbers with 7 bits a byte. A
//! repeat of length 0 ends the record, and has no distance.

/// How far back a repeat may be.
const WINDOW: usize = 1 << 20;
/// The shortest repeat.
const SHORTEST: usize = 8;
/// Of a long repeat every so many bytes can be found again.
const STRIDE: usize = 16;
const TABLE_BITS: u32 = 16;
/// An unpacked record of more is none of ours.
const LARGEST: usize = 64 << 20;

/// What was packed or unpacked so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    bytes: Vec<u8>,
    /// The place of `bytes[0]` in all that ever was.
    base: u64,
    /// Places by the hash of the bytes there; made when something is packed.
    table: Vec<u64>,
}

impl History {
    /// Packs a record.
    pub(crate) fn pack(&mut self, record: &[u8], out: &mut Vec<u8>) {
        self.make_room();
        let start = self.bytes.len();
        self.index();
        self.bytes.extend_from_slice(record);
        let (mut at, mut plain) = (start, start);
        while let Some(word) = self.word(at) {
            let slot = slot(word);
            let found = std::mem::replace(&mut self.table[slot], self.base + at as u64 + 1);
            let found = found.checked_sub(self.base + 1).map(|found| found as usize);
            let Some(from) = found.filter(|&from| from < at && self.word(from) == Some(word)) else {
                at += 1;
                continue;
            };
            let length = self.common(from, at);
            number(out, at - plain);
            out.extend_from_slice(&self.bytes[plain..at]);
            number(out, length);
            number(out, at - from);
            for inside in (at + STRIDE..at + length).step_by(STRIDE) {
                if let Some(word) = self.word(inside) {
                    self.table[self::slot(word)] = self.base + inside as u64 + 1;
                }
            }
            at += length;
            plain = at;
        }
        number(out, self.bytes.len() - plain);
        out.extend_from_slice(&self.bytes[plain..]);
        number(out, 0);
    }

    /// Unpacks a record; `None` if it is damaged.
    pub(crate) fn unpack(&mut self, mut packed: &[u8]) -> Option<&[u8]> {
        self.make_room();
        let start = self.bytes.len();
        loop {
            let plain = take(&mut packed)?;
            self.bytes.extend_from_slice(packed.get(..plain)?);
            packed = &packed[plain..];
            let length = take(&mut packed)?;
            if length == 0 {
                return packed.is_empty().then(|| &self.bytes[start..]);
            }
            let from = self.bytes.len().checked_sub(take(&mut packed)?)?;
            if from == self.bytes.len() || self.bytes.len() - start + length > LARGEST {
                return None;
            }
            // It may repeat itself.
            for at in from..from + length {
                self.bytes.push(self.bytes[at]);
            }
        }
    }

    /// Forgets what is too far back. Packer and unpacker do so at the same records.
    fn make_room(&mut self) {
        if self.bytes.len() >= 2 * WINDOW {
            let old = self.bytes.len() - WINDOW;
            self.bytes.drain(..old);
            self.base += old as u64;
        }
    }

    /// Makes the table of what was unpacked, when packing begins.
    fn index(&mut self) {
        if !self.table.is_empty() {
            return;
        }
        self.table = vec![0; 1 << TABLE_BITS];
        for at in 0..self.bytes.len() {
            if let Some(word) = self.word(at) {
                self.table[slot(word)] = self.base + at as u64 + 1;
            }
        }
    }

    /// How long the bytes at two places are the same, from [`SHORTEST`] on.
    fn common(&self, from: usize, at: usize) -> usize {
        let mut length = SHORTEST;
        while let (Some(one), Some(other)) = (self.word(from + length), self.word(at + length)) {
            if one != other {
                return length + ((one ^ other).trailing_zeros() / 8) as usize;
            }
            length += SHORTEST;
        }
        let same = |&ahead: &usize| self.bytes[from + ahead] == self.bytes[at + ahead];
        length + (length..self.bytes.len() - at).take_while(same).count()
    }

    fn word(&self, at: usize) -> Option<u64> {
        self.bytes
            .get(at..at + SHORTEST)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }
}

fn slot(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - TABLE_BITS)) as usize
}

/// Adds a number with 7 bits a byte.
pub(crate) fn number(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes such a number; none of ours has more than four bytes.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0;
    for used in 0..4 {
        let byte = *bytes.get(used)?;
        value |= usize::from(byte & 0x7f) << (7 * used);
        if byte < 0x80 {
            *bytes = &bytes[used + 1..];
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadbare_strategy::rng::Rng;

    /// Records that are like each other, of all lengths.
    fn records(count: usize) -> Vec<Vec<u8>> {
        let mut rng = Rng::new(7);
        let words: Vec<u64> = (0..300).map(|_| rng.next()).collect();
        (0..count)
            .map(|index| {
                let length = if index % 7 == 0 { 0 } else { rng.below(300) };
                let from = rng.below(300 - length);
                let mut bytes: Vec<u8> = words[from as usize..(from + length) as usize]
                    .iter()
                    .flat_map(|it| it.to_le_bytes())
                    .collect();
                bytes.extend(rng.next().to_le_bytes());
                bytes.truncate(bytes.len() - rng.below(8) as usize);
                bytes
            })
            .collect()
    }

    #[test]
    fn what_is_packed_is_unpacked_also_after_a_pause() {
        let (mut packer, mut unpacker) = (History::default(), History::default());
        let (mut plain, mut small) = (0, 0);
        // Enough to forget.
        for (index, record) in records(4000).into_iter().enumerate() {
            let mut packed = Vec::new();
            packer.pack(&record, &mut packed);
            assert_eq!(unpacker.unpack(&packed), Some(&record[..]), "record {index}");
            plain += record.len();
            small += packed.len();
            if index % 1000 == 500 {
                // Somebody reads the journal and goes on with it.
                packer = unpacker.clone();
            }
        }
        assert!(plain > 3 * WINDOW && small * 20 < plain, "{plain} bytes are {small}");
    }

    #[test]
    fn damage_is_no_panic() {
        let mut packer = History::default();
        let packed: Vec<Vec<u8>> = records(20)
            .iter()
            .map(|record| {
                let mut packed = Vec::new();
                packer.pack(record, &mut packed);
                packed
            })
            .collect();
        let mut rng = Rng::new(3);
        for _ in 0..200 {
            let mut unpacker = History::default();
            for record in &packed {
                let mut record = record.clone();
                let at = rng.below(record.len() as u32) as usize;
                record[at] ^= 1 << rng.below(8);
                let _ = unpacker.unpack(&record);
            }
        }
    }
}
