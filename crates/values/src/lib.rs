//! What variables were in a run: from its stream to samples for the inference of invariants.
//!
//! The runtime tells of each access to shared memory what was there before and after it, and in which functions it was made
//! ([`Recording`]). All else is worked out here, so the run pays for nothing but the stream:
//!
//! - [`Timeline`]: what a variable was at any moment of the run, from the accesses to it. Where an access finds another value than the
//!   last one left, somebody out of sight wrote in between, and the value is not known there.
//! - [`regions`]: functions, and blocks of 2 to `--block` consecutive accesses of a strand, each with its first and its last
//!   access. A block is named by the lines of its borders in the innermost function, inlined ones counted, that both are in.
//! - [`Sampler`]: the points with their variables, and the samples. The *entry* value is what a variable has when the strand makes the
//!   first access inside, after any switch, the *exit* value what it has right after the last one.
//!
//! **Two views of an activation.** A strand that reads 400, is held up while another one makes it 300, and then writes 300, has a
//! lost update on its conscience; yet between its own entry and exit the balance fell by the right 100. So an
//! activation that others came into has a second sample, its *own* view: for each variable it writes, `orig` is what its first write replaced. In
//! an activation that runs undisturbed both are the same. A transition is kept by an activation if it holds in both views.
//!
//! **Runs like a run.** Accesses that do not depend on each other may come in another order, and other values are there then. They are
//! sampled, too ([`order`], [`alike`]): so one run of each order that makes a difference is enough.
//!
//! What was there before an access is read when the strand goes on from its point, what was there after it at the strand's next event, before
//! anyone else goes on. An access to more than eight bytes comes in pieces; one to a stack with the frame that it is in, found by the return
//! address that the function gave to its hook, which `symbols/stack.rs` holds against the unwind table. `vain.rs` has the looks of waiting
//! loops that planners leave out. Samples that came before are counted, not made (`counted.rs`). `locals.rs` has parameters and locals, which come by a way of
//! their own, `returned.rs` return values; `objects.rs` says which object a pointer leads to.

mod alike;
mod array;
mod choose;
mod counted;
mod known;
mod locals;
mod location;
mod objects;
mod order;
mod places;
mod recording;
mod regions;
mod returned;
mod sampler;
mod sequence;
mod spans;
mod timeline;
mod vain;

pub use choose::MAX_VARIABLES;
pub use locals::Locals;
pub use location::{Home, LeftOut, Location, Read};
pub use places::{Level, Program};
pub use recording::{Access, Activation, MAX_ACCESSES, Recording};
pub use regions::SourceLine;
pub use sampler::{Options, Sampler, Samples, Seen};
pub use spans::{Reach, Span, Spans};
pub use timeline::Timeline;
