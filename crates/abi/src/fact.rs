//! What a run learns of a program, and every later run of it knows: the words of two tables of the shared memory, of journals and of schedules.
//!
//! Most are instructions whose plain accesses are points. The others are not addresses: they are of a sort of their own, told by the upper
//! half of the word, and stand for what they are about by 32 bits of it. Runtime and driver tell words apart by [`Fact::decode`] alone.

/// Something that is known of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fact {
    /// The plain accesses of the instruction at this address are points.
    Point(u64),
    /// Strands touch each other's stacks, so every run notes all of them from its beginning.
    StacksShared,
    /// Behind an instruction precompiled code looks at memory.
    LooksBehind(u32),
    /// The write of an instruction is put off until the read that is announced behind it.
    PutOff(u32),
    /// Something that was found of a loop.
    Loop(u32),
}

/// No instruction lies there.
const STACKS_SHARED: u64 = 1;
const LOOKS_BEHIND: u64 = 1;
const PUT_OFF: u64 = 2;
const LOOP: u64 = 4;

impl Fact {
    /// Of the instruction at this address: [`Fact::LooksBehind`].
    pub const fn looks_behind(pc: u64) -> Fact {
        Fact::LooksBehind((pc as u32).wrapping_mul(0x9E37_79B1))
    }

    /// Of the instruction at this address: [`Fact::PutOff`].
    pub const fn put_off(pc: u64) -> Fact {
        Fact::PutOff((pc as u32).wrapping_mul(0x85EB_CA6B))
    }

    /// As a word.
    #[inline(always)]
    pub const fn encode(self) -> u64 {
        match self {
            Fact::Point(pc) => pc,
            Fact::StacksShared => STACKS_SHARED,
            Fact::LooksBehind(of) => LOOKS_BEHIND << 48 | of as u64,
            Fact::PutOff(of) => PUT_OFF << 48 | of as u64,
            Fact::Loop(of) => LOOP << 48 | of as u64,
        }
    }

    /// What a word stands for, if it is one.
    pub const fn decode(word: u64) -> Option<Fact> {
        match (word >> 48, word >> 32 & 0xffff) {
            (0, 0) if word == STACKS_SHARED => Some(Fact::StacksShared),
            (0, _) => Some(Fact::Point(word)),
            (LOOKS_BEHIND, 0) => Some(Fact::LooksBehind(word as u32)),
            (PUT_OFF, 0) => Some(Fact::PutOff(word as u32)),
            (LOOP, 0) => Some(Fact::Loop(word as u32)),
            _ => None,
        }
    }

    /// Whether it changes which operation an event of a run is, and not only whether it is a point.
    pub const fn changes_events(self) -> bool {
        matches!(self, Fact::StacksShared | Fact::PutOff(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: [Fact; 9] = [
        Fact::Point(0x40_1136),
        Fact::Point(0x7fff_f7fc_1040),
        Fact::Point(2),
        Fact::StacksShared,
        Fact::looks_behind(0x40_1136),
        Fact::put_off(0x40_1136),
        Fact::Loop(1),
        Fact::LooksBehind(1),
        Fact::PutOff(u32::MAX),
    ];

    #[test]
    fn facts_go_through_words() {
        for (at, fact) in FACTS.iter().enumerate() {
            assert_eq!(Fact::decode(fact.encode()), Some(*fact));
            assert!(FACTS[..at].iter().all(|other| other.encode() != fact.encode()), "{fact:?}");
        }
    }

    #[test]
    fn words_that_are_no_facts_are_none() {
        for word in [u64::MAX, 3 << 48, 1 << 63, 1 << 48 | 1 << 32, 4 << 48 | 1 << 47] {
            assert_eq!(Fact::decode(word), None, "{word:x}");
        }
    }

    #[test]
    fn words_that_are_facts_are_written_as_they_were() {
        // As schedules have them.
        for word in [1, 0x40_1136, 0x1_0000_0000_0007, 0x2_0000_8000_0001] {
            assert_eq!(Fact::decode(word).map(Fact::encode), Some(word));
        }
        assert_eq!(Fact::decode(1), Some(Fact::StacksShared));
        assert_eq!(Fact::decode(0x2_0000_8000_0001), Some(Fact::PutOff(0x8000_0001)));
    }

    #[test]
    fn what_changes_events_is_no_mere_point() {
        let changes: [bool; 9] = FACTS.map(Fact::changes_events);
        assert_eq!(changes, [false, false, false, true, false, true, false, false, true]);
    }
}
