//! What the tests of the whole tool share: finding the built tool, the corpus with its directives, building its
//! programs, and running a campaign.
//!
//! A program of the corpus says in `//@` comments what is expected of it; [`corpus::Program`] lists the directives.

pub mod blame;
pub mod campaign;
pub mod claims;
pub mod compile;
pub mod corpus;
pub mod cousins;
pub mod exclusion;
pub mod explained;
pub mod extent;
pub mod iroots;
pub mod litmus;
pub mod mistakes;
pub mod needles;
pub mod orders;
pub mod races;
pub mod readers;
pub mod referee;
pub mod sanitizer;
pub mod tool;
pub mod transcript;
pub mod variants;
