//! Changing inputs a little, as fuzzers do.

use crate::rng::Rng;
use crate::template::{Input, Kind, Template, Value};

/// Bytes of a mutated value, at the most.
const LONGEST: usize = 1 << 20;
const INTERESTING: [u8; 9] = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', b'\n', b' '];

/// Changes bytes in one to four ways; the other is what parts are taken from.
pub fn mutate_bytes(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() as u64) as usize;
        match rng.below(8) {
            _ if bytes.is_empty() => bytes.push(rng.word() as u8),
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.word() as u8,
            2 => bytes[at] = INTERESTING[rng.below(INTERESTING.len() as u64) as usize],
            3 => bytes.insert(at, rng.word() as u8),
            4 => _ = bytes.remove(at),
            5 => {
                let end = at + 1 + rng.below((bytes.len() - at) as u64) as usize;
                let part = bytes[at..end.min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            6 => bytes.truncate(at),
            _ => {
                let from = rng.below(other.len() as u64) as usize;
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from.min(other.len())..]);
            }
        }
        bytes.truncate(LONGEST);
    }
}

impl Template {
    /// An input near another one: one or two values are others, most often near those that were.
    pub fn mutate(&self, input: &Input, rng: &mut Rng) -> Input {
        let mut changed = input.clone();
        if self.holes.is_empty() {
            return changed;
        }
        for _ in 0..1 + rng.below(2) {
            let at = rng.below(self.holes.len() as u64) as usize;
            changed.0[at] = near(&self.holes[at].kind, &input.0[at], rng);
        }
        changed
    }
}

fn near(kind: &Kind, value: &Value, rng: &mut Rng) -> Value {
    match (kind, value) {
        (Kind::Int { low, high, .. }, Value::Int(number)) if !rng.one_in(4) => {
            let by = 1 + rng.below(8) as i64;
            let moved = if rng.one_in(2) { number.saturating_add(by) } else { number.saturating_sub(by) };
            Value::Int(moved.clamp(*low, *high))
        }
        (Kind::Text { shortest, longest, alphabet }, Value::Bytes(bytes)) => {
            let mut bytes = bytes.clone();
            mutate_bytes(&mut bytes, b"", rng);
            bytes.retain(|byte| alphabet.contains(byte));
            bytes.truncate(*longest);
            while bytes.len() < *shortest {
                bytes.push(alphabet[rng.below(alphabet.len() as u64) as usize]);
            }
            Value::Bytes(bytes)
        }
        (Kind::Bytes { shortest, longest }, Value::Bytes(bytes)) => {
            let mut bytes = bytes.clone();
            mutate_bytes(&mut bytes, b"", rng);
            bytes.truncate(*longest);
            bytes.resize(bytes.len().max(*shortest), 0);
            Value::Bytes(bytes)
        }
        (Kind::Corpus(files), Value::Bytes(bytes)) => {
            let mut bytes = bytes.clone();
            mutate_bytes(&mut bytes, &files[rng.below(files.len() as u64) as usize], rng);
            Value::Bytes(bytes)
        }
        _ => kind.draw(rng),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mutated_is_still_an_input() {
        let mut template = Template::default();
        template.arg("{x:int(-5..5)}{s:string(2..6, abc)}{m:one-of(a,b)}{f:file(1..9)}").unwrap();
        let mut rng = Rng::new(5);
        let mut input = template.draw(&mut rng);
        let first = input.clone();
        for _ in 0..2000 {
            input = template.mutate(&input, &mut rng);
            assert!(template.takes(&input), "{input:?}");
        }
        assert_ne!(input, first);
    }
}
