//! Which writes concern a read: accesses sorted by the memory that they may touch.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::regions::{Region, Regions, near};
use crate::code::Code;
use crate::function::Access;
use crate::hook::Size;

/// A shelf of the index: accesses on different shelves never meet, except for those behind pointers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Shelf {
    Object(usize),
    /// Data that no symbol covers.
    Nameless,
    Import(String),
    Block(u64),
    Frame(usize),
    Thread,
}

/// Writes by the memory that they may touch.
pub(crate) struct Index<'a> {
    code: &'a Code,
    regions: Rc<Regions>,
    shelves: BTreeMap<Shelf, Vec<Entry>>,
    anywhere: BTreeSet<usize>,
    everything: BTreeSet<usize>,
    all: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Entry {
    access: usize,
    extent: Extent,
}

#[derive(Clone, Copy)]
struct Extent {
    offset: i64,
    stride: u64,
    size: u64,
}

impl<'a> Index<'a> {
    pub(crate) fn of<'s>(
        code: &'a Code,
        regions: &Rc<Regions>,
        accesses: impl Iterator<Item = (&'s Access, &'s [Region])>,
        wanted: &dyn Fn(u64) -> bool,
    ) -> Index<'a> {
        let mut index = Index {
            code,
            regions: Rc::clone(regions),
            shelves: BTreeMap::new(),
            anywhere: BTreeSet::new(),
            everything: BTreeSet::new(),
            all: Vec::new(),
        };
        for (at, (access, touched)) in accesses.enumerate() {
            if !access.kind.writes() || !wanted(access.place) {
                continue;
            }
            index.all.push(at);
            for region in touched {
                match region {
                    Region::Anywhere => drop(index.anywhere.insert(at)),
                    Region::Everything => drop(index.everything.insert(at)),
                    _ => {
                        let extent = extent(region, access.size);
                        for shelf in index.shelves_of(region) {
                            index.shelves.entry(shelf).or_default().push(Entry { access: at, extent });
                        }
                    }
                }
            }
        }
        index
    }

    fn shelves_of(&self, region: &Region) -> Vec<Shelf> {
        match region {
            Region::Global { offset, stride } => {
                let objects = near(self.code, *offset, *stride);
                if objects.is_empty() {
                    vec![Shelf::Nameless]
                } else {
                    objects.into_iter().map(Shelf::Object).collect()
                }
            }
            Region::Import { name, .. } => vec![Shelf::Import(name.clone())],
            Region::Block { at, .. } => vec![Shelf::Block(*at)],
            Region::Frame { function, .. } => vec![Shelf::Frame(*function)],
            Region::Thread { .. } => vec![Shelf::Thread],
            Region::Anywhere | Region::Everything => Vec::new(),
        }
    }

    /// Whether pointers from memory may lead to a shelf.
    fn exposed(&self, shelf: &Shelf) -> bool {
        match shelf {
            Shelf::Object(object) => self.regions.exposed.contains(object),
            Shelf::Frame(function) => self.regions.exposed_frames.contains(function),
            Shelf::Nameless | Shelf::Import(_) | Shelf::Block(_) | Shelf::Thread => true,
        }
    }

    /// The writes that may touch what a read reads.
    pub(crate) fn writes_for(&self, read: &Access, touched: &[Region]) -> BTreeSet<usize> {
        let mut found = self.everything.clone();
        for region in touched {
            match region {
                Region::Everything => found.extend(&self.all),
                Region::Anywhere => {
                    found.extend(&self.anywhere);
                    for (shelf, entries) in &self.shelves {
                        if self.exposed(shelf) {
                            found.extend(entries.iter().map(|entry| entry.access));
                        }
                    }
                }
                _ => {
                    let wanted = extent(region, read.size);
                    for shelf in self.shelves_of(region) {
                        if self.exposed(&shelf) {
                            found.extend(&self.anywhere);
                        }
                        // A nameless place is compared by address alone; so is a pair on one shelf.
                        let entries = self.shelves.get(&shelf).map(Vec::as_slice).unwrap_or_default();
                        found.extend(
                            entries.iter().filter(|e| meets(e.extent, wanted)).map(|entry| entry.access),
                        );
                    }
                }
            }
        }
        found
    }

    /// Whether code that is not instrumented may write what a read reads.
    pub(crate) fn unseen(&self, touched: &[Region]) -> bool {
        touched.iter().any(|region| match region {
            Region::Anywhere | Region::Everything => true,
            _ => self.shelves_of(region).iter().any(|shelf| self.exposed(shelf)),
        })
    }
}

fn extent(region: &Region, size: Size) -> Extent {
    let size = match size {
        Size::Bytes(bytes) => bytes.max(1),
        Size::Unknown => u64::MAX / 4,
    };
    match region {
        Region::Global { offset, stride }
        | Region::Import { offset, stride, .. }
        | Region::Block { offset, stride, .. }
        | Region::Frame { offset, stride, .. }
        | Region::Thread { offset, stride } => Extent { offset: *offset, stride: *stride, size },
        Region::Anywhere | Region::Everything => Extent { offset: 0, stride: 1, size },
    }
}

/// Whether two accesses to one object may have a byte in common.
fn meets(a: Extent, b: Extent) -> bool {
    let stride = crate::address::gcd(a.stride, b.stride);
    let distance = i128::from(b.offset) - i128::from(a.offset);
    let (a_size, b_size) = (i128::from(a.size), i128::from(b.size));
    if stride == 0 {
        return distance < a_size && -distance < b_size;
    }
    // Some multiple of the stride brings them together.
    let stride = i128::from(stride);
    let rest = distance.rem_euclid(stride);
    rest < a_size || stride - rest < b_size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_decide_what_meets() {
        let at = |offset, stride, size| Extent { offset, stride, size };
        assert!(meets(at(0, 0, 8), at(4, 0, 4)));
        assert!(!meets(at(0, 0, 4), at(4, 0, 4)));
        // Fields of an array of structures of 24 bytes.
        assert!(!meets(at(0, 24, 8), at(8, 24, 8)));
        assert!(meets(at(8, 24, 8), at(56, 24, 8)));
        assert!(meets(at(8, 24, 8), at(80, 0, 8)));
        assert!(!meets(at(8, 24, 8), at(88, 0, 8)));
        assert!(meets(at(0, 1, 1), at(99, 0, 1)));
    }
}
