//! Inputs of a program: what they may be, and which one is to be tested next.
//!
//! A [`Template`] says what the arguments, the standard input and the environment may be: text with holes, `{x:int(-100..100)}`. An [`Input`] has a value for each
//! hole. Inputs are drawn, mutated and made smaller ([`draw`], [`mutate`], [`shrink`]); [`corpus`] reads what fuzzers left. [`pool`] keeps
//! the candidates with what each could show, and picks the next one after "adaptive random testing of concurrent programs" (Yue and Wu, 2014): the
//! farthest from all tests so far, or the farthest of a minimum set cover ([`cover`]); where none has anything new, [`habits`] tell which does something else.
//!
//! The crate knows neither programs nor runs.

pub mod corpus;
pub mod cover;
pub mod draw;
pub mod grammar;
pub mod habits;
pub mod mutate;
pub mod parse;
pub mod pool;
pub mod regressions;
pub mod rng;
pub mod shrink;
pub mod template;

pub use cover::{Cover, minimum};
pub use habits::{Counts, Habits};
pub use pool::{Chosen, Policy, Pool};
pub use rng::Rng;
pub use template::{Input, Kind, Template, TemplateError, Value};
