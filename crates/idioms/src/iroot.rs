//! An iroot: an idiom at places.

use serde::{Deserialize, Serialize};

/// How many idioms there are.
pub const IDIOMS: usize = 6;

/// What an access does to its object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Does {
    /// It reads.
    #[default]
    Read,
    /// It writes.
    Write,
    /// It reads and writes at once.
    Update,
    /// It takes a lock.
    Lock,
    /// It gives a lock back.
    Unlock,
}

impl Does {
    /// Whether it changes memory.
    pub const fn writes(self) -> bool {
        matches!(self, Does::Write | Does::Update)
    }

    /// Whether its object is a lock.
    pub const fn is_sync(self) -> bool {
        matches!(self, Does::Lock | Does::Unlock)
    }

    /// Whether the order of the two, on one object and in this order, is a dependency.
    pub const fn then(self, next: Does) -> bool {
        match (self.is_sync(), next.is_sync()) {
            (false, false) => self.writes() || next.writes(),
            (true, true) => matches!((self, next), (Does::Unlock, Does::Lock)),
            _ => false,
        }
    }

    /// In a word.
    pub const fn name(self) -> &'static str {
        match self {
            Does::Read => "read",
            Does::Write => "write",
            Does::Update => "update",
            Does::Lock => "lock",
            Does::Unlock => "unlock",
        }
    }
}

/// What happens at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct PlaceEvent {
    /// The instruction.
    pub place: u64,
    /// What it does.
    pub does: Does,
}

/// An instance of an idiom. It names places, not strands: the same whichever strands come to them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Iroot {
    /// The idiom, from 1.
    pub idiom: u8,
    /// e0, e1 and so on; [`Iroot::events`] has those that there are.
    events: [PlaceEvent; 4],
}

impl Iroot {
    /// The iroot of an idiom with these events.
    pub fn new(idiom: u8, events: &[PlaceEvent]) -> Iroot {
        let mut all = [PlaceEvent::default(); 4];
        let count = Iroot::count(idiom).min(events.len());
        all[..count].copy_from_slice(&events[..count]);
        // In idioms 5 and 6 either dependency may be named first.
        if idiom >= 5 {
            let turned = [all[2], all[3], all[0], all[1]];
            all = all.min(turned);
        }
        Iroot { idiom, events: all }
    }

    /// Events of an idiom.
    pub const fn count(idiom: u8) -> usize {
        match idiom {
            1 => 2,
            2 => 3,
            _ => 4,
        }
    }

    /// e0, e1 and so on.
    pub fn events(&self) -> &[PlaceEvent] {
        &self.events[..Iroot::count(self.idiom)]
    }

    /// Its dependencies, each an iroot of idiom 1: a run that shows it shows them. Those of idiom 6 never come true.
    pub fn dependencies(&self) -> impl Iterator<Item = Iroot> {
        let pairs: &[(usize, usize)] = match self.idiom {
            2 => &[(0, 1), (1, 2)],
            3..=5 => &[(0, 1), (2, 3)],
            _ => &[],
        };
        pairs.iter().map(|&(first, second)| Iroot::new(1, &[self.events[first], self.events[second]]))
    }

    /// A number that stands for it; the same for the same places.
    pub fn number(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325 ^ u64::from(self.idiom);
        for event in self.events() {
            for word in [event.place, event.does as u64] {
                hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                hash ^= hash >> 29;
            }
        }
        hash
    }
}
