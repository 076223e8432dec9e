//! Names of strands.

/// The index of a strand in one run, in order of creation; the main strand is 0.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct StrandId(pub u16);

impl StrandId {
    /// The strand that runs `main`.
    pub const MAIN: StrandId = StrandId(0);
    /// No strand.
    pub const NONE: StrandId = StrandId(u16::MAX);

    /// The index, for slices.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The most strands a run may create.
pub const MAX_STRANDS: usize = 32_767;

/// Thread ids that strands see begin above this number, and above every number the kernel gives: `FIRST_TID` and the
/// strand's index. The main strand has the process's own.
pub const FIRST_TID: i32 = 1 << 22;

/// A strand's name as a number: a hash of its place in the creation tree, the same in every run that creates it at
/// the same place. `0` is main, `0.1` its first child, `0.1.2` the second child of that.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct StrandPath(pub u64);

impl StrandPath {
    /// The path of the main strand.
    pub const MAIN: StrandPath = StrandPath(0x7468_7265_6164_6261);

    /// The path of the `ordinal`-th child (counted from 1).
    pub const fn child(self, ordinal: u32) -> StrandPath {
        // SplitMix64's finalizer over parent and ordinal.
        let mut z = self.0.wrapping_add((ordinal as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        StrandPath(z ^ (z >> 31))
    }

    /// The path a text such as `0.1.2` names; `None` if it is not such a text.
    pub fn parse(text: &str) -> Option<StrandPath> {
        let mut parts = text.split('.');
        if parts.next()? != "0" {
            return None;
        }
        let mut path = StrandPath::MAIN;
        for part in parts {
            let ordinal: u32 = part.parse().ok()?;
            if ordinal == 0 || part.starts_with('+') {
                return None;
            }
            path = path.child(ordinal);
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_parse_and_differ() {
        let child = StrandPath::parse("0.1").unwrap();
        assert_eq!(child, StrandPath::MAIN.child(1));
        assert_ne!(child, StrandPath::parse("0.2").unwrap());
        assert_eq!(StrandPath::parse("0.1.3"), Some(child.child(3)));
        for bad in ["", "1", "0.", "0.0", "0.x", "0.+1", "00"] {
            assert_eq!(StrandPath::parse(bad), None, "{bad}");
        }
    }
}
