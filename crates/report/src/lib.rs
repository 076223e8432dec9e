//! Reports of Threadbare: terminal and JSON.
//!
//! Everything here turns data into text; nobody here reads a process or a file. Results are for standard output
//! ([`text`], [`campaign`] as JSON), the [`progress`] line is for a terminal's standard error.

pub mod branches;
pub mod campaign;
pub mod choices;
pub mod claim;
pub mod columns;
pub mod coverage;
mod curve;
pub mod excerpt;
pub mod github;
pub mod junit;
pub mod lanes;
pub mod marks;
pub mod perfetto;
pub mod progress;
pub mod recorded;
#[cfg(test)]
mod samples;
pub mod sarif;
pub mod screen;
pub mod style;
pub mod suite;
pub mod table;
pub mod tasks;
pub mod tests;
pub mod text;
pub mod trace;
pub mod uri;
pub mod width;

pub use campaign::CampaignReport;
pub use screen::Screen;
pub use style::Style;
