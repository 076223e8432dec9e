//! Where an access goes, as far as the code says it: an expression over what the function was given.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A root, a distance from it, and, for elements of an array, a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Address {
    /// What the distance counts from.
    pub root: Root,
    /// The distance in bytes; for [`Root::Global`] the address as linked.
    pub offset: i64,
    /// 0 if the address is just that; else some multiple of it comes on top.
    pub stride: u64,
}

/// What an address counts from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Root {
    /// The module: the offset is an address as linked.
    Global,
    /// Data of another module, by name.
    Import(String),
    /// The strand's thread-local storage of this module.
    ThreadLocal,
    /// The function's own frame; the return address lies at offset 0.
    Stack,
    /// An integer argument, from 0.
    Argument(u8),
    /// What was read from memory.
    Loaded {
        /// Where from.
        from: Box<Address>,
        /// By which instruction (for a called function's, a number made from both).
        at: u64,
    },
    /// The block that a call allocated.
    Allocated {
        /// The place of the call (its return address).
        at: u64,
    },
    /// What a call gave back.
    Returned {
        /// The place of the call.
        at: u64,
    },
    /// One of several, by the way control came.
    OneOf(Vec<Address>),
    /// What an earlier round of the loop came to: the expression around it, again.
    Again,
    /// A plain number.
    Number,
    /// Not known.
    Unknown(Reason),
}

/// Why an address is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reason {
    /// Computed by something else than additions.
    Arithmetic,
    /// In a register that a call does not keep.
    Clobbered,
    /// Not set by anything that was followed.
    Unset,
    /// Too many ways, or too deep.
    Complex,
    /// The function did not settle.
    Unsettled,
}

impl Address {
    /// An address that is not known.
    pub fn unknown(reason: Reason) -> Address {
        Address { root: Root::Unknown(reason), offset: 0, stride: 0 }
    }

    /// Whether it leads back to something that has a name: every way to it ends in a global, a thread-local, the frame, an argument
    /// or an allocation.
    pub fn is_known(&self) -> bool {
        match &self.root {
            Root::Global | Root::Import(_) | Root::ThreadLocal | Root::Stack | Root::Argument(_) => true,
            Root::Allocated { .. } | Root::Again => true,
            Root::Loaded { from, .. } => from.is_known(),
            Root::OneOf(ways) => ways.iter().all(Address::is_known),
            Root::Returned { .. } | Root::Number | Root::Unknown(_) => false,
        }
    }

    /// Whether a caller can make sense of it: no part of it is the function's own.
    pub(crate) fn is_portable(&self) -> bool {
        match &self.root {
            Root::Stack | Root::Again | Root::Unknown(_) => false,
            Root::Loaded { from, .. } => from.is_portable(),
            Root::OneOf(ways) => ways.iter().all(Address::is_portable),
            _ => true,
        }
    }

    /// Whether every way to it begins at a variable of the program.
    pub fn is_of_variable(&self) -> bool {
        match &self.root {
            Root::Global => true,
            Root::Loaded { from, .. } => from.is_of_variable(),
            Root::OneOf(ways) => ways.iter().all(|way| way.root == Root::Again || way.is_of_variable()),
            _ => false,
        }
    }

    /// The same as a caller sees it who passed these; `None` if it counts from what is the function's own.
    pub fn passed(&self, arguments: &[Address]) -> Option<Address> {
        let on_top = |passed: Address| Address {
            offset: passed.offset.wrapping_add(self.offset),
            stride: gcd(passed.stride, self.stride),
            ..passed
        };
        let root = match &self.root {
            Root::Global | Root::Import(_) | Root::ThreadLocal => return Some(self.clone()),
            Root::Argument(number) => return arguments.get(usize::from(*number)).cloned().map(on_top),
            Root::Loaded { from, at } => Root::Loaded { from: Box::new(from.passed(arguments)?), at: *at },
            Root::OneOf(ways) => {
                Root::OneOf(ways.iter().map(|way| way.passed(arguments)).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Some(Address { root, ..self.clone() })
    }

    /// Why it is not known, told of the first way that ends in the dark; `None` if it is known.
    pub fn reason(&self) -> Option<&Root> {
        match &self.root {
            Root::Loaded { from, .. } => from.reason(),
            Root::OneOf(ways) => ways.iter().find_map(Address::reason),
            root @ (Root::Returned { .. } | Root::Number | Root::Unknown(_)) => Some(root),
            _ => None,
        }
    }

    /// Every way, with alternatives taken apart.
    pub fn ways(&self) -> Vec<Address> {
        match &self.root {
            Root::OneOf(ways) => {
                let shift = |way: Address| Address {
                    offset: way.offset.wrapping_add(self.offset),
                    stride: gcd(way.stride, self.stride),
                    ..way
                };
                ways.iter().flat_map(Address::ways).map(shift).collect()
            }
            _ => vec![self.clone()],
        }
    }

    /// The same, this many bytes on.
    #[must_use]
    pub fn shifted(mut self, by: i64) -> Address {
        self.offset = self.offset.wrapping_add(by);
        self
    }
}

/// The greatest common divisor; 0 stands for nothing.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Global => write!(f, "{:#x}", self.offset)?,
            Root::Import(name) => f.write_str(name)?,
            Root::ThreadLocal => f.write_str("tls")?,
            Root::Stack => f.write_str("frame")?,
            Root::Argument(number) => write!(f, "arg{number}")?,
            Root::Loaded { from, .. } => write!(f, "*({from})")?,
            Root::Allocated { at } => write!(f, "block@{at:#x}")?,
            Root::Returned { at } => write!(f, "result@{at:#x}")?,
            Root::OneOf(ways) => {
                f.write_str("{")?;
                for (at, way) in ways.iter().enumerate() {
                    write!(f, "{}{way}", if at > 0 { " | " } else { "" })?;
                }
                f.write_str("}")?;
            }
            Root::Again => f.write_str("again")?,
            Root::Number => write!(f, "{:#x}", self.offset)?,
            Root::Unknown(reason) => write!(f, "?{reason:?}")?,
        }
        if self.offset != 0 && !matches!(self.root, Root::Global | Root::Number) {
            write!(f, "{:+#x}", Signed(self.offset))?;
        }
        if self.stride != 0 { write!(f, "+{}*_", self.stride) } else { Ok(()) }
    }
}

struct Signed(i64);

impl fmt::LowerHex for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { '-' } else { '+' };
        write!(f, "{sign}{:#x}", self.0.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(root: Root, offset: i64) -> Address {
        Address { root, offset, stride: 0 }
    }

    #[test]
    fn a_caller_sees_what_it_passed() {
        let field = plain(Root::Argument(0), 8);
        let behind = plain(Root::Loaded { from: Box::new(field.clone()), at: 1 }, 4);
        let passed = [plain(Root::Global, 0x1000)];
        assert_eq!(field.passed(&passed), Some(plain(Root::Global, 0x1008)));
        let from = Box::new(plain(Root::Global, 0x1008));
        assert_eq!(behind.passed(&passed), Some(plain(Root::Loaded { from, at: 1 }, 4)));
        assert_eq!(plain(Root::Argument(1), 0).passed(&passed), None);
        assert_eq!(
            plain(Root::Stack, -8).passed(&passed),
            None,
            "the frame is gone where the caller goes on"
        );
    }
}
