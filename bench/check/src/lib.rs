//! Nothing: what is measured is in `tests/two.rs`.
