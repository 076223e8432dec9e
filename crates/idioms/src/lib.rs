//! Interleaving idioms: small shapes of dependencies between two strands, after Maple (Yu, Narayanasamy, Pereira, Pokam:
//! "Maple: a coverage-driven testing tool for multithreaded programs", OOPSLA 2012). An instance of an idiom at certain places of a
//! program is an [`Iroot`].
//!
//! The crate takes what the strands of one run did ([`RunAccesses`]), knows neither processes nor symbols, and tells two things: which iroots the
//! run showed ([`shown`](mod@shown)), and which others the same program could show with the same input ([`predict`](mod@predict)).
//!
//! | idiom | one strand | the other | dependencies |
//! |---|---|---|---|
//! | 1 | e0(x) | e1(x) | e0 → e1 |
//! | 2 | e0(x) e2(x) | e1(x) | e0 → e1 → e2 |
//! | 3 | e0(x) e3(x) | e1(x) e2(x) | e0 → e1, e2 → e3 |
//! | 4 | e0(x) e3(y) | e1(x) e2(y) | e0 → e1, e2 → e3 |
//! | 5 | e0(x) e3(y) | e2(y) e1(x) | e0 → e1, e2 → e3 |
//! | 6 | e0 takes x, e3 wants y | e2 takes y, e1 wants x | e0 → e1, e2 → e3: neither goes on |
//!
//! A *dependency* e0 → e1 is between accesses of two strands to common bytes, one of which writes, with no write to those bytes and no access of
//! the two strands to them in between; or between giving a lock back and the next strand's taking it (idiom 1 only).
//!
//! Deviations from Maple's program (which has five idioms):
//! 1. Two crossing dependencies are idiom 5 on data, and idiom 6 on locks, where they are a deadlock.
//! 2. The two accesses of a strand follow each other: in idioms 2 and 3 nothing of the strand touches x in between, in idioms 4 and 5 neither x nor
//!    y. Maple asks that of one of the strands only.
//! 3. A write after another strand's write depends on it although a third strand has read meanwhile.
//! 4. An exchange is one access that reads and writes, not two.

pub mod iroot;
pub mod local;
pub mod predict;
pub mod run;
pub mod shown;

#[cfg(test)]
mod tests;

pub use iroot::{Does, IDIOMS, Iroot, PlaceEvent};
pub use predict::{Instance, Limits, Predicted, predict};
pub use run::{Access, Held, RunAccesses};
pub use shown::shown;
