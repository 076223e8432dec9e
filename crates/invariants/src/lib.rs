//! Likely invariants of multithreaded programs, from streams of values.
//!
//! A stream is [`Sample`]s of [`Points`]: what variables were when a strand came to the entry or the exit of a function, or of a block of shared accesses. This crate never sees a
//! process. After Daikon (Ernst and others) and Udon (Kusano, Chattopadhyay, Wang); the ideas are theirs, the way is another one:
//!
//! - **Facts instead of candidates.** Not every possible statement is kept and struck out, but a few facts from which all that hold follow: minima, unions,
//!   divisors, how pairs compare, and the smallest flat through all integers at once (`hull.rs`), which has every linear relation of any
//!   number of variables. Facts are the same whatever the order of samples, and can be merged: [`Inference::merge`] gives what taking all samples would have. Their size does not depend on
//!   the number of samples.
//! - **Told** ([`Inference::tell`]) is what holds, is no chance (`chance.rs` has the models), and does not follow from the rest (`reduce.rs`, `known.rs`).
//! - **Good without bad** ([`Parts`]): passing and failing runs apart; what the former keep and the latter break, the likeliest cause first.
//! - **Kept** ([`Kept`]): statements as text that a person can read and add to, and the check of a stream against them.
//! - [`daikon`]: Daikon's files, both ways.
//!
//! What is not looked for: relations of more than three variables or with factors above [`MAX_FACTOR`]; general linear relations of floating point numbers (equality, order and
//! `x == y + c` are); that two integers differ if they spread over 1,000 values or more; implications by more than four bools of a point (shared ones and what is now
//! first); variables beyond [`MAX_SLOTS`] slots. Linear relations are exact but for values that differ by a multiple of one arbitrary prime of 62 bits (`field.rs`).
//!
//! ```
//! use threadbare_invariants::{Inference, ProgramPoint, Points, Region, Sample, Side, Type, Value, Variable};
//!
//! let mut points = Points::default();
//! let region = Region::Function("tick".to_owned());
//! let variables = vec![Variable::shared("::sum", Type::I32)];
//! points.add(ProgramPoint { region: region.clone(), side: Side::Enter, variables: variables.clone() })?;
//! let exit = points.add(ProgramPoint { region: region.clone(), side: Side::Exit, variables })?;
//! let mut inference = Inference::new();
//! for sum in 0..20 {
//!     let (values, entry) = (vec![Value::Int(sum + 1)], vec![Value::Int(sum)]);
//!     inference.take(&points, &Sample { point: exit, run: 1, strand: 0, event: 0, values, entry });
//! }
//! let told = inference.tell_point(&region, Side::Exit).expect("it was sampled");
//! assert_eq!(told.told[0].statement.to_string(), "::sum == orig(::sum) + 1");
//! # Ok::<(), threadbare_invariants::Conflict>(())
//! ```

mod bind;
mod chance;
pub mod daikon;
mod distances;
mod equations;
mod eval;
mod facts;
mod field;
mod flats;
mod holding;
mod hull;
mod inference;
mod kept;
mod known;
mod layout;
mod operand;
mod pairs;
mod parts;
mod point;
mod query;
mod reduce;
mod sketch;
mod state;
mod statement;
mod tell;
mod text;
mod unary;
mod value;
mod watch;

pub use bind::BindError;
pub use chance::{CHANCE, Evidence};
pub use flats::MAX_FACTOR;
pub use inference::{Inference, LoadError};
pub use kept::{Check, Fate, Kept, KeptError, KeptLine};
pub use layout::MAX_SLOTS;
pub use operand::{Operand, Part};
pub use parts::{Broken, KEPT_RUNS, Parts, Shown};
pub use point::{Activations, Conflict, PointId, Points, ProgramPoint, Region, Sample, Side, Variable};
pub use statement::{Cmp, Constant, Real, Statement};
pub use tell::{PointTold, Told};
pub use text::ParseError;
pub use unary::MAX_ONE_OF;
pub use value::{Element, Type, Value};
pub use watch::{Break, Watch};

#[cfg(test)]
mod against_oracle;
#[cfg(test)]
mod oracle;
