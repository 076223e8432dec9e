//! What `cargo threadbare test|run|build` have in common: whose argument is whose.

use crate::conduct::cannot;
use crate::exit::Trouble;
use crate::options::{CampaignOptions, RunOptions};
use crate::{embedded, hide};
use clap::CommandFactory;
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use threadbare_explore::server::Target;
use threadbare_explore::surroundings;
use threadbare_findings::Suppressions;
use threadbare_toolchain::cargo::{CargoRequest, RunTarget};
use threadbare_toolchain::{Environment, PlacedRuntime, check_program};

pub(crate) const EXAMPLES: &str = "\
Threadbare's own options stand anywhere before `--`; all others are cargo's. `--jobs` is both: for
the build and for the runs.

Examples:
  cargo threadbare test
  cargo threadbare test --runs 5000 --release -p bank transfer
  cargo threadbare run --time 30s --example dining -- 5
  cargo threadbare build --release";

/// What a `cargo threadbare` command was given.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Threadbare's options and cargo's, then `--` and the program's.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The arguments, told apart.
#[derive(Debug)]
pub(crate) struct Split {
    pub(crate) campaign: CampaignOptions,
    /// The options that were given.
    pub(crate) given: Vec<OsString>,
    pub(crate) suppressions: Arc<Suppressions>,
    stdin: Option<PathBuf>,
    /// The campaign that is to go on: any of the program's if it has no id.
    pub(crate) resume: Option<String>,
    cargo: Vec<OsString>,
    program: Vec<OsString>,
    env: Environment,
    runtime: PlacedRuntime,
}

impl Args {
    /// Tells ours from cargo's.
    pub(crate) fn split(&self) -> Result<Split, Trouble> {
        let (own, cargo, program) = sort(&self.arguments);
        let command_line = std::iter::once(OsString::from("cargo threadbare")).chain(own);
        let (options, given) = RunOptions::read(command_line)?;
        options.campaign.check()?;
        let env = Environment::of_process();
        let runtime = embedded::place(&env)?;
        let stdin = options.stdin.as_deref().map(crate::commands::run::input).transpose()?;
        let suppressions = hide::read(&options.campaign.suppressions)?;
        let RunOptions { campaign, resume, .. } = options;
        Ok(Split { campaign, given, suppressions, stdin, resume, cargo, program, env, runtime })
    }
}

impl Split {
    /// The request to cargo.
    pub(crate) fn request(&self) -> Result<CargoRequest<'_>, Trouble> {
        let tool = std::env::current_exe().map_err(|error| cannot("find this program's file", &error))?;
        let folder = std::env::current_dir().map_err(|error| cannot("find the current folder", &error))?;
        Ok(CargoRequest {
            arguments: self.cargo.clone(),
            program_arguments: self.program.clone(),
            folder,
            env: self.env.clone(),
            runtime: &self.runtime,
            tool,
        })
    }

    /// The target of a campaign for what cargo built.
    pub(crate) fn target(&self, run: &RunTarget) -> Result<Target, Trouble> {
        check_program(&run.program, &self.env)?;
        let mut target = Target::new(&run.program, run.arguments.clone());
        target.env = run.env.clone();
        surroundings::add_own(&mut target.env);
        target.cwd = run.folder.clone();
        target.stdin = self.stdin.clone();
        target.runtime = Some(self.runtime.library().to_owned());
        Ok(target)
    }
}

/// An option of ours: whether it takes the next word for its value.
fn own_options() -> HashMap<String, bool> {
    let command = RunOptions::command();
    let takes_next =
        |argument: &clap::Arg| argument.get_action().takes_values() && !argument.is_require_equals_set();
    command
        .get_arguments()
        .filter_map(|argument| Some((format!("--{}", argument.get_long()?), takes_next(argument))))
        .collect()
}

/// Sorts arguments into ours, cargo's and the program's.
fn sort(arguments: &[OsString]) -> (Vec<OsString>, Vec<OsString>, Vec<OsString>) {
    let options = own_options();
    let (mut own, mut cargo) = (Vec::new(), Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        let (name, joined) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (&*text, false),
        };
        if text == "--" {
            break;
        } else if matches!(name, "--jobs" | "-j") {
            let value = if joined { None } else { rest.next().cloned() };
            for list in [&mut own, &mut cargo] {
                list.push(argument.clone());
                list.extend(value.clone());
            }
        } else if let Some(&takes_next) = options.get(name) {
            own.push(argument.clone());
            if takes_next && !joined {
                own.extend(rest.next().cloned());
            }
        } else {
            cargo.push(argument.clone());
        }
    }
    (own, cargo, rest.cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_find_their_reader() {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let (own, cargo, program) = sort(&words(
            "--runs 5 --stdin in --release --seed=3 -p bank --keep-going --format json -j 2 transfer -- --runs 9 --nocapture",
        ));
        assert_eq!(own, words("--runs 5 --stdin in --seed=3 --keep-going --format json -j 2"));
        assert_eq!(cargo, words("--release -p bank -j 2 transfer"));
        assert_eq!(program, words("--runs 9 --nocapture"));
        assert!(RunOptions::read(std::iter::once("x".into()).chain(own)).is_ok());
        let (own, cargo, _) =
            sort(&words("--shrink off --until 1% --resume --until-coverage 95% --noise none --lib x"));
        assert_eq!(own, words("--shrink off --until 1% --resume --until-coverage 95% --noise none"));
        assert_eq!(cargo, words("--lib x"));
    }
}
