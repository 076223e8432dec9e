//! From a request to the list of campaigns.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::capture::{self, Shown};
use super::messages::{self, Built};
use super::setup::Setup;
use super::{CargoRequest, RunTarget, TestBinary, TestCase, TestPlan, harness, listing, options};
use crate::error::Result;

pub(super) fn plan(setup: &Setup, request: &CargoRequest<'_>) -> Result<TestPlan> {
    let mut notes = setup.notes.clone();
    let built = messages::build(&setup.for_tests(), "test", &["--no-run"])?;
    let built: BTreeMap<PathBuf, Built> =
        built.into_iter().filter(|built| built.test).map(|built| (built.program.clone(), built)).collect();

    let chosen = options::choose_targets(&setup.arguments);
    if !chosen && setup.has_doctests() {
        notes.push("doctests are skipped: `cargo test --doc` runs them, without Threadbare".to_owned());
    }
    // Without a choice of targets cargo would go on to the doctests.
    let extra: &[&str] = if chosen { &[] } else { &["--tests"] };
    let runs =
        capture::capture(&setup.for_tests(), "test", extra, &request.program_arguments, Shown::Failure)?;

    let mut binaries = Vec::new();
    let ours = setup.target_folder.join(&setup.triple);
    for built in built.values().filter(|built| !built.program.starts_with(&ours)) {
        notes.push(format!("{}: the tests of a proc macro are not run under control", built.package));
    }
    for run in runs {
        match built.get(&run.program) {
            Some(built) if run.program.starts_with(&ours) => binaries.push(binary(built, run, request)?),
            _ => {}
        }
    }
    Ok(TestPlan { binaries, notes })
}

fn binary(built: &Built, run: RunTarget, request: &CargoRequest<'_>) -> Result<TestBinary> {
    let custom = harness::is_custom(&built.manifest, &built.kind, &built.name);
    let case = |name: String, target: RunTarget| TestCase {
        package: built.package.clone(),
        binary: built.name.clone(),
        name,
        target,
    };
    let listing = listing::list(&run, request, custom)?;
    let whole = listing.is_none();
    let (cases, ignored) = match listing {
        Some(listing) => {
            let cases = listing.tests.into_iter().map(|(name, ignored)| {
                let arguments = listing::arguments_of_case(&name, ignored);
                case(name, RunTarget { arguments, ..run.clone() })
            });
            (cases.collect(), listing.left_out)
        }
        None => (vec![case(built.name.clone(), run.clone())], Vec::new()),
    };
    Ok(TestBinary {
        package: built.package.clone(),
        name: built.name.clone(),
        kind: built.kind.clone(),
        program: run.program,
        cases,
        ignored,
        whole,
    })
}
