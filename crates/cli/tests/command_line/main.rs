//! The command line as a user meets it: real programs, bad input, pipes and signals.

mod bad_input;
mod campaigns;
mod races;
mod replays;
mod reports;
mod workbench;
