//! The referee: random small concurrent programs, what a model of its own says of them, and what the tool says.
//!
//! [`generate`] makes a program from a seed, [`c`] and [`rust`] write it as source, [`model`] runs it in every order, [`judge`] asks the tool and
//! compares. The model shares no code with the engine and its planners, so what both say is right for two reasons.

pub mod c;
mod code;
mod company;
pub mod fuzz;
pub mod generate;
pub mod judge;
pub mod model;
pub mod program;
pub mod rust;
pub mod shrink;
mod sound;
pub mod text;
