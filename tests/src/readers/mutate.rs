//! Damage: bits, bytes, numbers, pieces taken out, doubled, moved or brought from another sample, and words of the format.

use threadbare_strategy::rng::mix;
use threadbare_trace::hash::Fnv;

/// Numbers from a seed.
#[derive(Clone, Copy, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice for one input.
    pub fn of(seed: u64, number: u64) -> Dice {
        Dice(mix(mix(seed) ^ number))
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound.max(1) as u64) as usize
    }

    fn part(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.below(length + 1);
        let most = (length - from).min(1 << self.below(10));
        from..from + self.below(most + 1)
    }
}

/// Numbers that lengths and counts go wrong by.
const NUMBERS: [u64; 10] =
    [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, i64::MAX as u64, u64::MAX];

/// Inputs are not made larger than this.
const LARGEST: usize = 1 << 20;

/// The input with this number.
pub fn input(samples: &[Vec<u8>], words: &[&str], seed: u64, number: u64) -> Vec<u8> {
    let mut dice = Dice::of(seed, number);
    let Some(mut bytes) = samples.get(dice.below(samples.len())).cloned() else { return Vec::new() };
    let other = &samples[dice.below(samples.len())];
    let most = 1 << dice.below(5);
    for _ in 0..=dice.below(most) {
        damage(&mut bytes, other, words, &mut dice);
    }
    bytes.truncate(LARGEST);
    bytes
}

fn damage(bytes: &mut Vec<u8>, other: &[u8], words: &[&str], dice: &mut Dice) {
    let at = dice.below(bytes.len());
    match dice.below(10) {
        0 | 1 if !bytes.is_empty() => bytes[at] ^= 1 << dice.below(8),
        2 if !bytes.is_empty() => bytes[at] = dice.roll() as u8,
        3 => {
            let number = NUMBERS[dice.below(NUMBERS.len())].to_le_bytes();
            let width = 1 << dice.below(4);
            for (to, from) in bytes.iter_mut().skip(at).zip(&number[..width]) {
                *to = *from;
            }
        }
        4 => bytes.truncate(at),
        5 => _ = bytes.drain(dice.part(bytes.len())),
        6 => {
            let piece = bytes[dice.part(bytes.len())].to_vec();
            bytes.splice(at..at, piece);
        }
        7 => {
            let piece = other[dice.part(other.len())].to_vec();
            let gone = dice.part(bytes.len());
            bytes.splice(gone, piece);
        }
        8 if !words.is_empty() => {
            let word = words[dice.below(words.len())];
            bytes.splice(at..at, word.bytes());
        }
        // A number in text: another digit, or very many.
        _ => {
            let digits = bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
            let digits: Vec<usize> = digits.map(|(at, _)| at).take(4096).collect();
            if let Some(&at) = digits.get(dice.below(digits.len())) {
                let number = NUMBERS[dice.below(NUMBERS.len())].to_string();
                bytes.splice(at..=at, number.bytes());
            }
        }
    }
}

/// Nothing is put right.
pub fn as_it_is(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

/// A journal whose checksums are right, as far as its frames can be followed.
pub fn sum_journal(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut at = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |end| end + 1);
    while at < bytes.len() {
        let (mut length, mut shift) = (0usize, 0);
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            length |= usize::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 || shift > 63 {
                break;
            }
        }
        let begin = at + 4;
        let Some(end) = begin.checked_add(length).filter(|&end| end <= bytes.len()) else { break };
        let mut hash = Fnv::new();
        hash.write(&bytes[begin..end]);
        let folded = hash.finish() ^ hash.finish() >> 32;
        bytes[at..begin].copy_from_slice(&(folded as u32).to_le_bytes());
        at = end;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_its_seed_and_number() {
        let samples = vec![b"threadbare".to_vec(), vec![0; 100]];
        let all: Vec<Vec<u8>> = (0..500).map(|number| input(&samples, &["word"], 7, number)).collect();
        let again: Vec<Vec<u8>> = (0..500).map(|number| input(&samples, &["word"], 7, number)).collect();
        assert_eq!(all, again);
        let changed = all.iter().filter(|bytes| !samples.contains(bytes)).count();
        assert!(changed > 400, "{changed}");
        assert_eq!(input(&[], &[], 1, 1), b"");
    }
}
