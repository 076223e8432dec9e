//! A recorded run: what its strands did, in the order it was done, with all that is needed to read it later and elsewhere.
//!
//! The runtime's event stream ([`crate::events`]) becomes [`Entry`]s ([`Taker`]): accesses and atomic operations where they are made, operations
//! where a strand comes to them, and what orders strands ([`crate::order`] reads that). A file is
//!
//! 1. the line `threadbare trace 1`;
//! 2. frames of entries, each packed for itself (deflate) with its lengths and a checksum;
//! 3. a frame with the [`Table`]: the program, its strands, the verdict, and the places and objects that entries name by number;
//! 4. where the table is, and a last line, so that a file that is cut off is known for one.
//!
//! Places are resolved when the run is recorded, to functions and lines: the program may be gone, rebuilt or on another machine when
//! the trace is read. Module and offset are kept beside them, with the program's build id, for whoever has the binary.
//!
//! A reader believes nothing: lengths are bounded before anything is allocated, numbers are checked when the table is read, and
//! a damaged frame is an error that says where it is.

mod code;
mod entry;
mod filter;
mod read;
mod table;
mod take;
#[cfg(test)]
mod tests;
mod write;

pub use entry::{Entry, What};
pub use filter::{Filter, Unknown, Wanted};
pub use read::{Entries, Recording, Refused, inside};
pub use table::{FrameRow, Module, ObjectRow, PlaceRow, RaceRow, StrandRow, Table};
pub use take::Taker;
pub use write::{Writer, around};

/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;
/// What the first line of every version begins with.
const NAME: &str = "threadbare trace ";
/// The last line.
const END: &[u8] = b"threadbare trace ends\n";
/// Bytes before a frame: what it is, its length unpacked and packed, its checksum.
const FRAME_HEAD: usize = 1 + 4 + 4 + 8;
/// A frame of entries.
const ENTRIES: u8 = b'E';
/// The frame with the table.
const TABLE: u8 = b'T';
/// Bytes of entries after which a frame is closed, and the most that a reader takes.
const FRAME: usize = 1 << 18;
const LARGEST_FRAME: usize = FRAME + 4096;
/// The most bytes of a table.
const LARGEST_TABLE: usize = 32 << 20;

/// A frame's checksum.
fn checksum(packed: &[u8]) -> u64 {
    let mut hash = crate::hash::Fnv::new();
    hash.write(packed);
    hash.finish()
}
