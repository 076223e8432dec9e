//! Free runs: what the driver wants of the noise maker, and what a free run leaves in shared memory.
//!
//! A free run has no strategy; its [`Noise`] goes where a strategy's parameters go ([`crate::layout::Plan::params`]).

use crate::op::codes;

codes! {
    /// What the noise maker does where it does something.
    NoiseKind {
        /// Nothing.
        None = 0, "none";
        /// Sleeps for a random time.
        Sleep = 1, "sleep";
        /// Gives the processor to another strand.
        Yield = 2, "yield";
        /// Gives the strand another priority.
        Priority = 3, "priority";
        /// Keeps the processor busy for a random time.
        Spin = 4, "spin";
        /// One of them, drawn each time.
        Mixed = 5, "mixed";
    }
}

codes! {
    /// What decides where noise is made.
    Guidance {
        /// Chance alone.
        Random = 0, "random";
        /// Functions that were not interrupted yet, or only interrupted.
        Interrupted = 1, "model1";
        /// Pairs of functions that did not meet yet.
        Pairs = 2, "model2";
        /// Open tasks, with long stretches left alone.
        History = 3, "history";
    }
}

/// Flags of a free run.
pub mod flags {
    /// The order of concurrent events is recorded.
    pub const RECORD: u64 = 1;
    /// Functions that are interrupted are noted.
    pub const COVER: u64 = 2;
    /// Noise waits for the first signal.
    pub const PAUSED: u64 = 4;
    /// Which accesses are shared is found out, noise or not.
    pub const LEARN: u64 = 8;
    /// Data races are looked for while the strands run.
    pub const RACES: u64 = 16;
}

codes! {
    /// Whether noise is wanted at a place.
    Wanted {
        /// It is.
        Here = 0, "here";
        /// A library does what its caller asked for: if it is wanted there.
        AsInCaller = 1, "as in the caller";
        /// It is not.
        Nowhere = 2, "nowhere";
    }
}

impl Wanted {
    /// The instruction at an address, with whether noise is wanted there, as a word of the table of what is known of a free run's program.
    pub const fn at(self, pc: u64) -> u64 {
        pc | (self as u64) << 62
    }

    /// The instruction of such a word, and whether noise is wanted there.
    pub const fn decode(word: u64) -> (u64, Wanted) {
        let wanted = match Wanted::from_code((word >> 62) as u8) {
            Some(wanted) => wanted,
            None => Wanted::Nowhere,
        };
        (word & !(3 << 62), wanted)
    }
}

/// The probability that stands for always.
pub const ALWAYS: u64 = 1 << 16;

/// What the driver wants of the noise maker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Noise {
    /// What is done.
    pub kind: NoiseKind,
    /// What decides where.
    pub guidance: Guidance,
    /// Bit set of [`flags`].
    pub flags: u64,
    /// How likely noise is where an event is made for the first time, of [`ALWAYS`].
    pub probability: u64,
    /// How long noise takes, in thousandths of the usual.
    pub strength: u64,
    /// The most of a strand's time that may be noise, in thousandths; 1000 is no bound.
    pub share: u64,
    /// The signal that starts and stops noise; 0 for none.
    pub signal: u64,
}

impl Noise {
    /// No noise, nothing recorded.
    pub const OFF: Noise = Noise {
        kind: NoiseKind::None,
        guidance: Guidance::Random,
        flags: 0,
        probability: 0,
        strength: 1000,
        share: 1000,
        signal: 0,
    };

    /// The same, with races looked for while the strands run, or not.
    pub const fn looking_for_races(self, wanted: bool) -> Noise {
        let races = if wanted { flags::RACES } else { 0 };
        Noise { flags: self.flags & !flags::RACES | races, ..self }
    }

    /// As the parameters of a plan.
    pub const fn to_params(self) -> [u64; 8] {
        let what = self.kind as u64 | (self.guidance as u64) << 8;
        [what, self.flags, self.probability, self.strength, self.share, self.signal, 0, 0]
    }

    /// From the parameters of a plan; what is out of range is no noise.
    pub const fn from_params(params: [u64; 8]) -> Noise {
        let kind = match NoiseKind::from_code(params[0] as u8) {
            Some(kind) => kind,
            None => NoiseKind::None,
        };
        let guidance = match Guidance::from_code((params[0] >> 8) as u8) {
            Some(guidance) => guidance,
            None => Guidance::Random,
        };
        Noise {
            kind,
            guidance,
            flags: params[1],
            probability: params[2],
            strength: params[3],
            share: params[4],
            signal: params[5],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_carries_it() {
        for &kind in NoiseKind::ALL {
            for &guidance in Guidance::ALL {
                let noise =
                    Noise { kind, guidance, flags: 5, probability: 77, strength: 3, share: 9, signal: 12 };
                assert_eq!(Noise::from_params(noise.to_params()), noise);
            }
        }
        assert_eq!(Noise::from_params([u64::MAX; 8]).kind, NoiseKind::None);
    }

    #[test]
    fn places_go_through_words() {
        for &wanted in Wanted::ALL {
            for pc in [1, 0x40_1136, 0x7fff_f7fc_1040] {
                assert_eq!(Wanted::decode(wanted.at(pc)), (pc, wanted));
            }
        }
        assert_eq!(Wanted::decode(u64::MAX).1, Wanted::Nowhere);
    }
}
