//! The options that the user gave, as opposed to those that have their defaults: what a campaign that goes on is begun
//! with again.

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command};
use std::ffi::OsString;

/// Options that concern one sitting only, or that the campaign keeps in another way.
const NOT_KEPT: [&str; 5] = ["out", "format", "stdin", "resume", "regress"];

/// Those of the subcommand that was called.
pub(crate) fn options(command: &Command, matches: &ArgMatches) -> Vec<OsString> {
    match matches.subcommand() {
        Some((name, matches)) => {
            command.find_subcommand(name).map(|command| of(command, matches)).unwrap_or_default()
        }
        None => Vec::new(),
    }
}

/// Those of a command, each as one word.
pub(crate) fn of(command: &Command, matches: &ArgMatches) -> Vec<OsString> {
    let mut given = Vec::new();
    for argument in command.get_arguments() {
        let (id, Some(long)) = (argument.get_id().as_str(), argument.get_long()) else { continue };
        let given_here = matches.value_source(id) == Some(ValueSource::CommandLine);
        if !given_here || NOT_KEPT.contains(&id) {
            continue;
        }
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            given.push(OsString::from(format!("--{long}")));
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let mut word = OsString::from(format!("--{long}="));
            // The campaign may go on from another folder.
            match id {
                "suppressions" => word.push(std::path::absolute(value).unwrap_or_else(|_| value.into())),
                _ => word.push(value),
            }
            given.push(word);
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use crate::options::RunOptions;
    use std::ffi::OsString;

    #[test]
    fn what_was_given_is_told_from_defaults() {
        let line =
            ["x", "--runs", "5", "--keep-going", "--out", "a", "-j2", "--suppressions", "/s", "--seed=7"];
        let (_, given) = RunOptions::read(line.map(OsString::from)).unwrap();
        let mut given: Vec<_> = given.iter().map(|word| word.to_str().unwrap()).collect();
        given.sort_unstable();
        assert_eq!(given, ["--jobs=2", "--keep-going", "--runs=5", "--seed=7", "--suppressions=/s"]);
        // What comes later counts.
        let again = ["x", "--runs=5", "--seed=7", "--runs=9"].map(OsString::from);
        let (options, _) = RunOptions::read(again).unwrap();
        assert_eq!((options.campaign.runs, options.campaign.seed), (Some(9), 7));
    }
}
