//! Programs of `tests/programs`, compiled in many ways and asked about.

mod heap;
mod languages;
mod pieces;
mod program;
mod robust;
mod values;
